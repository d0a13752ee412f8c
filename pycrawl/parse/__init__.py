"""A body into what the crawl wants of it: `html.py` reads the page, `links.py` packs its links. Fetchers only."""
