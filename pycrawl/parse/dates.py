"""Dates as sitemaps and feeds write them, in seconds since the epoch."""

from __future__ import annotations

import re
from calendar import timegm
from email.utils import mktime_tz, parsedate_tz
from typing import NamedTuple

_W3C = re.compile(
    r"(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:[Tt ](\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*([Zz]|[+-]\d\d:?\d\d)?)?)?)?"
)
_DAY = 86_400
_LATEST = 4_102_444_800  # the year 2100


class Moment(NamedTuple):
    """A time, and the latest that it may mean: "2026-11-18" is any time of that day."""

    at: int = 0  # seconds since the epoch; 0: there is none, or it is rubbish
    until: int = 0


NO_MOMENT = Moment()


def read_date(text: str) -> Moment:
    """Returns the time that a text in the form of W3C, ISO 8601 or RFC 822 names; `NO_MOMENT` for anything else."""
    text = text.strip()[:64]
    match = _W3C.fullmatch(text)
    at, precision = _from_w3c(match) if match else (_from_mail(text), 1)
    return Moment(at, at + precision - 1) if 0 < at < _LATEST else NO_MOMENT


def _from_w3c(match: re.Match[str]) -> tuple[int, int]:
    """Returns the time, and how many seconds the text leaves open."""
    year, month, day, hour, minute, second, zone = match.groups()
    fields = [int(field or least) for field, least in ((year, 0), (month, 1), (day, 1), (hour, 0), (minute, 0))]
    limits = ((1970, 2100), (1, 12), (1, 31), (0, 24), (0, 59))
    if any(not low <= field <= high for field, (low, high) in zip(fields, limits, strict=True)):
        return 0, 1
    at = timegm((*fields, int(second or 0), 0, 0, 0))
    if zone and zone not in "Zz":
        sign = -1 if zone[0] == "-" else 1
        at -= sign * (int(zone[1:3]) * 3600 + int(zone[-2:]) * 60)
    return at, 1 if hour else _DAY if day else 31 * _DAY if month else 366 * _DAY


def _from_mail(text: str) -> int:
    try:
        parts = parsedate_tz(text)
        return int(mktime_tz(parts)) if parts is not None else 0
    except (ValueError, OverflowError, IndexError, TypeError):
        return 0
