"""Which documents share a key: the index behind near-duplicates, resident.

An entry is eight bytes: 32 bits of a key, and the document's id. It stands in one of `PARTITIONS` sorted arrays, chosen
by the key's highest bits; so a look-up is a binary search in an array of moderate size, and the documents of a key
stand side by side in the order of their ids. 38 bits of a key count in all: what they take for equal is compared by
its owner anyway.

New entries go into one short array, sorted by key and id, and from there into those of the partitions when they are
enough to be worth the copying. So adding stays cheap, and a look-up asks two arrays at any size.
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
_RECENT_SHARE = 8  # of the main run, so that a large one is not copied too often

_NOTHING = np.empty(0, np.uint64)


class BandIndex:
    """Keys are evenly spread 64-bit numbers; ids are given out in ascending order, and fit 32 bits."""

    def __init__(self, recent: int = _RECENT) -> None:
        """`recent`: entries at least, before they go into the main run."""
        self._least_settled = recent
        self._main = [_NOTHING] * PARTITIONS
        self._main_size = 0
        # Sorted by keys, of which nothing is left out, and among equal ones by ids.
        self._recent_keys = _NOTHING
        self._recent_ids = np.empty(0, np.uint32)

    def __len__(self) -> int:
        return self._main_size + len(self._recent_keys)

    def insert(self, keys: U64, ids: U64) -> None:
        """`keys[i]` leads to `ids[i]` from now on; ids are in ascending order, and none is below those before."""
        order = keys.argsort(kind="stable")
        keys = keys[order]
        places = self._recent_keys.searchsorted(keys, "right")
        self._recent_keys = np.insert(self._recent_keys, places, keys)
        self._recent_ids = np.insert(self._recent_ids, places, ids[order].astype(np.uint32))
        if len(self._recent_keys) > max(self._least_settled, self._main_size // _RECENT_SHARE):
            self._settle()

    def find(self, keys: U64, below: U64, most: int) -> tuple[I64, U32]:
        """The documents that each key leads to, of ids below `below[i]`, the `most` oldest at most.

        Pairs of a place in `keys` and an id, in no order.
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

    def partitions(self) -> list[U64]:
        """All entries, to be kept elsewhere; `restore` takes them back."""
        self._settle()
        return list(self._main)

    def restore(self, partition: int, entries: U64) -> None:
        self._main_size += len(entries) - len(self._main[partition])
        self._main[partition] = entries

    def _settle(self) -> None:
        entries = ((self._recent_keys << _PARTITION_BITS) & _KEY) | self._recent_ids
        for partition, start, end in _stretches((self._recent_keys >> _TO_PARTITION).astype(np.uint8)):
            new = entries[start:end]
            new.sort()  # by the bits of the keys that are left, and ids
            self._main[partition] = _merged(self._main[partition], new)
        self._main_size += len(entries)
        self._recent_keys, self._recent_ids = _NOTHING, np.empty(0, np.uint32)


def _merged(run: U64, new: U64) -> U64:
    if not len(run):
        return new
    return np.insert(run, run.searchsorted(new), new) if len(new) else run


def _in_run(run: U64, firsts: U64, ends: U64, left: I64) -> tuple[I64, I64]:
    """Pairs of a place in `firsts` and one in the run; `left` is how many are still wanted, and is counted down."""
    if not len(run):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    begins = run.searchsorted(firsts)
    # What stands before `firsts`, at the end of the run, is far above it as an unsigned difference.
    hit = np.flatnonzero(run[np.minimum(begins, len(run) - 1)] - firsts < ends - firsts)
    begin = begins[hit]
    counts = np.minimum(run.searchsorted(ends[hit]) - begin, left[hit])
    left[hit] -= counts
    return _spread(hit, begin, counts)


def _spread(hit: I64, begin: I64, counts: I64) -> tuple[I64, I64]:
    """Each of `hit` as often as `counts` says, beside the places that follow its `begin`."""
    shifts = np.cumsum(counts) - counts
    return np.repeat(hit, counts), np.arange(int(counts.sum())) + np.repeat(begin - shifts, counts)


def _stretches(partitions: NDArray[np.uint8]) -> Iterator[tuple[int, int, int]]:
    """The stretches of a sorted array: (partition, start, end)."""
    bounds = np.searchsorted(partitions, np.arange(PARTITIONS + 1))
    for partition in np.flatnonzero(bounds[1:] > bounds[:-1]).tolist():
        yield partition, int(bounds[partition]), int(bounds[partition + 1])
