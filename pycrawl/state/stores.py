"""The stores of sorted runs (`runs/`): what has random keys. Numbers are part of the stored format."""

from __future__ import annotations

from pycrawl.state import documents
from pycrawl.state.runs.entries import IdEntries, ValueEntries
from pycrawl.state.runs.fixed_runs import FixedEntries
from pycrawl.state.runs.tables import Store

LARGE_BLOCK = 32_000  # bytes; for what the crawl itself does not look up, or by the id of a page only

# The first 64 bits of a stored body's digest → documents that have it (`content_seen.py`).
CONTENT = Store(1, "content seen", IdEntries)

# The hash of a URL → its documents (`documents.py`). Asked by readers, mostly for one key at a time (`KeyReader`).
DOCUMENTS_BY_URL = Store(documents.DOCUMENTS_BY_URL, "documents by URL", IdEntries)

# 31 bits of a selected fingerprint → documents that have it (`passages.py`). Asked by readers only.
PASSAGES = Store(3, "passages", IdEntries, factor=12, has_filters=False, block_bytes=LARGE_BLOCK)

# 40 bits of a band of a sketch, or of a text's digest → documents that have it (`near_seen.py`).
BANDS = Store(4, "near-duplicates", IdEntries)

# The id of a fetched page's URL → the ids of the URLs that its links name (`outlinks.py`).
OUTLINKS = Store(5, "links of pages", ValueEntries, block_bytes=LARGE_BLOCK)

# The id of a visited URL → what is known of its changes (`change_rates.py`).
CHANGES = Store(6, "changes of pages", FixedEntries)

ALL = (CONTENT, DOCUMENTS_BY_URL, PASSAGES, BANDS, OUTLINKS, CHANGES)
