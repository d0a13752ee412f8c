"""When a sitemap or feed is asked for again: pure functions of its history and of what it asks for."""

from __future__ import annotations

import time
from dataclasses import dataclass

_FIRST_INTERVAL = 86_400.0  # seconds: what a source is taken to need between two changes, before anything is known
_LONGEST_WAIT = 7 * 86_400.0  # seconds: a source that asks to be left alone for longer is asked after this time
_HOUR = 3_600.0
_HOURS_LOOKED_AT = 24 * 8
_MOST_DOUBLINGS = 20


@dataclass(frozen=True, slots=True)
class Watched:
    """What is known of how often a source changes."""

    seconds: float = 0.0  # between its readings, in all
    changes: int = 0  # readings that differed from the one before
    failures: int = 0  # visits in a row that brought nothing to read


def interval(watched: Watched, least: float, most: float) -> float:
    """Returns the seconds after which one change is expected, between `least` and `most`. A source that keeps failing
    is asked ever more rarely.

    One change in a day is believed at first; what was seen outweighs that with time.
    """
    if watched.failures:
        return min(most, least * 2.0 ** min(watched.failures - 1, _MOST_DOUBLINGS))
    return min(most, max(least, (watched.seconds + _FIRST_INTERVAL) / (watched.changes + 1)))


def next_visit(
    now: float, watched: Watched, least: float, most: float, wait: float, skip_hours: int, skip_days: int
) -> float:
    """Returns when the source is to be asked for again, in seconds since the epoch.

    `wait`: the seconds that it asks for between two visits (0: it does not), obeyed up to a week. `skip_hours`,
    `skip_days`: bits of the hours (UTC) and days in which it asks to be left alone; if these are all, none is obeyed.
    """
    at = now + max(interval(watched, least, most), min(wait, _LONGEST_WAIT))
    for hours in range(_HOURS_LOOKED_AT):
        later = at if not hours else (at // _HOUR + hours) * _HOUR
        day = time.gmtime(later)
        if not skip_hours >> day.tm_hour & 1 and not skip_days >> day.tm_wday & 1:
            return later
    return at
