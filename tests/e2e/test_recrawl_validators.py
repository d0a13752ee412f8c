"""Ten nights of recrawls against servers whose pages change at known times on a virtual clock: those that name
validators, those that name none, and those that lie."""

from __future__ import annotations

import re
from dataclasses import replace
from email.utils import formatdate

import pytest

from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl
from tests.e2e.site import Reply, Site, page
from tests.e2e.test_recrawl_policies import let_time_pass

NIGHTS = 10
PERIODS = (1, 2, 3, 5, 100)  # the page of a period changes each so many nights
HOSTS = ("tagged", "dated", "both", "plain", "new-tags", "new-dates")
START = 1_700_000_000  # seconds since the epoch, of the dates that servers name


def edition(night: int, period: int) -> int:
    return night // period


def answer(host: str, night: int, period: int) -> Reply:
    number = edition(night, period)
    words = " ".join(f"word{number}x{place}" for place in range(40))
    tag = f'"night-{night}"' if host == "new-tags" else f'"edition-{number}"'
    changed_at = START + 86_400 * (night if host == "new-dates" else number * period)
    headers = {}
    if host in ("tagged", "both", "new-tags"):
        headers["ETag"] = tag
    if host in ("dated", "both", "new-tags", "new-dates"):
        headers["Last-Modified"] = formatdate(changed_at, usegmt=True)
    return replace(page(text=f"{words} of {host}, each {period} nights"), headers=headers)


def publish(sites: dict[str, Site], night: int) -> None:
    for host, site in sites.items():
        site.pages = {f"/{period}": answer(host, night, period) for period in PERIODS}
        site.pages["/"] = page(*site.pages, text="home")
        site.asked.clear()
        site.headers.clear()


def check_requests(host: str, site: Site, night: int) -> None:
    """Every request for a page is conditional if the last answer named a validator."""
    for path, headers in zip(site.asked, site.headers, strict=True):
        if path in ("/", "/robots.txt"):
            continue
        last = answer(host, night - 1, int(path[1:])).headers
        asked = {"ETag": headers.get("If-None-Match"), "Last-Modified": headers.get("If-Modified-Since")}
        if host == "new-tags" and asked["ETag"] is None:  # it was learned that they are worth nothing
            last = {"Last-Modified": last["Last-Modified"]}
        assert {name: value for name, value in asked.items() if value is not None} == last, (host, night, path)


def logged(crawl: Crawl, word: str) -> list[str]:
    lines = (crawl.path / "log" / "changes.log").read_text("utf-8").splitlines()
    assert all(re.match(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d{4}\t\w+\thttp://", line) for line in lines)
    return [line.split("\t")[2] for line in lines if line.split("\t")[1] == word]


@pytest.fixture
def sites() -> dict[str, Site]:
    return {host: Site({}, address=f"127.0.0.{number}") for number, host in enumerate(HOSTS, 2)}


def test_ten_nights_of_known_changes(sites: dict[str, Site], make_crawl: MakeCrawl) -> None:
    for site in sites.values():
        site.__enter__()
    try:
        crawl = make_crawl([f"{site.url}/" for site in sites.values()], {"recrawl": {"min_interval": "20h"}})
        publish(sites, 0)
        crawl.run("crawl")
        for night in range(1, NIGHTS + 1):
            let_time_pass(crawl)
            publish(sites, night)
            ended = crawl.run("crawl", "--recrawl")
            assert f"{6 * len(HOSTS)} pages to visit again" in ended.stdout
            for host, site in sites.items():
                assert sorted(site.times()) == sorted(["/", *(f"/{period}" for period in PERIODS)])
                check_requests(host, site, night)
        stored, changed = crawl.documents_by_url(), logged(crawl, "changed")
        for host, site in sites.items():
            for period in PERIODS:
                changes = edition(NIGHTS, period)
                url = f"{site.url}/{period}"
                assert stored[url] == 1 + changes, f"{host}: a version for each change, nothing for the other nights"
                assert changed.count(url) == changes
                assert crawl.why(url)["recrawl"]["changes_seen"] == changes
        assert len(logged(crawl, "new")) == 6 * len(HOSTS)
        unlearned = [headers.get("If-None-Match") for headers in sites["new-tags"].headers]
        assert not any(unlearned), "ETags that change with every answer are not asked by any more"
        assert not any(crawl.unreadable())
        crawl.verify()
    finally:
        for site in sites.values():
            site.__exit__(None, None, None)


def test_a_304_that_nobody_asked_for_is_a_failure_and_no_page_unchanged(make_crawl: MakeCrawl) -> None:
    with Site({"/": page("/a", text="one"), "/a": page(text="two")}) as site:
        crawl = make_crawl([f"{site.url}/"], {"recrawl": {"min_interval": 0}})
        crawl.run("crawl")
        site.pages["/a"] = Reply(status=304)
        told = crawl.run("crawl", "--recrawl").stdout
        assert "2 requests: 0 new, 0 changed, 0 gone, 1 unchanged, 1 failed" in told
        assert crawl.stats()["not_modified"] == 0
