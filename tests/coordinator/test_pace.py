"""Slots that follow the need, in simulated seconds."""

from __future__ import annotations

import pytest

from pycrawl.coordinator.pace import FIRST_SLOTS, Pace


def after(pace: Pace, seconds: int, hosts: int, fetch_seconds: float, most_results: float = 1e9) -> Pace:
    """Let one fetcher serve hosts whose answers take so long, as fast as it may and the processor can."""
    for tick in range(1, seconds * 20 + 1):
        in_flight = min(pace.slots, hosts)
        results = min(in_flight / fetch_seconds, most_results) / 20
        pace.measure(round(results), in_flight, lambda: hosts > pace.slots, 1_000 + tick / 20)
    return pace


@pytest.mark.parametrize(("hosts", "most", "expected"), [(50, 1_000, 128), (5_000, 1_000, 1_000), (5_000, 16, 16)])
def test_slots_grow_up_to_the_limit_if_hosts_wait(hosts: int, most: int, expected: int) -> None:
    assert after(Pace(most), 30, hosts, 1.0).slots == expected


def test_slots_stop_growing_soon_after_the_last_host_that_waited() -> None:
    assert 500 <= after(Pace(1_000), 30, 500, 1.0).slots <= 750


def test_slots_do_not_grow_where_the_processor_is_the_limit() -> None:
    pace = after(Pace(1_000), 5, 5_000, 0.2, most_results=400)
    assert pace.slots <= FIRST_SLOTS * 1.5 + 1


def test_what_did_not_help_is_tried_again_later() -> None:
    pace = after(Pace(1_000), 5, 5_000, 0.2, most_results=400)
    before = pace.slots
    assert after(pace, 30, 5_000, 0.2, most_results=400).slots > before


@pytest.mark.parametrize(("hosts", "fetch_seconds", "expected"), [(1, 0.001, 0.0), (100, 0.2, 0.01), (100, 5.0, 0.02)])
def test_results_gather_for_a_small_part_of_a_fetch(hosts: int, fetch_seconds: float, expected: float) -> None:
    assert after(Pace(128), 2, hosts, fetch_seconds).gathering == pytest.approx(expected, rel=0.3)


def test_nothing_gathers_where_nothing_comes() -> None:
    pace = Pace(128)
    for now in range(1_000, 1_010):
        pace.measure(0, 10, lambda: False, float(now))
    assert pace.gathering == 0.0


def test_slots_shrink_where_there_is_no_room_and_grow_again_after_a_while() -> None:
    pace = Pace(1_000)
    for _ in range(10):
        pace.shrink(1.0)
    assert pace.slots == 2
    for tenth in range(10, 200):
        pace.measure(10, 2, lambda: True, tenth / 10)
    assert 2 < pace.slots < 20
