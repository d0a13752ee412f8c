from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.native import compiled
from pycrawl.state import url_lookup, url_seen
from pycrawl.state.database import Database
from pycrawl.state.url_lookup import find_url, inlinks_of
from pycrawl.state.url_seen import UrlSeen
from pycrawl.urls.parts import url_hash

SEED = 7
CHUNK = 16  # small, so that there are many
TOP = 2**64 - 1
EDGES = [0, 1, 2, 2**56 - 1, 2**56, 2**56 + 1, 2**63 - 1, 2**63, 2**63 + 1, TOP - 2**56, TOP - 1, TOP]


def array(hashes: list[int]) -> url_seen.U64:
    return np.array(hashes, np.uint64)


def hash_of(url: str, seed: int) -> int:
    """A URL's text is its hash in decimal, so that tests choose the hashes."""
    return int(url)


class Harness:
    """URL-seen with the urls table beside it, as the frontier fills both; and a dict that says what is right."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = Database.create(path)
        self.seen = UrlSeen(self.database, SEED, CHUNK, hash_of)
        self.ids: dict[int, int] = {}
        self.inlinks: dict[int, int] = {}

    def add(self, batch: list[int]) -> None:
        looked = self.seen.look(array(batch))
        assert looked.hashes.tolist() == sorted(set(batch))
        assert looked.ids.tolist() == [self.ids.get(value, 0) for value in sorted(set(batch))]
        assert looked.counts.tolist() == [batch.count(value) for value in sorted(set(batch))]
        assert looked.first.tolist() == [batch.index(value) for value in sorted(set(batch))]
        new = [value for value in dict.fromkeys(batch) if value not in self.ids]
        ids = self.seen.insert(array(new)).tolist()
        assert ids == list(range(len(self.ids) + 1, len(self.ids) + len(new) + 1))
        self.ids.update(zip(new, ids, strict=True))
        self.database.write_many(
            "INSERT INTO urls VALUES (?, ?, 1, 0, 0, 1, 0, 0, 0, 0)", [(self.ids[value], str(value)) for value in new]
        )

    def link(self, values: list[int], count: int) -> None:
        before, after, in_front = self.seen.add_inlinks(
            np.array([self.ids[value] for value in values], np.uint32), np.full(len(values), count, np.int64)
        )
        assert before.tolist() == [self.inlinks.get(value, 0) for value in values]
        for value in values:
            self.inlinks[value] = min(127, self.inlinks.get(value, 0) + count)
        assert after.tolist() == [self.inlinks[value] for value in values]
        assert in_front.all()

    def reopen(self) -> None:
        self.seen.flush()
        self.seen.flush_inlinks()
        self.database.commit()
        self.database.close()
        self.database = Database.open(self.path)
        self.seen = UrlSeen(self.database, SEED, CHUNK, hash_of)

    def check(self, unknown: list[int]) -> None:
        assert len(self.seen) == len(self.ids)
        values = list(self.ids) + unknown
        looked = self.seen.look(array(values))
        expected = dict.fromkeys(unknown, 0) | self.ids
        assert dict(zip(looked.hashes.tolist(), looked.ids.tolist(), strict=True)) == expected


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    harness = Harness(tmp_path / "state.db")
    yield harness
    harness.database.close()


def hashes_near_each_other(chance: random.Random) -> int:
    """Often at an edge, often with the same high bits as others."""
    return (chance.choice(EDGES) + chance.randrange(40) - 20) % 2**64


@pytest.mark.parametrize("seed", range(8))
def test_like_a_dict(harness: Harness, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(25):
        harness.add([hashes_near_each_other(chance) for _ in range(chance.choice([0, 1, 5, 60]))])
        if harness.ids:
            linked = chance.sample(list(harness.ids), chance.randrange(min(len(harness.ids), 20) + 1))
            harness.link(linked, chance.choice([1, 1, 3, 100, 100_000]))
        if chance.random() < 0.3:
            harness.seen.save_sorted(chance.choice([0, 1, 20, 10**9]))
        if chance.random() < 0.3:
            harness.reopen()
        harness.check([value for value in EDGES if value not in harness.ids])
    harness.reopen()
    for value, url_id in harness.ids.items():
        assert find_url(harness.database, str(value), SEED, CHUNK, hash_of) == url_id
        assert inlinks_of(harness.database, url_id, CHUNK) == harness.inlinks.get(value, 0)


def test_edges_of_the_hash_space(harness: Harness) -> None:
    harness.add(EDGES)
    harness.check([3, 2**56 + 2, TOP - 2])
    harness.reopen()
    harness.check([3, 2**56 + 2, TOP - 2])


@pytest.mark.parametrize("saved", [0, 1, 15, 16, 17, 40])
@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 31, 32, 33, 160])
def test_every_fill_of_the_last_chunk(harness: Harness, count: int, saved: int) -> None:
    harness.add(list(range(min(saved, count))))
    harness.seen.save_sorted(1)
    harness.add(list(range(count)))
    harness.reopen()
    assert harness.database.query("SELECT count(*) FROM url_hashes").fetchone() == (count // 16,)
    harness.check([count, TOP])
    harness.add(list(range(count + 20)))
    harness.reopen()
    harness.check([TOP])


def test_inlinks_saturate_and_are_counted_from_where_they_were(harness: Harness) -> None:
    harness.add([1, 2, 3])
    harness.link([1, 2], 126)
    harness.link([1], 1)
    harness.reopen()
    harness.link([1, 2, 3], 5)
    harness.reopen()
    assert [inlinks_of(harness.database, url_id, CHUNK) for url_id in (1, 2, 3, 4, 10**9)] == [127, 127, 5, 0, 0]


def test_leaving_front_is_remembered_beside_the_inlinks(harness: Harness) -> None:
    harness.add([1, 2])
    harness.link([1, 2], 3)
    harness.seen.leave_front(1)
    for _ in range(2):
        _, after, in_front = harness.seen.add_inlinks(np.array([1, 2], np.uint32), np.array([200, 1]))
        assert in_front.tolist() == [False, True]
        assert after[0] == 127
        harness.reopen()
    assert inlinks_of(harness.database, 1, CHUNK) == 127


def test_real_chunks_and_real_hashes(tmp_path: Path) -> None:
    def url(number: int) -> str:
        return f"http://example.com/{number}"

    database = Database.create(tmp_path / "state.db")
    seen = UrlSeen(database, SEED)
    count = 2 * url_lookup.CHUNK + 100
    hashes = array([url_hash(url(number), SEED) for number in range(count)])
    for start in range(0, count, 50_000):
        seen.insert(hashes[start : start + 50_000])
        seen.flush()
    database.write_many(
        "INSERT INTO urls VALUES (?, ?, 1, 0, 0, 1, 0, 0, 0, 0)", ((number + 1, url(number)) for number in range(count))
    )
    database.commit()
    again = UrlSeen(database, SEED)
    looked = again.look(hashes)
    assert (looked.ids == looked.first + 1).all()
    assert not again.look(hashes + np.uint64(1)).ids.any()
    for number in (0, url_lookup.CHUNK - 1, url_lookup.CHUNK, count - 101, count - 1):
        assert find_url(database, url(number), SEED) == number + 1
    assert find_url(database, url(count), SEED) == 0
    database.close()


TOP = (1 << 64) - 1
# Evenly spread as hashes are, or in heaps as they never are; both ends.
SPREAD = st.sets(st.integers(0, TOP) | st.integers(0, 90) | st.integers(TOP - 9, TOP) | st.just(1 << 63), max_size=120)


@pytest.mark.skipif(compiled is None, reason="there is no compiled module to compare with")
@given(SPREAD, SPREAD)
def test_the_compiled_module_and_numpy_agree(known: set[int], others: set[int]) -> None:
    hashes, wanted = (np.array(sorted(some), np.uint64) for some in (known, known | others))
    ids = np.arange(1, len(hashes) + 1, dtype=np.uint32)
    found, expected = np.zeros((2, len(wanted)), np.uint32)
    compiled.look_up(hashes, ids, wanted, found)
    url_seen.look_up_by_numpy(hashes, ids, wanted, expected)
    assert found.tolist() == expected.tolist()

    new = np.array(sorted(others - known), np.uint64)
    new_ids = np.arange(1_000, 1_000 + len(new), dtype=np.uint32)
    one, other = url_seen._merged(hashes, ids, new, new_ids), url_seen.merged_by_numpy(hashes, ids, new, new_ids)
    assert [column.tolist() for column in one] == [column.tolist() for column in other]
