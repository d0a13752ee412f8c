"""The simulated worlds: what is expected is what happens, and the policies keep what they promise."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from pycrawl.model import Policy
from pycrawl.policy.change_rate import DAY, DEFAULT_PRIOR, Prior
from pycrawl.policy.recrawl import Numbers
from pycrawl.policy.simulation import DayResult, Plan, age_integral, log_normal_rates, simulate

SETTLED = 20  # days, after which ages are compared


def age(plan: Plan, policy: Policy, knows_rates: bool = False) -> float:
    return mean_age(simulate(plan, policy, 9, knows_rates))


def mean_age(days: Iterable[DayResult]) -> float:
    return float(np.mean([day.age for day in days][SETTLED:]))


def test_the_expected_age_is_what_drawn_changes_give() -> None:
    random = np.random.default_rng(4)
    for rate, time in [(0.01, 5.0), (0.3, 5.0), (4.0, 5.0)]:
        first = random.exponential(1 / rate, 400_000)
        drawn = np.maximum(time - first, 0.0) ** 2 / 2
        expected = age_integral(np.array([rate]), np.array([time]))[0]
        assert expected == pytest.approx(drawn.mean(), rel=0.03)


def test_a_page_that_is_visited_daily_has_a_days_expected_age() -> None:
    rates: Numbers = np.full(50, 2.0)
    for day in simulate(Plan(rates, 50, 4), Policy.UNIFORM, 1):
        assert day.age == pytest.approx(0.5 - 1 / 2 + (1 - np.exp(-2)) / 4)
        assert day.freshness == pytest.approx((1 - np.exp(-2)) / 2)
        assert (day.visits, day.longest_wait) == (50, 1)


def test_pages_that_never_change_are_always_current() -> None:
    for day in simulate(Plan(np.zeros(100), 10, 40), Policy.AGE, 1):
        assert day.freshness == pytest.approx(1)
        assert day.age == day.changes == 0


def test_the_same_seed_gives_the_same_days() -> None:
    plan = Plan(log_normal_rates(300, 0.3, 100.0, 0.2, 1), 60, 20)
    assert list(simulate(plan, Policy.AGE, 3)) == list(simulate(plan, Policy.AGE, 3))
    assert list(simulate(plan, Policy.AGE, 3)) != list(simulate(plan, Policy.AGE, 4))


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_age_with_estimated_rates_is_near_that_with_known_ones(factor: float) -> None:
    """Whatever the first prior; bench/freshness.py has the whole table."""
    rates = log_normal_rates(1_500, 1.0, 100.0, 0.0, 2)
    prior = Prior(0.7, 0.7 / float(rates.mean()) / factor * DAY, 0.2)
    plan = Plan(rates, 300, 50, prior=prior)
    assert age(plan, Policy.AGE) < 1.03 * age(plan, Policy.AGE, knows_rates=True)


def test_age_is_far_below_uniform_where_rates_differ_and_no_page_starves() -> None:
    plan = Plan(np.where(np.arange(1_500) % 2, 0.003, 0.3), 300, 60)
    days = list(simulate(plan, Policy.AGE, 9))
    assert mean_age(days) < 0.7 * age(plan, Policy.UNIFORM)
    assert max(day.longest_wait for day in days) < 40


def test_the_never_changing_half_does_not_eat_the_budget() -> None:
    plan = Plan(log_normal_rates(1_500, 1.0, 100.0, 0.5, 2), 300, 50)
    no_room = Plan(plan.rates, 300, 50, prior=Prior(DEFAULT_PRIOR.shape, DEFAULT_PRIOR.seconds, 0.0), is_fitted=False)
    found = age(plan, Policy.AGE)
    assert found < 1.4 * age(plan, Policy.AGE, knows_rates=True)
    assert found < age(no_room, Policy.AGE) < age(plan, Policy.UNIFORM)
