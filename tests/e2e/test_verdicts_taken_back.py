"""A setting by which a page was turned away is taken back while the page is out of scope: it is fetched once the scope
lets it in again, as if the present settings had held from the start."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl, Settings, merged
from tests.e2e.site import NOT_FOUND, Reply, Site, page

ROBOTS = Reply("User-agent: *\nDisallow: /a\n", content_type="text/plain")
OUT: Settings = {"scope": {"deny_prefixes": ["/a"]}}


def site_of(target: Reply, robots: Reply = NOT_FOUND) -> Site:
    return Site({"/": page("/a", text="first"), "/a": target, "/robots.txt": robots})


# What /a answers, robots.txt, and the settings that turn /a away.
CASES: dict[str, tuple[Reply, Reply, Settings]] = {
    "type": (Reply("a,b\n1,2\n", content_type="text/csv"), NOT_FOUND, {"scope": {"content_types": ["pages"]}}),
    "language": (
        Reply('<html lang="en"><title>A</title><p>words</p></html>'),
        NOT_FOUND,
        {"scope": {"languages": ["pt"]}},
    ),
    "robots": (page(text="denied"), ROBOTS, {"politeness": {"obey_robots": True}}),
    "noindex": (
        Reply('<title>A</title><meta name="robots" content="noindex"><p>words</p>'),
        NOT_FOUND,
        {"politeness": {"meta_robots": True}},
    ),
}
WIDE: dict[str, Settings] = {
    "type": {"scope": {"content_types": ["text/*"]}},
    "language": {},
    "robots": {"politeness": {"obey_robots": False}},
    "noindex": {"politeness": {"meta_robots": False}},
}


def run(crawl: Crawl, settings: Settings, *options: str) -> None:
    crawl.configure(settings)
    crawl.run("crawl", *options)
    crawl.verify()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("order", ["while out of scope", "at once with the scope", "queued, then out of scope"])
def test_it_is_fetched_when_the_scope_lets_it_in(make_crawl: MakeCrawl, name: str, order: str) -> None:
    target, robots, narrow = CASES[name]
    with site_of(target, robots) as site:
        url = f"{site.url}/a"
        crawl = make_crawl([f"{site.url}/"], narrow)
        run(crawl, narrow)
        assert url not in crawl.documents_by_url()
        if order == "while out of scope":
            run(crawl, merged(narrow, OUT))
        if order == "queued, then out of scope":
            crawl.configure(WIDE[name])
            crawl.run("retry", f"{site.url}/")  # so that the next run has a request to spend before that of the page
            crawl.run("crawl", "--max-pages", "1")
        asked = site.times()["/a"]
        run(crawl, merged(WIDE[name], OUT))
        assert site.times()["/a"] == asked
        run(crawl, WIDE[name])
        assert url in crawl.documents_by_url(), crawl.why(url)
        asked = site.times()["/a"]
        run(crawl, merged(WIDE[name], OUT))
        run(crawl, WIDE[name])
        assert site.times()["/a"] == asked


def test_a_setting_that_was_only_taken_back_for_a_while_costs_no_request(make_crawl: MakeCrawl) -> None:
    target, robots, narrow = CASES["type"]
    with site_of(target, robots) as site:
        crawl = make_crawl([f"{site.url}/"], narrow)
        for settings in (narrow, merged(WIDE["type"], OUT), merged(narrow, OUT), narrow):
            run(crawl, settings)
        assert site.times()["/a"] == 1
        assert crawl.why(f"{site.url}/a")["visit"]["outcome"] == "unwanted-type"


@pytest.mark.parametrize("is_judged", [False, True])
def test_a_lost_page_that_is_out_of_scope_is_fetched_when_it_is_let_in(make_crawl: MakeCrawl, is_judged: bool) -> None:
    with site_of(page(text="second")) as site:
        crawl = make_crawl([f"{site.url}/"])
        run(crawl, {})
        crawl.configure(OUT)
        if is_judged:
            crawl.run("crawl")
        crawl.compound_files()[0].write_bytes(b"")
        crawl.run("verify", "--repair")
        run(crawl, OUT)
        assert f"{site.url}/a" not in crawl.documents_by_url()
        assert site.times()["/a"] == 1
        run(crawl, {})
        assert set(crawl.documents_by_url()) == {f"{site.url}/", f"{site.url}/a"}
        assert site.times()["/a"] == 2


def test_a_forgotten_page_does_not_come_back_by_it(make_crawl: MakeCrawl) -> None:
    target, robots, narrow = CASES["type"]
    with site_of(target, robots) as site:
        crawl = make_crawl([f"{site.url}/"], narrow)
        run(crawl, narrow)
        run(crawl, merged(WIDE["type"], OUT))
        crawl.run("forget", "--yes", f"{site.url}/a")
        run(crawl, WIDE["type"])
        assert site.times()["/a"] == 1
        crawl.run("add", "--again", f"{site.url}/a")
        run(crawl, WIDE["type"])
        run(crawl, merged(WIDE["type"], {"scope": {"deny_prefixes": ["/b"]}}))
        assert site.times()["/a"] == 2
