"""Key → a record of fixed length: a dictionary in sorted runs, in arrays. A record that is put under a key replaces the
one before.

It does what `ValueRuns` does. But a look at all records of ten million pages takes seconds here, as no object is made
for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pycrawl.errors import StateError
from pycrawl.state.database import Database
from pycrawl.state.runs.entries import (
    HEADER,
    MOST_ENTRIES,
    U64,
    is_packed,
    narrow,
    squeezed,
    unpack_keys,
    unsqueezed,
    width_of,
)
from pycrawl.state.runs.merging import DEFAULT_SIZES, MergeSizes, merge, scan
from pycrawl.state.runs.packing import DAMAGED
from pycrawl.state.runs.tables import Run, RunTable, Store

Rows = NDArray[np.uint8]  # one row of bytes for each key

_NO_KEYS = np.empty(0, np.uint64)
_NO_ROWS = np.empty((0, 0), np.uint8)


@dataclass(frozen=True, slots=True)
class FixedEntries:
    """Distinct keys in ascending order, each with a row of bytes; all rows are equally long."""

    keys: U64
    rows: Rows

    def __len__(self) -> int:
        return len(self.keys)

    def part(self, begin: int, end: int) -> FixedEntries:
        return FixedEntries(self.keys[begin:end], self.rows[begin:end])

    def place_after(self, key: int, entry_id: int) -> int:
        return int(self.keys.searchsorted(np.uint64(key), "right"))

    def first(self) -> tuple[int, int]:
        return int(self.keys[0]), 0

    def last(self) -> tuple[int, int]:
        return int(self.keys[-1]), 0

    def is_sorted(self) -> bool:
        return bool(np.all(self.keys[1:] > self.keys[:-1]))

    def ends(self, block_bytes: int) -> list[int]:
        size = width_of(np.diff(self.keys)) + self.rows.shape[1]
        count = max(1, min((block_bytes - HEADER.size) // size, MOST_ENTRIES))
        return [min(begin + count, len(self)) for begin in range(0, len(self), count)]

    def pack(self) -> bytes:
        steps = np.diff(self.keys)
        width = width_of(steps)
        header = HEADER.pack(len(self), width, self.rows.shape[1], int(self.keys[0]) if len(self) else 0)
        return squeezed(header, narrow(steps, width), self.rows.T.tobytes())  # equal columns of rows compress well

    @classmethod
    def unpack(cls, block: bytes) -> FixedEntries:
        whole = unsqueezed(block)
        keys, length, at = unpack_keys(whole)
        if len(whole) != at + len(keys) * length:
            raise StateError(DAMAGED)
        rows = np.frombuffer(whole, np.uint8, offset=at)
        if is_packed(block):
            return cls(keys, np.ascontiguousarray(rows.reshape(length, len(keys)).T))
        return cls(keys, rows.reshape(len(keys), length))

    @classmethod
    def joined(cls, parts: Sequence[FixedEntries]) -> FixedEntries:
        filled = [part for part in parts if len(part)]
        if not filled:
            return cls(_NO_KEYS, _NO_ROWS)
        return cls(np.concatenate([part.keys for part in filled]), np.concatenate([part.rows for part in filled]))

    @classmethod
    def merged(cls, parts: Sequence[FixedEntries]) -> FixedEntries:
        whole = cls.joined(parts)
        if whole.is_sorted():
            return whole
        order = whole.keys.argsort(kind="stable")  # of equal keys the youngest is the last
        keys = whole.keys[order]
        is_last = np.ones(len(keys), np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=is_last[:-1])
        return cls(keys[is_last], whole.rows[order[is_last]])


FixedStore = Store[FixedEntries]


class FixedRuns:
    """What is put is written at once, in the transaction of the caller."""

    def __init__(
        self, database: Database, store: FixedStore, sizes: MergeSizes = DEFAULT_SIZES, with_filters: bool = True
    ) -> None:
        """`with_filters`: as in `RunTable`."""
        self.table = RunTable(database, store, with_filters)
        self._sizes = sizes

    def put(self, keys: U64, rows: Rows) -> None:
        """Write records, and merge in proportion; to be committed by the caller. The keys ascend strictly."""
        if len(keys):
            self.table.append(self.table.begin_run(0), FixedEntries(keys, rows))
            merge(self.table, len(keys), self._sizes)

    def get(self, keys: U64) -> tuple[U64, Rows]:
        """Returns those of the keys that have a record, in ascending order, and beside them the records."""
        left = np.unique(keys)
        found: list[FixedEntries] = []
        for run in reversed(self.table.runs):  # the youngest first
            if not len(left):
                break
            here = self._in_run(run, left)
            if len(here):
                found.append(here)
                left = left[~np.isin(left, here.keys)]
        whole = FixedEntries.merged(found)
        return whole.keys, whole.rows

    def _in_run(self, run: Run, keys: U64) -> FixedEntries:
        wanted = keys[run.may_have(keys)]
        numbers = np.unique(run.fences.searchsorted(wanted, "right") - 1)
        ids = run.block_ids[numbers[numbers >= 0]].tolist()
        blocks = dict(self.table.blocks(ids))
        if len(blocks) < len(ids):
            raise StateError(DAMAGED)
        parts = []
        for block_id in ids:
            block = self.table.live(run, blocks[block_id])
            places = np.flatnonzero(np.isin(block.keys, wanted))
            parts.append(FixedEntries(block.keys[places], block.rows[places]))
        return FixedEntries.joined(parts)

    def portions(self) -> Iterator[FixedEntries]:
        """Yields all records that count, by ascending key, in portions."""
        return scan(self.table, blocks_read=256)

    def bytes_held(self) -> int:
        """Returns how many bytes memory holds of the store."""
        return sum(run.bytes_held() for run in self.table.runs)

    def remove(self, keys: U64) -> None:
        """Remove keys with all records that they ever had; to be committed by the caller."""
        gone = np.unique(keys)
        for run in self.table.runs:
            numbers = np.unique(run.fences.searchsorted(gone, "right") - 1)
            for block_id, entries in list(self.table.blocks(run.block_ids[numbers[numbers >= 0]].tolist())):
                is_kept = ~np.isin(entries.keys, gone)
                if not is_kept.all():
                    self.table.rewrite(block_id, FixedEntries(entries.keys[is_kept], entries.rows[is_kept]))
