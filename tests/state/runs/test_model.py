"""Sorted runs beside a dictionary: insert, replace, look up, remove, merge, roll back, be killed, reopen."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from contextlib import suppress
from copy import deepcopy
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pycrawl.errors import StateError
from pycrawl.native import compiled
from pycrawl.state.database import Database
from pycrawl.state.runs import entries as entries_module
from pycrawl.state.runs import filters
from pycrawl.state.runs.entries import HEADER, IdEntries, ValueEntries, sorted_ids
from pycrawl.state.runs.fixed_runs import FixedEntries
from pycrawl.state.runs.id_runs import UNLIMITED, IdRuns, in_block_by_numpy
from pycrawl.state.runs.id_runs import _in_block as find_in_block
from pycrawl.state.runs.merging import MergeSizes, due, scan
from pycrawl.state.runs.one_key import KeyReader, ids_of
from pycrawl.state.runs.one_key import _in_block as in_block
from pycrawl.state.runs.tables import Run, RunTable, Segment, Store
from pycrawl.state.runs.value_runs import ValueRuns

SMALL_BLOCK = 60  # bytes
IDS = Store(901, "test ids", IdEntries, factor=3, block_bytes=SMALL_BLOCK)
UNFILTERED = Store(902, "test ids without filters", IdEntries, factor=3, has_filters=False, block_bytes=SMALL_BLOCK)
VALUES = Store(903, "test values", ValueEntries, factor=3, block_bytes=SMALL_BLOCK)
# So small that merges take many commits, and the ids of one key many blocks.
SMALL = MergeSizes(blocks_read=6, merged_for_each=2, least_merged=20)
TOP = (1 << 64) - 1

# Some keys are hit again and again, some are at the ends, some lie side by side.
KEYS = st.one_of(
    st.integers(0, 12), st.integers(TOP - 3, TOP), st.integers(0, TOP), st.sampled_from([1 << 63, (1 << 63) - 1])
)
PAIRS = st.lists(st.tuples(KEYS, st.integers(1, 40) | st.integers(1, (1 << 32) - 1)), min_size=1, max_size=40)
ROWS = st.dictionaries(KEYS, st.binary(max_size=12) | st.binary(min_size=70, max_size=90), min_size=1, max_size=20)


class Model(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "state.db")

    @initialize()
    def create(self) -> None:
        self.database = Database.create(self.path)
        self.beside = Database.open_readonly(self.path)  # as another process that reads all the time
        self.reader = KeyReader(self.beside, IDS.number)
        self.pairs: set[tuple[int, int]] = set()
        self.rows: dict[int, bytes] = {}
        self._open()

    def _open(self) -> None:
        self.ids = IdRuns(self.database, IDS, SMALL)
        self.plain = IdRuns(self.database, UNFILTERED, SMALL)
        self.values = ValueRuns(self.database, VALUES, SMALL)
        self.committed = deepcopy((self.pairs, self.rows))

    @rule(pairs=PAIRS, rows=ROWS)
    def write_group(self, pairs: list[tuple[int, int]], rows: dict[int, bytes]) -> None:
        new = sorted(set(pairs) - self.pairs)
        keys = np.array([key for key, _ in new], np.uint64)
        ids = np.array([one for _, one in new], np.uint32)
        for runs in (self.ids, self.plain):
            runs.insert(keys, ids)
        self.values.put(rows)
        self.pairs |= set(pairs)
        self.rows |= rows
        self.look_up()  # before it is written
        for part in (self.ids, self.plain, self.values):
            part.flush()

    @rule(ids=st.sets(st.integers(1, 40), max_size=8))
    def remove(self, ids: set[int]) -> None:
        gone = np.array(sorted(ids), np.uint32)
        self.ids.remove_ids(gone)
        self.plain.remove_ids(gone)
        self.pairs = {pair for pair in self.pairs if pair[1] not in ids}
        keys = sorted(self.rows)[:: len(ids) + 1]
        self.values.remove(keys)
        for key in keys:
            del self.rows[key]

    @rule()
    def commit(self) -> None:
        self.database.commit()
        self.committed = deepcopy((self.pairs, self.rows))

    @rule()
    def roll_back_and_go_on(self) -> None:
        self.database.rollback()
        self.pairs, self.rows = deepcopy(self.committed)

    @rule(commits=st.booleans())
    def reopen(self, commits: bool) -> None:
        """Without a commit, it is as if the process had been killed."""
        if commits:
            self.commit()
        self.database.close()
        self.database = Database.open(self.path)
        self.pairs, self.rows = deepcopy(self.committed)
        self._open()

    @rule(others=st.lists(KEYS, max_size=5), most=st.integers(1, 300))
    def look_up(self, others: list[int] = [], most: int = 5) -> None:  # noqa: B006
        expected: dict[int, list[int]] = defaultdict(list)
        for key, one in sorted(self.pairs):
            expected[key].append(one)
        asked = np.array(list(dict.fromkeys([*others, *expected])), np.uint64)
        for runs in (self.ids, self.plain, IdRuns(self.database, IDS, with_filters=False)):
            if runs not in (self.ids, self.plain) and len(self.ids._held):
                continue  # another reader does not see what is held
            places, ids = runs.find(asked)
            found: dict[int, list[int]] = defaultdict(list)
            for place, one in zip(places.tolist(), ids.tolist(), strict=True):
                found[int(asked[place])].append(one)
            assert {key: sorted(ones) for key, ones in found.items()} == expected
            places, ids = runs.find(asked, most)
            for key, ones in expected.items():
                few = ids[asked[places] == np.uint64(key)].tolist()
                assert len(few) == len(set(few)) == min(most, len(ones))
                assert set(few) <= set(ones)
        if not len(self.ids._held):
            assert {key: ids_of(self.database, IDS.number, key) for key in [*expected, *others]} == {
                key: expected[key] for key in [*expected, *others]
            }
        committed: dict[int, list[int]] = defaultdict(list)
        for key, one in sorted(self.committed[0]):
            committed[key].append(one)
        assert {key: self.reader.ids_of(key) for key in [*committed, *others]} == {
            key: committed[key] for key in [*committed, *others]
        }
        assert self.values.get([*others, *self.rows]) == self.rows

    @invariant()
    def all_entries_are_there_once_and_in_order(self) -> None:
        for runs in (self.ids, self.plain):
            found = [
                pair for part in runs.portions() for pair in zip(part.keys.tolist(), part.ids.tolist(), strict=True)
            ]
            assert len(found) == len(set(found))
            assert set(found) == self.pairs
            scanned = [pair for part in scan(runs.table, 1) for pair in _pairs(part)]
            assert scanned == sorted(self.pairs)
        assert list(self.values.items()) == sorted(self.rows.items())
        for one in (self.ids, self.plain, self.values):
            _check_table(self.database, one.table)

    def teardown(self) -> None:
        self.beside.close()
        self.database.close()
        self.folder.cleanup()


def _pairs(entries: IdEntries) -> list[tuple[int, int]]:
    return list(zip(entries.keys.tolist(), entries.ids.tolist(), strict=True))


def _values(entries: ValueEntries) -> list[bytes]:
    return entries.values(range(len(entries)))


def _check_table(database: Database, table: RunTable) -> None:  # type: ignore[type-arg]
    """The invariants of `runs/__init__.py`, by the tables themselves; memory agrees with them."""
    fresh = RunTable(database, table.store)
    assert [run.id for run in fresh.runs] == [run.id for run in table.runs]
    for run, other in zip(fresh.runs, table.runs, strict=True):
        assert (run.level, run.goes_into, run.floor, run.segment_ids) == (
            other.level, other.goes_into, other.floor, other.segment_ids,
        )  # fmt: skip
        assert run.fences.tolist() == other.fences.tolist()
        assert len(run.block_ids)
        keys = [int(key) for portion in table.portions(run) for key in portion.keys]
        assert keys == sorted(keys)
        assert len(run.may_have(np.array(keys, np.uint64))) == len(keys)
        assert not run.goes_into or run.goes_into in {one.id for one in table.runs if one.level == run.level + 1}
    assert len(due(table.runs, table.store.factor)) < 3 * table.store.factor
    of_store = "SELECT sorted_segments.id FROM sorted_segments JOIN sorted_runs ON sorted_runs.id = run_id"
    stored = database.query(
        f"SELECT id FROM sorted_blocks WHERE id >> 12 IN ({of_store} WHERE store = ?) ORDER BY id",
        (table.store.number,),
    )
    held = sorted(one for run in fresh.runs for one in run.block_ids.tolist())
    assert [block_id for (block_id,) in stored] == held, "no block stays that has no live entries"
    orphans = "SELECT count(*) FROM sorted_segments WHERE run_id NOT IN (SELECT id FROM sorted_runs)"
    assert database.query(orphans).fetchone() == (0,)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pycrawl.state.runs.merging.FIRST_FACTOR", 4)
    monkeypatch.setattr("pycrawl.state.runs.id_runs._BLOCKS_OF_FEW", 300)  # small blocks hold few entries


TestModel = Model.TestCase
TestModel.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)


def test_a_block_gives_back_what_was_packed() -> None:
    source = np.random.default_rng(3)
    for size, key_bits, id_bits in ((0, 1, 1), (1, 64, 32), (300, 64, 24), (300, 20, 8), (2, 64, 32)):
        keys = source.integers(0, 1 << key_bits, size, dtype=np.uint64, endpoint=False) if key_bits < 64 else (
            source.integers(0, TOP, size, dtype=np.uint64, endpoint=True)
        )  # fmt: skip
        made = sorted_ids(keys, source.integers(0, 1 << id_bits, size, dtype=np.uint64).astype(np.uint32))
        again = IdEntries.unpack(made.pack())
        assert again.keys.tolist() == made.keys.tolist()
        assert again.ids.tolist() == made.ids.tolist()
        distinct = np.unique(keys)
        values = ValueEntries.of(distinct, [bytes([one % 7]) * (one % 50) for one in range(len(distinct))])
        back = ValueEntries.unpack(values.pack())
        assert (back.keys.tolist(), _values(back)) == (values.keys.tolist(), _values(values))


def test_blocks_fit_their_size() -> None:
    source = np.random.default_rng(4)
    for key_bits in (16, 38, 63):
        made = sorted_ids(
            source.integers(0, 1 << key_bits, 20_000, dtype=np.uint64), np.arange(20_000, dtype=np.uint32) * 7
        )
        ends = made.ends(entries_module.BLOCK_BYTES)
        sizes = [len(made.part(a, b).pack()) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        assert ends[-1] == len(made)
        assert max(sizes) <= entries_module.BLOCK_BYTES
        assert np.mean(sizes[:-1]) > 0.9 * entries_module.BLOCK_BYTES


def test_blocks_of_earlier_releases_are_read(tmp_path: Path) -> None:
    """Steps of two bytes, and ids or lengths of one; nothing is packed or compressed."""
    keys = np.array([7, 8, 8, 1_000], np.uint64)
    steps = np.diff(keys).astype("<u2").tobytes()
    entries = IdEntries.unpack(HEADER.pack(4, 2, 1, 7) + steps + bytes([1, 2, 3, 4]))
    assert (entries.keys.tolist(), entries.ids.tolist()) == (keys.tolist(), [1, 2, 3, 4])
    assert list(map(tuple, _pairs(IdEntries.unpack(entries.pack())))) == list(map(tuple, _pairs(entries)))
    values = ValueEntries.unpack(HEADER.pack(2, 2, 1, 7) + b"\xe1\x03" + bytes([3, 0]) + b"abc")
    assert (values.keys.tolist(), _values(values)) == ([7, 1_000], [b"abc", b""])
    fixed = FixedEntries.unpack(HEADER.pack(2, 2, 3, 7) + b"\xe1\x03" + b"abcdef")
    assert (fixed.keys.tolist(), fixed.rows.tobytes()) == ([7, 1_000], b"abcdef")
    assert FixedEntries.unpack(fixed.pack()).rows.tobytes() == b"abcdef"
    database = Database.create(tmp_path / "state.db")
    ids = IdRuns(database, IDS, SMALL)
    ids.insert(entries.keys, entries.ids)
    ids.flush()
    (block_id,) = database.query("SELECT min(id) FROM sorted_blocks").fetchone()
    assert ids_of(database, IDS.number, 8) == [2, 3]
    database.write(
        "UPDATE sorted_blocks SET data = ? WHERE id = ?",
        (HEADER.pack(4, 2, 1, 7) + steps + bytes([1, 2, 3, 4]), block_id),
    )
    assert ids_of(database, IDS.number, 8) == [2, 3]
    assert ids.find(np.array([8], np.uint64))[1].tolist() == [2, 3]


@given(
    st.lists(st.tuples(KEYS | st.integers(0, 3_000), st.integers(1, 9) | st.integers(1, (1 << 32) - 1)), max_size=300),
    st.integers(60, 2_000),
)
def test_entries_are_packed_into_blocks_and_found(pairs: list[tuple[int, int]], room: int) -> None:
    whole = sorted_ids(np.array([key for key, _ in pairs], np.uint64), np.array([one for _, one in pairs], np.uint32))
    blocks = [whole.part(begin, end).pack() for begin, end in pairwise([0, *whole.ends(room)])]
    assert all(len(block) <= room for block in blocks)
    read = IdEntries.joined([IdEntries.unpack(block) for block in blocks])
    assert np.array_equal(read.keys, whole.keys)
    assert np.array_equal(read.ids, whole.ids)
    for key, ids in groupby(sorted(set(pairs)), lambda pair: pair[0]):
        assert sorted(one for block in blocks for one in in_block(block, key)) == [one for _, one in ids]
    for key in {one + step for one, _ in pairs for step in (-1, 1)} - {one for one, _ in pairs}:
        assert all(in_block(block, key) == [] for block in blocks)


@pytest.mark.skipif(compiled is None, reason="there is no compiled module to compare with")
@given(PAIRS, st.lists(KEYS, max_size=20), st.sampled_from([-1, 0, 5, 1 << 63]))
def test_the_compiled_module_and_numpy_agree(pairs: list[tuple[int, int]], others: list[int], floor: int) -> None:
    whole = sorted_ids(np.array([key for key, _ in pairs], np.uint64), np.array([one for _, one in pairs], np.uint32))
    block = whole.pack()
    assert block == whole.packed_by_numpy()
    one, other = IdEntries.unpack(block), IdEntries.unpacked_by_numpy(block)
    assert (one.keys.tolist(), one.ids.tolist()) == (other.keys.tolist(), other.ids.tolist())
    for size in range(len(block)):
        with pytest.raises(StateError):
            IdEntries.unpack(block[:size])
    run = Run(1, 0, floor=(floor, 1))
    for number, part in enumerate((whole.part(0, len(whole) // 2), whole.part(len(whole) // 2, len(whole)))):
        if len(part):
            known = filters.made(part.keys, 8)
            segment = Segment(number + 1, int(part.keys[0]), int(part.keys[-1]), len(part), part.keys[:1], known)
            run.take_in([segment])
    for keys in (whole.keys, np.array(sorted(others), np.uint64)):
        assert run.may_have(keys).tolist() == run.places_by_numpy(keys).tolist()
        for most in (1, 3, UNLIMITED):
            places, ids = find_in_block(block, keys, 0, len(keys), (floor, 1), most) or ([], [])
            those, others_found = in_block_by_numpy(block, keys, 0, len(keys), (floor, 1), most) or ([], [])
            assert (list(places), list(ids)) == (list(those), list(others_found))


@pytest.mark.skipif(compiled is None, reason="numpy unpacks the whole block")
@given(PAIRS, st.binary(min_size=1, max_size=40), st.integers(0, 400))
def test_a_search_of_a_damaged_block_ends(pairs: list[tuple[int, int]], noise: bytes, place: int) -> None:
    whole = sorted_ids(np.array([key for key, _ in pairs], np.uint64), np.array([one for _, one in pairs], np.uint32))
    block = bytearray(whole.pack())
    block[place : place + len(noise)] = noise[: max(0, len(block) - place)]
    with suppress(StateError):
        find_in_block(bytes(block), whole.keys, 0, len(whole), (-1, 0), UNLIMITED)


@pytest.mark.parametrize("form", [IdEntries, ValueEntries])
def test_a_damaged_block_is_said_so(form: type[IdEntries | ValueEntries]) -> None:
    whole = (
        sorted_ids(np.arange(50, dtype=np.uint64), np.arange(50, dtype=np.uint32)).pack()
        if form is IdEntries
        else ValueEntries.of(np.arange(50, dtype=np.uint64), [b"value"] * 50).pack()
    )
    for damaged in (b"", whole[:5], whole[:-1], whole + b"x", b"\xff\xff" + whole[2:], whole[:2] + b"\x09" + whole[3:]):
        with pytest.raises(StateError, match="damaged"):
            form.unpack(damaged)
