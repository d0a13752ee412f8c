"""One URL among all known ones, for commands beside a crawl that ask for one only. `UrlSeen` writes what is read here.

This does without numpy: to load it would take longer than the rest of such a command.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from pycrawl.state.database import Database
from pycrawl.state.unwanted import forgotten_text, row_hash

CHUNK = 65_536  # ids in one row of url_hashes
MOST_INLINKS = 127  # in-links are counted up to here: seven bits
_HASH_BYTES = 8
_HASH_BITS = 64
_ID_BYTES = 4  # of an id in the sorted copy

HashOf = Callable[[str, int], int]  # returns the hash of a text of `urls`, given the crawl's seed


def find_url(database: Database, url: str, seed: int, chunk: int = CHUNK, hash_of: HashOf = row_hash) -> int:
    """Returns the id of one URL, or 0 if it is not known. It needs no `UrlSeen`."""
    wanted = hash_of(url, seed)
    with database.one_view():
        return _in_sorted_copy(database, wanted) or _in_rest(database, url, wanted, chunk)


def _in_sorted_copy(database: Database, wanted: int) -> int:
    """Returns the id of a hash, or 0, as far as the sorted copy goes. It reads one partition."""
    (partitions,) = database.query("SELECT count(*) FROM url_sorted").fetchone()
    row = database.query(
        "SELECT hashes, ids FROM url_sorted WHERE partition = ?", (wanted * partitions >> _HASH_BITS,)
    ).fetchone()
    if row is None:
        return 0
    hashes = memoryview(row[0]).cast("Q")
    place = bisect_left(hashes, wanted)
    return memoryview(row[1]).cast("I")[place] if place < len(hashes) and hashes[place] == wanted else 0


def _in_rest(database: Database, url: str, wanted: int, chunk: int) -> int:
    """Returns the id of a hash, or 0, among the URLs that are not in the sorted copy."""
    packed = wanted.to_bytes(_HASH_BYTES, "little")
    (copied,) = database.query(f"SELECT coalesce(sum(length(ids)), 0) / {_ID_BYTES} FROM url_sorted").fetchone()
    first_id = int(copied) // chunk * chunk + 1  # of the first chunk with a URL that is not in the copy
    for (hashes,) in database.query("SELECT hashes FROM url_hashes WHERE first_id >= ? ORDER BY first_id", (first_id,)):
        place = _place_of(packed, hashes)
        if place >= 0:
            return first_id + place
        first_id += chunk
    row = database.query(
        "SELECT id FROM urls WHERE id >= ? AND url IN (?, ?)", (first_id, url, forgotten_text(wanted))
    ).fetchone()
    return int(row[0]) if row else 0


def _place_of(packed: bytes, hashes: bytes) -> int:
    """Returns which of the hashes it is; -1 if it is none. Its bytes may also stand across two others."""
    at = hashes.find(packed)
    while at >= 0 and at % _HASH_BYTES:
        at = hashes.find(packed, at + 1)
    return at // _HASH_BYTES


def inlinks_of(database: Database, url_id: int, chunk: int = CHUNK) -> int:
    """Returns the in-links of one URL as they were last written: for readers beside a crawl."""
    start = url_id // chunk * chunk
    row = database.query("SELECT counts FROM url_inlinks WHERE first_id = ?", (start,)).fetchone()
    return row[0][url_id - start] & MOST_INLINKS if row and url_id - start < len(row[0]) else 0
