"""Which runs are merged next, and one step of it.

Runs have levels. Whenever there are `Store.factor` runs of a level, they are merged into one of the next level. So each
entry is written once for each level, and there are few levels: one more for eight times as many entries. The runs of
level 0, one from each commit, are small and their number costs little: there may be `FIRST_FACTOR` of them, which saves
a level, and the more so where commits are small.

A large merge would stop the crawl for seconds. So each commit merges in proportion to what it adds, in steps: a step
moves all entries up to some bound from the heads of the old runs to the end of the new one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pycrawl.state.runs.entries import BLOCK_BYTES, Entries
from pycrawl.state.runs.tables import Run, RunTable

E = TypeVar("E", bound=Entries)


@dataclass(frozen=True, slots=True)
class MergeSizes:
    """How much is merged at a time."""

    blocks_read: int = 256  # small blocks in one step, from all runs together, or large ones of as many bytes
    merged_for_each: int = 6  # entries merged for each new one: more than there are levels, so that merging keeps up
    least_merged: int = 4_096  # entries merged in a commit at least, if there is anything to merge


DEFAULT_SIZES = MergeSizes()
FIRST_FACTOR = 32  # runs of level 0 that are merged into one of level 1


def merge(table: RunTable[E], added: int, sizes: MergeSizes = DEFAULT_SIZES) -> None:
    """Merge as much as is due after `added` new entries; to be committed by the caller."""
    left = max(sizes.least_merged, added * sizes.merged_for_each)
    while left > 0 and (sources := due(table.runs, table.store.factor)):
        left -= _step(table, sources, sizes)


def due(runs: Sequence[Run], factor: int) -> list[Run]:
    """Returns the runs to merge next, the oldest first: of the lowest level that has enough, and those of a merge that
    was begun before any others of their level. So a run is complete before it is merged itself. Empty if nothing is
    due."""
    by_level: dict[int, list[Run]] = defaultdict(list)
    for run in runs:
        by_level[run.level].append(run)
    for level, runs_of_level in sorted(by_level.items()):
        begun = [run for run in runs_of_level if run.goes_into]
        enough = factor if level else max(factor, FIRST_FACTOR)
        if begun or len(runs_of_level) >= enough:
            return begun or runs_of_level[:enough]
    return []


def _step(table: RunTable[E], sources: list[Run], sizes: MergeSizes) -> int:
    """Move the smallest entries of the sources to the run that they are merged into, and delete sources that have none
    left. Returns how many entries were moved."""
    target = _target(table, sources)
    room = sizes.blocks_read * BLOCK_BYTES // max(BLOCK_BYTES, table.store.block_bytes)
    blocks_read = 1 + max(1, room // len(sources))  # of the first one, the step before may have left little
    cursors = [_Cursor(table, run, blocks_read) for run in sources]
    for cursor in cursors:
        cursor.fill()
    bound = min((cursor.head.last() for cursor in cursors if cursor.has_more), default=None)
    parts = [cursor.take(bound) for cursor in cursors]
    for run, cursor in zip(sources, cursors, strict=True):
        if bound is None or not (cursor.has_more or len(cursor.head)):
            table.delete(run)
        else:
            table.raise_floor(run, bound)
    moved = table.store.form.merged(parts)
    if len(moved):
        table.append(target, moved)
    elif not len(target):
        table.delete(target)
    return max(1, sum(map(len, parts)))


def _target(table: RunTable[E], sources: list[Run]) -> Run:
    if sources[0].goes_into:
        return next(run for run in table.runs if run.id == sources[0].goes_into)
    target = table.begin_run(sources[0].level + 1)
    table.goes_into(sources, target)
    return target


def scan(table: RunTable[E], blocks_read: int = 16) -> Iterator[E]:
    """Yields all entries of a store in their order, in portions. Where keys are replaced, only those that count."""
    cursors = [_Cursor(table, run, blocks_read) for run in table.runs]
    while cursors := [cursor for cursor in cursors if cursor.fill()]:
        bound = min((cursor.head.last() for cursor in cursors if cursor.has_more), default=None)
        yield table.store.form.merged([cursor.take(bound) for cursor in cursors])


class _Cursor(Generic[E]):
    """Reads one run from its first live entry to its last."""

    def __init__(self, table: RunTable[E], run: Run, blocks_read: int) -> None:
        self._table = table
        self._run = run
        self._blocks_read = blocks_read
        self._at = 0  # the number of the first block that was not read
        self.head: E = table.store.form.joined([])

    @property
    def has_more(self) -> bool:
        """True if there may be entries behind `head`."""
        return self._at < len(self._run.block_ids)

    def fill(self) -> bool:
        """Read on if `head` is empty. Returns False if the run is at its end."""
        while not len(self.head) and self.has_more:
            self.head = self._table.read(self._run, self._at, self._at + self._blocks_read)
            self._at += self._blocks_read
        return len(self.head) > 0

    def take(self, bound: tuple[int, int] | None) -> E:
        """Remove and return the entries of `head` up to `bound`, or all."""
        place = len(self.head) if bound is None else self.head.place_after(*bound)
        taken, self.head = self.head.part(0, place), self.head.part(place, len(self.head))
        return taken
