"""URL seen?: tells which URLs were met before, by their hashes, a batch at a time.

Memory holds 13 bytes for each known URL: its 64-bit hash, its 32-bit id and a count of in-links. The hashes are kept in
partitions by their high bits, each a sorted array: so a batch is looked up by binary search in arrays that fit the
processor's cache, and entering new hashes copies one small array at a time. Every partition costs a batch the same,
however small it is; so a small set has few of them. New hashes go into one array of recent ones first, because each
batch would change all partitions; the partitions take them in when there are enough.

The disk holds the hashes in the order of their ids, in chunks (`url_hashes`); the last, incomplete chunk is made again
from the URLs themselves at a start. A reader that looks for one URL searches the chunks. Beside them is a copy of the
sorted arrays (`url_sorted`), so that a start reads instead of sorting; it may be older than the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pycrawl.native import compiled
from pycrawl.state.arrays import distinct
from pycrawl.state.database import Database
from pycrawl.state.unwanted import row_hash
from pycrawl.state.url_lookup import CHUNK, MOST_INLINKS, HashOf

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]
_Array = TypeVar("_Array", U64, U32)
_Number = TypeVar("_Number", np.uint8, np.int64)

_MOST_PARTITION_BITS = 8  # high bits of a hash that are the number of its partition, at most: 256 partitions
_PARTITION_SIZE = 65_536  # hashes; when there are more on average, all partitions are cut in two
_RECENT_SHARE = 64  # when one hash in 64 is recent, the partitions take the recent ones in
_LEFT_FRONT = np.uint8(128)  # the eighth bit of an in-link count: the URL has left the front queues


@dataclass(frozen=True, slots=True)
class Looked:
    """The result of looking up a batch of hashes. All fields but `order` have one item for each distinct hash."""

    hashes: U64  # the distinct hashes, in ascending order
    first: I64  # the first place in the batch with this hash
    counts: I64  # how many places of the batch have this hash
    ids: U32  # the id of the URL; 0: never met before
    order: I64  # all places of the batch, by ascending hash
    starts: I64  # where in `order` the places with this hash begin

    def least(self, values: NDArray[_Number]) -> NDArray[_Number]:
        """Returns for each distinct hash the least of its values; `values` has one for each place of the batch."""
        return np.minimum.reduceat(values[self.order], self.starts) if len(self.starts) else values[:0]

    def ids_in_batch(self) -> U32:
        """Returns the id for each place of the batch, repetitions included."""
        ids = np.empty(len(self.order), np.uint32)
        ids[self.order] = np.repeat(self.ids, self.counts)
        return ids


class UrlSeen:
    """All known URLs, in memory. Ids start at 1 and are given out without gaps."""

    def __init__(self, database: Database, seed: int, chunk: int = CHUNK, hash_of: HashOf = row_hash) -> None:
        """`chunk`: ids in one row of url_hashes. `chunk` and `hash_of` must stay the same for the whole life of a
        database."""
        self._database = database
        self._chunk = chunk
        self._hash_of = hash_of
        self._hashes: list[U64] = [np.empty(0, np.uint64)]
        self._ids: list[U32] = [np.empty(0, np.uint32)]
        self._recent: tuple[U64, U32] = (np.empty(0, np.uint64), np.empty(0, np.uint32))  # sorted, not in partitions
        self._starts: U64 = np.zeros(1, np.uint64)  # the lowest hash that each partition may have
        self._inlinks: U8 = np.zeros(chunk, np.uint8)  # by id: the count, and `_LEFT_FRONT`
        self._dirty_chunks: set[int] = set()  # the first ids of chunks whose in-link counts are to be written
        self._tail: list[U64] = []  # hashes of the ids from `_sealed` on, in the order of ids
        self._sealed = 1  # the first id that is not in a chunk on disk
        self._saved = 0  # URLs in the sorted copy on disk
        self.next_id = 1
        self._load(seed)

    def __len__(self) -> int:
        return self.next_id - 1

    def look(self, batch: U64) -> Looked:
        """Returns what is known of a batch of hashes, which may repeat."""
        hashes, first, counts, order, starts = distinct(batch)
        ids = np.zeros(len(hashes), np.uint32)
        for partition, start, end in self._slices(hashes):
            _look_up(self._hashes[partition], self._ids[partition], hashes[start:end], ids[start:end])
        _look_up(*self._recent, hashes, ids)
        return Looked(hashes, first, counts, ids, order, starts)

    def insert(self, hashes: U64) -> U32:
        """Enter hashes, which must be new and distinct. Returns their ids, given out in the order of `hashes`."""
        ids = np.arange(self.next_id, self.next_id + len(hashes), dtype=np.uint32)
        order = hashes.argsort()
        self._recent = _merged(*self._recent, hashes[order], ids[order])
        self._tail.append(hashes)
        self.next_id += len(hashes)
        if len(self._recent[0]) * _RECENT_SHARE >= len(self):
            self._take_in_recent()
        if self.next_id > len(self._inlinks):
            grown = np.zeros(self.next_id + max(self._chunk, len(self._inlinks) // 8), np.uint8)
            grown[: len(self._inlinks)] = self._inlinks
            self._inlinks = grown
        return ids

    def add_inlinks(self, ids: U32, counts: I64) -> tuple[U8, U8, NDArray[np.bool_]]:
        """Add `counts[i]` in-links to the known URL `ids[i]`; ids must be distinct.

        Returns the in-links before and after, and flags: True if the URL may wait in a front queue.
        """
        flagged = self._inlinks[ids]
        left = flagged & _LEFT_FRONT
        before = flagged ^ left
        after = np.minimum(before + counts, MOST_INLINKS).astype(np.uint8)
        self._inlinks[ids] = after | left
        self._dirty_chunks.update((np.unique(ids // self._chunk) * self._chunk).tolist())
        return before, after, left == 0

    def inlinks_of(self, url_id: int) -> int | None:
        """Returns the in-links of a URL that may wait in a front queue; None if it has left the front queues."""
        flagged = self._inlinks[url_id]
        return None if flagged & _LEFT_FRONT else int(flagged)

    def inlinks_at(self, ids: I64) -> U8:
        """Returns the in-links of each of these URLs."""
        return self._inlinks[ids] & ~_LEFT_FRONT

    def leave_front(self, url_id: int) -> None:
        """Note that a URL was pulled into a back queue: in-links no longer change its place."""
        self._inlinks[url_id] |= _LEFT_FRONT

    def bytes_held(self) -> int:
        """Returns how many bytes memory holds: the hashes and ids of known URLs, and their in-link counts."""
        hashes = sum(part.nbytes for part in (*self._hashes, self._recent[0], *self._tail))
        return hashes + sum(part.nbytes for part in (*self._ids, self._recent[1])) + self._inlinks.nbytes

    def flush(self) -> None:
        """Write the chunks of hashes that have become complete; to be committed by the caller."""
        while self.next_id - self._sealed >= self._chunk:
            tail = np.concatenate(self._tail)
            self._write_chunk("url_hashes", self._sealed, tail[: self._chunk].tobytes())
            self._tail = [tail[self._chunk :]]
            self._sealed += self._chunk

    def flush_inlinks(self) -> None:
        """Write the in-link counts that have changed; to be committed by the caller."""
        for start in sorted(self._dirty_chunks):
            self._write_chunk("url_inlinks", start, self._inlinks[start : start + self._chunk].tobytes())
        self._dirty_chunks.clear()

    def _write_chunk(self, table: str, first_id: int, data: bytes) -> None:
        self._database.write(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (first_id, data))

    def save_sorted(self, least: int) -> None:
        """Write a copy of the sorted arrays, if at least `least` URLs are not in the one on disk; the next start need
        not sort them."""
        if len(self) - self._saved >= least:
            self._take_in_recent()
            rows = [
                (partition, hashes.tobytes(), ids.tobytes())
                for partition, (hashes, ids) in enumerate(zip(self._hashes, self._ids, strict=True))
            ]
            self._database.write("DELETE FROM url_sorted")
            self._database.write_many("INSERT INTO url_sorted VALUES (?, ?, ?)", rows)
            self._saved = len(self)

    def _load(self, seed: int) -> None:
        saved = self._database.query("SELECT hashes, ids FROM url_sorted ORDER BY partition").fetchall()
        if saved:
            self._hashes = [np.frombuffer(hashes, np.uint64) for hashes, _ in saved]
            self._ids = [np.frombuffer(ids, np.uint32) for _, ids in saved]
            self._starts = _partition_starts(len(saved))
        self._saved = sum(map(len, self._ids))
        (chunks,) = self._database.query("SELECT count(*) FROM url_hashes").fetchone()
        self._sealed = 1 + self._chunk * chunks
        rest = self._load_rest(self._saved + 1, seed)
        self.next_id = self._saved + 1 + len(rest)
        order = rest.argsort()
        self._insert_sorted(rest[order], (order + (self._saved + 1)).astype(np.uint32))
        self._tail = [self._in_order_of_ids(self._sealed)]
        self._inlinks = np.zeros(self.next_id + self._chunk, np.uint8)
        for first_id, data in self._database.query("SELECT first_id, counts FROM url_inlinks"):
            counts = np.frombuffer(data, np.uint8)[: len(self._inlinks) - first_id]
            self._inlinks[first_id : first_id + len(counts)] = counts

    def _load_rest(self, first_id: int, seed: int) -> U64:
        """Returns the hashes of all ids from `first_id` on, in the order of ids, from the chunks and from `urls`."""
        parts = []
        at = (first_id - 1) // self._chunk * self._chunk + 1
        for chunk in _chunks(self._database, at):
            parts.append(chunk[max(0, first_id - at) :])
            at += self._chunk
        return np.concatenate([*parts, self._tail_hashes(max(first_id, self._sealed), seed)])

    def _tail_hashes(self, first_id: int, seed: int) -> U64:
        rows = self._database.query("SELECT url FROM urls WHERE id >= ? ORDER BY id", (first_id,))
        return np.fromiter((self._hash_of(url, seed) for (url,) in rows), np.uint64)

    def _in_order_of_ids(self, first_id: int) -> U64:
        """Returns the hashes of all ids from `first_id` on, in the order of ids, from the sorted arrays."""
        hashes = np.empty(self.next_id - first_id, np.uint64)
        for known, ids in zip(self._hashes, self._ids, strict=True):
            late = np.flatnonzero(ids >= first_id)
            hashes[ids[late] - np.uint32(first_id)] = known[late]
        return hashes

    def _insert_sorted(self, hashes: U64, ids: U32) -> None:
        for partition, start, end in self._slices(hashes):
            self._hashes[partition], self._ids[partition] = _merged(
                self._hashes[partition], self._ids[partition], hashes[start:end], ids[start:end]
            )
        self._split()

    def _take_in_recent(self) -> None:
        self._insert_sorted(*self._recent)
        self._recent = (np.empty(0, np.uint64), np.empty(0, np.uint32))

    def _split(self) -> None:
        """Cut all partitions in two, until they are small enough or there are as many as allowed."""
        while len(self) > _PARTITION_SIZE * len(self._hashes) and len(self._hashes) < 1 << _MOST_PARTITION_BITS:
            self._starts = _partition_starts(2 * len(self._hashes))
            middles = [
                int(hashes.searchsorted(start)) for hashes, start in zip(self._hashes, self._starts[1::2], strict=True)
            ]
            self._hashes = _cut_in_two(self._hashes, middles)
            self._ids = _cut_in_two(self._ids, middles)

    def _slices(self, ordered: U64) -> list[tuple[int, int, int]]:
        """Returns which stretch of a sorted array belongs to which partition: (partition, start, end), none empty."""
        starts = ordered.searchsorted(self._starts)
        ends = np.append(starts[1:], len(ordered))
        filled = np.flatnonzero(ends > starts)
        return list(zip(filled.tolist(), starts[filled].tolist(), ends[filled].tolist(), strict=True))


def _look_up(known: U64, ids: U32, wanted: U64, found: U32) -> None:
    """Set `found[i]` to the id of `wanted[i]`, where that is among the sorted hashes `known`, whose ids are `ids`."""
    if compiled is not None:
        compiled.look_up(known, ids, wanted, found)
    else:
        look_up_by_numpy(known, ids, wanted, found)


def look_up_by_numpy(known: U64, ids: U32, wanted: U64, found: U32) -> None:
    """As `_look_up`, which the compiled module does where there is one."""
    if len(known):
        places = known.searchsorted(wanted)
        places[places == len(known)] = 0
        hits = known[places] == wanted
        found[hits] = ids[places[hits]]


def _merged(hashes: U64, ids: U32, more_hashes: U64, more_ids: U32) -> tuple[U64, U32]:
    """Returns two sorted arrays of hashes as one, and their ids in the same order."""
    if compiled is None:
        return merged_by_numpy(hashes, ids, more_hashes, more_ids)
    both = compiled.merged_hashes(hashes, ids, more_hashes, more_ids)
    return np.frombuffer(both[0], np.uint64), np.frombuffer(both[1], np.uint32)


def merged_by_numpy(hashes: U64, ids: U32, more_hashes: U64, more_ids: U32) -> tuple[U64, U32]:
    """As `_merged`, which the compiled module does where there is one."""
    places = hashes.searchsorted(more_hashes)
    return np.insert(hashes, places, more_hashes), np.insert(ids, places, more_ids)


def _partition_starts(partitions: int) -> U64:
    return np.arange(partitions, dtype=np.uint64) * np.uint64((1 << 64) // partitions if partitions > 1 else 0)


def _cut_in_two(arrays: list[_Array], middles: list[int]) -> list[_Array]:
    return [
        part.copy()  # else each half, a view, would keep the whole array in memory
        for array, middle in zip(arrays, middles, strict=True)
        for part in (array[:middle], array[middle:])
    ]


def _chunks(database: Database, first_id: int = 1) -> Iterator[U64]:
    for (data,) in database.query("SELECT hashes FROM url_hashes WHERE first_id >= ? ORDER BY first_id", (first_id,)):
        yield np.frombuffer(data, np.uint64)


def ids_of_hashes(database: Database, wanted: U64, seed: int, chunk: int = CHUNK) -> dict[int, int]:
    """Returns hash → id, for those of the hashes whose URLs are known. It needs no `UrlSeen`."""
    found: dict[int, int] = {}
    first_id = 1
    for hashes in _chunks(database):
        hits = np.flatnonzero(np.isin(hashes, wanted))
        found.update(zip(hashes[hits].tolist(), (first_id + hits).tolist(), strict=True))
        first_id += chunk
    asked = set(wanted.tolist())
    for url_id, text in database.query("SELECT id, url FROM urls WHERE id >= ?", (first_id,)):
        if (hash_of_url := row_hash(text, seed)) in asked:
            found[hash_of_url] = url_id
    return found
