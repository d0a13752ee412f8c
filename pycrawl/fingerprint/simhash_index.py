"""An index of simhashes: finds all that differ from a given one in at most three bits, without comparing it to each.

A simhash is cut into four blocks of 16 bits; if three bits differ, at least one block is equal. So there are four
tables, each sorted by one block, and a look-up compares the simhash only with those that share a block: about 4/65,536
of all. A table holds the whole simhashes, rotated so that the table's block stands at the top; so those that share the
block lie side by side.

New entries wait in a short unsorted run, then go into a recent sorted run, and from there into the main run when there
are enough of them. So adding stays cheap, and a look-up asks three runs at any size. An entry takes 64 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pycrawl.fingerprint.simhash import distances

_Hashes = NDArray[np.uint64]
_Ids = NDArray[np.int64]

MOST_DISTANCE = 3  # bits

_BLOCK = 16  # bits
_TURNS = range(0, 64, _BLOCK)
_BELOW_BLOCK = 64 - _BLOCK
_BUCKETS = 1 << _BLOCK
_WAITING = 2_048  # entries that a look-up compares one by one, in about 3 µs
_RECENT = 65_536  # entries at least, before they go into the main run
_RECENT_SHARE = 8  # the recent run grows to 1/8 of the main run, so that a large one is not sorted again too often
_PAIRS_AT_ONCE = 1 << 20  # candidates that `find_many` has in memory


@dataclass(frozen=True, slots=True)
class _Table:
    """One run sorted by one block. Bucket b, the simhashes with block b, is `turned[begins[b]:begins[b + 1]]`."""

    turned: _Hashes  # rotated so that the block stands at the top
    ids: _Ids  # of the documents, in the same order
    begins: _Ids  # where each bucket begins, and the end

    @classmethod
    def of(cls, turned: _Hashes, ids: _Ids) -> _Table:
        order = np.argsort(turned, kind="stable")  # two sorted halves are merged in linear time
        turned = turned[order]
        begins = np.zeros(_BUCKETS + 1, dtype=np.int64)
        np.cumsum(np.bincount((turned >> np.uint64(_BELOW_BLOCK)).view(np.int64), minlength=_BUCKETS), out=begins[1:])
        return cls(turned, ids[order], begins)

    def merged(self, other: _Table) -> _Table:
        return _Table.of(np.concatenate((self.turned, other.turned)), np.concatenate((self.ids, other.ids)))

    def find(self, turned: int, distance: int) -> _Ids:
        bucket = turned >> _BELOW_BLOCK
        part = slice(self.begins[bucket], self.begins[bucket + 1])
        return self.ids[part][distances(turned, self.turned[part]) <= distance]

    def find_many(self, turned: _Hashes, distance: int, pairs_at_once: int) -> Iterator[tuple[_Ids, _Ids]]:
        """Yields pairs (place in `turned`, id of a simhash near it), in portions of about
        `pairs_at_once` candidates."""
        bucket = (turned >> np.uint64(_BELOW_BLOCK)).view(np.int64)
        begins = self.begins[bucket]
        counts = self.begins[bucket + 1] - begins
        portion = np.cumsum(counts) // pairs_at_once
        for asked in np.split(np.arange(len(turned)), np.flatnonzero(np.diff(portion)) + 1):
            count = counts[asked]
            first = np.cumsum(count) - count
            places = np.arange(int(count.sum())) + np.repeat(begins[asked] - first, count)
            asked = np.repeat(asked, count)
            near = np.bitwise_count(self.turned[places] ^ turned[asked]) <= distance
            yield asked[near], self.ids[places[near]]


class SimhashIndex:
    """Simhashes with the ids of their documents, in memory. Texts without words must not be added: all are alike."""

    def __init__(self, recent: int = _RECENT) -> None:
        """`recent`: entries that the recent run has at least, before it goes into the main run."""
        self._least_merged = recent
        self._main = _tables(np.empty(0, np.uint64), np.empty(0, np.int64))
        self._recent = self._main
        self._waiting_hashes = np.empty(_WAITING, np.uint64)
        self._waiting_ids = np.empty(_WAITING, np.int64)
        self._waiting = 0

    def __len__(self) -> int:
        return len(self._main[0].ids) + len(self._recent[0].ids) + self._waiting

    def add(self, document_id: int, simhash: int) -> None:
        if self._waiting == _WAITING:
            self._sort_waiting()
        self._waiting_hashes[self._waiting] = simhash
        self._waiting_ids[self._waiting] = document_id
        self._waiting += 1

    def extend(self, document_ids: _Ids, simhashes: _Hashes) -> None:
        if len(document_ids) != len(simhashes):
            raise ValueError(f"expected an id for each of {len(simhashes)} simhashes, found {len(document_ids)}")
        self._sort_waiting()
        self._sort_in(_tables(simhashes, document_ids))

    def find(self, simhash: int, distance: int = MOST_DISTANCE) -> _Ids:
        """Returns the ids of all simhashes that differ in at most `distance` bits, in ascending order."""
        _check(distance)
        waiting = slice(self._waiting)
        found = [self._waiting_ids[waiting][distances(simhash, self._waiting_hashes[waiting]) <= distance]]
        for turn, main, recent in zip(_TURNS, self._main, self._recent, strict=True):
            turned = ((simhash << turn) | (simhash >> (64 - turn))) & 0xFFFF_FFFF_FFFF_FFFF
            found += (main.find(turned, distance), recent.find(turned, distance))
        ids = np.concatenate(found)
        return np.unique(ids) if len(ids) > 1 else ids

    def find_many(
        self, simhashes: _Hashes, distance: int = MOST_DISTANCE, pairs_at_once: int = _PAIRS_AT_ONCE
    ) -> tuple[_Ids, _Ids]:
        """Returns all pairs (place in `simhashes`, id of a simhash within `distance` bits of it), sorted and distinct.

        `pairs_at_once` bounds the candidates in memory.
        """
        _check(distance)
        self._sort_waiting()
        pairs = [
            pair
            for turn, *tables in zip(_TURNS, self._main, self._recent, strict=True)
            for table in tables
            for pair in table.find_many(_turn(simhashes, turn), distance, pairs_at_once)
        ]
        asked, ids = (np.concatenate(part) for part in zip(*pairs, strict=True))
        order = np.lexsort((ids, asked))
        asked, ids = asked[order], ids[order]
        is_new = np.ones(len(ids), dtype=np.bool_)  # a pair that shares several blocks was found in several tables
        is_new[1:] = (asked[1:] != asked[:-1]) | (ids[1:] != ids[:-1])
        return asked[is_new], ids[is_new]

    def _sort_waiting(self) -> None:
        if self._waiting:
            waiting = slice(self._waiting)
            self._sort_in(_tables(self._waiting_hashes[waiting], self._waiting_ids[waiting]))
            self._waiting = 0

    def _sort_in(self, new: tuple[_Table, ...]) -> None:
        self._recent = _merged(self._recent, new)
        if len(self._recent[0].ids) > max(self._least_merged, len(self._main[0].ids) // _RECENT_SHARE):
            self._main = _merged(self._main, self._recent)
            self._recent = _tables(np.empty(0, np.uint64), np.empty(0, np.int64))


def _tables(simhashes: _Hashes, ids: _Ids) -> tuple[_Table, ...]:
    return tuple(_Table.of(_turn(simhashes, turn), ids) for turn in _TURNS)


def _merged(run: tuple[_Table, ...], other: tuple[_Table, ...]) -> tuple[_Table, ...]:
    return tuple(one.merged(two) for one, two in zip(run, other, strict=True))


def _turn(simhashes: _Hashes, turn: int) -> _Hashes:
    """Returns the simhashes rotated left by `turn` bits."""
    return (simhashes << np.uint64(turn)) | (simhashes >> np.uint64(-turn % 64))


def _check(distance: int) -> None:
    if not 0 <= distance <= MOST_DISTANCE:
        raise ValueError(f"expected a distance from 0 to {MOST_DISTANCE} bits, found {distance}")
