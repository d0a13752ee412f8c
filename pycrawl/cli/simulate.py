"""`pycrawl simulate`: what a recrawl budget would buy, under each policy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pycrawl.cli import output, result_file
from pycrawl.cli.common import (
    WholeNumber,
    crawl_directory,
    directory_option,
    json_option,
    open_for_reading,
    plural,
    step_progress,
)
from pycrawl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pycrawl.policy.recrawl import Numbers
    from pycrawl.policy.simulation import DayResult, Plan

_MOST_PAGES = 10_000_000
_MOST_DAYS = 3_650
_MOST_CHANGES = 100_000.0  # a day
_LONGEST_LINE = 1_000  # characters
_DEFAULT_PAGES = 10_000
_MEDIAN, _SPREAD, _NEVER = 0.1, 100.0, 0.2  # of the rates where none are given: changes a day, factor, share
_KNOWN = "age, rates known"


def _days(ctx: click.Context, parameter: click.Parameter, value: str) -> float:
    """A click callback: reads a duration. Returns days."""
    from pycrawl.config import parse_duration

    try:
        return parse_duration(value) / 86_400
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command("simulate")
@directory_option
@click.option(
    "--pages",
    metavar="N",
    type=WholeNumber(1, _MOST_PAGES),
    help="Pages in the collection; by default 10,000, or one for each line of --rates or page of the crawl.",
)
@click.option("--budget", metavar="B", type=WholeNumber(1), required=True, help="Pages that are asked for in a day.")
@click.option("--days", metavar="D", type=WholeNumber(1, _MOST_DAYS), default=60, show_default=True, help="How long.")
@click.option(
    "--rates",
    "rates_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="How often pages change: a number of changes a day on each line. # begins a comment.",
)
@click.option("--from-crawl", is_flag=True, help="Pages that change as those of the crawl do, by what its visits show.")
@click.option(
    "--interval",
    metavar="T",
    default="7d",
    show_default=True,
    callback=_days,
    help='The interval of the policy "fixed", such as 20h or 7d.',
)
@click.option(
    "--seed", metavar="N", type=WholeNumber(0), default=0, show_default=True, help="The same seed, the same figures."
)
@click.option("--plot", "target", metavar="FILE.svg", type=click.Path(path_type=Path), help="Draw the age day by day.")
@json_option
def command(
    path: Path,
    pages: int | None,
    budget: int,
    days: int,
    rates_file: Path | None,
    from_crawl: bool,
    interval: float,
    seed: int,
    target: Path | None,
    as_json: bool,
) -> None:
    """Show what a budget of recrawls would buy, on a virtual clock.

    Pages change at random, each at its own rate. Every day, each policy asks for as many pages as the budget allows,
    learns from whether they had changed, and so chooses better. Shown are the mean age of the collection (a page's age
    is the time since its first change that was not seen, 0 while it is current) and the share of pages that are
    current. "age, rates known" is the policy age if it knew the true rates: the mark to measure by.

    Without --rates and --from-crawl, the pages are like this: half of those that change do so once in ten days or more
    often, nine in ten are within a factor of 100, and a fifth of all pages never change. If --pages is another number
    than that of the rates given, these are drawn from at random.

    --from-crawl takes the estimated rates of the pages of a crawl, after a few recrawls have shown them. What is
    simulated is a collection like it; the policies have to learn its rates anew.

    recrawl.policy chooses the policy of a crawl, and `pycrawl crawl --recrawl --max-requests N` gives it a budget.
    Nothing is fetched.

    \b
      pycrawl simulate --pages 100000 --budget 5000 --days 90
      pycrawl simulate --rates rates.txt --budget 500 --plot ages.svg
      pycrawl simulate -C my-crawl --from-crawl --budget 2000
    """
    from pycrawl.policy.simulation import Plan

    if target is not None:
        from pycrawl.cli.simulation_plot import MARK, plot

        result_file.check(target, MARK, "plot")
    if rates_file is not None and from_crawl:
        raise UsageError("expected one of --rates and --from-crawl, found both")
    rates = _read_rates(rates_file) if rates_file is not None else _rates_of_crawl(path, seed) if from_crawl else None
    plan = Plan(_of_size(rates, pages, seed), budget, days, interval)
    with step_progress() as on_step:
        found = _simulated(plan, seed, on_step)
    if target is not None:
        result_file.write(target, plot({name: [day.age for day in result] for name, result in found.items()}))
    if as_json:
        output.say_json(_as_json(plan, seed, found))
    else:
        output.say(*_table(plan, found))
        if target is not None:
            output.say(f"{target}: the mean age, day by day.")


def _of_size(rates: Numbers | None, pages: int | None, seed: int) -> Numbers:
    """Returns the rates of so many pages: those given, or drawn from them; None: like those of most collections."""
    import numpy as np

    from pycrawl.policy.simulation import log_normal_rates

    if rates is None:
        return log_normal_rates(pages or _DEFAULT_PAGES, _MEDIAN, _SPREAD, _NEVER, seed)
    return rates if pages in (None, len(rates)) else np.random.default_rng(seed).choice(rates, pages)


def _rates_of_crawl(path: Path, seed: int) -> Numbers:
    from pycrawl.collection.freshness import estimated_rates

    with closing(open_for_reading(crawl_directory(path))) as database:
        found = estimated_rates(database, _MOST_PAGES, seed)
    if not len(found):
        raise UsageError(f"{path}: no page of this crawl was visited yet, so nothing is known of changes")
    return found


def _read_rates(path: Path) -> Numbers:
    import numpy as np

    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            found = np.fromiter(_rates(path, file), float)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    if not len(found):
        raise UsageError(f"{path}: expected a number of changes a day on each line, found none")
    return found


def _rates(path: Path, file: Any) -> Iterator[float]:
    """Yields the numbers in an open file; raises UsageError at a line that has something else."""
    count = number = 0
    while line := file.readline(_LONGEST_LINE):
        number += 1
        value = line.partition("#")[0].strip()
        if line[-1] != "\n" and len(line) == _LONGEST_LINE:
            raise UsageError(f"{path}, line {number}: longer than {_LONGEST_LINE:,} characters")
        if not value:
            continue
        try:
            rate = float(value)
        except ValueError:
            rate = math.nan
        if not 0 <= rate <= _MOST_CHANGES:
            raise UsageError(
                f"{path}, line {number}: expected a number of changes a day from 0 to {_MOST_CHANGES:,.0f},"
                f" found {value[:40]!r}"
            )
        count += 1
        if count > _MOST_PAGES:
            raise UsageError(f"{path}: more than {_MOST_PAGES:,} rates")
        yield rate


def _simulated(plan: Plan, seed: int, on_step: Callable[[str], None]) -> dict[str, list[DayResult]]:
    """Returns each day's result for each policy, by name."""
    from pycrawl.model import Policy
    from pycrawl.policy.simulation import simulate

    found = {}
    for name, policy in [*((str(policy), policy) for policy in Policy), (_KNOWN, Policy.AGE)]:

        def on_day(day: int, name: str = name) -> None:
            on_step(f"{name}: day {day:,} of {plan.days:,}")

        found[name] = list(simulate(plan, policy, seed, knows_rates=name == _KNOWN, on_day=on_day))
    return found


