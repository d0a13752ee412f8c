"""Which pages may be asked for again, by what is kept of them."""

from __future__ import annotations

import numpy as np
import pytest

from pycrawl.policy.page_records import NO_PRIORS, RECORD, Bounds, as_pages

NOW = 1_800_000_000.0
HOUR = 3_600.0


@pytest.mark.parametrize(
    ("asked", "is_due"),
    [(NOW - 21 * HOUR, True), (NOW - HOUR, False), (NOW, False), (NOW + 60, False), (NOW + 30 * 24 * HOUR, True)],
    ids=["long ago", "lately", "now", "by a clock that was a minute ahead", "before the clock was set back"],
)
def test_a_page_is_due_if_its_last_visit_is_long_ago_or_of_a_wrong_clock(asked: float, is_due: bool) -> None:
    records = np.zeros(1, RECORD)
    records["asked"] = records["visited"] = asked
    one = np.ones(1)
    pages = as_pages(np.array([7]), records, NO_PRIORS, one, 0 * one, NOW, Bounds(20 * HOUR, 8_760 * HOUR))
    assert pages.ids.tolist() == ([7] if is_due else [])
    assert all(np.isfinite(pages.rates))
    assert all(pages.waits > 0)
