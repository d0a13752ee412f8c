from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycrawl.config import PolitenessSection
from pycrawl.model import RobotsFile
from pycrawl.policy.politeness import (
    PolitenessRules,
    ahead,
    gap,
    is_parked,
    is_robots_current,
    parking,
    retry_after_seconds,
    retry_pause,
)

RULES = PolitenessRules(delay=1.0, delay_factor=2.0, max_crawl_delay=60.0, max_backoff=600.0)
NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT


@pytest.mark.parametrize(
    ("pages", "fetch_seconds", "expected"),
    [
        (0, 0.0, 0),  # nothing is known of the host
        (15, 0.001, 0),
        (40, 0.001, 2),
        (10**9, 0.001, 8),
        (10**9, 0.0, 8),
        (10**9, 0.1, 2),  # what waits at a fetcher is done in a moment
        (10**9, 0.3, 0),
    ],
)
def test_ahead(pages: int, fetch_seconds: float, expected: int) -> None:
    assert ahead(pages, fetch_seconds) == expected


def test_rules_of_a_configuration() -> None:
    section = PolitenessSection(delay=0.5, delay_factor=3.0, max_crawl_delay=9.0, max_backoff=90.0)
    assert PolitenessRules.of(section) == PolitenessRules(0.5, 3.0, 9.0, 90.0)
    section = replace(section, delay_from="start")
    assert PolitenessRules.of(section) == PolitenessRules(0.5, 3.0, 9.0, 90.0, from_start=True)


@pytest.mark.parametrize(
    ("ttl", "seconds"),
    [(86_400.0, 3_600.0), (600.0, 600.0), (0.0, 60.0)],
    ids=["as when it came", "shorter since", "never within a minute"],
)
def test_a_robots_file_is_current_as_long_as_the_setting_says_now(ttl: float, seconds: float) -> None:
    file = RobotsFile(200, b"", NOW, NOW + 3_600.0)
    assert is_robots_current(file, ttl, NOW + seconds - 1)
    assert not is_robots_current(file, ttl, NOW + seconds)


def test_a_crawl_delay_from_before_means_nothing_where_robots_txt_is_not_obeyed() -> None:
    rules = PolitenessRules.of(PolitenessSection(delay=0.5, obey_robots=False))
    assert gap(rules, crawl_delay=30.0, fetch_seconds=0.1, failures=0, retry_after=0.0) == 0.5


@pytest.mark.parametrize(
    ("crawl_delay", "fetch_seconds", "failures", "retry_after", "expected"),
    [
        (0.0, 0.1, 0, 0.0, 1.0),  # the configured delay
        (5.0, 0.1, 0, 0.0, 5.0),  # Crawl-delay
        (0.2, 0.1, 0, 0.0, 1.0),  # … never less than the configured delay
        (3600.0, 0.1, 0, 0.0, 60.0),  # … and up to its cap
        (0.0, 4.0, 0, 0.0, 8.0),  # a slow server gets more time
        (0.0, 0.1, 1, 0.0, 1.0),  # failures double it
        (0.0, 0.1, 2, 0.0, 2.0),
        (0.0, 0.1, 5, 0.0, 16.0),
        (30.0, 0.1, 3, 0.0, 120.0),
        (0.0, 0.1, 60, 0.0, 600.0),  # … up to the cap
        (0.0, 400.0, 60, 0.0, 800.0),  # … which never shortens what is polite
        (0.0, 0.1, 0, 120.0, 120.0),  # Retry-After
        (0.0, 0.1, 0, 1e12, 86_400.0),  # … up to the cap
        (30.0, 0.1, 0, 5.0, 30.0),  # … and never less than the delay
        (0.0, 0.1, 10**9, 0.0, 600.0),
    ],
)
def test_gap(crawl_delay: float, fetch_seconds: float, failures: int, retry_after: float, expected: float) -> None:
    assert gap(RULES, crawl_delay, fetch_seconds, failures, retry_after) == expected


