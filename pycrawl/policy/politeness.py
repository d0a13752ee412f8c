"""When may this host be hit again: pure functions of what happened and the rules.

The gap counts from the end of the last fetch, or from its start where the rules say so (and then half of it is kept
after its end, as a slow host needs rest the most). A host that fails gets twice as long after each failure in a row;
one that keeps failing is parked, so that a crawl can end although a host may come back tomorrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from pycrawl.config import PolitenessSection
from pycrawl.model import RobotsFile

MIN_ROBOTS_LIFETIME = 60.0  # seconds that a robots.txt is believed, whatever its server says of caching
_FIRST_BACKOFF = 1.0  # seconds: what doubles when the configured delay is shorter
_FIRST_PARKING = 600.0  # seconds
_LONGEST_PARKING = 86_400.0  # seconds
_MOST_DOUBLINGS = 20
_FAILURES_UNTIL_PARKED = 5  # in a row
_ROBOTS_GIVEN_UP = 30 * 86_400.0  # seconds
_LONGEST_NUMBER = 12  # digits
_MOST_AHEAD = 8  # URLs
_PAGES_FOR_ONE_AHEAD = 16
_SECONDS_AHEAD = 0.25
_SHORTEST_FETCH = 0.001  # seconds
_LEAST_REST = 0.5  # of the delay, where it counts from the start of a fetch


@dataclass(frozen=True, slots=True)
class PolitenessRules:
    delay: float
    delay_factor: float
    max_crawl_delay: float
    max_backoff: float
    from_start: bool = False

    @classmethod
    def of(cls, section: PolitenessSection) -> PolitenessRules:
        return cls(
            delay=section.delay,
            delay_factor=section.delay_factor,
            # A Crawl-delay may be known from a time when robots.txt was obeyed.
            max_crawl_delay=section.max_crawl_delay if section.obey_robots else 0.0,
            max_backoff=section.max_backoff,
            from_start=section.delay_from == "start",
        )


def gap(rules: PolitenessRules, crawl_delay: float, fetch_seconds: float, failures: int, retry_after: float) -> float:
    """Seconds from the end of a fetch to the next one on the host, `failures` in a row included."""
    delay = max(rules.delay, min(crawl_delay, rules.max_crawl_delay))
    rest = max(delay - fetch_seconds, _LEAST_REST * delay) if rules.from_start else delay
    polite = max(rest, rules.delay_factor * fetch_seconds)
    if failures:
        doubled = max(delay, polite, _FIRST_BACKOFF) * 2.0 ** min(failures - 1, _MOST_DOUBLINGS)
        polite = max(polite, min(doubled, rules.max_backoff))
    return max(polite, min(retry_after, rules.max_backoff))


def ahead(pages: int, fetch_seconds: float) -> int:
    """How many URLs of a host that needs no pause may be sent to its fetcher before their turn, so that it never waits
    for the coordinator: few while the host is little known, and no more than it answers in a moment."""
    return min(_MOST_AHEAD, pages // _PAGES_FOR_ONE_AHEAD, int(_SECONDS_AHEAD / max(fetch_seconds, _SHORTEST_FETCH)))


def is_parked(failures: int) -> bool:
    return failures >= _FAILURES_UNTIL_PARKED


def parking(failures: int) -> float:
    """Seconds that a host which failed so many times in a row is left alone."""
    doublings = min(max(failures - _FAILURES_UNTIL_PARKED, 0), _MOST_DOUBLINGS)
    return min(_FIRST_PARKING * 2.0**doublings, _LONGEST_PARKING)


def may_ignore_robots(failing_since: float, now: float) -> bool:
    """Whether robots.txt has been unreachable for so long that it counts as not there (RFC 9309, 2.3.1.4)."""
    return failing_since > 0 and now - failing_since >= _ROBOTS_GIVEN_UP


def is_robots_current(file: RobotsFile, ttl: float, now: float) -> bool:
    """Whether a robots.txt need not be asked for again. `ttl` is the setting of now: it may have been longer when the
    file came."""
    return now < min(file.expires_at, file.fetched_at + max(ttl, MIN_ROBOTS_LIFETIME))


def retry_after_seconds(value: str, now: float) -> float:
    """The wait that a Retry-After header asks for, in seconds or as an HTTP date; 0 when it makes no sense."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:_LONGEST_NUMBER])
    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:  # asctime's form names no zone: RFC 9110, 5.6.7 says that it is UTC
            date = date.replace(tzinfo=UTC)
        return max(0.0, date.timestamp() - now)
    except (ValueError, TypeError, OverflowError, IndexError):
        return 0.0
