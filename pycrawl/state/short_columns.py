"""Columns of `documents` and `visits` that nearly all rows have alike, or could have in fewer bytes.

The most frequent content types are stored as one character, and a date of Last-Modified as its seconds. What is stored
in another way is read as it stands, so rows of earlier releases need not be changed; what could be taken for a short
form gets a mark in front.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

# Part of the stored format.
_TYPES = {
    "text/html; charset=utf-8": "1",
    "text/html; charset=UTF-8": "2",
    "text/html": "3",
    "text/html;charset=UTF-8": "4",
    "text/html;charset=utf-8": "5",
    "text/html; charset=iso-8859-1": "6",
    "text/html; charset=ISO-8859-1": "7",
    "application/pdf": "8",
    "text/plain": "9",
}
_LONG = {short: long for long, short in _TYPES.items()}
_LITERAL = "="  # in front of a type that begins with it, or has one character

_CASES = " ".join([f"WHEN '{short}' THEN '{long}'" for short, long in _LONG.items()])
# The expression for the content type of a row of `documents`.
TYPE_SQL = (
    f"CASE content_type {_CASES}"
    f" ELSE iif(substr(content_type, 1, 1) = '{_LITERAL}', substr(content_type, 2), content_type) END"
)

_DATE = "@"  # in front of the seconds, in hexadecimal; in front of a text that begins with it
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH_NUMBERS = {name: number for number, name in enumerate(_MONTHS, 1)}
_DATE_LENGTH = 29  # "Tue, 14 Nov 2023 22:13:20 GMT"
_DAY_LENGTH = 16  # of these, "Tue, 14 Nov 2023"
_CLOCK = re.compile(" ([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]) GMT")
_DAYS_KEPT = 1_024  # days whose numbers are kept: pages of a site were changed on few days
_EPOCH = date(1970, 1, 1).toordinal()
_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60  # seconds


def short_type(content_type: str) -> str:
    short = _TYPES.get(content_type)
    if short is not None:
        return short
    return _LITERAL + content_type if len(content_type) == 1 or content_type[:1] == _LITERAL else content_type


def long_type(stored: str) -> str:
    if len(stored) == 1:
        return _LONG.get(stored, stored)
    return stored[1:] if stored[:1] == _LITERAL else stored


def short_date(text: str) -> str:
    """Returns a date as RFC 9110 wants it (5.6.7, IMF-fixdate) in a third of its bytes; any other text as it is."""
    if len(text) == _DATE_LENGTH and (clock := _CLOCK.fullmatch(text, _DAY_LENGTH)):
        days = _days(text[:_DAY_LENGTH])
        if days >= 0:
            hours, minutes, seconds = clock.groups()
            return f"{_DATE}{days * _DAY + int(hours) * _HOUR + int(minutes) * _MINUTE + int(seconds):x}"
    return _DATE + text if text[:1] == _DATE else text


@lru_cache(_DAYS_KEPT)
def _days(text: str) -> int:
    """Returns the days from 1970 on to a date as `long_date` writes it; -1 for any other text."""
    try:
        found = date(int(text[12:16]), _MONTH_NUMBERS[text[8:11]], int(text[5:7]))
    except (KeyError, ValueError):
        return -1
    return found.toordinal() - _EPOCH if _day_text(found) == text else -1


def _day_text(day: date) -> str:
    return f"{_DAYS[day.weekday()]}, {day.day:02d} {_MONTHS[day.month - 1]} {day.year:04d}"


def long_date(stored: str) -> str:
    if stored[:1] != _DATE:
        return stored
    if stored[1:2] == _DATE or len(stored) == 1:
        return stored[1:]
    try:
        days, rest = divmod(int(stored[1:], 16), _DAY)
        day = date.fromordinal(_EPOCH + days)
    except (ValueError, OverflowError):
        return stored
    clock = f"{rest // _HOUR:02d}:{rest // _MINUTE % 60:02d}:{rest % 60:02d}"
    return f"{_day_text(day)} {clock} GMT"
