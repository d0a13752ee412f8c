"""The fetcher process: its loop (`process.py`); a job's way through fetch and parse to a result (`page_result.py`)."""
