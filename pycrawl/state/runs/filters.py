"""Bloom filters of a run's segments: tell for many keys at once which of them a run may have.

A filter is a bit array. Each key sets `_PROBES` bits of it; a key with one of its bits not set is not there. With
eight bits for each key, one key in forty that is not there seems to be; with sixteen, one in four hundred.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pycrawl.state.runs.entries import I64, U64

_PROBES = 4
_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)  # spreads keys that are not random, such as ids, over all bits
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFF_FFFF)
_BYTE_BITS = 8
_GROWTH_SHARE = 8  # of an array that is full, 1/8 more room


class SegmentFilters:
    """The filters of the segments of a run, one behind the other in one array. It has room to grow, as a merge appends
    a segment with each commit, and the whole may be large."""

    __slots__ = ("_room", "_used", "sizes", "starts")

    def __init__(self) -> None:
        self._room: NDArray[np.uint8] = np.empty(0, np.uint8)
        self._used = 0
        self.starts: I64 = np.empty(0, np.int64)  # by segment: where in `data` its filter begins
        self.sizes: I64 = np.empty(0, np.int64)  # by segment: bytes

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def data(self) -> NDArray[np.uint8]:
        return self._room[: self._used]

    def append(self, parts: Sequence[bytes]) -> None:
        sizes = np.array([len(part) for part in parts], np.int64)
        self._make_room(int(sizes.sum()))
        self.starts = np.append(self.starts, self._used + np.cumsum(sizes) - sizes)
        self.sizes = np.append(self.sizes, sizes)
        for part in parts:
            self._room[self._used : self._used + len(part)] = np.frombuffer(part, np.uint8)
            self._used += len(part)

    def drop_first(self) -> None:
        self.starts, self.sizes = self.starts[1:], self.sizes[1:]
        begin = int(self.starts[0]) if len(self) else self._used
        if begin > self._used // 2:
            self._move(begin, self._used - begin)

    def bytes_held(self) -> int:
        return self._room.nbytes

    def _make_room(self, more: int) -> None:
        if self._used + more > len(self._room):
            self._move(0, self._used + more + (self._used // _GROWTH_SHARE))

    def _move(self, begin: int, room: int) -> None:
        """Move what stands from `begin` on to a new array with so much room."""
        moved = np.empty(room, np.uint8)
        moved[: self._used - begin] = self._room[begin : self._used]
        self._room, self._used = moved, self._used - begin
        self.starts = self.starts - begin


def made(keys: U64, bits_for_each: int) -> bytes:
    """Returns the filter of keys."""
    size = max(1, len(keys) * bits_for_each // _BYTE_BITS)
    bits = np.zeros(size * _BYTE_BITS, np.bool_)
    for probe in range(_PROBES):
        bits[_place(keys, probe, np.uint64(size * _BYTE_BITS))] = True
    return np.packbits(bits, bitorder="little").tobytes()


def may_have(keys: U64, filters: NDArray[np.uint8], starts: I64, sizes: I64) -> I64:
    """Returns the places of the keys that may be in their filters: that of `keys[i]` begins at byte `starts[i]` of
    `filters` and has `sizes[i]` bytes."""
    found = np.arange(len(keys))  # the places of keys that all bits so far are set of
    for probe in range(_PROBES):
        place = _place(keys, probe, sizes.astype(np.uint64) * np.uint64(_BYTE_BITS))
        byte = filters[starts + (place >> np.uint64(3)).astype(np.int64)]
        is_set = np.flatnonzero((byte >> (place & np.uint64(7)).astype(np.uint8)) & 1)
        found, keys, starts, sizes = found[is_set], keys[is_set], starts[is_set], sizes[is_set]
    return found


def _place(keys: U64, probe: int, bits: U64 | np.uint64) -> U64:
    """Returns the bit that the probe of this number looks at, for each key."""
    mixed = keys * _MIX
    step = (mixed & _LOW) | np.uint64(1)
    return ((((mixed >> _HALF) + np.uint64(probe) * step) & _LOW) * bits) >> _HALF
