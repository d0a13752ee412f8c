"""What would a recrawl budget buy? A world of pages with known change rates, on a virtual clock.

Once a day, a policy chooses the pages to visit; whether each had changed is drawn at random, and the estimator
(`change_rate.py`) learns from that as it does from real visits. Age and freshness are not drawn: after a visit a page's
changes are a new Poisson process, so what is expected of each page until its next visit is known exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pycrawl.model import Policy
from pycrawl.policy.change_rate import DAY, DEFAULT_PRIOR, Prior, changing, fitted, no_evidence, rates, with_visits
from pycrawl.policy.recrawl import Numbers, Pages, Places, chosen

_SMALL = 0.05  # of rate × time, below which a power series is used
_BATCH = 1 << 18  # pages


@dataclass(frozen=True, slots=True)
class Plan:
    """What is simulated."""

    rates: Numbers  # changes a day, one for each page
    budget: int  # visits a day
    days: int
    interval: float = 7.0  # days between two visits under the policy `fixed`
    prior: Prior = DEFAULT_PRIOR
    is_fitted: bool = True  # the prior is fitted to what was seen, after the 1st, 2nd, 4th, 8th … day


@dataclass(frozen=True, slots=True)
class DayResult:
    """One simulated day."""

    age: float  # days, the mean over all pages and the day
    freshness: float  # share of pages that are current, the mean over the day
    visits: int
    changes: int  # visits that found a change
    longest_wait: float  # days since the last visit to the page that waits longest


def simulate(
    plan: Plan, policy: Policy, seed: int, knows_rates: bool = False, on_day: Callable[[int], None] = lambda day: None
) -> Iterator[DayResult]:
    """Yields each day's result. All pages were visited just before the first day. `knows_rates`: the policy is told
    the true rates, as a mark to measure the estimator by."""
    world = _World(plan, seed)
    for day in range(1, plan.days + 1):
        age, freshness = world.pass_day()
        if not knows_rates and day > 1 and (day - 1) & (day - 2) == 0:
            world.learn_prior()
        ids = chosen(policy, world.batches(knows_rates), plan.budget, plan.interval)
        longest = float(world.waits.max())
        yield DayResult(age, freshness, len(ids), world.visit(ids), longest)
        on_day(day)


class _World:
    """The pages, when each was visited last, and what the estimator knows of them."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self._plan = plan
        self._random = np.random.default_rng(seed)
        count = len(plan.rates)
        self._ids = np.arange(count)
        self.waits = np.zeros(count)  # days
        self._evidence = no_evidence(count)
        self._prior = plan.prior
        self._estimates = np.empty(count)  # changes a day
        self._weights = np.empty(count)
        self._estimate(self._ids)

    def pass_day(self) -> tuple[float, float]:
        """Lets a day pass. Returns the mean age in it and the mean share of pages that are current."""
        age = freshness = 0.0
        for start in range(0, len(self._ids), _BATCH):
            rate, before = self._plan.rates[start : start + _BATCH], self.waits[start : start + _BATCH]
            age += float((age_integral(rate, before + 1) - age_integral(rate, before)).sum())
            freshness += float((np.exp(-rate * before) * _fresh_for_a_day(rate)).sum())
        self.waits += 1.0
        return age / len(self._ids), freshness / len(self._ids)

    def batches(self, knows_rates: bool) -> Iterator[Pages]:
        known = self._plan.rates if knows_rates else self._estimates
        weights = np.ones(len(self._ids)) if knows_rates else self._weights
        for start in range(0, len(self._ids), _BATCH):
            end = start + _BATCH
            yield Pages(self._ids[start:end], known[start:end], self.waits[start:end], weights[start:end])

    def visit(self, ids: Places) -> int:
        """Visits these pages. Returns how many had changed."""
        waits = self.waits[ids]
        changed = self._random.random(len(ids)) < -np.expm1(-self._plan.rates[ids] * waits)
        self._evidence[ids] = with_visits(self._evidence[ids], waits * DAY, changed)
        self.waits[ids] = 0.0
        self._estimate(ids)
        return int(changed.sum())

    def learn_prior(self) -> None:
        if self._plan.is_fitted:
            self._prior = fitted(self._evidence, self._plan.prior)
            self._estimate(self._ids)

    def _estimate(self, ids: Places) -> None:
        self._estimates[ids] = rates(self._evidence[ids], self._prior) * DAY
        self._weights[ids] = changing(self._evidence[ids], self._prior)


def age_integral(rate: Numbers, time: Numbers) -> Numbers:
    """Returns the integral of a page's expected age from its visit on: t²/2 − t/λ + (1 − e^(−λt))/λ²."""
    x = rate * time
    series = x * (1 / 6 - x * (1 / 24 - x * (1 / 120 - x * (1 / 720 - x / 5040))))
    large = np.maximum(x, _SMALL)
    direct = 0.5 - 1 / large - np.expm1(-large) / (large * large)
    return np.asarray(time * time * np.where(x < _SMALL, series, direct), float)


def _fresh_for_a_day(rate: Numbers) -> Numbers:
    """Returns the share of a day in which a page that is current at its start stays so."""
    safe = np.maximum(rate, 1e-12)
    return np.asarray(-np.expm1(-safe) / safe, float)


def log_normal_rates(pages: int, median: float, spread: float, never: float, seed: int) -> Numbers:
    """Returns rates for a world: log-normal with this median, nine in ten within a factor of `spread`; the share
    `never` of the pages never changes."""
    random = np.random.default_rng(seed)
    deviation = np.log(spread) / (2 * 1.645)  # nine in ten of a normal distribution lie within ± 1.645
    found = median * np.exp(deviation * random.standard_normal(pages))
    found[random.random(pages) < never] = 0.0
    return np.asarray(found, float)
