"""Revisits forget nothing: what is known of a page outlives a failure, and counts say what was committed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

import pytest

from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Settings
from tests.e2e.ledger_web import Fault, LedgerWeb
from tests.e2e.site import Reply, Site, page

AT_ONCE: Settings = {"recrawl": {"min_interval": 0}}
KNOWN_OF_PAGES = "SELECT url_id, etag, digest, document_id FROM visits WHERE document_id > 0 AND etag != '' ORDER BY 1"
WORDS = 400  # of a page whose versions are nearly the same


@pytest.fixture
def web() -> Iterator[LedgerWeb]:
    with LedgerWeb() as made:
        yield made


def last_status(web: LedgerWeb, url: str) -> int:
    return [one.status for one in web.log if one.url == url][-1]


def test_a_failed_revisit_keeps_etag_digest_and_document(make_crawl: MakeCrawl, web: LedgerWeb) -> None:
    url = web.url("c", "/open/1")
    crawl = make_crawl([web.url("c", "/")], {**AT_ONCE, "scope": {"follow_external": False}})
    crawl.run("crawl")
    before = crawl.query(KNOWN_OF_PAGES)
    assert len(before) == 5

    web.set_fault(Fault("c", "/open/", 500))
    crawl.run("crawl", "--recrawl")
    assert last_status(web, url) == 500
    assert crawl.query(KNOWN_OF_PAGES) == before
    assert crawl.bodies([url]) == {url: web.body(url)}

    web.end_faults()
    crawl.run("crawl", "--recrawl")
    assert last_status(web, url) == 304, "the ETag was sent"
    assert set(crawl.documents_by_url().values()) == {1}
    crawl.run("verify", "--deep")


def test_a_page_that_failed_and_is_back_is_no_copy_of_itself(make_crawl: MakeCrawl) -> None:
    """200, 500, 200, without a validator: only the digest says that it is the same."""
    whole = page("/a", text="as ever")
    with Site({"/": whole, "/a": page(text="a")}) as site:
        crawl = make_crawl([site.url + "/"], AT_ONCE)
        crawl.run("crawl")
        for status in (500, 404):
            site.pages["/"] = Reply("out of order", status=status)
            crawl.run("crawl", "--recrawl")
            site.pages["/"] = whole
            crawl.run("crawl", "--recrawl")
        assert crawl.documents_by_url() == Counter([site.url + "/", site.url + "/a"])
        assert crawl.stats()["duplicates_exact"] == 0
        assert crawl.why(site.url + "/")["copy"] is None
        crawl.run("verify", "--deep")


def test_a_page_that_changed_and_changed_back_passes_verify(make_crawl: MakeCrawl) -> None:
    one, other = page(text="one " * 50), page(text="another " * 50)
    with Site({"/": one}) as site:
        crawl = make_crawl([site.url + "/"], AT_ONCE)
        for version in (one, other, one, other):
            site.pages["/"] = version
            crawl.run("crawl", "--recrawl")
            assert crawl.bodies([site.url + "/"]) == {site.url + "/": version.body.encode()}
        crawl.run("verify", "--deep")


def article(version: str) -> Reply:
    words = [f"word{number}" for number in range(WORDS)]
    words[WORDS // 2] = version
    return page(text=" ".join(words))


def test_a_changed_page_is_no_near_duplicate_of_its_own_older_version(make_crawl: MakeCrawl) -> None:
    with Site({"/": article("first")}) as site:
        crawl = make_crawl([site.url + "/"], AT_ONCE)
        crawl.run("crawl")
        for version in ("second", "third"):
            site.pages["/"] = article(version)
            crawl.run("crawl", "--recrawl")
        assert crawl.documents_by_url() == {site.url + "/": 3}
        assert crawl.stats()["duplicates_near"] == 0
        assert crawl.why(site.url + "/")["copy"] is None
        crawl.verify()


def test_a_changed_page_is_still_a_near_duplicate_of_another(make_crawl: MakeCrawl) -> None:
    with Site({"/": page("/x", "/y"), "/x": article("x"), "/y": article("y")}) as site:
        crawl = make_crawl([site.url + "/"], AT_ONCE)
        crawl.run("crawl")
        assert crawl.stats()["duplicates_near"] == 1
        near = site.url + ("/x" if crawl.why(site.url + "/x")["copy"] else "/y")
        first = site.url + ("/y" if near.endswith("x") else "/x")
        site.pages[near.removeprefix(site.url)] = article("changed")
        crawl.run("crawl", "--recrawl")
        copy = crawl.why(near)["copy"]
        assert copy is not None
        assert copy["of"] == first
        crawl.verify()


def test_a_limit_on_pages_of_a_host_counts_different_pages(make_crawl: MakeCrawl) -> None:
    pages = {"/": page(*(f"/{number}" for number in range(10)))}
    pages |= {f"/{number}": page(text=str(number)) for number in range(10)}
    with Site(pages) as site:
        crawl = make_crawl([site.url + "/"], {**AT_ONCE, "limits": {"max_pages_per_host": 4}})
        crawl.run("crawl")
        fetched = site.times()
        assert len(fetched) == 4
        for visits in (2, 3):
            crawl.run("crawl", "--recrawl")
            assert site.times() == dict.fromkeys(fetched, visits), "the same pages, once more"
        crawl.configure({**AT_ONCE, "limits": {"max_pages_per_host": 6}})
        crawl.run("crawl")
        assert len(site.times()) == 6
        crawl.configure(AT_ONCE)
        crawl.run("crawl")
        assert set(site.times()) == set(pages)


# Counts after kill -9

OVERCOUNTED_HOSTS = """
    SELECT hosts.key, hosts.pages, count(visits.url_id) FROM hosts
    LEFT JOIN urls ON urls.host_id = hosts.id
    LEFT JOIN visits ON visits.url_id = urls.id AND visits.status BETWEEN 200 AND 299
    GROUP BY hosts.id HAVING hosts.pages != count(visits.url_id)
