"""The ids of one key in a store of sorted runs, for commands beside a crawl that ask for one only.

This does without numpy: to load it would take longer than the rest of such a command. `entries.py` says how a block is
packed, `__init__.py` what is true of runs.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from itertools import accumulate

from pycrawl.errors import StateError
from pycrawl.state.database import Database

_SIGN = 1 << 63
_BLOCK_BITS = 12
_HEADER = struct.Struct("<HBBQ")
_DAMAGED = "a block of sorted entries is damaged. Put back a copy, or start anew."


def ids_of(database: Database, store: int, key: int) -> list[int]:
    """Returns the ids of a key in the store with this number, in ascending order."""
    found: list[int] = []
    with database.one_view():
        segments = database.query(
            "SELECT sorted_segments.id, fences, floor_key, floor_id FROM sorted_runs"
            " JOIN sorted_segments ON run_id = sorted_runs.id WHERE store = ? AND first <= ? AND last >= ?",
            (store, key - _SIGN, key - _SIGN),
        ).fetchall()
        for segment_id, packed, floor_key, floor_id in segments:
            floor = (-1, 0) if floor_key is None else (floor_key + _SIGN, floor_id)
            fences = memoryview(packed).cast("Q")
            for number in range(max(0, bisect_left(fences, key) - 1), bisect_right(fences, key)):
                row = database.query(
                    "SELECT data FROM sorted_blocks WHERE id = ?", ((segment_id << _BLOCK_BITS) + number,)
                ).fetchone()
                found += [one for one in _in_block(row[0] if row else b"", key) if (key, one) > floor]
    return sorted(found)


def _in_block(block: bytes, key: int) -> list[int]:
    if len(block) < _HEADER.size:
        raise StateError(_DAMAGED)
    count, step_width, id_width, first = _HEADER.unpack_from(block)
    middle = _HEADER.size + max(count - 1, 0) * step_width
    if len(block) != middle + count * id_width:
        raise StateError(_DAMAGED)
    keys = list(accumulate(_numbers(block, _HEADER.size, middle, step_width), initial=first))[:count]
    begin, end = bisect_left(keys, key), bisect_right(keys, key)
    return _numbers(block, middle + begin * id_width, middle + end * id_width, id_width)


def _numbers(block: bytes, begin: int, end: int, width: int) -> list[int]:
    return [int.from_bytes(block[at : at + width], "little") for at in range(begin, end, max(1, width))]
