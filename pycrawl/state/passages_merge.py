"""The runs of the index of passages: how they are written, and how many small ones are merged into few large ones.

Runs have levels. Whenever there are `FACTOR` runs of a level, they are merged into one of the next level. So each entry
is written once for each level, and there are few levels: one more for eight times as many entries.

A large merge would stop the crawl for seconds. So each commit merges in proportion to what it adds, in steps: a step
moves all entries up to some bound from the heads of the old runs to the end of the new one. Between two steps each
entry stands in exactly one run; therefore readers need not know of merges, a crash costs nothing, and a merge needs no
room for a second copy.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pycrawl.state.database import Database

ENTRY = np.dtype("<i8")
Entries = NDArray[np.int64]

FACTOR = 8  # runs of one level that are merged into one of the next


@dataclass(frozen=True, slots=True)
class MergeSizes:
    """How much is written and merged at a time."""

    block: int = 500  # entries: with its row's header, a page of 4 KiB
    blocks_read: int = 16  # blocks of each run in one step: half a megabyte for all runs
    merged_for_each: int = 8  # entries merged for each new one: more than there are levels, so that merging keeps up
    least_merged: int = 16_384  # entries merged in a commit at least, if there is anything to merge


DEFAULT_SIZES = MergeSizes()


class Run(NamedTuple):
    id: int
    level: int
    goes_into: int  # the run that it is being merged into; 0: none


class Block(NamedTuple):
    id: int
    entries: Entries


def append_blocks(database: Database, run_id: int, entries: Entries, block: int) -> None:
    """Append entries to a run. They must be sorted, and greater than all that the run has."""
    blocks = (entries[begin : begin + block] for begin in range(0, len(entries), block))
    database.write_many(
        "INSERT INTO passage_blocks (run_id, first, entries) VALUES (?, ?, ?)",
        ((run_id, int(part[0]), part.tobytes()) for part in blocks),
    )


def merge_runs(database: Database, added: int, sizes: MergeSizes) -> None:
    """Merge as much as is due after `added` new entries; to be committed by the caller."""
    left = max(sizes.least_merged, added * sizes.merged_for_each)
    while left > 0 and (sources := due(_runs(database))):
        left -= _step(database, sources, sizes)


def due(runs: list[Run]) -> list[Run]:
    """Returns the runs to merge next: of the lowest level that has enough, and those of a merge that was begun before
    any others of their level. So a run is complete before it is merged itself. Empty if nothing is due."""
    by_level: dict[int, list[Run]] = defaultdict(list)
    for run in runs:
        by_level[run.level].append(run)
    for _, level in sorted(by_level.items()):
        begun = [run for run in level if run.goes_into]
        if begun or len(level) >= FACTOR:
            return begun or level[:FACTOR]
    return []


def _runs(database: Database) -> list[Run]:
    return [Run(*row) for row in database.query("SELECT id, level, goes_into FROM passage_runs ORDER BY id")]


def _step(database: Database, sources: list[Run], sizes: MergeSizes) -> int:
    """Move the smallest entries of the sources to the run that they are merged into, and delete sources that are empty
    then. Returns how many entries were moved."""
    target_id = sources[0].goes_into or _begin(database, sources)
    heads = {run.id: _head(database, run.id, sizes.blocks_read) for run in sources}
    may_have_more = [blocks for blocks in heads.values() if len(blocks) == sizes.blocks_read]
    bound = min((int(blocks[-1].entries[-1]) for blocks in may_have_more), default=np.iinfo(ENTRY).max)
    moved = np.concatenate([_take(database, blocks, bound) for blocks in heads.values()])
    moved.sort()
    append_blocks(database, target_id, moved, sizes.block)
    database.write_many(
        "DELETE FROM passage_runs WHERE id = ? AND NOT EXISTS (SELECT 1 FROM passage_blocks WHERE run_id = ?)",
        ((run_id, run_id) for run_id in heads),
    )
    return len(moved)


def _begin(database: Database, sources: list[Run]) -> int:
    """Make a run of the next level for the sources to be merged into. Returns its id."""
    cursor = database.write("INSERT INTO passage_runs (level, goes_into) VALUES (?, 0)", (sources[0].level + 1,))
    assert cursor.lastrowid is not None
    database.write_many(
        "UPDATE passage_runs SET goes_into = ? WHERE id = ?", ((cursor.lastrowid, run.id) for run in sources)
    )
    return cursor.lastrowid


def _head(database: Database, run_id: int, count: int) -> list[Block]:
    rows = database.query(
        "SELECT id, entries FROM passage_blocks WHERE run_id = ? ORDER BY first LIMIT ?", (run_id, count)
    )
    return [Block(block_id, np.frombuffer(entries, ENTRY)) for block_id, entries in rows]


def _take(database: Database, blocks: list[Block], bound: int) -> Entries:
    """Remove all entries up to `bound` from the first blocks of a run. Returns them."""
    entries = np.concatenate([block.entries for block in blocks])
    taken = entries[: entries.searchsorted(bound, "right")]
    left = len(taken)
    emptied = []
    for block in blocks:
        if left < len(block.entries):
            if left:
                rest = block.entries[left:]
                database.write(
                    "UPDATE passage_blocks SET first = ?, entries = ? WHERE id = ?",
                    (int(rest[0]), rest.tobytes(), block.id),
                )
            break
        emptied.append((block.id,))
        left -= len(block.entries)
    database.write_many("DELETE FROM passage_blocks WHERE id = ?", emptied)
    return taken
