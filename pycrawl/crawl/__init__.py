"""One crawl as an object: its directory and lock, the session that commits state and store together, seeding, the log
of fetches, progress."""
