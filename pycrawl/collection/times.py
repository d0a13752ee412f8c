"""Times as people and programs give them."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from datetime import date, datetime
from datetime import time as time_of_day

from pycrawl.config.keys import parse_duration
from pycrawl.errors import UsageError

Time = float | str | date  # a datetime too; without a zone, it is local time; a date is its beginning
_BARE_DATES = {4: "%Y", 8: "%Y%m%d", 14: "%Y%m%d%H%M%S"}  # digits → what they are; no seconds since 1970 have so many


def timestamp(value: Time) -> float:
    """Returns a time as seconds since 1970. A text is ISO 8601, a year, seconds since 1970, or how long ago it was
    ("12h"). Raises UsageError, which says what was expected."""
    with suppress(ValueError, TypeError, OverflowError):
        moment = _of_text(value.strip()) if isinstance(value, str) else _of_other(value)
        if not math.isnan(moment):
            return moment
    raise UsageError(
        "expected a time such as 2026-03-01, 2026-03-01T12:30, 2026-03-01 12:30:00+01:00 or seconds since 1970, or"
        f" how long ago it was, such as 12h or 7d; found {value!r}"
    )


def _of_text(text: str) -> float:
    if text.isdecimal() and len(text) in _BARE_DATES:
        return datetime.strptime(text, _BARE_DATES[len(text)]).timestamp()
    with suppress(ValueError):
        return float(text)
    with suppress(ValueError):
        return datetime.fromisoformat(text).timestamp()
    return time.time() - parse_duration(text)


def _of_other(value: float | date) -> float:
    if not isinstance(value, date):
        return float(value)
    return (value if isinstance(value, datetime) else datetime.combine(value, time_of_day())).timestamp()
