"""The long run of each policy, against the simulation that plays it day by day."""

from __future__ import annotations

import numpy as np
import pytest

from pycrawl.model import Policy
from pycrawl.policy.change_rate import DAY
from pycrawl.policy.page_records import Bounds
from pycrawl.policy.simulation import Plan, log_normal_rates, simulate
from pycrawl.policy.steady_state import Expected, Rates, expected_now, expected_under

PAGES, BUDGET, DAYS = 2_000, 400, 200
FREE = Bounds(0.0, float("inf"))


def world() -> Rates:
    rates = log_normal_rates(PAGES, 0.2, 100.0, 0.0, seed=4) / DAY
    return Rates(rates, np.ones(PAGES))


@pytest.mark.parametrize("policy", [Policy.AGE, Policy.UNIFORM])
def test_the_long_run_is_what_a_simulation_comes_to(policy: Policy) -> None:
    pages = world()
    plan = Plan(pages.rates * DAY, BUDGET, DAYS)
    late = list(simulate(plan, policy, seed=1, knows_rates=True))[DAYS // 2 :]
    found = expected_under(policy, pages, BUDGET / DAY, FREE)
    assert found.current == pytest.approx(np.mean([day.freshness for day in late]), rel=0.05)
    # A simulated page waits for the next morning, so it is older by a part of a day.
    assert found.age / DAY == pytest.approx(np.mean([day.age for day in late]), rel=0.15)


def test_each_policy_is_best_at_what_it_is_for() -> None:
    found = {policy: expected_under(policy, world(), BUDGET / DAY, FREE) for policy in Policy}
    assert min(found, key=lambda policy: found[policy].age) is Policy.AGE
    assert max(found, key=lambda policy: found[policy].current) is Policy.FRESHNESS


def test_bounds_hold() -> None:
    pages = world()
    often = expected_under(Policy.AGE, pages, 1e9, Bounds(2 * DAY, 365 * DAY))
    assert often == pytest.approx(expected_under(Policy.UNIFORM, pages, PAGES / (2 * DAY), FREE), rel=1e-6)
    rarely = expected_under(Policy.FRESHNESS, pages, PAGES / (100 * DAY), Bounds(0.0, 10 * DAY))
    assert rarely == pytest.approx(expected_under(Policy.UNIFORM, pages, PAGES / (100 * DAY), FREE), rel=1e-6)


def test_now() -> None:
    rates = Rates(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.5, 1.0]))
    found = expected_now(rates, np.array([2.0, 2.0, 100.0]))
    stays, age = np.exp(-2.0), 2.0 - (1 - np.exp(-2.0))
    assert found == pytest.approx(Expected((stays + (0.5 + 0.5 * stays) + 1) / 3, 1.5 * age / 3), rel=1e-5)
