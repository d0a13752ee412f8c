"""How fresh is the collection, by what is believed of the changes of its pages? What `stats --freshness` prints, and
what `why` says of the next visit to a page."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pycrawl.config import Config
from pycrawl.model import Policy
from pycrawl.policy.change_rate import DAY, Flags, Prior, changing, interval, rates
from pycrawl.policy.page_records import (
    Bounds,
    PriorTable,
    Records,
    Standing,
    as_pages,
    evidence_of,
    importance,
    next_visits,
)
from pycrawl.policy.recrawl import indexes
from pycrawl.policy.steady_state import Expected, Rates, expected_now, expected_under
from pycrawl.state.change_rates import DECILES, ChangeRates
from pycrawl.state.counters import family, totals
from pycrawl.state.database import Database
from pycrawl.state.recrawl_facts import Choice, last_choice, revisits_a_day
from pycrawl.state.url_lookup import inlinks_of

_MOST_PLANNED = 5_000  # pages that the long run of a policy is computed from
_STEPS = 40  # halvings of the time in which the next visit is looked for
# Names of bands of change rates, and the least rate of each, in changes a day.
_BANDS = {"hourly": 6.0, "daily": 0.5, "weekly": 1 / 14, "monthly": 1 / 60, "yearly": 1 / 730, "more rarely": 0.0}
_PROBABLY_NEVER = "probably never"  # the band of pages that change at all with a probability of less than a half


def freshness(database: Database, config: Config, now: float) -> dict[str, Any]:
    """Returns what `stats --freshness --json` prints. Of many pages, 200,000 evenly over them are looked at."""
    with database.explained(), database.one_view():
        known = ChangeRates(database, with_filters=False)
        sample, count = known.sample(_is_page)
        budget = revisits_a_day(database, now)
        calibration = _calibration(family(totals(database), "predicted"))
        pages = _rates_of(sample, known.priors)
    expected = expected_now(pages, np.maximum(now - sample["visited"], 0.0)) if count else None
    return {
        "pages": count,
        "policy": config.recrawl.policy,
        "now": _as_json(expected) if expected else None,
        "visits_a_day": round(budget, 1),
        "in_the_long_run": _policies(pages, count, budget, config) if count and budget else None,
        "change_rates": _bands(pages, count),
        "calibration": calibration,
    }


def estimated_rates(database: Database, most: int, seed: int) -> npt.NDArray[np.float64]:
    """Returns a change rate for each page of the collection, at most so many, in changes a day, by what visits have
    shown. A page that perhaps never changes has the rate 0 with that probability. Empty: no page was visited."""
    with database.explained(), database.one_view():
        known = ChangeRates(database, with_filters=False)
        sample, count = known.sample(_is_page)
        pages = _rates_of(sample, known.priors)
    random = np.random.default_rng(seed)
    found = np.where(random.random(len(sample)) < pages.alive, pages.rates * DAY, 0.0)
    return found if count == len(found) else random.choice(found, min(count, most))


def _is_page(records: Records) -> Flags:
    return np.asarray((records["standing"] == Standing.PAGE) & (records["visited"] > 0), bool)


def _rates_of(records: Records, priors: PriorTable) -> Rates:
    evidence, prior = evidence_of(records), priors.of(records["host"], records["kind"])
    return Rates(rates(evidence, prior), changing(evidence, prior))


def _as_json(expected: Expected) -> dict[str, float]:
    return {"current": round(expected.current, 4), "mean_age_seconds": round(expected.age, 1)}


def _policies(pages: Rates, count: int, budget: float, config: Config) -> dict[str, Any]:
    """Returns what each policy comes to, if the pages get so many visits a day as they do now."""
    step = -(-len(pages.rates) // _MOST_PLANNED)
    some = Rates(pages.rates[::step], pages.alive[::step])
    visits = budget / DAY * len(some.rates) / count
    return {
        policy.value: _as_json(expected_under(policy, some, visits, Bounds.of(config.recrawl))) for policy in Policy
    }


def _bands(pages: Rates, count: int) -> dict[str, int]:
    """Returns how many pages change how often, the most frequent first."""
    found: dict[str, int] = {}
    left = pages.alive >= 0.5
    scale = count / max(len(pages.rates), 1)
    for name, least in _BANDS.items():
        is_here = left & (pages.rates * DAY >= least)
        found[name] = round(int(is_here.sum()) * scale)
        left &= ~is_here
    return {**found, _PROBABLY_NEVER: count - sum(found.values())}


def _calibration(predicted: dict[str, int]) -> list[dict[str, Any]]:
    """Returns what was predicted before visits and what they found, by the decile of the predicted probability."""
    rows = []
    for decile in range(DECILES):
        visits, changes, millionths = (
            predicted.get(f"{decile}:{name}", 0) for name in ("visits", "changes", "millionths")
        )
        if visits:
            rows.append(
                {
                    "from": decile / DECILES,
                    "to": (decile + 1) / DECILES,
                    "visits": visits,
                    "changes_predicted": round(millionths / 1e6, 1),
                    "changes_found": changes,
                }
            )
    return rows


# One page


def of_page(database: Database, config: Config, url_id: int, depth: int, now: float) -> dict[str, Any] | None:
    """Returns what is known of the changes of one URL, and when a recrawl asks for it; None if it was not visited."""
    known = ChangeRates(database, with_filters=False)
    record = known.records_of([url_id]).get(url_id)
    if record is None:
        return None
    evidence, priors = evidence_of(record), known.priors
    prior = Prior(*(float(column[0]) for column in priors.of(record["host"], record["kind"])))
    low, high = interval(evidence, prior)
    weight = float(importance(np.array([min(depth, 255)], np.uint8), np.array([inlinks_of(database, url_id)]))[0])
    return {
        "changes_a_day": float(rates(evidence, prior)[0]) * DAY,
        "at_least": low * DAY,
        "at_most": high * DAY,
        "changes_at_all": float(changing(evidence, prior)[0]),
        "changes_seen": int(record["changed"][0]) + int(record["dated"][0]),
        "unchanged_seconds": float(record["quiet"][0]),
        "failures": int(record["failures"][0]),
        "asked_at": int(record["asked"][0]),
        **_next_visit(record, priors, weight, config, last_choice(database), now),
    }


def _next_visit(
    record: Records, priors: PriorTable, weight: float, config: Config, choice: Choice | None, now: float
) -> dict[str, Any]:
    """Returns from when on the page may be asked for again, when it is likely to be, and why then."""
    if record["standing"][0] == Standing.DEADLY:
        return {"not_before": None, "next_at": None, "why": "deadly"}
    bounds = Bounds.of(config.recrawl)
    not_before = float(next_visits(record, bounds.least)[0])
    earliest = max(now, not_before)
    if choice is None or choice.policy != config.recrawl.policy or not choice.least_index:
        return {"not_before": not_before, "next_at": earliest, "why": "all-that-are-due"}

    def is_reached(at: float) -> bool:
        pages = as_pages(np.zeros(1, np.int64), record, priors, np.array([weight]), np.zeros(1), at, bounds)
        if not len(pages.ids):
            return False
        is_overdue = pages.is_overdue is not None and bool(pages.is_overdue[0])
        return is_overdue or float(indexes(Policy(choice.policy), pages, bounds.least)[0]) >= choice.least_index

    low, high = earliest, earliest + min(bounds.most, 50 * 365 * DAY) + 1
    if is_reached(low):
        return {"not_before": not_before, "next_at": low, "why": "index-is-reached"}
    if not is_reached(high):
        return {"not_before": not_before, "next_at": None, "why": "index-is-not-reached"}
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_reached(middle) else (middle, high)
    return {"not_before": not_before, "next_at": high, "why": "index-is-reached"}
