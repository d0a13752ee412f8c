"""The kinds that a URL is of: its shape, its section, its host; and the series that it is part of."""

from __future__ import annotations

import functools
import re
from datetime import date
from typing import NamedTuple

import xxhash

from pycrawl.urls.parts import path_and_query

ALL = "…"  # the name of the widest kind: all URLs of the host

_SHAPED_SEGMENTS = 6  # of a path; what is deeper falls together
_SHAPED_PARAMETERS = 12  # names, in alphabetical order
_LONG_SEGMENT = 24  # characters; a longer segment is taken for a title
_URLS_CACHED = 1_024  # as a URL is asked about several times in a row
_KIND_NUMBERS = 65_535
_DIGITS = re.compile("[0-9]+")
_ID = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9=]{8,}")
_SEPARATOR = re.compile(r"[-_+.~,%]+")


@functools.lru_cache(_URLS_CACHED)
def shape(url: str) -> str:
    """The narrowest kind of a normalised URL: "/blog/0/0/*", "/search?color&size"."""
    path, _, query = path_and_query(url)[1:].partition("?")
    segments = path.split("/")
    shaped = "/".join(map(_shaped_segment, segments[:_SHAPED_SEGMENTS]))
    if len(segments) > _SHAPED_SEGMENTS:
        shaped += "/+"
    if not query:
        return "/" + shaped
    names = {_DIGITS.sub("0", field.partition("=")[0]) for field in query.split("&")}
    return f"/{shaped}?{'&'.join(sorted(names)[:_SHAPED_PARAMETERS])}"


def kind_number(url: str) -> int:
    """Returns a hash of the shape of a URL, from 1 to 65,535: pages of one shape are likely to change equally often."""
    return 1 + xxhash.xxh32_intdigest(shape(url).encode("utf-8", "surrogatepass")) % _KIND_NUMBERS


@functools.lru_cache(_URLS_CACHED)
def section(url: str) -> str:
    """The first directory of a URL, or whatever takes a query. Ends with "…": "/blog/…", "/…", "/search?…"."""
    path, mark, _ = path_and_query(url)[1:].partition("?")
    first, slash, _ = path.partition("/")
    if slash or mark:
        return f"/{_shaped_segment(first)}{slash}{mark}…"
    return "/…"


def _shaped_segment(segment: str) -> str:
    if segment.isalpha() and len(segment) <= _LONG_SEGMENT:
        return segment
    if len(segment) > _LONG_SEGMENT or len(_SEPARATOR.findall(segment)) > 1:
        return "*"  # a title
    if _ID.fullmatch(segment):
        return "#"
    return _DIGITS.sub("0", segment)


# Series


class Place(NamedTuple):
    """A URL's place in its series."""

    series: str  # the URL without its position, which "{date}" or "{number}" stands for: "/calendar/{date}"
    position: int  # a date: days since the year 1; else the number
    is_dated: bool


_MONTHS = {name: month for month, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_MONTH_NAME = re.compile(
    "(?<![a-z])(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])",
    re.IGNORECASE,
)
_YEAR = re.compile("(?<![0-9])[12][0-9]{3}(?:(?:[0-9]{2}){1,3})?(?![0-9])")  # or a number that starts with one
_M, _D = "(?P<m>0?[1-9]|1[0-2])", "(?P<d>0?[1-9]|[12][0-9]|3[01])"
_DATES = tuple(
    re.compile(f"(?<![0-9]){form}(?![0-9])")
    for form in (
        f"(?P<y>[12][0-9]{{3}})([-_./]){_M}(?:\\2{_D}(?![0-9]))?",  # 2026-11, 2026/11/05
        f"(?:{_D}([-_./]))?{_M}[-_./](?P<y>[12][0-9]{{3}})",  # 11/2026, 05.11.2026
        "(?P<y>[12][0-9]{3})[-_/]?[wW](?P<w>[0-5]?[0-9])",  # 2026-W45
        "(?P<y>(?:19|20|21)[0-9]{2})(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12][0-9]|3[01])?",  # 202611, 20261105
    )
)
_TIME_FIELD = re.compile(r"(?<==)[12][0-9]{9}(?=&|$)")  # seconds since 1970
_YEAR_FIELD = re.compile(r"(?<==)[12][0-9]{3}(?=&|$)")
_PART_OF_YEAR = re.compile(r"(?<=[?&])(?P<name>[mwd])[a-z]*=(?P<number>[0-9]{1,2})(?=&|$)", re.IGNORECASE)
_NUMBER = re.compile(r"[/=](-?[0-9]{1,9})(?=/?[?&]|/?$)")
_LONG_END = 16  # characters of the path behind a date that are still no title: "/index.html", "/ical"
_VALUE = re.compile("=[^&]*")
_DAYS_OF_YEAR, _DAYS_OF_MONTH, _DAYS_OF_WEEK = 366, 31, 7  # for positions, which need an order and no more
_SECONDS_OF_DAY = 86_400
_DAYS_BEFORE_1970 = 1970 * _DAYS_OF_YEAR


def position_of(day: date) -> int:
    return _position(day.year, day.month, day.day)


def _position(year: int, month: int = 0, day: int = 0, week: int = 0) -> int:
    return year * _DAYS_OF_YEAR + max(0, month - 1) * _DAYS_OF_MONTH + max(0, day - 1) + week * _DAYS_OF_WEEK


@functools.lru_cache(_URLS_CACHED)
def place(url: str) -> Place | None:
    """The place of a URL in its series, by its date, or else by the last number that is a whole value of its query or
    the end of its path. None if it has neither, or has a title behind the date, as an article has."""
    text = path_and_query(url)
    return (_place_by_date(text) if _YEAR.search(text) is not None else None) or _place_by_number(text)


def _place_by_date(text: str) -> Place | None:
    for form in _DATES:
        found = form.search(text)
        if found is not None:
            parts = found.groupdict()
            numbers = (int(parts.get(name) or 0) for name in "ymdw")
            return _dated(text[: found.start()], text[found.end() :], _position(*numbers))
    numbered = _MONTH_NAME.sub(lambda name: str(_MONTHS[name[0][:3].lower()]), text)
    return _place_by_date(numbered) if numbered != text else _place_by_fields(text)


def _place_by_fields(text: str) -> Place | None:
    """By a year in one field of the query, and its month, week or day in others: "?y=2026&m=11"."""
    time = _TIME_FIELD.search(text)
    if time is not None:
        days = int(time[0]) // _SECONDS_OF_DAY
        return _dated(text[: time.start()], text[time.end() :], _DAYS_BEFORE_1970 + days)
    year = _YEAR_FIELD.search(text)
    parts = {found["name"].lower(): int(found["number"]) for found in _PART_OF_YEAR.finditer(text)}
    if year is None or not parts:
        return None
    position = _position(int(year[0]), parts.get("m", 0), parts.get("d", 0), parts.get("w", 0))
    return _dated(text[: year.start()], text[year.end() :], position)


def _dated(before: str, after: str, position: int) -> Place | None:
    """The values of the query say which view of a date is wanted, not which date: they are left out of the name."""
    path, mark, query = f"{before}{{date}}{after}".partition("?")
    if len(path) - path.find("{date}") > len("{date}") + _LONG_END and "{date}" in path:
        return None
    query = _VALUE.sub(lambda value: "={date}" if "{date}" in value[0] else "", query)
    return Place(path + mark + query, position, True)


def _place_by_number(text: str) -> Place | None:
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return None
    found = numbers[-1]
    return Place(f"{text[: found.start(1)]}{{number}}{text[found.end(1) :]}", int(found[1]), False)
