"""One crawl: its directory and lock, the session that commits state and store together, and what is done with it:
seeding, judging anew, retrying, forgetting; the log of fetches; progress."""
