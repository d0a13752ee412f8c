from __future__ import annotations

import numpy as np

from pycrawl.state.database import Database
from pycrawl.state.runs.entries import IdEntries
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.runs.merging import MergeSizes, due
from pycrawl.state.runs.tables import Run, Store

STORE = Store(900, "test", IdEntries)
FACTOR = STORE.factor


def test_each_entry_is_written_once_for_each_level(state: Database) -> None:
    state.query("CREATE TEMP TABLE written (entries)")
    state.query(
        "CREATE TEMP TRIGGER count_written AFTER INSERT ON sorted_segments"
        " BEGIN INSERT INTO written VALUES (NEW.entries); END"
    )
    runs = IdRuns(state, STORE)
    source = np.random.default_rng(11)
    for number in range(FACTOR**3):
        runs.insert(source.integers(0, 1 << 63, 20, dtype=np.uint64), np.full(20, number, np.uint32))
        runs.flush()
    assert state.query("SELECT sum(entries) FROM written").fetchone() == (4 * 20 * FACTOR**3,)
    assert [run.level for run in runs.table.runs] == [3]


def test_what_is_merged_next() -> None:
    ready = [Run(number, 1) for number in range(1, FACTOR)]
    assert due(ready, FACTOR) == []
    last = Run(20, 1)
    assert due([*ready, last], FACTOR) == [*ready, last]
    begun = Run(21, 0, 20)
    assert due([*ready, last, begun], FACTOR) == [begun], "a run that is being made is made first"
    later = [Run(number, 0) for number in range(30, 30 + FACTOR)]
    assert due([*ready, last, begun, *later], FACTOR) == [begun], "what was begun is ended first"
    many = [Run(number, 0) for number in range(1, 2 * FACTOR)]
    assert due(many, FACTOR) == many[:FACTOR], "the oldest"


def test_a_commit_merges_in_proportion_to_what_it_adds(state: Database) -> None:
    """So that no commit stops the crawl, however large the store is."""
    runs = IdRuns(state, STORE, MergeSizes(blocks_read=4))  # 14,000 entries in a step
    source = np.random.default_rng(12)
    most = 0
    for number in range(FACTOR**2 + FACTOR):
        written = state.query("SELECT coalesce(max(id), 0) FROM sorted_segments").fetchone()[0]
        runs.insert(source.integers(0, 1 << 63, 3_000, dtype=np.uint64), np.full(3_000, number, np.uint32))
        runs.flush()
        moved = "SELECT coalesce(sum(entries), 0) FROM sorted_segments WHERE id > ?"
        most = max(most, state.query(moved, (written,)).fetchone()[0])
    assert most < 50_000, "of 216,000"
    places, _ = runs.find(source.integers(0, 1 << 63, 100, dtype=np.uint64))
    assert len(places) == 0
