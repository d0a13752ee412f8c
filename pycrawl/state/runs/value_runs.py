"""Key → bytes: a dictionary in sorted runs. A value that is put under a key replaces the one before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from pycrawl.errors import StateError
from pycrawl.state.database import Database
from pycrawl.state.runs.entries import U64, ValueEntries
from pycrawl.state.runs.merging import DEFAULT_SIZES, MergeSizes, merge, scan
from pycrawl.state.runs.packing import DAMAGED
from pycrawl.state.runs.tables import Run, RunTable, Store

ValueStore = Store[ValueEntries]


class ValueRuns:
    """Values are held in memory by `put` until `flush` writes them; `get` sees them at once."""

    def __init__(
        self, database: Database, store: ValueStore, sizes: MergeSizes = DEFAULT_SIZES, with_filters: bool = True
    ) -> None:
        """`with_filters`: as in `RunTable`."""
        self.table = RunTable(database, store, with_filters)
        self._sizes = sizes
        self._held: dict[int, bytes] = {}

    def put(self, rows: Mapping[int, bytes]) -> None:
        self._held.update(rows)

    def flush(self) -> None:
        """Write what was put, and merge in proportion; to be committed by the caller."""
        if self._held:
            keys = sorted(self._held)
            entries = ValueEntries.of(np.array(keys, np.uint64), [self._held[key] for key in keys])
            self.table.append(self.table.begin_run(0), entries)
            merge(self.table, len(entries), self._sizes)
            self._held = {}

    def get(self, keys: Iterable[int]) -> dict[int, bytes]:
        """Returns key → value for those of the keys that have one."""
        asked = set(keys)
        found = {key: self._held[key] for key in asked if key in self._held} if self._held else {}
        left: U64 = np.array(sorted(asked - found.keys()), np.uint64)
        for run in reversed(self.table.runs):  # the youngest first
            if not len(left):
                break
            here = self._in_run(run, left)
            found.update(here)
            if here:
                left = left[~np.isin(left, np.array(list(here), np.uint64))]
        return found

    def _in_run(self, run: Run, keys: U64) -> dict[int, bytes]:
        wanted = keys[run.may_have(keys)]
        numbers = run.fences.searchsorted(wanted, "right") - 1
        found: dict[int, bytes] = {}
        blocks = dict(self.table.blocks(run.block_ids[np.unique(numbers)].tolist()))
        for key, block_id in zip(wanted.tolist(), run.block_ids[numbers].tolist(), strict=True):
            if block_id not in blocks:
                raise StateError(DAMAGED)
            block = self.table.live(run, blocks[block_id])
            place = int(block.keys.searchsorted(np.uint64(key)))
            if place < len(block) and int(block.keys[place]) == key:
                (found[key],) = block.values([place])
        return found

    def items(self) -> Iterator[tuple[int, bytes]]:
        """Yields all keys with their values that were flushed, by ascending key."""
        for portion in scan(self.table):
            yield from zip(portion.keys.tolist(), portion.values(range(len(portion))), strict=True)

    def bytes_held(self) -> int:
        """Returns how many bytes memory holds of the store, beside what is not flushed."""
        return sum(run.bytes_held() for run in self.table.runs)

    def remove(self, keys: Iterable[int]) -> None:
        """Remove keys with all values that they ever had; to be committed by the caller."""
        gone: U64 = np.array(sorted(keys), np.uint64)
        for run in self.table.runs:
            numbers = np.unique(run.fences.searchsorted(gone, "right") - 1)
            for block_id, entries in list(self.table.blocks(run.block_ids[numbers[numbers >= 0]].tolist())):
                is_kept = ~np.isin(entries.keys, gone)
                if not is_kept.all():
                    self.table.rewrite(block_id, entries.chosen(np.flatnonzero(is_kept)))
