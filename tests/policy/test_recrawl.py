"""The policies of recrawls: their indexes, against exact arithmetic, and the choice of the best pages."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.model import Policy
from pycrawl.policy.recrawl import Numbers, Pages, chosen, indexes

LEARNING = (Policy.AGE, Policy.FRESHNESS)
SPEED = st.floats(1e-12, 1e6)
WAIT = st.floats(0.0, 1e9)


def pages(rates: object, waits: object, weights: object = 1.0) -> Pages:
    rates, waits, weights = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(one, float)) for one in (rates, waits, weights))
    )
    return Pages(np.arange(len(rates)), rates, waits, weights)


def index(policy: Policy, rate: float, wait: float, weight: float = 1.0) -> float:
    return float(indexes(policy, pages(rate, wait, weight))[0])


def exact_exp(x: Fraction) -> Fraction:
    """e^(−x), for x up to 20, far more exactly than a float can have it."""
    total = term = Fraction(1)
    for number in range(1, 130):
        term *= -x / number
        total += term
    return total


@pytest.mark.parametrize("x", [1e-12, 1e-6, 1e-3, 0.049999, 0.05, 0.050001, 0.3, 1.0, 1.8, 5.0, 20.0])
def test_the_indexes_are_what_the_formulas_say(x: float) -> None:
    wait, rate = Fraction(4), Fraction(x) / 4
    decay = exact_exp(rate * wait)
    age = wait**2 / 2 + wait * decay / rate - (1 - decay) / rate**2
    freshness = (1 - decay * (1 + rate * wait)) / rate
    assert index(Policy.AGE, float(rate), 4.0) == pytest.approx(float(age), rel=1e-9)
    assert index(Policy.FRESHNESS, float(rate), 4.0) == pytest.approx(float(freshness), rel=1e-9)


@given(st.sampled_from(LEARNING), SPEED, WAIT, st.floats(1.0, 100.0))
def test_a_longer_wait_never_lowers_an_index(policy: Policy, rate: float, wait: float, factor: float) -> None:
    before, later = index(policy, rate, wait), index(policy, rate, wait * factor)
    assert 0 <= before < math.inf
    assert later >= before * (1 - 1e-9)


@given(SPEED, WAIT, st.floats(1.0, 100.0))
def test_age_rises_with_the_rate_and_freshness_is_bounded_by_it(rate: float, wait: float, factor: float) -> None:
    assert index(Policy.AGE, rate * factor, wait) >= index(Policy.AGE, rate, wait) * (1 - 1e-9)
    assert index(Policy.FRESHNESS, rate, wait) <= 1 / rate * (1 + 1e-9)


def test_what_cannot_be_is_not_due_or_zero() -> None:
    assert index(Policy.AGE, 0.0, 5.0) == index(Policy.AGE, 5.0, 0.0) == index(Policy.AGE, 1.0, -3.0) == 0
    assert index(Policy.AGE, 1e300, 1e100) == pytest.approx(5e199)
    assert index(Policy.UNIFORM, 0.1, 7.0) == 7
    assert list(indexes(Policy.FIXED, pages(1.0, [6.0, 7.0, 8.0]), 7.0)) == [-1, 7, 8]


def test_every_page_has_its_turn_by_age_and_fast_ones_are_given_up_by_freshness() -> None:
    slow, fast = (0.01, 50.0), (100.0, 50.0)
    assert index(Policy.AGE, *fast) > index(Policy.AGE, *slow)
    assert index(Policy.FRESHNESS, *fast) < index(Policy.FRESHNESS, *slow)
    assert index(Policy.AGE, 1e-6, 1e7) > index(Policy.AGE, 100.0, 1.0)


@given(st.lists(st.integers(0, 6), max_size=60), st.integers(0, 70), st.integers(1, 20), st.sampled_from([0.0, 3.0]))
def test_the_choice_is_that_of_sorting(waits: list[int], most: int, size: int, interval: float) -> None:
    """However the pages are cut into batches; equal ones by id."""
    policy = Policy.FIXED if interval else Policy.UNIFORM
    every = pages(1.0, waits) if waits else pages(np.empty(0), np.empty(0))
    batches = [every.part(slice(start, start + size)) for start in range(0, len(waits), size)]
    due = [place for place, wait in enumerate(waits) if wait >= interval]
    expected = sorted(due, key=lambda place: (-waits[place], place))[:most]
    assert chosen(policy, batches, most, interval).tolist() == expected


def test_a_choice_among_a_million_is_that_of_sorting() -> None:
    """More than are held at once, so that what is below the least is dropped on the way; with many equal ones."""
    random = np.random.default_rng(1)
    every = pages(random.choice([0.1, 1.0, 10.0], 1_000_000), random.integers(1, 30, 1_000_000))
    found: Numbers = indexes(Policy.AGE, every)
    expected = np.lexsort((every.ids, -found))[:20_000]
    batches = (every.part(slice(start, start + 90_000)) for start in range(0, 1_000_000, 90_000))
    assert chosen(Policy.AGE, batches, 20_000).tolist() == expected.tolist()
