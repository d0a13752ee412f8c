from __future__ import annotations

import numpy as np

from pycrawl.state.database import Database
from pycrawl.state.runs import proof
from pycrawl.state.runs.entries import IdEntries
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.runs.merging import MergeSizes, due
from pycrawl.state.runs.one_key import KeyReader
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


def test_a_store_gets_filters_later(state: Database) -> None:
    """Segments of an older release have none: they are looked into, until they are merged."""
    source = np.random.default_rng(13)
    keys = source.integers(0, 1 << 63, 40 * 9, dtype=np.uint64)
    ids = np.arange(len(keys), dtype=np.uint32)
    plain = Store(STORE.number, "test", IdEntries, has_filters=False)
    sizes = MergeSizes(blocks_read=1, merged_for_each=1, least_merged=10)  # merges end in a later commit
    for number in range(9):
        begin, end = number * 40, number * 40 + 40
        runs = IdRuns(state, plain if number < 8 else STORE, sizes)
        runs.insert(keys[begin:end], ids[begin:end])
        runs.flush()
    state.commit()
    known = {bool(filter_) for (filter_,) in state.query("SELECT filter FROM sorted_segments")}
    assert known == {True, False}
    places, found = IdRuns(state, STORE).find(keys)
    assert sorted(zip(places.tolist(), found.tolist(), strict=True)) == [(one, one) for one in ids.tolist()]
    reader = KeyReader(state, STORE.number)
    assert [reader.ids_of(key) for key in keys.tolist()] == [[one] for one in ids.tolist()]
    assert list(proof.faults(state, [STORE])) == []


def test_a_reader_of_one_key_asks_the_filters(state: Database) -> None:
    """It must know each key that `filters.made` knows, and hardly any other."""
    source = np.random.default_rng(14)
    keys = source.integers(0, 1 << 63, 20_000, dtype=np.uint64)
    runs = IdRuns(state, STORE)
    runs.insert(keys[:10_000], np.arange(10_000, dtype=np.uint32))
    runs.flush()
    state.commit()
    reader = KeyReader(state, STORE.number)
    assert all(reader.ids_of(key) for key in keys[:10_000].tolist())
    read = 0

    def count(sql: str) -> None:
        nonlocal read
        read += "sorted_blocks" in sql

    state._connection.set_trace_callback(count)
    assert not any(reader.ids_of(key) for key in keys[10_000:].tolist())
    state._connection.set_trace_callback(None)
    assert read < 100
