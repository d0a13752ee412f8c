"""Times as people and programs give them."""

from __future__ import annotations

import time
from datetime import datetime

from pycrawl.config.keys import parse_duration

Time = float | str | datetime  # without a zone, a text or a datetime is local time


def timestamp(value: Time) -> float:
    """Returns a time as seconds since 1970. A text is ISO 8601, seconds since 1970, or how long ago it was ("12h").
    Raises ValueError, which says what was expected."""
    if isinstance(value, datetime):
        return value.timestamp()
    try:
        return float(value)
    except ValueError:
        pass
    assert isinstance(value, str)
    try:
        return datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError):
        pass
    try:
        return time.time() - parse_duration(value)
    except ValueError:
        raise ValueError(
            "expected a time such as 2026-03-01, 2026-03-01T12:30, 2026-03-01 12:30:00+01:00 or seconds since 1970, or"
            f" how long ago it was, such as 12h or 7d; found {value!r}"
        ) from None