"""
OVERCOUNTED_KINDS = """
    SELECT kind, pages, (SELECT count(*) FROM visits JOIN urls ON urls.id = url_id WHERE host_id = kinds.host_id)
    AS visited FROM kinds WHERE pages > visited
"""


def alike(number: int, count: int) -> Reply:
    """Pages of one kind that bring little new, so that the kind has a record; some fail."""
    if number % 7 == 3:
        return Reply("out of order", status=500)
    return page(f"/list?n={(number * 5 + 1) % count}", f"/list?n={(number + 1) % count}", text="nothing new here " * 20)


def test_counts_agree_with_visits_after_kill_9(make_crawl: MakeCrawl) -> None:
    """A kill leaves what was committed last; so each commit of the run is looked at, and what two kills left."""
    count = 1_000
    with Site({}, "127.0.0.1") as one, Site({}, "127.0.0.2") as other:
        for site in (one, other):
            site.pages |= {f"/list?n={number}": alike(number, count) for number in range(count)}
            site.pages["/"] = page(*(f"/list?n={number}" for number in range(count)))
        crawl = make_crawl([one.url + "/", other.url + "/"], {"crawl": {"fetchers": 2}, "traps": {"novelty": True}})

        def agrees() -> None:
            assert crawl.query(OVERCOUNTED_HOSTS) == []
            assert crawl.query(OVERCOUNTED_KINDS) == []

        def is_over(requests: int) -> bool:
            agrees()
            return len(one.asked) + len(other.asked) >= requests

        for requests in (count // 2, count):
            running = crawl.start("crawl")
            running.until(partial(is_over, requests))
            running.kill_tree()
            agrees()
            crawl.verify()
        running = crawl.start("crawl")
        running.until(partial(is_over, 10 * count))
        agrees()
