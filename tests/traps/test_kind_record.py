"""What the pages of a kind bring, in numbers."""

from __future__ import annotations

from pycrawl.traps.kind_record import YIELD_FLOOR, smoothed


def test_yield_falls_with_pages_that_bring_nothing_and_patience_grows_with_what_was_brought() -> None:
    def copies_until_stop(novel: int) -> int:
        value, pages = 1.0, 0
        for _ in range(novel):
            value, pages = smoothed(value, pages, 1.0), pages + 1
        while value >= YIELD_FLOOR:
            value, pages = smoothed(value, pages, 0.0), pages + 1
        return pages - novel

    assert [copies_until_stop(novel) for novel in (0, 1, 10, 100, 10_000)] == [5, 7, 20, 60, 60]
