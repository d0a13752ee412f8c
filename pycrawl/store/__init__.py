"""The TREC Web compound files: written by the coordinator, cut back after a crash, read by everyone.

The database says which bytes count: a record exists once a transaction has committed its place and its file's length,
and every byte beyond that length is what a crash left behind.
"""

from pycrawl.store.compound import CompoundFile, CompoundWriter, Location, PendingSync
from pycrawl.store.reader import RecordReader
from pycrawl.store.recovery import Recovery, recover

__all__ = ["CompoundFile", "CompoundWriter", "Location", "PendingSync", "RecordReader", "Recovery", "recover"]
