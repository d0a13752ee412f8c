"""Dates as HTTP headers write them."""

from __future__ import annotations

import functools
import math
from datetime import UTC

_DATES_CACHED = 1_024  # as many pages of a site have one date


@functools.lru_cache(_DATES_CACHED)
def http_date(text: str) -> float:
    """Returns the time that an HTTP date names, in seconds since the epoch; NaN if it is none."""
    from email.utils import parsedate_to_datetime  # takes some milliseconds to load

    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:  # asctime's form names no zone: RFC 9110, 5.6.7 says that it is UTC
            date = date.replace(tzinfo=UTC)
        return date.timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return math.nan
