"""Key → ids: a set of pairs in sorted runs, for keys that are spread at random. A key may have many ids."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pycrawl.state.database import Database
from pycrawl.state.runs.entries import I64, U32, U64, IdEntries, sorted_ids
from pycrawl.state.runs.merging import DEFAULT_SIZES, MergeSizes, merge
from pycrawl.state.runs.tables import Run, RunTable, Store, places_in_runs

UNLIMITED = np.iinfo(np.int64).max
_FEW = 256  # ids; a block has more entries, so that as many of one key lie in three blocks at most
_BLOCKS_OF_FEW = 3

IdStore = Store[IdEntries]


class IdRuns:
    """Pairs are held in memory by `insert` until `flush` writes them; `find` sees them at once."""

    def __init__(
        self, database: Database, store: IdStore, sizes: MergeSizes = DEFAULT_SIZES, with_filters: bool = True
    ) -> None:
        """`with_filters`: as in `RunTable`."""
        self.table = RunTable(database, store, with_filters)
        self._sizes = sizes
        self._held = _NOTHING

    def __len__(self) -> int:
        return len(self._held) + sum(map(len, self.table.runs))

    def insert(self, keys: U64, ids: U32) -> None:
        """From now on `keys[i]` leads to `ids[i]`."""
        self._held = IdEntries.merged([self._held, sorted_ids(keys, ids)])

    def flush(self) -> None:
        """Write what was inserted, and merge in proportion; to be committed by the caller."""
        if len(self._held):
            self.table.append(self.table.begin_run(0), self._held)
            merge(self.table, len(self._held), self._sizes)
            self._held = _NOTHING

    def find(self, keys: U64, most: int = UNLIMITED) -> tuple[I64, U32]:
        """Returns pairs (place in `keys`, id), as two arrays in no particular order: for each key at most `most` ids,
        the first ones of the oldest runs."""
        order = keys.argsort()
        keys = keys[order]
        left = np.full(len(keys), most)
        places: list[I64] = [np.empty(0, np.int64)]
        found: list[U32] = [np.empty(0, np.uint32)]
        runs = self.table.runs
        for run, asked in zip(runs, places_in_runs(runs, keys), strict=True):
            asked = asked[left[asked] > 0]
            if len(asked):
                for those, ids in self._in_run(run, keys, asked, left, most):
                    places.append(those)
                    found.append(ids)
        asked, ids = _in_block(self._held, np.arange(len(keys)), keys, left)
        return order[np.concatenate((*places, asked))], np.concatenate((*found, ids))

    def _in_run(self, run: Run, keys: U64, asked: I64, left: I64, most: int) -> Iterator[tuple[I64, U32]]:
        """Yields pairs (place in `keys`, id) for the keys at the places `asked`, block by block. `left` is counted down
        by what was found."""
        wanted = keys[asked]
        begins = np.maximum(run.fences.searchsorted(wanted) - 1, 0)
        counts = run.fences.searchsorted(wanted, "right") - begins
        if most <= _FEW:
            counts = np.minimum(counts, _BLOCKS_OF_FEW)
        places, blocks = spread(asked, begins, counts)
        order = blocks.argsort(kind="stable")
        places, blocks = places[order], blocks[order]
        numbers, starts = np.unique(blocks, return_index=True)
        ends = np.append(starts[1:], len(blocks)).tolist()
        ids = run.block_ids[numbers].tolist()
        found = dict(self.table.blocks(ids))
        for block_id, start, end in zip(ids, starts.tolist(), ends, strict=True):
            here = places[start:end]
            yield _in_block(self.table.live(run, found[block_id]), here, keys[here], left)

    def portions(self) -> Iterator[IdEntries]:
        """Yields all pairs that were flushed, run by run, in portions. Each is in its order; together they are not."""
        for run in self.table.runs:
            yield from self.table.portions(run)

    def clear(self) -> None:
        """Remove all pairs; to be committed by the caller."""
        self._held = _NOTHING
        for run in list(self.table.runs):
            self.table.delete(run)

    def bytes_held(self) -> int:
        """Returns how many bytes memory holds of the store."""
        return self._held.keys.nbytes + self._held.ids.nbytes + sum(run.bytes_held() for run in self.table.runs)

    def remove(self, keys: U64, ids: U32) -> None:
        """Remove the pairs `keys[i]`, `ids[i]`, which must be flushed; to be committed by the caller."""
        gone = set(zip(keys.tolist(), ids.tolist(), strict=True))
        for run in self.table.runs:
            begins = np.maximum(run.fences.searchsorted(keys) - 1, 0)
            _, numbers = spread(begins, begins, run.fences.searchsorted(keys, "right") - begins)
            for block_id, entries in list(self.table.blocks(run.block_ids[np.unique(numbers)].tolist())):
                is_kept = ~np.isin(entries.keys, keys)
                for place in np.flatnonzero(~is_kept).tolist():
                    is_kept[place] = (int(entries.keys[place]), int(entries.ids[place])) not in gone
                self._keep(block_id, entries, is_kept)

    def _keep(self, block_id: int, entries: IdEntries, is_kept: NDArray[np.bool_]) -> None:
        if not is_kept.all():
            self.table.rewrite(block_id, IdEntries(entries.keys[is_kept], entries.ids[is_kept]))

    def remove_ids(self, ids: U32) -> None:
        """Remove all pairs with these ids, in one pass over all blocks; to be committed by the caller."""
        for run in self.table.runs:
            for begin in range(0, len(run.block_ids), _FEW):
                for block_id, entries in list(self.table.blocks(run.block_ids[begin : begin + _FEW].tolist())):
                    self._keep(block_id, entries, ~np.isin(entries.ids, ids))


_NOTHING = IdEntries(np.empty(0, np.uint64), np.empty(0, np.uint32))


def _in_block(entries: IdEntries, places: I64, wanted: U64, left: I64) -> tuple[I64, U32]:
    """Returns pairs (place, id) for the keys `wanted`, which stand at `places`: at most `left[place]` ids of each.
    `left` is counted down by what was found. Places are distinct."""
    begins = entries.keys.searchsorted(wanted)
    counts = np.minimum(entries.keys.searchsorted(wanted, "right") - begins, left[places])
    left[places] -= counts
    asked, at = spread(places, begins, counts)
    return asked, entries.ids[at]


def spread(items: I64, begins: I64, counts: I64) -> tuple[I64, I64]:
    """Returns two arrays: each `items[i]` repeated `counts[i]` times, and beside it the places from `begins[i]` on."""
    shifts = np.cumsum(counts) - counts
    return np.repeat(items, counts), np.arange(int(counts.sum())) + np.repeat(begins - shifts, counts)
