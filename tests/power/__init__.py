"""Simulated power cuts. kill -9 leaves the page cache, so it cannot show an fsync that is missing; this can.

1. A crawl, and commands beside it, run as real processes with a preloaded library that records every change to their
   files, and every fsync (`recorder.c`, `recording.py`, `workload.py`).
2. From that record, the disk is built that a power cut at some moment could have left: what was synced, and any part of
   what was not (`disk.py`).
3. pycrawl opens that disk and crawls on. What had been counted must be there, whole and once (`judgement.py`).

`python -m tests.power --cuts 500` does it often; `planted.py` has faults that must be found this way.
"""
