"""The ids of one key in a store of sorted runs, for who asks for one key at a time.

This does without numpy: to load it would take longer than the rest of a command that asks for one only. `entries.py`
says how a block is packed, `filters.py` which bits of a filter a key sets, `__init__.py` what is true of runs.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from pycrawl.errors import StateError
from pycrawl.native import compiled
from pycrawl.state.database import Database

_SIGN = 1 << 63
_BLOCK_BITS = 12
_HEADER = struct.Struct("<HBBQ")
_PACKED = 0x80
_ROW = struct.Struct("<II")
_KEY = struct.Struct("=Q")
_NUMBER_BYTES = 8
# As in `filters.py`.
_PROBES = 4
_MIX = 0x9E37_79B9_7F4A_7C15
_LOW = 0xFFFF_FFFF
_ALL_KEYS = b"\xff"  # in place of a filter that is not there, or not needed
_DAMAGED = "a block of sorted entries is damaged. Put back a copy, or start anew."


def ids_of(database: Database, store: int, key: int) -> list[int]:
    """Returns the ids of a key in the store with this number, in ascending order."""
    with database.one_view():
        return ids_in_one_view(database, store, key)


def ids_in_one_view(database: Database, store: int, key: int) -> list[int]:
    """As `ids_of`. The caller sees to it that no other process changes the state meanwhile, as inside a transaction."""
    rows = database.query(
        f"SELECT {_SEGMENT}, x'' {_FROM} WHERE store = ? AND first <= ? AND last >= ?",
        (store, key - _SIGN, key - _SIGN),
    ).fetchall()
    return _in_segments(database, [_Segment.of(row) for row in rows], key)


class KeyReader:
    """As `ids_of`, for who asks again and again: most keys are in one run, and the filters tell in which.

    It holds the fences and filters of a store: two bytes for each entry. They are read again when another process has
    committed; so the connection must be one that only reads, as its own commits would not be noticed.

    A large run has hundreds of segments. As each begins where the one before has ended, one or two of a run are asked.
    """

    def __init__(self, database: Database, store: int) -> None:
        self._database = database
        self._store = store
        self._runs: list[_Run] = []
        self._columns: list[tuple[int, bytes, bytes, bytes, bytes]] = []  # of each run, for the compiled module
        self._version = -1  # of the data that the runs were read from; -1: they were not yet

    def ids_of(self, key: int) -> list[int]:
        """Returns the ids of a key, in ascending order."""
        database = self._database
        with database.one_view():
            # This begins the view, so the version is that of all that is read below.
            (version,) = database.query("PRAGMA data_version").fetchone()
            if version != self._version:
                self._runs = _read_runs(database, self._store)
                self._columns = [run.columns() for run in self._runs] if compiled is not None else []
                self._version = version
            return _in_segments(database, _may_have(self._likely(key), key), key)

    def _likely(self, key: int) -> list[_Run]:
        """Returns the runs that may have a key, or all runs where there is no compiled module, which is quicker."""
        if compiled is None:
            return self._runs
        places = compiled.places_in_runs(_KEY.pack(key), self._columns)
        return [run for run, found in zip(self._runs, places, strict=True) if found]


_SEGMENT = "sorted_segments.id, first, last, floor_key, floor_id, fences"
_FROM = "FROM sorted_runs JOIN sorted_segments ON run_id = sorted_runs.id"


class _Segment(NamedTuple):
    id: int
    first: int  # no key in it is lower …
    last: int  # … or higher
    floor: tuple[int, int]  # entries up to this (key, id) have moved to another run
    fences: memoryview[int]
    filter: bytes  # which keys it may have

    @classmethod
    def of(cls, row: Sequence[Any]) -> _Segment:
        segment_id, first, last, floor_key, floor_id, fences, filter_ = row
        if len(fences) % _NUMBER_BYTES:
            raise StateError(_DAMAGED)
        floor = (-1, 0) if floor_key is None else (floor_key + _SIGN, floor_id)
        marks = memoryview(fences).cast("Q")
        return cls(segment_id, first + _SIGN, last + _SIGN, floor, marks, filter_ or _ALL_KEYS)


class _Run(NamedTuple):
    """The segments of a run, in their order."""

    least: int  # no live entry has a lower key
    firsts: list[int]  # by segment: no key in it is lower
    filters: list[tuple[int, bytes, int]]  # by segment: its last key, its filter, and how many bits that has
    segments: list[_Segment]

    def columns(self) -> tuple[int, bytes, bytes, bytes, bytes]:
        """Returns what the compiled module asks of a run (`native/_compiled.pyi`)."""
        filters = [bits for _, bits, _ in self.filters]
        sizes = array("q", map(len, filters))
        starts = array("q", [0, *accumulate(sizes)][:-1])
        return (
            max(self.least, 0),
            array("Q", self.firsts).tobytes(),
            b"".join(filters),
            starts.tobytes(),
            sizes.tobytes(),
        )


def _read_runs(database: Database, store: int) -> list[_Run]:
    rows = database.query(
        f"SELECT run_id, {_SEGMENT}, filter {_FROM} WHERE store = ? ORDER BY sorted_segments.id", (store,)
    )
    runs: dict[int, _Run] = {}
    for run_id, *row in rows:
        segment = _Segment.of(row)
        _, firsts, filters, segments = runs.setdefault(run_id, _Run(segment.floor[0], [], [], []))
        firsts.append(segment.first)
        filters.append((segment.last, segment.filter, 8 * len(segment.filter)))
        segments.append(segment)
    return list(runs.values())


def _may_have(runs: list[_Run], key: int) -> list[_Segment]:
    """Returns the segments that may have a key: all others certainly have not."""
    probe, *probes = _probes(key)
    found = []
    for least, firsts, filters, segments in runs:  # without a call for each: there are a dozen and more
        at = bisect_right(firsts, key)
        while at and key >= least:
            at -= 1
            last, bits, size = filters[at]
            place = probe * size >> 32
            if key <= last and bits[place >> 3] >> (place & 7) & 1:
                for further in probes:
                    place = further * size >> 32
                    if not bits[place >> 3] >> (place & 7) & 1:
                        break
                else:
                    found.append(segments[at])
            if firsts[at] != key:
                break  # else the ids of the key may go on from the segment before
    return found


def _probes(key: int) -> tuple[int, ...]:
    """Returns where a key looks in filters, in parts of 2³² of their length. These must be the bits that
    `filters.made` sets."""
    mixed = key * _MIX
    high, step = mixed >> 32, mixed & _LOW | 1
    return tuple([high + probe * step & _LOW for probe in range(_PROBES)])


def _in_segments(database: Database, segments: list[_Segment], key: int) -> list[int]:
    found: list[int] = []
    for segment in segments:
        if key < segment.floor[0]:
            continue  # all its entries have moved, and their blocks may be gone
        fences = segment.fences
        for number in range(max(0, bisect_left(fences, key) - 1), bisect_right(fences, key)):
            row = database.query(
                "SELECT data FROM sorted_blocks WHERE id = ?", ((segment.id << _BLOCK_BITS) + number,)
            ).fetchone()
            found += [one for one in _in_block(row[0] if row else b"", key) if (key, one) > segment.floor]
    return sorted(found)


def _in_block(block: bytes, key: int) -> list[int]:
    if len(block) < _HEADER.size:
        raise StateError(_DAMAGED)
    count, step_width, id_width, first = _HEADER.unpack_from(block)
    if step_width >= _PACKED:
        return _in_packed(block, key)
    middle = _HEADER.size + max(count - 1, 0) * step_width
    if len(block) != middle + count * id_width or max(step_width, id_width) > _NUMBER_BYTES:
        raise StateError(_DAMAGED)
    keys = list(accumulate(_numbers(block[_HEADER.size : middle], step_width), initial=first))[:count]
    begin, end = bisect_left(keys, key), bisect_right(keys, key)
    return list(_numbers(block[middle + begin * id_width : middle + end * id_width], id_width))


def _in_packed(block: bytes, key: int) -> list[int]:
    """As `_in_block`, for a block as `packing.py` makes it."""
    if len(block) < _HEADER.size + _ROW.size:
        raise StateError(_DAMAGED)
    count, low, id_bits, first = _HEADER.unpack_from(block)
    low -= _PACKED
    least, row = _ROW.unpack_from(block, _HEADER.size)
    at = _HEADER.size + _ROW.size
    lows, ids = at + row, at + row + _packed_size(count, low)
    if len(block) != ids + _packed_size(count, id_bits):
        raise StateError(_DAMAGED)
    wanted = key - first
    if wanted < 0:
        return []
    higher = int.from_bytes(block[at : at + row], "little")
    if higher.bit_count() != count:
        raise StateError(_DAMAGED)
    places = _places(higher, 8 * row, wanted >> low)
    lowest = wanted & (1 << low) - 1
    return [
        least + _packed_number(block, ids, count, id_bits, place)
        for place in places
        if _packed_number(block, lows, count, low, place) == lowest
    ]


def _places(higher: int, bits: int, wanted: int) -> range:
    """Returns the places of the entries with these higher bits: the ones behind the zero with that number, up to the
    next zero."""
    behind = bisect_left(range(bits + 1), wanted, key=lambda end: end - (higher & (1 << end) - 1).bit_count())
    rest = higher >> behind
    ones = (rest + 1 & ~rest).bit_length() - 1
    return range(behind - wanted, behind - wanted + ones)


def _packed_size(count: int, width: int) -> int:
    return count * (width // 8) + (count * (width % 8) + 7) // 8


def _packed_number(block: bytes, at: int, count: int, width: int, place: int) -> int:
    """Returns one of `count` numbers of `width` bits that `packing.pack` has put at a place of the block."""
    whole, rest = divmod(width, 8)
    number = int.from_bytes(block[at + place * whole : at + (place + 1) * whole], "little")
    if rest:
        bit = place * rest
        begin = at + count * whole + bit // 8
        two = int.from_bytes(block[begin : begin + 2], "little")
        number |= (two >> bit % 8 & (1 << rest) - 1) << 8 * whole
    return number


def _numbers(packed: bytes, width: int) -> memoryview[int]:
    """Returns numbers that take `width` bytes each, little-endian. They are widened by copying whole columns of bytes,
    which takes a tenth of the time that reading one after the other does."""
    wide = bytearray(len(packed) // max(1, width) * _NUMBER_BYTES)
    for column in range(width):
        wide[column::_NUMBER_BYTES] = packed[column::width]
    return memoryview(wide).cast("Q")
