"""The index of passages beside a dictionary: added, merged, opened again, rolled back, and looked up."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pycrawl.fingerprint.page_prints import ONE_IN
from pycrawl.state.database import Database
from pycrawl.state.passages import Passages, sharing
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.runs.merging import DEFAULT_SIZES, MergeSizes
from pycrawl.state.runs.tables import Run
from pycrawl.state.stores import PASSAGES

Prints = NDArray[np.uint64]
MOST = 40  # documents, of a fingerprint that says something
KEYS = 1 << 31


class Indexed:
    """An index, and what it must hold: the documents of each fingerprint."""

    def __init__(self, path: Path, seed: int, sizes: MergeSizes = DEFAULT_SIZES) -> None:
        self.path = path
        self.sizes = sizes
        self.database = Database.create(path)
        self.passages = Passages(self.database, sizes)
        self.model: dict[int, set[int]] = defaultdict(set)
        self.source = np.random.default_rng(seed)
        # A few fingerprints are in very many documents, most in few; the keys are distinct.
        keys = self.source.choice(KEYS, 800, replace=False).astype(np.uint64)
        keys[:2] = (0, KEYS - 1)
        self.known: Prints = (keys | (self.source.integers(0, 1 << 20, 800, dtype=np.uint64) << np.uint64(31))) * (
            np.uint64(ONE_IN)
        )
        self.next_id = 1

    def add(self, documents: int, size: int) -> None:
        """A group, not committed yet."""
        for _ in range(documents):
            places = (self.source.random(size) ** 3 * len(self.known)).astype(int)
            prints = np.unique(self.known[places])
            self.passages.add(self.next_id, prints.tobytes())
            for one in prints.tolist():
                self.model[one].add(self.next_id)
            self.next_id += int(self.source.integers(1, 4))  # copies, and pages without words, leave gaps
        self.passages.close_group()
        self.passages.flush()

    def reopen(self) -> None:
        self.database.close()
        self.database = Database.open(self.path)
        self.passages = Passages(self.database, self.sizes)

    def check(self, asked: Prints, most: int = MOST) -> None:
        expected: Counter[int] = Counter()
        for one in asked.tolist():
            if len(self.model[one]) <= most:
                expected.update(self.model[one])
        found = sharing(self.database, asked, most)
        assert found.ids.tolist() == sorted(expected)
        assert dict(zip(found.ids.tolist(), found.counts.tolist(), strict=True)) == expected

    def check_all(self) -> None:
        self.check(self.known)
        for one in self.source.choice(self.known, 30):
            self.check(np.array([one]), most=10**9)

    def check_order(self) -> None:
        """Each entry is there once."""
        pairs = [
            pair
            for portion in IdRuns(self.database, PASSAGES).portions()
            for pair in zip(portion.keys.tolist(), portion.ids.tolist(), strict=True)
        ]
        assert len(set(pairs)) == len(pairs) == sum(map(len, self.model.values()))

    def runs(self) -> list[Run]:
        return IdRuns(self.database, PASSAGES).table.runs


# So small that merges take many commits, and fingerprints many blocks.
SMALL = MergeSizes(blocks_read=1, least_merged=50)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pycrawl.state.passages.PASSAGES", replace(PASSAGES, block_bytes=60))
    monkeypatch.setattr("pycrawl.state.runs.merging.FIRST_FACTOR", 12)
    monkeypatch.setattr("pycrawl.state.runs.id_runs._BLOCKS_OF_FEW", 10**6)  # small blocks hold few entries


@pytest.mark.parametrize("merged_for_each", [1, 3, 8])
def test_it_finds_what_a_dictionary_finds(tmp_path: Path, merged_for_each: int) -> None:
    indexed = Indexed(tmp_path / "state.db", merged_for_each, replace(SMALL, merged_for_each=merged_for_each))
    merging = 0
    for number in range(120):
        indexed.add(documents=int(indexed.source.integers(1, 6)), size=int(indexed.source.integers(1, 60)))
        indexed.database.commit()
        merging += any(run.goes_into for run in indexed.runs())
        if number % 10 == 9:
            indexed.reopen()
        if number % 30 in (9, 29):
            indexed.check_all()
            indexed.check_order()
    assert max(run.level for run in indexed.runs()) >= 1
    assert merging > 10, "some merges went on over commits"
    indexed.database.close()


def test_it_finds_the_same_with_blocks_as_they_are(tmp_path: Path) -> None:
    indexed = Indexed(tmp_path / "state.db", 9)
    for _ in range(30):
        indexed.add(documents=40, size=60)
        indexed.database.commit()
    indexed.check_all()
    indexed.check_order()
    assert len(indexed.runs()) < 2 * PASSAGES.factor
    indexed.database.close()


def test_what_was_not_committed_never_happened(tmp_path: Path) -> None:
    """Neither new entries nor steps of a merge."""
    indexed = Indexed(tmp_path / "state.db", 10, SMALL)
    for number in range(60):
        before, next_id = {key: set(ids) for key, ids in indexed.model.items()}, indexed.next_id
        indexed.add(documents=3, size=30)
        if number % 3 == 0:
            indexed.database.commit()
            continue
        if number % 3 == 1:
            indexed.database.rollback()  # and it goes on
        else:
            indexed.reopen()  # closed without a commit
        indexed.model, indexed.next_id = defaultdict(set, before), next_id
        indexed.check_order()
    indexed.check_all()
    indexed.database.close()


def test_a_group_that_is_open_is_not_written(state: Database) -> None:
    passages = Passages(state)
    prints = np.array([ONE_IN, 5 * ONE_IN], np.uint64)
    passages.add(1, prints.tobytes())
    passages.close_group()
    passages.add(2, prints.tobytes())
    passages.flush()
    assert sharing(state, prints, MOST).ids.tolist() == [1]
    passages.flush()
    passages.close_group()
    passages.flush()
    found = sharing(state, prints, MOST)
    assert (found.ids.tolist(), found.counts.tolist()) == ([1, 2], [2, 2])


def test_an_empty_index_finds_nothing(state: Database) -> None:
    assert len(sharing(state, np.array([0, ONE_IN], np.uint64), MOST).ids) == 0
    assert len(sharing(state, np.empty(0, np.uint64), MOST).ids) == 0


def test_the_largest_id_and_key_fit(state: Database) -> None:
    passages = Passages(state)
    largest = np.array([2**64 - ONE_IN], np.uint64)
    passages.add(2**32 - 1, largest.tobytes())
    passages.close_group()
    passages.flush()
    assert sharing(state, largest, MOST).ids.tolist() == [2**32 - 1]
