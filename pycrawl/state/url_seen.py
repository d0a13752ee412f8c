"""URL seen?: which URLs were met before, by hash, in sorted batches.

Resident: for each known URL its 64-bit hash, its 32-bit id and a count of in-links: 13 bytes. The hashes are kept in
`PARTITIONS` sorted arrays by their high bits, so that a batch is looked up by binary search inside arrays that fit the
processor's cache, and taking in new ones copies one small array at a time.

On disk: the hashes in the order of their ids, in chunks (`url_hashes`); the last, incomplete chunk is made again from
the URLs themselves. A reader that looks for one URL compares the chunks as they are. Beside them a copy of the sorted
arrays (`url_sorted`), so that a start reads instead of sorting; it may be older than the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pycrawl.state.database import Database
from pycrawl.urls import url_hash

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]

CHUNK = 65_536  # ids in one row of url_hashes
PARTITIONS = 256
_SHIFT = np.uint64(64 - 8)  # the partition's number is the hash's high 8 bits
_MOST_INLINKS = 127
_LEFT_FRONT = np.uint8(128)  # the bit of a count's byte that says: the URL has left the front queues
_PARTITION_STARTS = np.arange(PARTITIONS, dtype=np.uint64) << _SHIFT


@dataclass(frozen=True, slots=True)
class Looked:
    """A batch looked up: its distinct hashes in ascending order, and for each of them …"""

    hashes: U64
    first: I64  # where in the batch it stands first
    counts: I64  # how often it stands there
    ids: U32  # its URL's id; 0: never met before


class UrlSeen:
    """The resident set. Ids start at 1 and are given out without gaps."""

    def __init__(self, database: Database, seed: int) -> None:
        self._database = database
        self._hashes: list[U64] = [np.empty(0, np.uint64)] * PARTITIONS
        self._ids: list[U32] = [np.empty(0, np.uint32)] * PARTITIONS
        self._inlinks: U8 = np.zeros(CHUNK, np.uint8)
        self._dirty_chunks: set[int] = set()
        self._tail: list[U64] = []  # hashes of the ids from `_sealed` on, in the order of ids
        self._sealed = 1  # the first id that is not in a chunk on disk
        self._saved = 0  # URLs in the sorted copy on disk
        self.next_id = 1
        self._load(seed)

    def __len__(self) -> int:
        return self.next_id - 1

    def look(self, batch: U64) -> Looked:
        """Look a batch up, repetitions and all."""
        hashes, first, counts = np.unique(batch, return_index=True, return_counts=True)
        ids = np.zeros(len(hashes), np.uint32)
        for partition, start, end in _slices(hashes):
            known = self._hashes[partition]
            if not len(known):
                continue
            wanted = hashes[start:end]
            places = known.searchsorted(wanted)
            places[places == len(known)] = 0
            found = known[places] == wanted
            ids[start:end][found] = self._ids[partition][places[found]]
        return Looked(hashes, first, counts, ids)

    def insert(self, hashes: U64) -> U32:
        """Take in hashes that are new and distinct, and give them ids in the order in which they stand."""
        ids = np.arange(self.next_id, self.next_id + len(hashes), dtype=np.uint32)
        order = hashes.argsort()
        self._insert_sorted(hashes[order], ids[order])
        self._tail.append(hashes)
        self.next_id += len(hashes)
        if self.next_id > len(self._inlinks):
            grown = np.zeros(self.next_id + max(CHUNK, len(self._inlinks) // 8), np.uint8)
            grown[: len(self._inlinks)] = self._inlinks
            self._inlinks = grown
        return ids

    def add_inlinks(self, ids: U32, counts: I64) -> tuple[U8, U8, NDArray[np.bool_]]:
        """Count in-links of known URLs (distinct ids): their numbers before and after, and who may wait in front."""
        flagged = self._inlinks[ids]
        left = flagged & _LEFT_FRONT
        before = flagged ^ left
        after = np.minimum(before + counts, _MOST_INLINKS).astype(np.uint8)
        self._inlinks[ids] = after | left
        self._dirty_chunks.update((np.unique(ids // CHUNK) * CHUNK).tolist())
        return before, after, left == 0

    def leave_front(self, url_id: int) -> None:
        """The URL was pulled into a back queue: in-links no longer change its place."""
        self._inlinks[url_id] |= _LEFT_FRONT

    def flush(self) -> None:
        """Write the chunks that have become complete."""
        while self.next_id - self._sealed >= CHUNK:
            tail = np.concatenate(self._tail)
            self._write_chunk("url_hashes", self._sealed, tail[:CHUNK].tobytes())
            self._tail = [tail[CHUNK:]]
            self._sealed += CHUNK

    def flush_inlinks(self) -> None:
        for start in sorted(self._dirty_chunks):
            self._write_chunk("url_inlinks", start, self._inlinks[start : start + CHUNK].tobytes())
        self._dirty_chunks.clear()

    def _write_chunk(self, table: str, first_id: int, data: bytes) -> None:
        self._database.write(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (first_id, data))

    def save_sorted(self, least: int) -> None:
        """Write the sorted arrays, if so many URLs are not in the copy on disk: the next start need not sort them."""
        if len(self) - self._saved >= least:
            rows = [
                (partition, hashes.tobytes(), ids.tobytes())
                for partition, (hashes, ids) in enumerate(zip(self._hashes, self._ids, strict=True))
            ]
            self._database.write_many("INSERT OR REPLACE INTO url_sorted VALUES (?, ?, ?)", rows)
            self._saved = len(self)

    def _load(self, seed: int) -> None:
        for partition, hashes, ids in self._database.query("SELECT * FROM url_sorted"):
            self._hashes[partition] = np.frombuffer(hashes, np.uint64)
            self._ids[partition] = np.frombuffer(ids, np.uint32)
        self._saved = sum(map(len, self._ids))
        (chunks,) = self._database.query("SELECT count(*) FROM url_hashes").fetchone()
        self._sealed = 1 + CHUNK * chunks
        rest = self._load_rest(self._saved + 1, seed)
        self.next_id = self._saved + 1 + len(rest)
        order = rest.argsort()
        self._insert_sorted(rest[order], (order + (self._saved + 1)).astype(np.uint32))
        self._tail = [self._in_order_of_ids(self._sealed)]
        self._inlinks = np.zeros(self.next_id + CHUNK, np.uint8)
        for first_id, data in self._database.query("SELECT first_id, counts FROM url_inlinks"):
            counts = np.frombuffer(data, np.uint8)[: len(self._inlinks) - first_id]
            self._inlinks[first_id : first_id + len(counts)] = counts

    def _load_rest(self, first_id: int, seed: int) -> U64:
        """The hashes of all ids from `first_id` on, in their order."""
        parts = []
        at = (first_id - 1) // CHUNK * CHUNK + 1
        for chunk in _chunks(self._database, at):
            parts.append(chunk[max(0, first_id - at) :])
            at += CHUNK
        return np.concatenate([*parts, _tail_hashes(self._database, max(first_id, self._sealed), seed)])

    def _in_order_of_ids(self, first_id: int) -> U64:
        """The hashes of the ids from `first_id` on, from the sorted arrays."""
        hashes = np.empty(self.next_id - first_id, np.uint64)
        for known, ids in zip(self._hashes, self._ids, strict=True):
            late = np.flatnonzero(ids >= first_id)
            hashes[ids[late] - np.uint32(first_id)] = known[late]
        return hashes

    def _insert_sorted(self, hashes: U64, ids: U32) -> None:
        for partition, start, end in _slices(hashes):
            known = self._hashes[partition]
            places = known.searchsorted(hashes[start:end])
            self._hashes[partition] = np.insert(known, places, hashes[start:end])
            self._ids[partition] = np.insert(self._ids[partition], places, ids[start:end])


def _slices(ordered: U64) -> list[tuple[int, int, int]]:
    """The non-empty stretches of a sorted array: (partition, start, end)."""
    starts = ordered.searchsorted(_PARTITION_STARTS)
    ends = np.append(starts[1:], len(ordered))
    filled = np.flatnonzero(ends > starts)
    return list(zip(filled.tolist(), starts[filled].tolist(), ends[filled].tolist(), strict=True))


def _chunks(database: Database, first_id: int = 1) -> Iterator[U64]:
    for (data,) in database.query("SELECT hashes FROM url_hashes WHERE first_id >= ? ORDER BY first_id", (first_id,)):
        yield np.frombuffer(data, np.uint64)


def _tail_hashes(database: Database, first_id: int, seed: int) -> U64:
    rows = database.query("SELECT url FROM urls WHERE id >= ? ORDER BY id", (first_id,))
    return np.fromiter((url_hash(url, seed) for (url,) in rows), np.uint64)


def find_url(database: Database, url: str, seed: int) -> int:
    """The id of one URL, or 0, without the resident set: for readers beside a crawl."""
    wanted = np.uint64(url_hash(url, seed))
    first_id = 1
    for chunk in _chunks(database):
        hits = np.flatnonzero(chunk == wanted)
        if len(hits):
            return first_id + int(hits[0])
        first_id += CHUNK
    row = database.query("SELECT id FROM urls WHERE id >= ? AND url = ?", (first_id, url)).fetchone()
    return int(row[0]) if row else 0


def inlinks_of(database: Database, url_id: int) -> int:
    """In-links of one URL as last written, for readers."""
    start = url_id // CHUNK * CHUNK
    row = database.query("SELECT counts FROM url_inlinks WHERE first_id = ?", (start,)).fetchone()
    return row[0][url_id - start] & _MOST_INLINKS if row and url_id - start < len(row[0]) else 0
