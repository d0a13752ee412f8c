"""How often does a page change? A Poisson rate for each page, from visits that only say whether it changed.

What the visits to a page have shown is kept in 16 bytes (`EVIDENCE`), however many they were. Evidence stands in numpy
arrays, one element for each page; `tobytes` packs an element and `np.frombuffer` reads it.

The likelihood of a rate λ: a visit after τ that found no change counts e^(−λτ), one that found a change 1 − e^(−λτ),
and one that also learned that the last change was s ago counts λe^(−λs). So the first and the last kind need sums only.
The changed visits are kept as the sums of log τ and (log τ)², and are read as if their intervals were three, with the
same mean and variance of the logarithm: exact where all intervals are equal, and nearly so where they are not.

Times are in seconds, rates in changes a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Evidence = npt.NDArray[np.void]  # of dtype EVIDENCE
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

DAY = 86_400.0
EVIDENCE = np.dtype(
    [
        ("quiet", "<f4"),  # seconds in which the page is known not to have changed
        ("logs", "<f4"),  # sum of log(τ / day) over the visits that found a change without a date
        ("squares", "<f4"),  # sum of the squares of these logarithms
        ("changed", "<u2"),  # number of these visits
        ("dated", "<u2"),  # number of changes with a date
    ]
)
_MOST_COUNTED = 60_000  # of each kind; beyond it all sums are halved, so that the latest visits count for more
_SHORTEST, _LONGEST = 1.0, 3e9  # seconds between two visits; what lies outside, as after a clock's jump, is cut off
_THREE_POINTS = ((-math.sqrt(3.0), 1 / 6), (0.0, 2 / 3), (math.sqrt(3.0), 1 / 6))  # Gauss–Hermite: place, weight
_STEPS_TO_MODE = 16  # of Newton's method, kept between bounds; more change nothing that counts
_BATCH = 65_536  # pages that are solved for at once
_LEAST_CHANGING = 0.02  # probability; no page is given up altogether, as no prior fits every page


@dataclass(frozen=True, slots=True)
class Prior:
    """What is believed of a page before it was visited again: with the probability `never` it never changes, and
    otherwise its rate has a Gamma distribution."""

    shape: float
    seconds: float  # the Gamma distribution's other parameter: its mean is shape / seconds
    never: float

    @property
    def mean(self) -> float:
        return self.shape / self.seconds

    def scaled(self, factor: float) -> Prior:
        """Returns the prior that believes in rates `factor` times as high."""
        return Prior(self.shape, self.seconds / factor, self.never)


class Priors(NamedTuple):
    """A prior for each of some pages, in arrays."""

    shape: Numbers
    seconds: Numbers
    never: Numbers


DEFAULT_PRIOR = Prior(shape=0.7, seconds=0.7 * 20 * DAY, never=0.2)


def no_evidence(pages: int) -> Evidence:
    return np.zeros(pages, EVIDENCE)


def with_visits(
    evidence: Evidence, elapsed: npt.ArrayLike, changed: npt.ArrayLike, since: npt.ArrayLike = math.nan
) -> Evidence:
    """Returns the evidence after one more visit to each page.

    `elapsed`: seconds since the visit before, infinite for the first visit. `since`: seconds since the page's last
    change by a date that is believed, NaN where there is none. A date that contradicts what the visit saw is not used.
    A first visit without a date shows nothing.
    """
    elapsed, since = np.broadcast_to(elapsed, evidence.shape), np.broadcast_to(since, evidence.shape)
    changed = np.broadcast_to(changed, evidence.shape).astype(bool)
    interval = np.clip(np.nan_to_num(elapsed, nan=_SHORTEST), _SHORTEST, _LONGEST)
    is_first = np.isinf(elapsed)
    is_dated = (changed | is_first) & (since >= 0) & (since < elapsed)
    is_quiet = ~changed & ~is_first
    is_change = changed & ~is_first & ~is_dated
    logs = np.where(is_change, np.log(interval / DAY), 0.0)
    after = _halved_where_full(evidence)
    after["quiet"] += np.where(is_quiet, interval, np.where(is_dated, np.clip(since, 0.0, _LONGEST), 0.0))
    after["logs"] += logs
    after["squares"] += logs * logs
    after["changed"] += is_change
    after["dated"] += is_dated
    return after


def _halved_where_full(evidence: Evidence) -> Evidence:
    """Returns a copy in which there is room for one more visit to each page."""
    after = evidence.copy()
    full = (after["changed"] >= _MOST_COUNTED) | (after["dated"] >= _MOST_COUNTED)
    if full.any():
        for name in ("quiet", "logs", "squares"):
            after[name][full] /= 2
        for name in ("changed", "dated"):
            after[name][full] //= 2
    return after


def date_is_right(elapsed: float, changed: bool, since: float) -> bool:
    """True if the date of the last change, `since` seconds ago, agrees with what a visit after `elapsed` saw."""
    return since >= 0 and (since < elapsed) == changed


def dates_are_believed(right: int, wrong: int) -> bool:
    """True if a host whose dates agreed with `right` visits and contradicted `wrong` ones is to be believed: from the
    third on, if at most about one in five is wrong."""
    return (right + 1) / (right + wrong + 2) >= 0.8


def rates(evidence: Evidence, prior: Prior | Priors) -> Numbers:
    """Returns the rate of each page, given that it changes at all: the mode of the posterior density of log λ.

    It lies between the bounds that hold if every interval with a change was very long or very short. What is solved for
    falls with λ, so a step of Newton's method that leaves the bounds is replaced by halving them.
    """
    counted = np.asarray(prior.shape + evidence["dated"].astype(float), float)
    quiet = np.asarray(prior.seconds + evidence["quiet"].astype(float), float)
    found: Numbers = np.asarray(counted / quiet, float)
    (unsure,) = np.nonzero(evidence["changed"])
    for start in range(0, len(unsure), _BATCH):
        batch = unsure[start : start + _BATCH]
        found[batch] = _solved(evidence[batch], counted[batch], quiet[batch])
    return found


def _solved(evidence: Evidence, counted: Numbers, quiet: Numbers) -> Numbers:
    changed, intervals = evidence["changed"].astype(float), _intervals(evidence)
    low, high = np.log(counted / quiet), np.log((counted + changed) / quiet)
    place = (low + high) / 2
    for _ in range(_STEPS_TO_MODE):
        rate = np.exp(place)
        slope = counted - rate * quiet
        bend = -rate * quiet
        for interval, weight in intervals:
            x = rate * interval
            part = _x_over_expm1(x)
            slope += weight * changed * part
            bend += weight * changed * part * (1 - x - part)
        low, high = np.where(slope > 0, place, low), np.where(slope > 0, high, place)
        place = place - slope / bend
        place = np.where((place >= low) & (place <= high), place, (low + high) / 2)
    return np.asarray(np.exp(place), float)


def _intervals(evidence: Evidence) -> list[tuple[Numbers, float]]:
    """Returns three intervals for each page, with their weights, that stand for those in which changes were found."""
    count = np.maximum(evidence["changed"], 1).astype(float)
    mean = evidence["logs"] / count
    spread = np.sqrt(np.maximum(0.0, evidence["squares"] / count - mean * mean))
    logs = [(mean + place * spread, weight) for place, weight in _THREE_POINTS]
    return [(np.clip(DAY * np.exp(log), _SHORTEST, _LONGEST), weight) for log, weight in logs]


def _x_over_expm1(x: Numbers) -> Numbers:
    """Returns x / (e^x − 1), which is 1 at 0 and nearly 0 for large x."""
    capped = np.clip(x, 1e-12, 700.0)
    return np.asarray(capped / np.expm1(capped), float)


def changing(evidence: Evidence, prior: Prior | Priors) -> Numbers:
    """Returns the probability that a page changes at all: 1 if it was seen to change, and otherwise the smaller the
    longer it was not, down to 0.02."""
    quiet = evidence["quiet"].astype(float)
    as_changing = (1 - prior.never) * np.exp(-prior.shape * np.log1p(quiet / prior.seconds))
    was_seen = (evidence["changed"] > 0) | (evidence["dated"] > 0)
    share = np.maximum(as_changing / (as_changing + prior.never), _LEAST_CHANGING)
    return np.asarray(np.where(was_seen, 1.0, share), float)


def interval(evidence: Evidence, prior: Prior, probability: float = 0.9) -> tuple[float, float]:
    """Returns the bounds between which the rate of one page lies with this probability; 0: perhaps it never changes.

    `evidence` has one element.
    """
    alive, (mode,) = float(changing(evidence, prior)[0]), rates(evidence, prior)
    logs = math.log(mode) + np.linspace(-30.0, 8.0, 4_001)
    density = _log_likelihood(evidence, logs)[0] + prior.shape * logs - prior.seconds * np.exp(logs)
    weights = np.exp(density - density.max())
    below = (1 - alive) + alive * np.cumsum(weights) / weights.sum()
    tail = (1 - probability) / 2
    low, high = (float(np.exp(logs[min(int(np.searchsorted(below, at)), len(logs) - 1)])) for at in (tail, 1 - tail))
    return (0.0 if 1 - alive >= tail else low), (0.0 if 1 - alive >= 1 - tail else high)


def _log_likelihood(evidence: Evidence, logs: Numbers) -> Numbers:
    """Returns the logarithm of the likelihood of each rate e^logs (columns) for each page (rows)."""
    rate = np.exp(logs)
    dated, quiet = evidence["dated"].astype(float), evidence["quiet"].astype(float)
    found = np.outer(dated, logs) - np.outer(quiet, rate)
    for interval, weight in _intervals(evidence):
        found += (weight * evidence["changed"])[:, None] * np.log(-np.expm1(-np.outer(interval, rate)))
    return np.asarray(found, float)


# Fitting a prior

_MOST_FITTED = 2_000  # pages that a prior is fitted to
_FIT_LOGS = np.linspace(math.log(1e-11), math.log(1.0), 140)  # rates over which the likelihood is integrated
_FIT_SHAPES = np.geomspace(0.2, 2.0, 10)  # narrower ones would take pages that change slowly for such as never do
_FIT_MEANS = np.geomspace(1e-9, 1e-2, 64)  # changes a second: from one in thirty years to one in two minutes
_SHAPE_SPREAD, _MEAN_SPREAD = 0.7, 1.5  # how far, in logarithms, a prior tends to lie from the one above it
_NEVER_PAGES = 2.0  # how many pages the share of the prior above counts for
_STEPS = 25


def fitted(evidence: Evidence, above: Prior = DEFAULT_PRIOR) -> Prior:
    """Returns the prior under which what was seen of these pages is most probable.

    `above` is the prior of the next larger group of pages: the whole crawl's for a host, the host's for a kind of URL.
    Few pages move it little. Of many pages, 2,000 evenly over them are looked at.
    """
    evidence = evidence[(evidence["quiet"] > 0) | (evidence["changed"] > 0) | (evidence["dated"] > 0)]
    if not len(evidence):
        return above
    evidence = evidence[:: -(-len(evidence) // _MOST_FITTED)]
    likelihood = _log_likelihood(evidence, _FIT_LOGS)
    highest = np.maximum(likelihood.max(axis=1), 0.0)[:, None]
    shapes, means = (grid.ravel() for grid in np.meshgrid(_FIT_SHAPES, _FIT_MEANS))
    if_changing = np.exp(likelihood - highest) @ _gamma_weights(shapes, means)
    was_seen = (evidence["changed"] > 0) | (evidence["dated"] > 0)
    if_never = np.where(was_seen[:, None], 0.0, np.exp(-highest))
    never = np.full(len(shapes), max(above.never, 0.01))
    for _ in range(_STEPS):
        of_never = never * if_never
        share = of_never / np.maximum(of_never + (1 - never) * if_changing, 1e-300)
        never = (share.sum(axis=0) + _NEVER_PAGES * above.never) / (len(evidence) + _NEVER_PAGES)
    score = np.log(np.maximum(never * if_never + (1 - never) * if_changing, 1e-300)).sum(axis=0)
    score -= (np.log(shapes / above.shape) / _SHAPE_SPREAD) ** 2 / 2
    score -= (np.log(means / above.mean) / _MEAN_SPREAD) ** 2 / 2
    best = int(np.argmax(score))
    return Prior(float(shapes[best]), float(shapes[best] / means[best]), float(never[best]))


def _gamma_weights(shapes: Numbers, means: Numbers) -> Numbers:
    """Returns the weight of each rate of the grid (rows) in each Gamma distribution (columns)."""
    density = np.outer(_FIT_LOGS, shapes) - np.outer(np.exp(_FIT_LOGS), shapes / means)
    weights = np.exp(density - density.max(axis=0))
    return np.asarray(weights / weights.sum(axis=0), float)
