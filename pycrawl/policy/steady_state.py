"""What a policy comes to in the long run, if rates and budget stay as they are: how often each page is visited, which
share of the pages is current, and how old they are on average.

In the long run each page has an interval of its own. Under `uniform` and `fixed` all are equal; under `age` and
`freshness` a page is visited whenever its index reaches a bound that is the same for all pages: the one at which all
visits together are the budget. Times are in seconds, rates in changes a second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pycrawl.model import Policy
from pycrawl.policy.page_records import Bounds
from pycrawl.policy.recrawl import Numbers, Pages, indexes
from pycrawl.policy.simulation import age_integral

_SHORTEST, _LONGEST = 1.0, 1e9  # seconds; between which an interval is looked for
_STEPS = 40  # halvings, of the bound and of each interval
_LEAST_RATE = 1e-12  # changes a second: one in thirty thousand years


class Rates(NamedTuple):
    """What is believed of the changes of some pages, one element of each array for each."""

    rates: Numbers  # if it changes at all
    alive: Numbers  # the probability that it does


class Expected(NamedTuple):
    """Means over pages."""

    current: float  # the share of pages that are current
    age: float  # seconds since the first change that is not in the collection; 0 for a page that is current


def expected_now(pages: Rates, waits: Numbers) -> Expected:
    """Returns what is expected of pages so long after their last visits."""
    rates = np.maximum(pages.rates, _LEAST_RATE)
    x = rates * waits
    current = 1 - pages.alive * -np.expm1(-x)
    ages = pages.alive * np.maximum(waits + np.expm1(-x) / rates, 0.0)
    return Expected(float(current.mean()), float(ages.mean()))


def expected_under(policy: Policy, pages: Rates, visits: float, bounds: Bounds) -> Expected:
    """Returns the long-run means if the pages get so many visits a second together, which must be more than none."""
    rates = np.maximum(pages.rates, _LEAST_RATE)
    intervals = _intervals(policy, Rates(rates, pages.alive), visits, bounds)
    x = rates * intervals
    current = 1 - pages.alive * (1 + np.expm1(-x) / x)
    ages = pages.alive * age_integral(rates, intervals) / intervals
    return Expected(float(current.mean()), float(ages.mean()))


def _intervals(policy: Policy, pages: Rates, visits: float, bounds: Bounds) -> Numbers:
    """Returns the time between two visits to each page."""
    even = max(len(pages.rates) / visits, bounds.least, _SHORTEST)
    if policy in (Policy.UNIFORM, Policy.FIXED):
        return np.full(len(pages.rates), even)
    least, most = max(bounds.least, _SHORTEST), max(min(bounds.most, _LONGEST), even)
    low, high = -200.0, 200.0  # the logarithm of the bound
    for _ in range(_STEPS):
        middle = (low + high) / 2
        asked = (1 / _reaching(policy, pages, float(np.exp(middle)), least, most)).sum()
        low, high = (middle, high) if asked > visits else (low, middle)
    return _reaching(policy, pages, float(np.exp(high)), least, most)


def _reaching(policy: Policy, pages: Rates, bound: float, least: float, most: float) -> Numbers:
    """Returns after how long each page's index reaches the bound, between the shortest and the longest interval."""
    count = len(pages.rates)
    ids = np.arange(count)
    low, high = np.full(count, np.log(least)), np.full(count, np.log(most))
    for _ in range(_STEPS):
        middle = (low + high) / 2
        is_above = indexes(policy, Pages(ids, pages.rates, np.exp(middle), pages.alive)) >= bound
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    return np.asarray(np.exp(high), float)
