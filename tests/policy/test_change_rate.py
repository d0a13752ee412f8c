"""The estimator of change rates: invariants, and how near it comes to rates that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.policy.change_rate import (
    DAY,
    DEFAULT_PRIOR,
    EVIDENCE,
    Evidence,
    Numbers,
    Prior,
    changing,
    date_is_right,
    dates_are_believed,
    fitted,
    interval,
    no_evidence,
    rates,
    with_visits,
)
from pycrawl.policy.simulation import log_normal_rates

VISIT = st.tuples(
    st.floats(60.0, 400 * DAY), st.booleans(), st.one_of(st.just(math.nan), st.floats(-DAY, 500 * DAY))
)  # elapsed, changed, since
VISITS = st.lists(VISIT, max_size=12)
ANYTHING = st.floats(allow_nan=True, allow_infinity=True)
PRIORS = st.builds(Prior, st.floats(0.1, 10), st.floats(60.0, 1e10), st.floats(0.0, 0.99))


def after(visits: list[tuple[float, bool, float]]) -> Evidence:
    evidence = no_evidence(1)
    for elapsed, changed, since in visits:
        evidence = with_visits(evidence, elapsed, changed, since)
    return evidence


def rate(evidence: Evidence, prior: Prior = DEFAULT_PRIOR) -> float:
    return float(rates(evidence, prior)[0])


def seen(truth: Numbers, visits: int, seed: int = 1) -> tuple[Evidence, Evidence]:
    """Evidence from visits at random intervals, ten days long on average: without dates of changes, and with them."""
    random = np.random.default_rng(seed)
    plain, dated = no_evidence(len(truth)), no_evidence(len(truth))
    for _ in range(visits):
        elapsed = random.exponential(10.0, len(truth)) + 0.01
        since = random.exponential(1.0, len(truth)) / np.maximum(truth, 1e-9)
        changed = since < elapsed
        plain = with_visits(plain, elapsed * DAY, changed)
        dated = with_visits(dated, elapsed * DAY, changed, np.where(changed, since * DAY, math.nan))
    return plain, dated


def error(evidence: Evidence, truth: Numbers) -> float:
    """The median of |log(estimate / truth)|."""
    return float(np.median(np.abs(np.log(rates(evidence, fitted(evidence)) * DAY / truth))))


def test_a_page_takes_sixteen_bytes() -> None:
    assert EVIDENCE.itemsize == 16


@given(VISITS)
def test_the_packed_form_round_trips(visits: list[tuple[float, bool, float]]) -> None:
    evidence = after(visits)
    assert np.frombuffer(evidence.tobytes(), EVIDENCE) == evidence


@given(st.lists(VISIT, min_size=2, max_size=12).flatmap(lambda one: st.tuples(st.just(one), st.permutations(one))))
def test_the_order_of_visits_does_not_matter(
    orders: tuple[list[tuple[float, bool, float]], list[tuple[float, bool, float]]],
) -> None:
    one, other = map(after, orders)
    assert rate(one) == pytest.approx(rate(other), rel=1e-2)
    assert changing(one, DEFAULT_PRIOR) == pytest.approx(changing(other, DEFAULT_PRIOR), rel=1e-4)


@given(st.lists(st.tuples(ANYTHING, st.booleans(), ANYTHING), max_size=8), PRIORS)
def test_whatever_clocks_and_dates_say_the_rate_is_finite(
    visits: list[tuple[float, bool, float]], prior: Prior
) -> None:
    evidence = after(visits)
    assert 0 < rate(evidence, prior) < math.inf
    assert 0 <= changing(evidence, prior)[0] <= 1


@given(VISITS, PRIORS, st.floats(DAY, 100 * DAY))
def test_a_visit_without_a_change_lowers_the_rate(
    visits: list[tuple[float, bool, float]], prior: Prior, elapsed: float
) -> None:
    before = after(visits)
    quiet = with_visits(before, elapsed, False)
    assert rate(quiet, prior) <= rate(before, prior) * (1 + 1e-6)
    assert changing(quiet, prior)[0] <= changing(before, prior)[0]
    assert changing(with_visits(before, elapsed, True), prior)[0] == 1


@given(st.floats(3600, 100 * DAY), st.integers(1, 40), st.integers(0, 40), PRIORS)
def test_equal_intervals_give_the_exact_mode(elapsed: float, changes: int, others: int, prior: Prior) -> None:
    """At the mode the derivative of the log posterior is zero; nothing is lost by keeping sums."""
    evidence = after([(elapsed, True, math.nan)] * changes + [(elapsed, False, math.nan)] * others)
    found = rate(evidence, prior)
    x = min(found * elapsed, 700.0)
    ups = prior.shape + changes * x / math.expm1(x)
    downs = found * (prior.seconds + others * elapsed)
    assert ups == pytest.approx(downs, rel=2e-3)


@given(VISITS, PRIORS)
def test_the_interval_is_in_order_and_holds_most(visits: list[tuple[float, bool, float]], prior: Prior) -> None:
    evidence = after(visits)
    (low, high), (lower, higher) = interval(evidence, prior, 0.5), interval(evidence, prior, 0.95)
    assert 0 <= lower <= low <= high <= higher < math.inf
    if changing(evidence, prior)[0] < 0.97:
        assert lower == 0


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    random = np.random.default_rng(2)
    prior = Prior(1.5, 1.5 * 10 * DAY, 0.3)
    truth = np.where(random.random(300) < prior.never, 0.0, random.gamma(prior.shape, DAY / prior.seconds, 300))
    evidence, _ = seen(truth, 6)
    bounds = [interval(evidence[place : place + 1], prior, 0.8) for place in range(len(truth))]
    inside = [low <= true / DAY <= high for (low, high), true in zip(bounds, truth, strict=True)]
    assert 0.75 <= np.mean(inside) <= 0.97  # above 0.8, as an interval that begins at 0 holds more


def test_a_count_that_is_full_is_halved() -> None:
    evidence = no_evidence(1)
    evidence["changed"], evidence["quiet"] = 60_000, 60_000 * DAY
    more = with_visits(evidence, DAY, True)
    assert more["changed"][0] == 30_001
    assert rate(more) == pytest.approx(rate(evidence), rel=1e-3)


@pytest.mark.parametrize(("visits", "most"), [(3, 0.75), (8, 0.50), (50, 0.25)])
def test_the_error_at_a_few_visits(visits: int, most: float) -> None:
    truth = log_normal_rates(1_500, 0.1, 30.0, 0.0, 3)
    plain, dated = seen(truth, visits)
    assert error(plain, truth) < most
    assert error(dated, truth) < error(plain, truth)


def test_dates_count_only_if_they_agree_with_the_visit() -> None:
    week = 7 * DAY
    assert with_visits(no_evidence(1), week, True, DAY)["dated"] == 1
    for since in (-DAY, 8 * DAY, math.nan):  # in the future, before the last visit, none
        assert with_visits(no_evidence(1), week, True, since)["changed"] == 1
    assert with_visits(no_evidence(1), week, False, DAY)["quiet"] == week
    assert with_visits(no_evidence(1), math.inf, True) == no_evidence(1)
    first = with_visits(no_evidence(1), math.inf, False, 900 * DAY)
    assert first.tolist() == [(900 * DAY, 0.0, 0.0, 0, 1)]


def test_a_host_is_believed_as_far_as_its_dates_were_right() -> None:
    assert date_is_right(7 * DAY, True, DAY)
    assert date_is_right(7 * DAY, False, 8 * DAY)
    assert not date_is_right(7 * DAY, False, 0.0)  # "just now" of a page that is the same as ever
    assert not date_is_right(7 * DAY, True, 8 * DAY)
    believed = [(right, wrong) for right, wrong in [(0, 0), (2, 0), (3, 0), (8, 1), (8, 3), (90, 20)]
                if dates_are_believed(right, wrong)]  # fmt: skip
    assert believed == [(3, 0), (8, 1), (90, 20)]


@pytest.mark.parametrize("factor", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("never", [0.0, 0.5])
def test_a_fitted_prior_finds_the_world_from_a_wrong_one(never: float, factor: float) -> None:
    random = np.random.default_rng(5)
    truth = random.gamma(2.0, 0.05, 2_000)  # a day
    truth[random.random(2_000) < never] = 0.0
    evidence, _ = seen(truth, 8)
    found = fitted(evidence, Prior(1.0, 10 * DAY / factor, 0.2))
    assert found.mean * DAY == pytest.approx(0.1, rel=0.2)
    assert found.never == pytest.approx(never, abs=0.07)


def test_few_pages_move_a_prior_little() -> None:
    above = Prior(1.0, 10 * DAY, 0.2)
    assert fitted(no_evidence(5), above) == above
    one, many = (fitted(np.repeat(after([(DAY, True, math.nan)] * 3), count), above) for count in (1, 200))
    assert above.mean < one.mean < many.mean
    assert abs(one.never - above.never) < 0.1
