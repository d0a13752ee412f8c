"""The entries of a store, in columns, sorted; and a block of them as bytes.

A block begins with a header: how many entries it has, how many bytes a step from one key to the next takes, how many
an id or a length takes, and the first key. Keys with ids are packed as `packing.py` says: behind the header come the
lowest id and the length of the row of bits, then that row, the lower bits of the keys, and the ids. Of keys with values
there come the steps, the lengths and the values, all compressed. `PACKED` in the second field tells such blocks from
those of earlier releases, which had steps and ids in whole bytes, and compressed nothing; they are read as they are.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from pycrawl.errors import StateError
from pycrawl.native import compiled
from pycrawl.state.runs import packing
from pycrawl.state.runs.packing import DAMAGED

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]

BLOCK_BYTES = 4_040  # with the header of its row, a page of 4 KiB
HEADER = struct.Struct("<HBBQ")  # entries, bytes of a step or lower bits, bytes of a length or bits of an id, first key
PACKED = 0x80  # in the second field: what follows is packed
_ROW = struct.Struct("<II")  # the lowest id, bytes of the row of bits
_SLACK = 0.99  # what is guessed of the entries that fit, at each further guess
MOST_ENTRIES = (1 << 16) - 1
_WORD = 8  # bytes of a key
_SECOND = 2  # where the second field of the header is


class Entries(Protocol):
    """What merging needs to know of entries: they are sorted, and can be cut, merged and packed."""

    @property
    def keys(self) -> U64: ...

    def __len__(self) -> int: ...

    def part(self, begin: int, end: int) -> Self:
        """Returns the entries from place `begin` to before `end`."""

    def place_after(self, key: int, entry_id: int) -> int:
        """Returns the place of the first entry that lies behind (key, id)."""

    def first(self) -> tuple[int, int]:
        """Returns (key, id) of the first entry."""

    def last(self) -> tuple[int, int]:
        """Returns (key, id) of the last entry."""

    def is_sorted(self) -> bool:
        """True if the entries ascend strictly."""

    def ends(self, block_bytes: int) -> list[int]:
        """Returns where each block ends, if the entries are cut into blocks of at most so many bytes."""

    def pack(self) -> bytes:
        """Returns the entries as one block."""

    @classmethod
    def unpack(cls, block: bytes) -> Self: ...

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Returns the entries of parts that follow each other."""

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        """Returns the entries of all parts, which must be in the order of their age, the oldest first."""


