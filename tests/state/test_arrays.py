from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pycrawl.state.arrays import distinct, lines_at, places_in


def spread(numbers: list[int]) -> NDArray[np.uint64]:
    return np.array([(number << 59) % (1 << 64) for number in numbers], np.uint64)


NUMBERS = st.lists(st.integers(0, 20)).map(spread)


@given(NUMBERS)
def test_distinct_numbers_are_those_of_numpy(batch: NDArray[np.uint64]) -> None:
    numbers, first, counts, order, starts = distinct(batch)
    theirs = np.unique(batch, return_index=True, return_counts=True)
    for ours, their in zip((numbers, first, counts), theirs, strict=True):
        assert ours.tolist() == their.tolist()
    assert batch[order].tolist() == np.sort(batch).tolist()
    assert batch[order[starts]].tolist() == numbers.tolist()


@given(NUMBERS, NUMBERS)
def test_places_are_those_of_numpy(some: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> None:
    ascending = np.sort(some)
    assert places_in(ascending, wanted).tolist() == ascending.searchsorted(wanted).tolist()


@given(st.binary(max_size=40), st.data())
def test_lines_are_those_of_split(data: bytes, chosen: st.DataObject) -> None:
    lines = data.split(b"\n")
    numbers = chosen.draw(st.lists(st.integers(0, len(lines) - 1)))
    assert lines_at(data, np.array(numbers, np.int64)) == [lines[number] for number in numbers]
