"""HEAD instead of GET: what it says, and when that is believed."""

from __future__ import annotations

import pytest

from pycrawl.policy.head_answers import (
    HeadNote,
    Marks,
    Says,
    are_believed,
    are_worth_asking,
    is_enough,
    said,
    verdict,
)
from pycrawl.policy.page_records import Found

KNOWN = Marks(1_000, '"a"', "Mon, 01 Jan 2024 00:00:00 GMT")


@pytest.mark.parametrize(
    ("before", "now", "says"),
    [
        (Marks(1_000), Marks(1_000), Says.SAME),
        (Marks(1_000), Marks(1_001), Says.CHANGED),
        (Marks(1_000), Marks(), Says.NOTHING),
        (Marks(), KNOWN, Says.NOTHING),
        (Marks(1_000), KNOWN, Says.SAME),
        (KNOWN, KNOWN._replace(etag='"b"'), Says.CHANGED),
        (KNOWN, KNOWN._replace(last_modified="Tue, 02 Jan 2024 00:00:00 GMT"), Says.CHANGED),
        (KNOWN, Marks(last_modified=KNOWN.last_modified), Says.SAME),
    ],
)
def test_what_a_head_says(before: Marks, now: Marks, says: Says) -> None:
    assert said(before, now) is says


@pytest.mark.parametrize(
    ("says", "length", "found", "is_same_body", "right"),
    [
        (Says.SAME, 1_000, Found.SAME, True, 1),
        (Says.SAME, 1_000, Found.CHANGED, False, -1),  # the length is the same, the page is not
        (Says.SAME, 1_000, Found.SAME, False, 1),  # a cosmetic change
        (Says.SAME, 999, Found.SAME, True, -1),  # it always says the same, whatever the page is
        (Says.SAME, -1, Found.SAME, True, -1),  # the GET tells nothing that would show whether it is true
        (Says.SAME, 0, Found.GONE, False, -1),
        (Says.CHANGED, 1_000, Found.CHANGED, False, 1),
        (Says.CHANGED, 1_000, Found.SAME, True, -1),
        (Says.CHANGED, 1_000, Found.SAME, False, 1),
        (Says.CHANGED, 0, Found.GONE, False, 0),
        (Says.SAME, -1, Found.NOTHING, False, 0),
    ],
)
def test_whether_it_was_right(says: Says, length: int, found: Found, is_same_body: bool, right: int) -> None:
    assert verdict(HeadNote(says, Marks(1_000)), length, found, is_same_body) == right


def test_a_head_that_tells_nothing_is_of_no_use() -> None:
    assert verdict(HeadNote(Says.NOTHING, Marks()), 1_000, Found.SAME, True) == -1
    assert verdict(HeadNote(Says.NOTHING, Marks(1_000)), 1_000, Found.SAME, True) == 1, "the next one has something"


def test_belief_comes_slowly_and_goes_fast() -> None:
    assert next(right for right in range(30) if are_believed(right, 0)) == 3
    assert next(right for right in range(30) if are_believed(right, 1)) == 8
    assert next(wrong for wrong in range(9) if not are_worth_asking(5, wrong)) == 3
    assert are_worth_asking(80, 10)


def test_one_visit_in_eight_is_checked() -> None:
    enough = [is_enough(Says.SAME, 10, 0, visit) for visit in range(80)]
    assert enough.count(False) == 10
    assert not any(is_enough(Says.CHANGED, 10, 0, visit) for visit in range(80))
    assert not any(is_enough(Says.SAME, 2, 0, visit) for visit in range(80))