@dataclass(frozen=True, slots=True)
class IdEntries:
    """Keys with ids, by (key, id). A key may have many ids."""

    keys: U64
    ids: U32

    def __len__(self) -> int:
        return len(self.keys)

    def part(self, begin: int, end: int) -> IdEntries:
        return IdEntries(self.keys[begin:end], self.ids[begin:end])

    def place_after(self, key: int, entry_id: int) -> int:
        wanted = np.uint64(key)
        begin, end = int(self.keys.searchsorted(wanted)), int(self.keys.searchsorted(wanted, "right"))
        return begin + int(self.ids[begin:end].searchsorted(np.uint32(entry_id), "right"))

    def first(self) -> tuple[int, int]:
        return int(self.keys[0]), int(self.ids[0])

    def last(self) -> tuple[int, int]:
        return int(self.keys[-1]), int(self.ids[-1])

    def is_sorted(self) -> bool:
        higher, equal = self.keys[1:] > self.keys[:-1], self.keys[1:] == self.keys[:-1]
        return bool(np.all(higher | (equal & (self.ids[1:] > self.ids[:-1]))))

    def ends(self, block_bytes: int) -> list[int]:
        if not len(self):
            return []
        id_bits = packing.bits_of(int(self.ids.max()) - int(self.ids.min()))
        ends: list[int] = []
        begin, count = 0, max(1, block_bytes // _WORD)
        while begin < len(self):
            count = self._fitting(begin, count, id_bits, block_bytes)
            begin += count
            ends.append(begin)
        return ends

    def _fitting(self, begin: int, count: int, id_bits: int, room: int) -> int:
        """Returns how many entries from `begin` on fit a block; `count` is a guess."""
        most = min(len(self) - begin, MOST_ENTRIES)
        count = min(count, most)
        for _ in range(2):
            count = max(1, min(most, int(count * room / self._packed_size(begin, count, id_bits))))
        while count > 1 and self._packed_size(begin, count, id_bits) > room:
            count = int(count * _SLACK)
        return count

    def _packed_size(self, begin: int, count: int, id_bits: int) -> int:
        """Returns how many bytes a block of these entries takes at most."""
        span = int(self.keys[begin + count - 1]) - int(self.keys[begin])
        low = packing.low_bits(span, count)
        row = packing.row_size(span, count, low)
        return HEADER.size + _ROW.size + row + packing.packed_size(count, low) + packing.packed_size(count, id_bits)

    def pack(self) -> bytes:
        if not len(self):
            return HEADER.pack(0, PACKED, 0, 0) + _ROW.pack(0, 0)
        if compiled is not None:
            block: bytes = compiled.pack_ids(self.keys, self.ids)
            return block
        return self.packed_by_numpy()

    def packed_by_numpy(self) -> bytes:
        """As `pack`, which the compiled module does where there is one."""
        first, least = self.keys[0], self.ids.min()
        rest, ids = self.keys - first, (self.ids - least).astype(np.uint64)
        low, id_bits = packing.low_bits(int(rest[-1]), len(self)), packing.bits_of(int(ids.max()))
        row = packing.pack_row(rest, low)
        return b"".join((
            HEADER.pack(len(self), PACKED | low, id_bits, int(first)), _ROW.pack(int(least), len(row)), row,
            packing.pack(rest & np.uint64((1 << low) - 1), low), packing.pack(ids, id_bits),
        ))  # fmt: skip

    @classmethod
    def unpack(cls, block: bytes) -> IdEntries:
        if is_packed(block):
            return cls._unpacked(block) if compiled is not None else cls.unpacked_by_numpy(block)
        keys, id_width, at = unpack_keys(block)
        if len(block) != at + len(keys) * id_width:
            raise StateError(DAMAGED)
        return cls(keys, _wide(block, at, len(keys), id_width).astype(np.uint32))

    @classmethod
    def _unpacked(cls, block: bytes) -> IdEntries:
        try:
            keys, ids = compiled.unpack_ids(block)
        except ValueError as error:
            raise StateError(DAMAGED) from error
        return cls(np.frombuffer(keys, np.uint64), np.frombuffer(ids, np.uint32))

    @classmethod
    def unpacked_by_numpy(cls, block: bytes) -> IdEntries:
        """As `unpack` of a packed block, which the compiled module does where there is one."""
        if len(block) < HEADER.size + _ROW.size:
            raise StateError(DAMAGED)
        count, low, id_bits, first = HEADER.unpack_from(block)
        low -= PACKED
        least, row = _ROW.unpack_from(block, HEADER.size)
        at = HEADER.size + _ROW.size
        keys = packing.unpack_row(block, at, row, count)
        if low:
            keys = (keys << np.uint64(low)) | packing.unpack(block, at + row, count, low)
        at += row + packing.packed_size(count, low)
        ids = packing.unpack(block, at, count, id_bits)
        if len(block) != at + packing.packed_size(count, id_bits):
            raise StateError(DAMAGED)
        return cls(keys + np.uint64(first), (ids + np.uint64(least)).astype(np.uint32))

    @classmethod
    def joined(cls, parts: Sequence[IdEntries]) -> IdEntries:
        return cls(
            np.concatenate([_NO_KEYS, *(part.keys for part in parts)]),
            np.concatenate([_NO_IDS, *(part.ids for part in parts)]),
        )

    @classmethod
    def merged(cls, parts: Sequence[IdEntries]) -> IdEntries:
        with_any = [part for part in parts if len(part)]
        if len(with_any) == 1:
            return with_any[0]
        whole = cls.joined(with_any)
        return sorted_ids(whole.keys, whole.ids, are_parts_sorted=True)


@dataclass(frozen=True, slots=True)
class ValueEntries:
    """Distinct keys in ascending order, each with a value. The values stand one behind the other in `data`: that of
    `keys[i]` from `bounds[i]` to before `bounds[i + 1]`, so there is one bound more than there are keys."""

    keys: U64
    data: bytes
    bounds: I64

    @classmethod
    def of(cls, keys: U64, values: Sequence[bytes]) -> ValueEntries:
        return cls(keys, b"".join(values), _bounds(np.fromiter(map(len, values), np.int64, len(values))))

    def __len__(self) -> int:
        return len(self.keys)

    def values(self, places: Iterable[int]) -> list[bytes]:
        bounds = self.bounds
        return [self.data[bounds[place] : bounds[place + 1]] for place in places]

    def chosen(self, places: I64) -> ValueEntries:
        """Returns the entries at these places, which must ascend."""
        return ValueEntries.of(self.keys[places], self.values(places.tolist()))

    def part(self, begin: int, end: int) -> ValueEntries:
        return ValueEntries(self.keys[begin:end], self.data, self.bounds[begin : max(begin, end) + 1])

    def place_after(self, key: int, entry_id: int) -> int:
        return int(self.keys.searchsorted(np.uint64(key), "right"))

    def first(self) -> tuple[int, int]:
        return int(self.keys[0]), 0

    def last(self) -> tuple[int, int]:
        return int(self.keys[-1]), 0

    def is_sorted(self) -> bool:
        return bool(np.all(self.keys[1:] > self.keys[:-1]))

    def ends(self, block_bytes: int) -> list[int]:
        room = block_bytes - HEADER.size
        lengths = np.diff(self.bounds)
        widths = width_of(np.diff(self.keys)) + width_of(np.array([lengths.max(initial=0)]))
        used = _bounds(lengths + widths)  # bytes of all entries before each place
        ends: list[int] = []
        begin = 0
        while begin < len(self):
            fitting = int(used.searchsorted(used[begin] + room, "right")) - 1
            begin = min(max(fitting, begin + 1), begin + MOST_ENTRIES, len(self))
            ends.append(begin)
        return ends

    def pack(self) -> bytes:
        steps, lengths = np.diff(self.keys), np.diff(self.bounds).astype(np.uint64)
        step_width, length_width = width_of(steps), width_of(lengths)
        header = HEADER.pack(len(self), step_width, length_width, int(self.keys[0]) if len(self) else 0)
        return squeezed(header, narrow(steps, step_width), narrow(lengths, length_width), self._own_data())

    def _own_data(self) -> bytes:
        return self.data[self.bounds[0] : self.bounds[-1]]

    @classmethod
    def unpack(cls, block: bytes) -> ValueEntries:
        block = unsqueezed(block)
        keys, length_width, at = unpack_keys(block)
        lengths = _wide(block, at, len(keys), length_width)
        at += len(keys) * length_width
        if lengths.max(initial=0) > len(block):  # so that their sum is one
            raise StateError(DAMAGED)
        bounds = _bounds(lengths.astype(np.int64)) + at
        if bounds[-1] != len(block):
            raise StateError(DAMAGED)
        return cls(keys, block, bounds)

    @classmethod
    def joined(cls, parts: Sequence[ValueEntries]) -> ValueEntries:
        keys = np.concatenate([_NO_KEYS, *(part.keys for part in parts)])
        lengths = np.concatenate([_NO_LENGTHS, *(np.diff(part.bounds) for part in parts)])
        return cls(keys, b"".join([part._own_data() for part in parts]), _bounds(lengths))

    @classmethod
    def merged(cls, parts: Sequence[ValueEntries]) -> ValueEntries:
        whole = cls.joined(parts)
        if whole.is_sorted():
            return whole
        order = whole.keys.argsort(kind="stable")  # of equal keys the youngest is the last
        keys = whole.keys[order]
        is_last = np.ones(len(keys), np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=is_last[:-1])
        return cls.of(keys[is_last], whole.values(order[is_last].tolist()))


def _bounds(lengths: I64) -> I64:
    """Returns where things of these lengths begin, one behind the other, and where the last one ends."""
    bounds = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return bounds


_NO_KEYS = np.empty(0, np.uint64)
_NO_IDS = np.empty(0, np.uint32)
_NO_LENGTHS = np.empty(0, np.int64)
_SHORT_KEY = np.uint64((1 << 32) - 1)


def sorted_ids(keys: U64, ids: U32, are_parts_sorted: bool = False) -> IdEntries:
    """Returns entries in their order, each once. The ids of equal keys need not ascend. `are_parts_sorted`: they are
    some sorted stretches, which is used to be faster."""
    if len(keys) and keys.max() <= _SHORT_KEY:
        return _sorted_short(keys, ids, are_parts_sorted)
    order = keys.argsort(kind="stable")  # takes advantage of parts that are sorted
    keys, ids = keys[order], ids[order]
    is_equal = keys[1:] == keys[:-1]
    if np.any(ids[1:][is_equal] <= ids[:-1][is_equal]):
        order = np.lexsort((ids, keys))
        keys, ids = keys[order], ids[order]
        is_first = np.ones(len(keys), np.bool_)
        is_first[1:] = (keys[1:] != keys[:-1]) | (ids[1:] != ids[:-1])
        keys, ids = keys[is_first], ids[is_first]
    return IdEntries(keys, ids)


def _sorted_short(keys: U64, ids: U32, are_parts_sorted: bool) -> IdEntries:
    """As `sorted_ids`, where key and id fit into one number together: numpy sorts plain numbers many times faster than
    it sorts places. Its stable sort merges stretches that are sorted, a fifth of the work."""
    both = (keys << np.uint64(32)) | ids
    both.sort(kind="stable" if are_parts_sorted else "quicksort")
    is_first = np.ones(len(both), np.bool_)
    np.not_equal(both[1:], both[:-1], out=is_first[1:])
    if not is_first.all():
        both = both[is_first]
    return IdEntries(both >> np.uint64(32), both.astype(np.uint32))


def width_of(numbers: U64 | U32 | I64) -> int:
    """Returns how many bytes the largest of the numbers takes, at least one."""
    return max(1, (int(numbers.max()).bit_length() + 7) // 8) if len(numbers) else 1


def narrow(numbers: U64 | U32, width: int) -> bytes:
    """Returns numbers as little-endian integers of so many bytes."""
    wide = np.ascontiguousarray(numbers, "<u8").view(np.uint8).reshape(-1, _WORD)
    return wide[:, :width].tobytes()


def _wide(block: bytes, at: int, count: int, width: int) -> U64:
    """Returns `count` integers of `width` bytes each, which begin at a place of the block."""
    if not 1 <= width <= _WORD or at + count * width > len(block):
        raise StateError(DAMAGED)
    wide = np.zeros((count, _WORD), np.uint8)
    wide[:, :width] = np.frombuffer(block, np.uint8, count * width, at).reshape(count, width)
    return wide.view("<u8").reshape(count)


def is_packed(block: bytes) -> bool:
    """True if a block is packed or compressed; those of earlier releases are not."""
    return len(block) >= HEADER.size and block[_SECOND] >= PACKED


def squeezed(header: bytes, *columns: bytes) -> bytes:
    """Returns a block of a header and of columns, which are compressed."""
    marked = bytearray(header)
    marked[_SECOND] |= PACKED
    return bytes(marked) + packing.squeezed(b"".join(columns))


def unsqueezed(block: bytes) -> bytes:
    """Returns a block as it was before `squeezed`."""
    if not is_packed(block):
        return block
    header = bytearray(block[: HEADER.size])
    header[_SECOND] ^= PACKED
    return bytes(header) + packing.unsqueezed(block[HEADER.size :])


def unpack_keys(block: bytes) -> tuple[U64, int, int]:
    """Returns the keys of a block, the bytes of an id or length, and where the column behind the keys begins."""
    if len(block) < HEADER.size:
        raise StateError(DAMAGED)
    count, step_width, other_width, first = HEADER.unpack_from(block)
    keys = np.empty(count, np.uint64)
    steps = max(count - 1, 0)
    keys[:1] = first
    keys[1:] = _wide(block, HEADER.size, steps, step_width)
    np.cumsum(keys, out=keys)
    return keys, other_width, HEADER.size + steps * step_width
