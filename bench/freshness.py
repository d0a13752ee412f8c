"""How good are the estimator and the policies of recrawls? Worlds of pages with known change rates, on a virtual clock.

    python bench/freshness.py            all worlds, the estimator and the choice among 10 million (about three minutes)
    python bench/freshness.py --quick    one seed

A round is a day of `pycrawl.policy.simulation`. Nothing here depends on the machine but the last part's seconds.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from collections.abc import Callable, Iterator

import numpy as np

from pycrawl.model import Policy
from pycrawl.policy.change_rate import DAY, DEFAULT_PRIOR, Prior, fitted, no_evidence, rates, with_visits
from pycrawl.policy.recrawl import Numbers, Pages, chosen, indexes
from pycrawl.policy.simulation import DayResult, Plan, age_integral, log_normal_rates, simulate

PAGES, BUDGET, ROUNDS = 6_000, 1_200, 60
WARM_UP = 24  # rounds after which "later" begins
World = Callable[[int], Numbers]  # from a seed, changes a round


def two_groups(fast: float, seed: int) -> Numbers:
    """Half of the pages change a hundred times as often as the others."""
    return np.where(np.random.default_rng(seed).random(PAGES) < 0.5, fast / 100, fast)


WORLDS: dict[str, World] = {
    "log-normal, median 1 a round": lambda seed: log_normal_rates(PAGES, 1.0, 100.0, 0.0, seed),
    "log-normal, median 1 in 3 rounds": lambda seed: log_normal_rates(PAGES, 0.3, 100.0, 0.0, seed),
    "log-normal, median 1 in 10 rounds": lambda seed: log_normal_rates(PAGES, 0.1, 100.0, 0.0, seed),
    "two groups, 0.003 and 0.3 a round": lambda seed: two_groups(0.3, seed),
    "two groups, 0.01 and 1 a round": lambda seed: two_groups(1.0, seed),
    "half never, others median 1 a round": lambda seed: log_normal_rates(PAGES, 1.0, 100.0, 0.5, seed),
    "half never, others median 1 in 3 rounds": lambda seed: log_normal_rates(PAGES, 0.3, 100.0, 0.5, seed),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one seed instead of four")
    seeds = range(1 if parser.parse_args().quick else 4)
    show_choice()  # first, so that its memory is not hidden by that of the others
    for name, world in WORLDS.items():
        show_world(name, [world(seed) for seed in seeds])
    show_estimators()


# Policies


def show_world(name: str, worlds: list[Numbers]) -> None:
    print(f"\n## {name}: {PAGES:,} pages, {BUDGET:,} visits a round, {ROUNDS} rounds, {len(worlds)} seeds\n")
    print(f"| policy | age, all rounds | × known | age after round {WARM_UP} | × known | current | longest wait |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    right = Prior(DEFAULT_PRIOR.shape, DEFAULT_PRIOR.shape / float(np.mean(worlds)) * DAY, DEFAULT_PRIOR.never)
    known = figures(worlds, Policy.AGE, right, knows_rates=True)
    show_row("age, rates known", known, known)
    show_row("age, distribution known", whole_posteriors(worlds), known)
    for factor in (1.0, 0.1, 10.0):
        label = "age" if factor == 1 else f"age, first prior × {factor:g}"
        show_row(label, figures(worlds, Policy.AGE, right.scaled(factor)), known)
    for factor in (0.1, 10.0):
        show_row(
            f"age, prior × {factor:g}, never fitted", figures(worlds, Policy.AGE, right.scaled(factor), False), known
        )
    show_row("freshness, rates known", figures(worlds, Policy.FRESHNESS, right, knows_rates=True), known)
    for policy in (Policy.FRESHNESS, Policy.UNIFORM, Policy.FIXED):
        show_row(policy, figures(worlds, policy, right), known)


def figures(
    worlds: list[Numbers], policy: Policy, prior: Prior, is_fitted: bool = True, knows_rates: bool = False
) -> Numbers:
    """Returns, as means over the worlds: age, age after the warm-up, share that is current, longest wait."""
    found = []
    for seed, world in enumerate(worlds):
        plan = Plan(world, BUDGET, ROUNDS, prior=prior, is_fitted=is_fitted)
        found.append(summary(list(simulate(plan, policy, 100 + seed, knows_rates))))
    return np.asarray(np.mean(found, axis=0), float)


_GRID = np.exp(np.linspace(np.log(1e-4), np.log(1e3), 120))  # changes a round


def whole_posteriors(worlds: list[Numbers]) -> Numbers:
    """As `figures`, for a policy that is told the true distribution of the rates, but not which page has which, and
    goes by the mean of the index over the whole posterior of each page: a mark for what visits can show at all."""
    found = []
    for seed, world in enumerate(worlds):
        random = np.random.default_rng(100 + seed)
        share = np.histogram(world[world > 0], np.append(_GRID, np.inf))[0] / len(world)
        logs = np.tile(np.log(np.maximum(share, 1e-30)), (len(world), 1))
        if_never = np.full(len(world), np.log(max(float(np.mean(world == 0)), 1e-30)))
        waits = np.zeros(len(world))
        days = []
        for _ in range(ROUNDS):
            age = float((age_integral(world, waits + 1) - age_integral(world, waits)).mean())
            waits += 1
            most = np.maximum(logs.max(axis=1), if_never)[:, None]
            weights = np.exp(logs - most)
            total = weights.sum(axis=1) + np.exp(if_never - most[:, 0])
            each = Pages(np.arange(_GRID.size * len(world)), np.tile(_GRID, len(world)), np.repeat(waits, _GRID.size),
                         (weights / total[:, None]).ravel())  # fmt: skip
            index = indexes(Policy.AGE, each).reshape(len(world), -1).sum(axis=1)
            days.append(DayResult(age, math.nan, BUDGET, 0, float(waits.max())))
            ids = np.argsort(-index, kind="stable")[:BUDGET]
            changed = random.random(len(ids)) < -np.expm1(-world[ids] * waits[ids])
            x = np.outer(waits[ids], _GRID)
            logs[ids] += np.where(changed[:, None], np.log(-np.expm1(-x)), -x)
            if_never[ids[changed]] = -1e9
            waits[ids] = 0
        found.append(summary(days))
    return np.asarray(np.mean(found, axis=0), float)


def summary(days: list[DayResult]) -> list[float]:
    ages = [day.age for day in days]
    current = float(np.mean([day.freshness for day in days]))
    return [float(np.mean(ages)), float(np.mean(ages[WARM_UP:])), current, max(day.longest_wait for day in days)]


def show_row(name: str, found: Numbers, known: Numbers) -> None:
    age, later, current, longest = found
    print(
        f"| {name} | {age:.3f} | {age / known[0]:.3f} | {later:.3f} | {later / known[1]:.3f} |"
        f" {'' if math.isnan(current) else f'{current:.1%}'}"
        f" | {longest:.0f} |",
        flush=True,
    )


# The estimator


def show_estimators(pages: int = 4_000) -> None:
    """Visits at random intervals (exponential, the mean being ten days) to pages with log-normal rates; the error is
    the median of |log(estimate / truth)|, the bias the median of log(estimate / truth)."""
    random = np.random.default_rng(7)
    truth = log_normal_rates(pages, 0.1, 30.0, 0.0, 7)
    print("\n## The estimator: median error, and (bias), of the logarithm of the rate\n")
    print("| visits | naive | Cho and Garcia-Molina | maximum likelihood | infinite | posterior mode | with dates |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for visits in (3, 8, 50):
        intervals = random.exponential(10.0, (visits, pages)) + 0.01
        since = random.exponential(1.0, (visits, pages)) / truth  # of the last change, if it lies in the interval
        changed = since < intervals
        evidence, dated = no_evidence(pages), no_evidence(pages)
        for number in range(visits):
            elapsed, seen = intervals[number] * DAY, changed[number]
            evidence = with_visits(evidence, elapsed, seen)
            dated = with_visits(dated, elapsed, seen, np.where(seen, since[number] * DAY, np.nan))
        count, total = changed.sum(axis=0), intervals.sum(axis=0)
        likely = maximum_likelihood(intervals, changed)
        columns = [
            error(np.maximum(count, 0.5) / total, truth),
            error(-np.log((visits - count + 0.5) / (visits + 0.5)) / (total / visits), truth),
            error(likely, truth),
            f"{np.mean(count == visits):.0%}",
            error(rates(evidence, fitted(evidence)) * DAY, truth),
            error(rates(dated, fitted(dated)) * DAY, truth),
        ]
        print(f"| {visits} | {' | '.join(columns)} |", flush=True)


def maximum_likelihood(intervals: Numbers, changed: np.ndarray) -> Numbers:
    """The exact estimate from all visits; infinite (here: cut off) where every visit saw a change."""
    low, high = np.full(intervals.shape[1], np.log(1e-5)), np.full(intervals.shape[1], np.log(1e4))
    for _ in range(60):
        middle = (low + high) / 2
        x = np.clip(np.exp(middle) * intervals, 1e-12, 700)
        slope = np.where(changed, x / np.expm1(x), -x).sum(axis=0)
        low, high = np.where(slope > 0, middle, low), np.where(slope > 0, high, middle)
    return np.asarray(np.exp(low), float)


def error(estimate: Numbers, truth: Numbers) -> str:
    logs = np.log(np.maximum(estimate, 1e-5) / truth)
    return f"{np.median(np.abs(logs)):.2f} ({np.median(logs):+.2f})"


# The choice


def show_choice(pages: int = 10_000_000, most: int = 100_000) -> None:
    print(f"\n## Choosing {most:,} among {pages:,}\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for policy in (Policy.AGE, Policy.FRESHNESS, Policy.UNIFORM):
        begun = time.process_time()
        made = 0.0

        def batches() -> Iterator[Pages]:
            nonlocal made
            random = np.random.default_rng(3)
            for start in range(0, pages, 250_000):
                at = time.process_time()
                size = min(250_000, pages - start)
                batch = Pages(
                    np.arange(start, start + size),
                    random.lognormal(-2, 2, size),
                    random.exponential(9, size),
                    np.ones(size),
                )
                made += time.process_time() - at
                yield batch

        count = len(chosen(policy, batches(), most))
        spent = time.process_time() - begun - made
        print(f"- {policy}: {count:,} pages, {spent:.2f} s of CPU")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    print(f"- peak memory grew by {grown:.0f} MB, the batches included")


if __name__ == "__main__":
    main()
