"""The report of a crawl: its figures (`figures.py`), and one self-contained page that shows them (`page.py`)."""
