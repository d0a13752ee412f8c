"""Shapes, sections and series of URLs."""

from __future__ import annotations

import pytest

from pycrawl.traps.url_kinds import Place, place, section, shape
from pycrawl.urls.parts import first_directory


@pytest.mark.parametrize(
    ("path", "its_shape", "its_section"),
    [
        ("/", "/", "/…"),
        ("/about", "/about", "/…"),
        ("/p17.html", "/p0.html", "/…"),
        ("/calendar/2024/05", "/calendar/0/0", "/calendar/…"),
        ("/calendar/2031/12/", "/calendar/0/0/", "/calendar/…"),
        ("/events?month=5&year=2024", "/events?month&year", "/events?…"),
        ("/search?size=l&color=red&color=blue", "/search?color&size", "/search?…"),
        ("/search?f1=a&f2=b", "/search?f0", "/search?…"),
        ("/news/some-long-title-of-17.html", "/news/*", "/news/…"),
        ("/visit/8f3a9c11ab/shop", "/visit/#/shop", "/visit/…"),
        ("/visit/0b1d2e3f4a?x=1", "/visit/#?x", "/visit/?…"),
        ("/a/b/c/d/e/f/g/h", "/a/b/c/d/e/f/+", "/a/…"),
        ("/a/b/c/d/e/f/g/h/i/j/k", "/a/b/c/d/e/f/+", "/a/…"),
    ],
)
def test_kinds_of_urls(path: str, its_shape: str, its_section: str) -> None:
    assert shape("http://example.com" + path) == its_shape
    assert section("http://example.com" + path) == its_section


@pytest.mark.parametrize(
    ("path", "its_directory"),
    [("/", "/"), ("/x", "/"), ("/news/", "/news/"), ("/news/a/b", "/news/"), ("/x?y=/z/", "/")],
)
def test_directories(path: str, its_directory: str) -> None:
    assert first_directory("http://example.com:80" + path) == its_directory


def place_of(path: str) -> Place | None:
    return place("http://example.com" + path)


@pytest.mark.parametrize(
    ("november", "december", "series"),
    [
        ("/calendar?month=2026-11", "/calendar?month=2026-12", "/calendar?month={date}"),
        ("/calendar/2026/11", "/calendar/2026/12", "/calendar/{date}"),
        ("/calendar/2026/11/", "/calendar/2026/12/", "/calendar/{date}/"),
        ("/2026/11/28.html", "/2026/12/01.html", "/{date}.html"),
        ("/calendar/2026-11-05", "/calendar/2026-12-01", "/calendar/{date}"),
        ("/calendar/11/2026", "/calendar/12/2026", "/calendar/{date}"),
        ("/calendar/28.11.2026", "/calendar/01.12.2026", "/calendar/{date}"),
        ("/calendar/november-2026", "/calendar/december-2026", "/calendar/{date}"),
        ("/calendar/2026/Nov", "/calendar/2026/Dec", "/calendar/{date}"),
        ("/cal?ym=202611", "/cal?ym=202612", "/cal?ym={date}"),
        ("/cal/20261130", "/cal/20261201", "/cal/{date}"),
        ("/cal?y=2026&m=11", "/cal?y=2026&m=12", "/cal?y={date}&m"),
        ("/cal?month=11&year=2026&view=a", "/cal?month=12&year=2026&view=b", "/cal?month&year={date}&view"),
        ("/cal?year=2026&week=45", "/cal?year=2026&week=50", "/cal?year={date}&week"),
        ("/cal/2026-W45", "/cal/2026-W50", "/cal/{date}"),
        ("/cal?t=1793491200", "/cal?t=1796083200", "/cal?t={date}"),
    ],
)
def test_dates_are_found_in_all_spellings(november: str, december: str, series: str) -> None:
    before, after = place_of(november), place_of(december)
    assert before is not None
    assert after is not None
    assert (before.series, after.series) == (series, series)
    assert before.is_dated
    assert before.position < after.position < before.position + 62


def test_all_spellings_of_a_day_have_one_position() -> None:
    paths = ["/2026/11/05", "/2026-11-5", "/05.11.2026", "/20261105", "/c?year=2026&month=11&day=5"]
    assert len({found.position for path in paths if (found := place_of(path))}) == 1


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/page/17", Place("/page/{number}", 17, False)),
        ("/page/2026", Place("/page/{number}", 2026, False)),
        ("/page/17/", Place("/page/{number}/", 17, False)),
        ("/forum/5?start=40", Place("/forum/5?start={number}", 40, False)),
        ("/week?offset=-3", Place("/week?offset={number}", -3, False)),
        ("/about", None),
        ("/p17.html", None),
        ("/article/17/some-title", None),
        ("/2019/03/the-title-of-an-article", None),
        ("/market-2026", None),
    ],
)
def test_numbers_are_no_dates_and_articles_are_no_series(path: str, expected: Place | None) -> None:
    assert place_of(path) == expected
