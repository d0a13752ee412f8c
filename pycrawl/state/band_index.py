"""Which documents share a key: the index behind near-duplicates, resident.

An entry is eight bytes: 32 bits of a key, and the document's id. It stands in one of `PARTITIONS` sorted arrays, chosen
by the key's highest bits; so a look-up is a binary search in an array of moderate size, and the documents of a key
stand side by side in the order of their ids. 38 bits of a key count in all: what they take for equal is compared by
its owner anyway.

There are two runs of each array: new entries go into the short recent one, which goes into the main one when it is
worth the copying. So adding stays cheap, and a look-up asks two runs at any size.
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

    def __init__(self) -> None:
        self._main = [_NOTHING] * PARTITIONS
        self._recent = [_NOTHING] * PARTITIONS
        self._main_size = self._recent_size = 0

    def __len__(self) -> int:
        return self._main_size + self._recent_size

    def insert(self, keys: U64, ids: U64) -> None:
        """`keys[i]` leads to `ids[i]` from now on."""
        entries = ((keys << _PARTITION_BITS) & _KEY) | ids
        order = entries.argsort()
        partitions = (keys >> _TO_PARTITION).astype(np.uint8)[order]
        by_partition = partitions.argsort(kind="stable")
        entries = entries[order[by_partition]]
        for partition, start, end in _stretches(partitions[by_partition]):
            self._recent[partition] = _merged(self._recent[partition], entries[start:end])
        self._recent_size += len(entries)
        if self._recent_size > max(_RECENT, self._main_size // _RECENT_SHARE):
            self._settle()

    def find(self, keys: U64, below: U64, most: int) -> tuple[I64, U32]:
        """The documents that each key leads to, of ids below `below[i]`, the `most` oldest at most.

        Pairs of a place in `keys` and an id, in no order.
        """
        partitions = (keys >> _TO_PARTITION).astype(np.uint8)
        order = keys.argsort()
        firsts = ((keys << _PARTITION_BITS) & _KEY)[order]
        ends = firsts | below[order]
        places: list[I64] = []
        found: list[U64] = []
        for partition, start, end in _stretches(partitions[order]):
            left = np.full(end - start, most)
            for run in (self._main[partition], self._recent[partition]):  # the older ids are in the main run
                asked, hits = _in_run(run, firsts[start:end], ends[start:end], left)
                if len(asked):
                    places.append(order[start + asked])
                    found.append(run[hits])
        if not found:
            return np.empty(0, np.int64), np.empty(0, np.uint32)
        return np.concatenate(places), (np.concatenate(found) & _ID).astype(np.uint32)

    def partitions(self) -> list[U64]:
        """All entries, to be kept elsewhere; `restore` takes them back."""
        self._settle()
        return list(self._main)

    def restore(self, partition: int, entries: U64) -> None:
        self._main_size += len(entries) - len(self._main[partition])
        self._main[partition] = entries

    def _settle(self) -> None:
        for partition, recent in enumerate(self._recent):
            self._main[partition] = _merged(self._main[partition], recent)
        self._main_size += self._recent_size
        self._recent = [_NOTHING] * PARTITIONS
        self._recent_size = 0


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
    shifts = np.cumsum(counts) - counts
    return np.repeat(hit, counts), np.arange(int(counts.sum())) + np.repeat(begin - shifts, counts)


def _stretches(partitions: NDArray[np.uint8]) -> Iterator[tuple[int, int, int]]:
    """The stretches of a sorted array: (partition, start, end)."""
    bounds = np.searchsorted(partitions, np.arange(PARTITIONS + 1))
    for partition in np.flatnonzero(bounds[1:] > bounds[:-1]).tolist():
        yield partition, int(bounds[partition]), int(bounds[partition + 1])
