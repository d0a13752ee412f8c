"""Which series run on without end."""

from __future__ import annotations

from datetime import date

import pytest

from pycrawl.traps.series import FUTURE_PAGES, RUN_PAGES, Series
from pycrawl.traps.url_kinds import position_of

TODAY = position_of(date(2026, 11, 18))
MOST = 5_000  # pages


def pages_until_stop(series: Series, *steps: int, useful_every: int = 0) -> int:
    """How many pages are asked for when each step is taken in turn, again and again, from its own last position on."""
    positions = [series.last_named] * len(steps)
    for page in range(1, MOST):
        turn = page % len(steps)
        positions[turn] += steps[turn]
        series.add(positions[turn], bool(useful_every) and page % useful_every == 0, TODAY)
        if series.stopped:
            return page
    return MOST


def dated(start: date) -> Series:
    return Series(True, position_of(start), position_of(start))


@pytest.mark.parametrize(
    ("series", "steps", "pages"),
    [
        (dated(date(2001, 1, 1)), (-1, 1), RUN_PAGES),
        (dated(date(2001, 1, 1)), (-1,), MOST),
        (dated(date(2001, 1, 1)), (1,), MOST),
        (dated(date(2026, 11, 18)), (366,), FUTURE_PAGES + 1),
        (Series(False, 1, 1), (1,), MOST),
        (Series(False, 5_000, 5_000), (-1,), MOST),
        (Series(False, 2_500, 2_500), (-1, 1), MOST),
        (Series(False, 0, 0), (-1, 1), RUN_PAGES),
    ],
    ids=["both ways", "past", "up to today", "future", "numbers", "numbers down", "numbers both ways", "below 0"],
)
def test_what_runs_on(series: Series, steps: tuple[int, ...], pages: int) -> None:
    assert pages_until_stop(series, *steps) == pages


def test_a_series_that_leads_to_other_pages_goes_on() -> None:
    assert pages_until_stop(dated(date(2001, 1, 1)), -1, 1, useful_every=3) == MOST
    assert pages_until_stop(dated(date(2001, 1, 1)), -1, 1, useful_every=10) == RUN_PAGES


def test_positions_that_other_pages_name_do_not_count() -> None:
    series = dated(date(2001, 1, 1))
    series.name(series.first_named - 3_000)
    assert pages_until_stop(series, -1, 1) == MOST
