"""The index behind near-duplicates: finds the documents that share a key. It is kept in memory.

An entry is eight bytes: 32 bits of a key, and the document's id. It stands in one of `PARTITIONS` sorted arrays, chosen
by the key's highest bits; so a look-up is a binary search in an array of moderate size, and the documents of a key
stand side by side in the order of their ids. Only 38 bits of a key count; so two keys may be taken for equal that are
not, and the caller must compare what it finds.

New entries go into one short array, sorted by key and id, and from there into the partitions when there are enough of
them to be worth the copying. So adding stays cheap, and a look-up asks two arrays at any size.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]

PARTITIONS = 64
_PARTITION_BITS = np.uint64(6)
_TO_PARTITION = np.uint64(64 - 6)
_ID_BITS = np.uint64(32)
_KEY = np.uint64(0xFFFF_FFFF_0000_0000)
_ID = np.uint64(0xFFFF_FFFF)
_RECENT = 1 << 18  # entries at least, before they go into the main run
_RECENT_SHARE = 8  # new entries grow to 1/8 of the main run, so that a large one is not copied too often

_NOTHING = np.empty(0, np.uint64)


class BandIndex:
    """Keys are evenly spread 64-bit numbers; ids are given out in ascending order, and fit 32 bits."""

    def __init__(self, recent: int = _RECENT) -> None:
        """`recent`: new entries that there are at least, before they go into the main run."""
        self._least_settled = recent
        self._main = [_NOTHING] * PARTITIONS
        self._main_size = 0
        # New entries with whole keys, sorted by key, and by id where keys are equal.
        self._recent_keys = _NOTHING
        self._recent_ids = np.empty(0, np.uint32)

    def __len__(self) -> int:
        return self._main_size + len(self._recent_keys)

    def insert(self, keys: U64, ids: U64) -> None:
        """From now on `keys[i]` leads to `ids[i]`. Ids must be ascending, and not below any that was
        inserted before."""
        order = keys.argsort(kind="stable")
        keys = keys[order]
        places = self._recent_keys.searchsorted(keys, "right")
        self._recent_keys = np.insert(self._recent_keys, places, keys)
        self._recent_ids = np.insert(self._recent_ids, places, ids[order].astype(np.uint32))
        if len(self._recent_keys) > max(self._least_settled, self._main_size // _RECENT_SHARE):
            self._settle()

    def find(self, keys: U64, below: U64, most: int) -> tuple[I64, U32]:
        """Look keys up. `keys[i]` finds documents with ids below `below[i]`, at most the `most` oldest.

        Returns pairs (place in `keys`, document id), as two arrays in no particular order.
        """
        order = keys.argsort()
        keys, below = keys[order], below[order]
        left = np.full(len(keys), most)
        places: list[I64] = []
        found: list[U32] = []
        if self._main_size:  # the older ids are there
            for asked, ids in self._in_main(keys, below, left):
                places.append(asked)
                found.append(ids)
        asked, ids = self._in_recent(keys, below, left)
        return order[np.concatenate((*places, asked))], np.concatenate((*found, ids))

    def _in_main(self, keys: U64, below: U64, left: I64) -> Iterator[tuple[I64, U32]]:
        firsts = (keys << _PARTITION_BITS) & _KEY
        ends = firsts | below
        for partition, start, end in _stretches((keys >> _TO_PARTITION).astype(np.uint8)):
            part = slice(start, end)
            run = self._main[partition]
            asked, hits = _in_run(run, firsts[part], ends[part], left[part])
            if len(asked):
                yield start + asked, (run[hits] & _ID).astype(np.uint32)

    def _in_recent(self, keys: U64, below: U64, left: I64) -> tuple[I64, U32]:
        begins = self._recent_keys.searchsorted(keys)
        hit = (
            np.flatnonzero(self._recent_keys.take(begins, mode="clip") == keys)
            if len(self._recent_keys)
            else begins[:0]
        )
        begin = begins[hit]
        counts = np.minimum(self._recent_keys.searchsorted(keys[hit], "right") - begin, left[hit])
        asked, hits = _spread(hit, begin, counts)
        ids = self._recent_ids[hits]
        is_older = ids < below[asked]
        return asked[is_older], ids[is_older]

    def _settle(self) -> None:
        """Move the new entries into the partitions."""
        entries = ((self._recent_keys << _PARTITION_BITS) & _KEY) | self._recent_ids
        for partition, start, end in _stretches((self._recent_keys >> _TO_PARTITION).astype(np.uint8)):
            new = entries[start:end]
            new.sort()  # entries hold fewer bits than the keys: some that were apart are equal now
            self._main[partition] = _merged(self._main[partition], new)
        self._main_size += len(entries)
        self._recent_keys, self._recent_ids = _NOTHING, np.empty(0, np.uint32)


def _merged(run: U64, new: U64) -> U64:
    if not len(run):
        return new
    return np.insert(run, run.searchsorted(new), new) if len(new) else run


def _in_run(run: U64, firsts: U64, ends: U64, left: I64) -> tuple[I64, I64]:
    """Returns pairs (place in `firsts`, place in `run`) of entries from `firsts[i]` to below `ends[i]`, at most
    `left[i]` of them. `left` is counted down by what was found."""
    if not len(run):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    begins = run.searchsorted(firsts)
    # At the end of the run the entry looked at lies below `firsts`: the unsigned difference wraps, and is no hit.
    hit = np.flatnonzero(run[np.minimum(begins, len(run) - 1)] - firsts < ends - firsts)
    begin = begins[hit]
    counts = np.minimum(run.searchsorted(ends[hit]) - begin, left[hit])
    left[hit] -= counts
    return _spread(hit, begin, counts)


def _spread(hit: I64, begin: I64, counts: I64) -> tuple[I64, I64]:
    """Returns two arrays: each `hit[i]` repeated `counts[i]` times, and beside it the places from `begin[i]` on."""
    shifts = np.cumsum(counts) - counts
    return np.repeat(hit, counts), np.arange(int(counts.sum())) + np.repeat(begin - shifts, counts)


def _stretches(partitions: NDArray[np.uint8]) -> Iterator[tuple[int, int, int]]:
    """Yields the non-empty stretches of a sorted array of partition numbers: (partition, start, end)."""
    bounds = np.searchsorted(partitions, np.arange(PARTITIONS + 1))
    for partition in np.flatnonzero(bounds[1:] > bounds[:-1]).tolist():
        yield partition, int(bounds[partition]), int(bounds[partition + 1])
