from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pycrawl.state.database import Database
from pycrawl.state.runs import proof
from pycrawl.state.runs.entries import IdEntries
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.runs.merging import FIRST_FACTOR, MergeSizes, due
from pycrawl.state.runs.one_key import KeyReader, ids_of
from pycrawl.state.runs.tables import Run, Store

STORE = Store(900, "test", IdEntries)
FACTOR = STORE.factor


def test_each_entry_is_written_once_for_each_level(state: Database) -> None:
    state.query("CREATE TEMP TABLE written (entries)")
    state.query(
        "CREATE TEMP TRIGGER count_written AFTER INSERT ON sorted_segments"
        " BEGIN INSERT INTO written VALUES (NEW.entries); END"
    )
    runs = IdRuns(state, STORE, MergeSizes(least_merged=100_000))
    source = np.random.default_rng(11)
    for number in range(FIRST_FACTOR * FACTOR**2):
        runs.insert(source.integers(0, 1 << 63, 20, dtype=np.uint64), np.full(20, number, np.uint32))
        runs.flush()
    assert state.query("SELECT sum(entries) FROM written").fetchone() == (4 * 20 * FIRST_FACTOR * FACTOR**2,)
    assert [run.level for run in runs.table.runs] == [3]


def test_what_is_merged_next() -> None:
    ready = [Run(number, 1) for number in range(1, FACTOR)]
    assert due(ready, FACTOR) == []
    last = Run(20, 1)
    assert due([*ready, last], FACTOR) == [*ready, last]
    begun = Run(21, 0, 20)
    assert due([*ready, last, begun], FACTOR) == [begun], "a run that is being made is made first"
    later = [Run(number, 0) for number in range(30, 30 + FIRST_FACTOR)]
    assert due([*ready, last, begun, *later], FACTOR) == [begun], "what was begun is ended first"
    many = [Run(number, 0) for number in range(1, 2 * FIRST_FACTOR)]
    assert due(many, FACTOR) == many[:FIRST_FACTOR], "the oldest"
    assert due(many[1:FIRST_FACTOR], FACTOR) == []


def test_a_commit_merges_in_proportion_to_what_it_adds(state: Database) -> None:
    """So that no commit stops the crawl, however large the store is."""
    runs = IdRuns(state, STORE, MergeSizes(blocks_read=32))  # 30,000 entries in a step
    source = np.random.default_rng(12)
    most = 0
    for number in range(FIRST_FACTOR * (FACTOR + 1)):
        written = state.query("SELECT coalesce(max(id), 0) FROM sorted_segments").fetchone()[0]
        runs.insert(source.integers(0, 1 << 63, 3_000, dtype=np.uint64), np.full(3_000, number, np.uint32))
        runs.flush()
        moved = "SELECT coalesce(sum(entries), 0) FROM sorted_segments WHERE id > ?"
        most = max(most, state.query(moved, (written,)).fetchone()[0])
    assert most < 90_000, "of 860,000"
    places, _ = runs.find(source.integers(0, 1 << 63, 100, dtype=np.uint64))
    assert len(places) == 0


def test_a_store_gets_filters_later(state: Database) -> None:
    """Segments of an older release have none: they are looked into, until they are merged."""
    source = np.random.default_rng(13)
    keys = source.integers(0, 1 << 63, 40 * (FIRST_FACTOR + 1), dtype=np.uint64)
    ids = np.arange(len(keys), dtype=np.uint32)
    plain = Store(STORE.number, "test", IdEntries, has_filters=False)
    sizes = MergeSizes(blocks_read=1, merged_for_each=1, least_merged=10)  # merges end in a later commit
    for number in range(FIRST_FACTOR + 1):
        begin, end = number * 40, number * 40 + 40
        runs = IdRuns(state, plain if number < FIRST_FACTOR else STORE, sizes)
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


def test_blocks_that_an_earlier_release_left_go_with_their_segment(
    state: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of a merge, a state of such a release has blocks whose entries have all moved."""
    source = np.random.default_rng(15)
    keys = source.integers(0, 1 << 63, 100_000, dtype=np.uint64)
    ids = np.arange(len(keys), dtype=np.uint32)
    store = replace(STORE, block_bytes=400)
    each = len(keys) // FIRST_FACTOR // 2
    sizes = MergeSizes(blocks_read=64, merged_for_each=3, least_merged=each)
    with monkeypatch.context() as earlier:
        earlier.setattr(Run, "drop_dead_blocks", lambda run: [])
        runs = IdRuns(state, store, sizes)
        for begin in range(0, each * (FIRST_FACTOR + 2), each):
            runs.insert(keys[begin : begin + each], ids[begin : begin + each])
            runs.flush()
    assert any(run.goes_into and run.fences[1] < run.floor[0] for run in runs.table.runs)
    assert _unheld_blocks(state, store)

    runs = IdRuns(state, store, sizes)
    places, found = runs.find(keys[: each * (FIRST_FACTOR + 2)])
    assert np.array_equal(places, found)
    assert len(places) == each * (FIRST_FACTOR + 2)
    assert ids_of(state, store.number, int(keys[0])) == [0]
    assert list(proof.faults(state, [store])) == []
    for begin in range(each * (FIRST_FACTOR + 2), len(keys), each):
        runs.insert(keys[begin : begin + each], ids[begin : begin + each])
        runs.flush()
    assert not _unheld_blocks(state, store)


def _unheld_blocks(database: Database, store: Store[IdEntries]) -> set[int]:
    held = {one for run in IdRuns(database, store).table.runs for one in run.block_ids.tolist()}
    return {block_id for (block_id,) in database.query("SELECT id FROM sorted_blocks")} - held
