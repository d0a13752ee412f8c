"""The store of links against a simple model: pages are read, change, are forgotten, come back; processes are killed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from xxhash import xxh3_64_intdigest

from pycrawl.errors import StateError
from pycrawl.state import anchor_texts, links, schema
from pycrawl.state.database import Database
from pycrawl.state.link_rows import EMPTY, StoredLink, has_anchors, links_of, links_to
from pycrawl.state.links import Columns, Links, joined_rows, packed_rows, unpacked
from pycrawl.state.runs.one_key import ids_of
from pycrawl.state.runs.value_runs import ValueRuns
from pycrawl.state.stores import ANCHOR_TEXTS, INLINKS, LINKS, OUTLINKS
from pycrawl.urls.link_flags import FRAME, LEAD, LONGEST_ANCHOR, WITHHELD

PAGES = 12
IDS = st.integers(1, PAGES)
TEXTS = st.sampled_from(["", "next", "home", "a long text", "über", "only here", "and there"])
FLAGS = st.sampled_from([0, FRAME, WITHHELD, LEAD])
Link = tuple[int, str, int]  # target, text, flags


def put(store: Links, rows: dict[int, list[Link]], wants_texts: bool = True) -> None:
    """Put the links of pages as the sieve does."""
    whole = [(page, *link) for page, some in rows.items() for link in some]
    texts = [text.encode() if wants_texts else b"" for _, _, text, _ in whole]
    hashes = np.array([xxh3_64_intdigest(text) if text else 0 for text in texts], np.uint64)
    columns = Columns(
        np.array([page for page, *_ in whole], np.uint32),
        np.array([target for _, target, _, _ in whole], np.uint32),
        store.texts.ids_of(hashes, lambda places: [texts[place] for place in places.tolist()]),
        np.array([flags for *_, flags in whole], np.uint8),
    )
    store.put(columns, dict.fromkeys(rows, wants_texts))


def stored(database: Database) -> dict[int, list[Link]]:
    """All links as they are stored."""
    rows = {page: links_of(row) for page, row in ValueRuns(database, LINKS).items()}
    texts = anchor_texts.texts_of(
        ValueRuns(database, ANCHOR_TEXTS), {link.text_id for some in rows.values() for link in some}
    )
    return {
        page: [(link.target_id, texts.get(link.text_id, ""), link.flags) for link in some]
        for page, some in rows.items()
    }


class StoreOfLinks(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self._folder = TemporaryDirectory()
        self._path = Path(self._folder.name, "state.db")
        self.database = Database.create(self._path)
        self.store = Links(self.database)
        self.committed: dict[int, list[Link]] = {}
        self.pages: dict[int, list[Link]] = {}

    @rule(rows=st.dictionaries(IDS, st.lists(st.tuples(IDS, TEXTS, FLAGS), max_size=6, unique=True), max_size=4))
    def read_pages(self, rows: dict[int, list[Link]]) -> None:
        put(self.store, rows)
        self.pages |= rows

    @rule()
    def commit(self) -> None:
        self.store.flush()
        self.database.commit()
        self.committed = dict(self.pages)

    @rule(written=st.booleans())
    def kill(self, written: bool) -> None:
        """A process is killed, before or after it has written; another one begins."""
        if written:
            self.store.flush()
        self.database.rollback()
        self.database.close()
        self.database = Database.open(self._path)
        self.store = Links(self.database)
        self.pages = dict(self.committed)

    @rule(ids=st.sets(IDS, min_size=1, max_size=3))
    def forget(self, ids: set[int]) -> None:
        self.commit()
        links.remove(self.database, ids)
        for page in ids:
            self.pages.pop(page, None)
        self._begin_anew()
        self._has_no_unused_text()

    @rule()
    def compact(self) -> None:
        self.commit()
        links.tidy(self.database)
        self._begin_anew()
        self._has_no_unused_text()
        for target in range(1, PAGES + 1):
            pages = {page for page, some in self.pages.items() if target in [link[0] for link in some]}
            assert set(ids_of(self.database, INLINKS.number, target)) == pages

    def _begin_anew(self) -> None:
        self.database.commit()
        self.committed = dict(self.pages)
        self.store = Links(self.database)

    def _has_no_unused_text(self) -> None:
        kept = {text.decode() for _, text in ValueRuns(self.database, ANCHOR_TEXTS).items()}
        assert kept == {text for some in self.pages.values() for _, text, _ in some if text}

    @invariant()
    def links_are_found(self) -> None:
        for page, linked, led_to in self.store.targets_of(range(1, PAGES + 1)):
            some = self.pages[page]
            assert linked.tolist() == [target for target, _, flags in some if not flags & (WITHHELD | LEAD)]
            assert led_to.tolist() == [target for target, _, flags in some if flags == LEAD]

    @invariant()
    def what_is_committed_is_whole(self) -> None:
        database = Database.open_readonly(self._path)
        assert stored(database) == self.committed
        assert list(links.faults(database, PAGES)) == []
        for page, some in self.committed.items():
            for target, _, _ in some:
                assert page in ids_of(database, INLINKS.number, target)
        database.close()

    def teardown(self) -> None:
        self.database.close()
        self._folder.cleanup()


TestStoreOfLinks = StoreOfLinks.TestCase
TestStoreOfLinks.settings = settings(max_examples=15, stateful_step_count=12, deadline=None, derandomize=True)


def columns(*rows: tuple[int, int, int, int]) -> Columns:
    pages, targets, texts, flags = (list(column) for column in zip(*rows, strict=True))
    return Columns(
        np.array(pages, np.uint32), np.array(targets, np.uint32), np.array(texts, np.uint32), np.array(flags, np.uint8)
    )


@pytest.mark.parametrize("target", [1, (1 << 24) - 1, 1 << 24, (1 << 32) - 1])
def test_rows_hold_ids_of_any_size(target: int) -> None:
    row = packed_rows(columns((3, target, (1 << 26) - 1, 63), (3, 1, 0, 0)), {3: True})[3]
    assert links_of(row) == [StoredLink(target, (1 << 26) - 1, 63), StoredLink(1, 0, 0)]
    assert has_anchors(row)
    assert [column.tolist() for column in unpacked(row)] == [[target, 1], [(1 << 26) - 1, 0], [63, 0]]


@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 257, 0x10101, 1 << 16, 1 << 24]), st.integers(0, 1)), max_size=9),
    st.sampled_from([0, 1, 257, 0x10101, 1 << 24, (1 << 32) - 1]),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_links_to_one_target_are_found(rows: list[tuple[int, int]], target: int) -> None:
    """Ids and texts whose bytes look alike, so that a target may seem to begin in the middle of a link."""
    row = packed_rows(columns(*((3, one, text, 1) for one, text in rows)), {3: True})[3] if rows else EMPTY
    assert links_to(row, target) == [link for link in links_of(row) if link.target_id == target]


def test_rows_of_different_widths_are_joined() -> None:
    one = packed_rows(columns((1, 5, 0, LEAD), (1, 6, 0, LEAD)), {})[1]
    other = packed_rows(columns((1, 6, 0, LEAD), (1, 1 << 25, 0, LEAD)), {})[1]
    assert [link.target_id for link in links_of(joined_rows(one, other))] == [5, 6, 1 << 25]


@pytest.mark.parametrize("row", [b"", b"\x04", b"\0" * 7, b"\1" * 8])
def test_a_damaged_row_is_told(row: bytes) -> None:
    with pytest.raises(StateError, match="damaged"):
        links_of(row)


def test_a_link_without_its_in_link_or_text_is_a_fault(state: Database) -> None:
    store = Links(state)
    put(store, {1: [(2, "a", 0)], 2: [(1, "b", 0), (9, "", 0)]})
    store.flush()
    assert list(links.faults(state, 9)) == []
    assert len(list(links.faults(state, 2))) == 1  # URL 9 is not there
    for run in list(store._inlinks.table.runs):
        store._inlinks.table.delete(run)
    assert len(list(links.faults(state, 9))) == 3
    put(store, {3: [(1, "c", 0)]})
    store.flush()
    ValueRuns(state, ANCHOR_TEXTS).remove([3])
    assert any("text with id 3" in fault for fault in links.faults(state, 9))


def test_a_page_without_links_has_none_any_more(state: Database) -> None:
    store = Links(state)
    put(store, {1: [(2, "a", 0)]})
    put(store, {1: []})
    store.flush()
    assert dict(ValueRuns(state, LINKS).items()) == {1: EMPTY}
    assert next(iter(store.targets_of([1])))[1].tolist() == []


def test_texts_are_stored_once(state: Database) -> None:
    for _ in range(3):  # the last time by another object, which remembers nothing
        put(store := Links(state), {page: [(2, "a", 0), (3, "b", 0)] for page in range(1, 9)})
        store.flush()
    assert sorted(text for _, text in ValueRuns(state, ANCHOR_TEXTS).items()) == [b"a", b"b"]


def test_links_of_an_older_release_are_moved(tmp_path: Path) -> None:
    before = schema.STEPS[: schema.STEPS.index(schema._TO_LINKS)]
    old = Database.create(tmp_path / "state.db", before)
    runs = ValueRuns(old, OUTLINKS)
    redirect = 1 << 31
    for first in range(1, 6_001, 1_000):  # several runs, more pages than are moved at once
        runs.put({page: np.array([page + 1, 7 | redirect], "<u4").tobytes() for page in range(first, first + 1_000)})
        runs.flush()
    old.commit()
    old.close()
    for _ in range(2):
        moved = Database.open(tmp_path / "state.db")
        found = {page: (linked.tolist(), led.tolist()) for page, linked, led in Links(moved).targets_of([1, 5_999])}
        assert found == {1: ([2], [7]), 5_999: ([6_000], [7])}
        assert ids_of(moved, INLINKS.number, 3) == [2]
        assert len(ids_of(moved, INLINKS.number, 7)) == 6_000
        assert not any(has_anchors(row) for _, row in ValueRuns(moved, LINKS).items())
        assert not ValueRuns(moved, OUTLINKS).table.runs
        assert list(links.faults(moved, 7_000)) == []
        moved.close()


def test_a_text_that_was_not_cut_is_cut_before_it_is_kept(tmp_path: Path) -> None:
    with closing(Database.create(tmp_path / "state.db")) as database:
        store = Links(database)
        put(store, {1: [(2, "x" * (LONGEST_ANCHOR + 9), 0)]})
        store.flush()
        assert stored(database) == {1: [(2, "x" * LONGEST_ANCHOR, 0)]}