def _summary(result: list[DayResult]) -> dict[str, float]:
    """Returns the figures of one policy: means over all days, and over the last quarter, when most is learned."""
    late = result[-max(1, len(result) // 4) :]
    return {
        "age_days": _mean([day.age for day in result]),
        "age_days_last_quarter": _mean([day.age for day in late]),
        "freshness": _mean([day.freshness for day in result]),
        "freshness_last_quarter": _mean([day.freshness for day in late]),
        "visits": sum(day.visits for day in result),
        "changes_found": sum(day.changes for day in result),
        "longest_wait_days": max(day.longest_wait for day in result),
    }


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _as_json(plan: Plan, seed: int, found: dict[str, list[DayResult]]) -> dict[str, Any]:
    return {
        "pages": len(plan.rates),
        "budget": plan.budget,
        "days": plan.days,
        "seed": seed,
        "policies": {
            name: {
                **_summary(result),
                "ages_by_day": [day.age for day in result],
                "freshness_by_day": [day.freshness for day in result],
            }
            for name, result in found.items()
        },
    }


def _table(plan: Plan, found: dict[str, list[DayResult]]) -> list[str]:
    lines = [
        f"{plural(len(plan.rates), 'page')}, {plural(plan.budget, 'visit')} a day, {plural(plan.days, 'day')}."
        " late: in the last quarter of the time.",
        "",
        f"{'policy':<18}{'mean age':>10}{'late':>10}{'current':>9}{'late':>8}{'visits':>11}{'longest wait':>14}",
    ]
    for name, result in found.items():
        of = _summary(result)
        lines.append(
            f"{name:<18}{of['age_days']:>8.3f} d{of['age_days_last_quarter']:>8.3f} d{of['freshness']:>9.1%}"
            f"{of['freshness_last_quarter']:>8.1%}{of['visits']:>11,}{of['longest_wait_days']:>12.0f} d"
        )
    return [*lines, "", "recrawl.policy chooses the policy of a crawl (docs/freshness.md)."]
