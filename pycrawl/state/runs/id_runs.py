"""Key → ids: a set of pairs in sorted runs, for keys that are spread at random. A key may have many ids."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pycrawl.errors import StateError
from pycrawl.native import compiled
from pycrawl.state.database import Database
from pycrawl.state.runs.entries import I64, U32, U64, IdEntries, is_packed, sorted_ids
from pycrawl.state.runs.merging import DEFAULT_SIZES, MergeSizes, merge
from pycrawl.state.runs.packing import DAMAGED
from pycrawl.state.runs.tables import Run, RunTable, Store, behind, places_in_runs

UNLIMITED = np.iinfo(np.int64).max
_FEW = 256  # ids; a block has more entries, so that as many of one key lie in three blocks at most
_BLOCKS_OF_FEW = 3
_FLOOR_BELOW_ALL = (0, -1)

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
                for those, ids in self._in_run(run, keys, asked, most):
                    those, ids = _limited(those, ids, left)
                    places.append(those)
                    found.append(ids)
        asked, ids = _limited(*_in_entries(self._held, keys, most), left)
        return order[np.concatenate((*places, asked))], np.concatenate((*found, ids))

    def _in_run(self, run: Run, keys: U64, asked: I64, most: int) -> Iterator[tuple[I64, U32]]:
        """Yields pairs (place in `keys`, id) for the keys at the places `asked`, from each block that has any: at most
        `most` ids of each."""
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
        stored = dict(self.table.stored_blocks(ids))
        wanted = keys[places]
        for block_id, start, end in zip(ids, starts.tolist(), ends, strict=True):
            found = _in_block(stored.get(block_id, b""), wanted, start, end, run.floor, most)
            if found is not None:
                yield places[found[0]], found[1]

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


def _in_block(
    block: bytes, keys: U64, begin: int, end: int, floor: tuple[int, int], most: int
) -> tuple[I64, U32] | None:
    """Returns pairs (place in `keys`, id) for `keys[begin:end]`, which ascend, by their places: at most `most` ids of
    each, from the entries behind `floor`. None if there are none."""
    if compiled is None or not is_packed(block):
        return in_block_by_numpy(block, keys, begin, end, floor, most)
    try:
        found = compiled.find_ids(block, keys, begin, end, *(_FLOOR_BELOW_ALL if floor[0] < 0 else floor), most)
    except ValueError as error:
        raise StateError(DAMAGED) from error
    return None if found is None else (np.frombuffer(found[0], np.int64), np.frombuffer(found[1], np.uint32))


def in_block_by_numpy(
    block: bytes, keys: U64, begin: int, end: int, floor: tuple[int, int], most: int
) -> tuple[I64, U32] | None:
    """As `_in_block`, where the compiled module does that for packed blocks."""
    places, ids = _in_entries(behind(floor, IdEntries.unpack(block)), keys[begin:end], most)
    return (begin + places, ids) if len(places) else None


def _in_entries(entries: IdEntries, wanted: U64, most: int) -> tuple[I64, U32]:
    """Returns pairs (place in `wanted`, id), by their places: at most `most` ids of each."""
    begins = entries.keys.searchsorted(wanted)
    counts = np.minimum(entries.keys.searchsorted(wanted, "right") - begins, most)
    places, at = spread(np.arange(len(wanted)), begins, counts)
    return places, entries.ids[at]


def _limited(places: I64, ids: U32, left: I64) -> tuple[I64, U32]:
    """Returns at most `left[place]` of the pairs (place, id) of each place, those that come first. Pairs of one place
    stand side by side. `left` is counted down by what is returned."""
    begins = np.flatnonzero(np.append(True, places[1:] != places[:-1]))[: len(places)]
    counts = np.diff(begins, append=len(places))
    is_kept = np.arange(len(places)) - np.repeat(begins, counts) < left[places]
    left[places[begins]] -= np.minimum(counts, left[places[begins]])
    return places[is_kept], ids[is_kept]


def spread(items: I64, begins: I64, counts: I64) -> tuple[I64, I64]:
    """Returns two arrays: each `items[i]` repeated `counts[i]` times, and beside it the places from `begins[i]` on."""
    shifts = np.cumsum(counts) - counts
    return np.repeat(items, counts), np.arange(int(counts.sum())) + np.repeat(begins - shifts, counts)
