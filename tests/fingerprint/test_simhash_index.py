from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pycrawl.fingerprint.simhash import distances
from pycrawl.fingerprint.simhash_index import SimhashIndex

ENTRIES = 3_000


def simhashes_with_neighbours(source: np.random.Generator, count: int) -> NDArray[np.uint64]:
    """A third are new; the others differ from one of these in up to five bits, anywhere."""
    values = source.integers(0, 2**64, count, dtype=np.uint64)
    for place in range(count // 3, count):
        value = values[source.integers(count // 3)]
        for bit in source.choice(64, source.integers(6), replace=False):
            value ^= np.uint64(1) << np.uint64(bit)
        values[place] = value
    return values


def near_slowly(values: NDArray[np.uint64], simhash: int, distance: int) -> list[int]:
    return np.flatnonzero(distances(simhash, values) <= distance).tolist()


@pytest.fixture(params=["all at once", "one by one", "in portions"])
def filled(request: pytest.FixtureRequest) -> tuple[SimhashIndex, NDArray[np.uint64]]:
    """Small runs, so that all of them are in use."""
    values = simhashes_with_neighbours(np.random.default_rng(1), ENTRIES)
    index = SimhashIndex(recent=1_000)
    if request.param == "all at once":
        index.extend(np.arange(ENTRIES), values)
    elif request.param == "one by one":
        for document_id, value in enumerate(values.tolist()):
            index.add(document_id, value)
    else:
        for ids in np.split(np.arange(ENTRIES), [700, 701, 1_900]):
            index.extend(ids, values[ids])
            index.add(ENTRIES, 0)
    return index, values


@pytest.mark.parametrize("distance", [0, 1, 2, 3])
def test_finds_exactly_those_within(filled: tuple[SimhashIndex, NDArray[np.uint64]], distance: int) -> None:
    index, values = filled
    for simhash in values[::10].tolist():
        assert index.find(simhash, distance).tolist() == near_slowly(values, simhash, distance)


@pytest.mark.parametrize("portion", [1, 100, 1 << 20])
def test_finds_many(filled: tuple[SimhashIndex, NDArray[np.uint64]], portion: int) -> None:
    index, values = filled
    asked = values[:300]
    places, ids = index.find_many(asked, pairs_at_once=portion)
    expected = [(place, near) for place, one in enumerate(asked.tolist()) for near in near_slowly(values, one, 3)]
    assert list(zip(places.tolist(), ids.tolist(), strict=True)) == expected


def test_an_empty_index() -> None:
    index = SimhashIndex()
    assert len(index) == 0
    assert index.find(5).tolist() == []
    assert [found.tolist() for found in index.find_many(np.array([5], dtype=np.uint64))] == [[], []]
    assert [found.tolist() for found in index.find_many(np.array([], dtype=np.uint64))] == [[], []]


def test_counts_what_it_holds() -> None:
    index = SimhashIndex()
    for document_id in range(5_000):
        index.add(document_id, document_id)
    index.extend(np.arange(10), np.arange(10, dtype=np.uint64))
    index.add(1, 2)
    assert len(index) == 5_011


def test_refuses_what_it_cannot_find() -> None:
    index = SimhashIndex()
    for distance in (-1, 4):
        with pytest.raises(ValueError, match="from 0 to 3 bits"):
            index.find(0, distance)
        with pytest.raises(ValueError, match="from 0 to 3 bits"):
            index.find_many(np.zeros(1, dtype=np.uint64), distance)
    with pytest.raises(ValueError, match="an id for each of 2 simhashes, found 1"):
        index.extend(np.arange(1), np.zeros(2, dtype=np.uint64))
