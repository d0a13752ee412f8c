"""When a host may be hit again: pure functions of the last fetch and the rules.

The pause counts from the end of the last fetch, or from its start with `politeness.delay_from = "start"`; then half of
it is still kept after the end, as a slow host needs rest the most. Each failure in a row doubles the pause. A host that
keeps failing is parked for minutes or hours: it does not keep the crawl from ending, and is tried again later.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pycrawl.config import PolitenessSection
from pycrawl.model import RobotsFile
from pycrawl.policy.http_date import http_date

MIN_ROBOTS_LIFETIME = 60.0  # seconds that a robots.txt is believed, whatever its server says of caching
_FIRST_BACKOFF = 1.0  # seconds; the pause after a first failure, if the usual pause is shorter
_FIRST_PARKING = 600.0  # seconds
_LONGEST_PARKING = 86_400.0  # seconds
_MOST_DOUBLINGS = 20
_FAILURES_UNTIL_PARKED = 5  # in a row
_ROBOTS_GIVEN_UP = 30 * 86_400.0  # seconds; a robots.txt unreachable for so long counts as missing
_LONGEST_NUMBER = 12  # digits of a Retry-After header that are read
_MOST_AHEAD = 8  # URLs of one host
_PAGES_FOR_ONE_AHEAD = 16  # a host gets one URL ahead for each 16 pages fetched from it
_SECONDS_AHEAD = 0.25  # the URLs ahead must not take longer than this
_SHORTEST_FETCH = 0.001  # seconds
_LEAST_REST = 0.5  # of the delay, where it counts from the start of a fetch


@dataclass(frozen=True, slots=True)
class PolitenessRules:
    delay: float
    delay_factor: float
    max_crawl_delay: float
    max_backoff: float
    max_retry_after: float = 86_400.0
    from_start: bool = False

    @classmethod
    def of(cls, section: PolitenessSection) -> PolitenessRules:
        return cls(
            delay=section.delay,
            delay_factor=section.delay_factor,
            # A Crawl-delay may be known from a time when robots.txt was obeyed.
            max_crawl_delay=section.max_crawl_delay if section.obey_robots else 0.0,
            max_backoff=section.max_backoff,
            max_retry_after=section.max_retry_after,
            from_start=section.delay_from == "start",
        )


def gap(rules: PolitenessRules, crawl_delay: float, fetch_seconds: float, failures: int, retry_after: float) -> float:
    """Returns the pause in seconds from the end of a fetch to the next on its host, after `failures` in a row."""
    delay = max(rules.delay, min(crawl_delay, rules.max_crawl_delay))
    rest = max(delay - fetch_seconds, _LEAST_REST * delay) if rules.from_start else delay
    polite = max(rest, rules.delay_factor * fetch_seconds)
    if failures:
        doubled = max(delay, polite, _FIRST_BACKOFF) * 2.0 ** min(failures - 1, _MOST_DOUBLINGS)
        polite = max(polite, min(doubled, rules.max_backoff))
    return max(polite, min(retry_after, rules.max_retry_after))


def ahead(pages: int, fetch_seconds: float) -> int:
    """Returns how many URLs of a host without a pause may be sent to its fetcher before their turn.

    So the fetcher need not wait for the coordinator between two pages. Few while few pages of the host are known, and
    no more than the host answers in a quarter of a second.
    """
    return min(_MOST_AHEAD, pages // _PAGES_FOR_ONE_AHEAD, int(_SECONDS_AHEAD / max(fetch_seconds, _SHORTEST_FETCH)))


def is_parked(failures: int, wait: float = 0.0) -> bool:
    """True if a host or an origin that failed so many times in a row does not keep a run from ending, or one that
    has asked to be left alone for `wait` seconds."""
    return failures >= _FAILURES_UNTIL_PARKED or (failures > 0 and wait >= _FIRST_PARKING)


def parking(rules: PolitenessRules, failures: int, retry_after: float) -> float:
    """Returns for how many seconds a host is parked that failed so many times in a row."""
    doublings = min(max(failures - _FAILURES_UNTIL_PARKED, 0), _MOST_DOUBLINGS)
    return max(min(_FIRST_PARKING * 2.0**doublings, _LONGEST_PARKING), min(retry_after, rules.max_retry_after))


def retry_pause(rules: PolitenessRules, failures: int, retry_after: float) -> float:
    """Returns in how many seconds an origin is asked again that has failed so many times in a row: in a second, or the
    usual pause if that is longer, twice that, and so on; from the fifth time on, like a parked host."""
    if is_parked(failures):
        return parking(rules, failures, retry_after)
    return gap(rules, 0.0, 0.0, failures, retry_after)


def may_ignore_robots(failing_since: float, now: float) -> bool:
    """True if robots.txt has been unreachable for so long that it counts as missing (RFC 9309, 2.3.1.4)."""
    return failing_since > 0 and now - failing_since >= _ROBOTS_GIVEN_UP


def is_robots_current(file: RobotsFile, ttl: float, now: float) -> bool:
    """Whether a robots.txt need not be asked for again."""
    return now < robots_expire_at(file, ttl)


def robots_expire_at(file: RobotsFile, ttl: float) -> float:
    """When a robots.txt is to be asked for again. `ttl` is the setting of now: it may have been longer when the file
    came."""
    return min(file.expires_at, file.fetched_at + max(ttl, MIN_ROBOTS_LIFETIME))


def retry_after_seconds(value: str, now: float) -> float:
    """Returns the seconds that a Retry-After header (a number or an HTTP date) asks to wait; 0 if it is neither."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:_LONGEST_NUMBER])
    date = http_date(value)
    return 0.0 if math.isnan(date) else max(0.0, date - now)
