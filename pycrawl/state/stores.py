"""The stores of sorted runs (`runs/`): what has random keys. Numbers are part of the stored format."""

from __future__ import annotations

from pycrawl.state import documents, visit_ids
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

# The id of a visited URL → what is known of its changes (`change_rates.py`).
CHANGES = Store(6, "changes of pages", FixedEntries)

# The id of a URL → its row in `visits` (`visit_ids.py`).
VISITS = Store(visit_ids.STORE, "visits", IdEntries)

# The id of a fetched page's URL → its links (`link_rows.py`).
LINKS = Store(8, "links of pages", ValueEntries, block_bytes=LARGE_BLOCK)

# The id of a URL → the ids of the pages that link to it (`links.py`). Asked by readers only.
INLINKS = Store(9, "in-links", IdEntries, factor=12, has_filters=False, block_bytes=LARGE_BLOCK)

# The hash of a link's text → its id; and the id → the text (`anchor_texts.py`).
ANCHOR_HASHES = Store(10, "hashes of link texts", IdEntries)
ANCHOR_TEXTS = Store(11, "link texts", ValueEntries, has_filters=False, block_bytes=LARGE_BLOCK)

ALL = (CONTENT, DOCUMENTS_BY_URL, PASSAGES, BANDS, CHANGES, VISITS, LINKS, INLINKS, ANCHOR_HASHES, ANCHOR_TEXTS)

# The id of a fetched page's URL → the ids of its targets. Older releases had it; `to_links.py` moves it.
OUTLINKS = Store(5, "links of pages in an older form", ValueEntries, block_bytes=LARGE_BLOCK)