@pytest.mark.parametrize(
    ("crawl_delay", "fetch_seconds", "failures", "retry_after", "expected"),
    [
        (0.0, 0.25, 0, 0.0, 0.75),  # what is left of the delay
        (4.0, 0.25, 0, 0.0, 3.75),  # … or of the Crawl-delay
        (0.0, 0.9, 0, 0.0, 0.5),  # half of it at the least
        (0.0, 60.0, 0, 0.0, 0.5),
        (3600.0, 300.0, 0, 0.0, 30.0),
        (0.0, 0.25, 1, 0.0, 1.0),  # after failures, all of it counts from the end
        (0.0, 0.25, 3, 0.0, 4.0),
        (0.0, 0.25, 0, 120.0, 120.0),  # as does Retry-After
    ],
)
def test_gap_from_the_start_of_a_fetch(
    crawl_delay: float, fetch_seconds: float, failures: int, retry_after: float, expected: float
) -> None:
    rules = replace(RULES, delay_factor=0.0, from_start=True)
    assert gap(rules, crawl_delay, fetch_seconds, failures, retry_after) == expected
    if not failures and not retry_after:
        factored = replace(rules, delay_factor=2.0)
        assert gap(factored, crawl_delay, fetch_seconds, 0, 0.0) == max(expected, 2.0 * fetch_seconds)


def test_a_delay_of_zero_still_backs_off() -> None:
    rules = PolitenessRules(0.0, 0.0, 60.0, 600.0)
    assert [gap(rules, 0.0, 0.1, failures, 0.0) for failures in range(4)] == [0.0, 1.0, 2.0, 4.0]


@given(
    st.floats(0, 1e6),
    st.floats(0, 1e6),
    st.integers(0, 100),
    st.floats(0, 1e9),
    st.floats(0, 100),
    st.floats(0, 100),
    st.booleans(),
)
@settings(derandomize=True, max_examples=200)
def test_the_gap_is_never_short_and_never_shrinks_with_failures(
    crawl_delay: float,
    seconds: float,
    failures: int,
    retry_after: float,
    delay: float,
    factor: float,
    from_start: bool,
) -> None:
    rules = PolitenessRules(delay, factor, 60.0, 600.0, from_start)
    found = gap(rules, crawl_delay, seconds, failures, retry_after)
    asked = max(delay, min(crawl_delay, 60.0))
    assert found >= max(0.5 * asked if from_start else asked, factor * seconds)
    assert found + seconds >= asked * (1 - 1e-9)
    assert gap(rules, crawl_delay, seconds, failures + 1, retry_after) >= found


def test_parking() -> None:
    assert [is_parked(failures) for failures in (0, 4, 5, 50)] == [False, False, True, True]
    assert not is_parked(0, 10**6), "a long pause is no trouble"
    assert [is_parked(1, wait) for wait in (599.0, 600.0)] == [False, True]
    assert [parking(RULES, failures, 0.0) for failures in (5, 6, 7)] == [600.0, 1200.0, 2400.0]
    assert parking(RULES, 10**9, 0.0) == 86_400.0
    assert [parking(RULES, 5, wait) for wait in (30.0, 3_600.0, 10**9)] == [600.0, 3_600.0, 86_400.0]


def test_a_robots_txt_that_fails_is_asked_for_less_and_less() -> None:
    assert [retry_pause(RULES, failures, 0.0) for failures in range(1, 8)] == [1, 2, 4, 8, 600, 1200, 2400]
    assert [retry_pause(RULES, failures, 30.0) for failures in (1, 4, 5)] == [30, 30, 600]
    assert [retry_pause(RULES, failures, 3_600.0) for failures in (1, 5, 8)] == [3_600, 3_600, 4_800]
    assert retry_pause(RULES, 1, 10**9) == RULES.max_retry_after


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("9" * 5_000, 999_999_999_999.0),
        ("Sun, 06 Nov 1994 08:50:37 GMT", 60.0),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60.0),  # RFC 850
        ("Sun Nov  6 08:50:37 1994", 60.0),  # asctime
        ("Sun, 06 Nov 1994 08:48:37 GMT", 0.0),  # over
        ("", 0.0),
        ("-5", 0.0),
        ("1.5", 0.0),
        ("soon", 0.0),
        ("٣", 0.0),
        ("Sun, 99 Nov 1994 08:50:37 GMT", 0.0),
        ("Sun, 06 Nov 99999999999 08:50:37 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 -2359", 252_618_275_362.0),
    ],
)
def test_retry_after(value: str, expected: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert retry_after_seconds(value, NOW) == expected
    finally:
        monkeypatch.undo()
        time.tzset()


words = st.sampled_from(
    ["Sun,", "Nov", "06", "1994", "08:49:37", "GMT", "-0000", "+99999", ":", "-", "(", ")", "0", "Z"]
)


@given(st.one_of(st.text(max_size=40), st.lists(words, max_size=8).map(" ".join)))
@settings(derandomize=True, max_examples=500)
def test_any_retry_after_is_a_number_of_seconds(value: str) -> None:
    assert 0.0 <= retry_after_seconds(value, NOW) < 1e12
