"""Calendars without end beside archives that end: both are series of URLs, with text of its own on every page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from tests.e2e import numberedweb
from tests.e2e.conftest import MakeCrawl
from tests.e2e.trapweb import Answer, Host, TrapWeb, magazine, site

MOST_REQUESTS = 300  # to a series that runs on
LONG_SECONDS = 600  # pages that are found one after the other take their time where much else is running

CALENDARS: dict[str, Callable[[], Host]] = {
    "in the query": lambda: numberedweb.months(1, "/calendar?month={y}-{m:02}"),
    "in the path": lambda: numberedweb.months(2, "/calendar/{y}/{m:02}"),
    "in two fields": lambda: numberedweb.months(3, "/cal?y={y}&m={m}"),
    "long ago": lambda: numberedweb.months(4, "/calendar/{y}/{m}", (2001, 1)),
    "past last": lambda: numberedweb.months(5, "/calendar/{y}/{m}", (2001, 1), (12, 1, -1)),
    "next only": lambda: numberedweb.months(6, "/calendar/{y}/{m}", (date.today().year, 1), (1,)),
    "with events": lambda: numberedweb.months(7, "/calendar/{y}/{m}", with_event=True),
    "days": lambda: numberedweb.days(8, "/cal/{d:%Y/%m/%d}"),
    "three views": lambda: numberedweb.three_views(10),
    "weeks from now": lambda: numberedweb.weeks_from_now(9),
}


@pytest.mark.parametrize("name", list(CALENDARS)[:3])
def test_a_calendar_alone_is_left(make_crawl: MakeCrawl, name: str) -> None:
    with TrapWeb(1) as web:
        web.serve(0, CALENDARS[name]())
        crawl = make_crawl([web.url(0) + "/"])
        crawl.run("crawl", "--max-pages", "2000")
        assert web.requests(0) <= MOST_REQUESTS
        assert crawl.stats()["last_crawl"]["ended_by"] == "finished"


@pytest.mark.timeout(180)
def test_calendars_beside_honest_hosts_are_left(make_crawl: MakeCrawl) -> None:
    honest = [magazine(f"good {number}", 60) for number in range(5)]
    with TrapWeb(len(CALENDARS) + len(honest)) as web:
        for number, calendar in enumerate(CALENDARS.values()):
            web.serve(number, calendar())
        for number, pages in enumerate(honest, len(CALENDARS)):
            web.serve(number, site(pages))
        crawl = make_crawl([web.url(number) + "/" for number in range(len(CALENDARS) + len(honest))])
        crawl.run("crawl", "--max-pages", "5000")
        spent = {name: web.requests(number) for number, name in enumerate(CALENDARS)}
        assert max(spent.values()) <= MOST_REQUESTS, spent
        for number, pages in enumerate(honest, len(CALENDARS)):
            assert not set(pages) - web.pages(number)
        facts = crawl.stats()
        assert facts["last_crawl"]["ended_by"] == "finished"
        assert "/calendar?month={date}" in {trap["kind"] for trap in facts["traps"] if trap["stopped"]}
        (url,) = crawl.query(
            "SELECT url FROM visits JOIN urls ON urls.id = url_id"
            " WHERE outcome = 'trap' AND url LIKE '%?month=%' LIMIT 1"
        )[0]
        assert crawl.why(url)["series"]["stopped"]
        assert "series /calendar?month={date}: " in crawl.run("why", "--verbose", url).stdout


def crawl_archives(make_crawl: MakeCrawl, archives: list[dict[str, Answer]]) -> None:
    """They are crawled whole, in however much time, and no judgement is passed."""
    with TrapWeb(len(archives)) as web:
        for number, pages in enumerate(archives):
            web.serve(number, site(pages))
        crawl = make_crawl([web.url(number) + "/" for number in range(len(archives))])
        assert crawl.start("crawl").wait(LONG_SECONDS) == 0
        assert [len(set(pages) - web.pages(number)) for number, pages in enumerate(archives)] == [0] * len(archives)
        assert "trap" not in crawl.stats()["filtered"]


@pytest.mark.timeout(LONG_SECONDS + 60)
def test_archives_are_crawled_whole(make_crawl: MakeCrawl) -> None:
    """Numbered pages, some with articles or a pager; months of a blog; days of a newspaper."""
    archives = [
        numberedweb.numbered_archive("pages", 1_000),
        numberedweb.numbered_archive("lists", 200, listed=4),
        numberedweb.numbered_archive("pager", 400, pager=(-2, -1, 1, 2, 10)),
        numberedweb.dated_blog("blog", 20, 2, lists_all=True),
        numberedweb.dated_blog("newest first", 20, 2, lists_all=False),
        numberedweb.newspaper("newspaper", date(2015, 1, 1), 1_000, 999),
        numberedweb.newspaper("comic", date(2015, 1, 1), 1_000, 0),
    ]
    crawl_archives(make_crawl, archives)


@pytest.mark.slow
@pytest.mark.timeout(LONG_SECONDS + 60)
def test_an_archive_of_5000_pages_is_crawled_whole(make_crawl: MakeCrawl) -> None:
    crawl_archives(make_crawl, [numberedweb.numbered_archive("pages", 5_000)])
