"""A crawl as programs use it: `Crawl` (`crawl.py`); one run of it (`running.py`), which `pycrawl crawl` uses too."""
