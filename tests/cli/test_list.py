"""`pycrawl list`: where the URLs of a real crawl stand, and why."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pycrawl.state.database import Database
from pycrawl.state.ledger import Filter, all_reasons, standings
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import PROGRAM, Crawl
from tests.e2e.site import Reply, Site, page

USAGE = 2
ROBOTS = Reply("User-agent: *\nDisallow: /secret/\n", content_type="text/plain")


def listed(crawl: Crawl, *options: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in crawl.run("list", "--json", *options).stdout.splitlines()]


def paths(site: Site, crawl: Crawl, *options: str) -> list[str]:
    return [one["url"].removeprefix(site.url) for one in listed(crawl, *options)]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    pages = {
        "/robots.txt": ROBOTS,
        "/": page("/a", "/missing", "/moved", "/secret/x", "/broken", "/picture", "/goes", "http://elsewhere.example/"),
        "/a": page("/b"),
        "/b": page(text="second"),
        "/goes": page(text="goes"),
        "/moved": Reply(status=301, headers={"Location": "/b"}),
        "/broken": Reply(status=500),
        "/picture": Reply("x", content_type="image/png"),
    }
    with Site(pages) as running:
        yield running


SETTINGS: dict[str, dict[str, object]] = {
    "scope": {"follow_external": False, "content_types": ["text/html"]},
    "recrawl": {"min_interval": 0},
}


@pytest.fixture(scope="module")
def crawl(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """Crawled twice: between the runs, /goes went, /b changed, and /new came."""
    made = Crawl.make(tmp_path_factory.mktemp("list") / "crawl", [site.url + "/"], SETTINGS)
    made.run("crawl")
    time.sleep(1.1)  # so that a time in whole seconds lies between the two
    del site.pages["/goes"]
    site.pages["/b"] = page("/new", text="second, changed")
    site.pages["/new"] = page(text="new")
    made.run("crawl", "--recrawl")
    return made


def test_every_url_has_a_state_and_a_reason(site: Site, crawl: Crawl) -> None:
    assert {one["url"].removeprefix(site.url): (one["state"], one["reason"]) for one in listed(crawl)} == {
        "/": ("done", "not-modified"),
        "/a": ("done", "not-modified"),
        "/b": ("done", "fetched"),
        "/new": ("done", "fetched"),
        "/moved": ("done", "redirect"),
        "/missing": ("failed", "http-4xx"),
        "/broken": ("failed", "http-5xx"),
        "/goes": ("gone", "http-4xx"),
        "/secret/x": ("aside", "robots-denied"),
        "/picture": ("aside", "unwanted-type"),
        "http://elsewhere.example/": ("aside", "external"),
    }


def test_urls_come_in_the_order_of_discovery(crawl: Crawl) -> None:
    in_order = [url for (url,) in crawl.query("SELECT url FROM urls ORDER BY id")]
    assert [one["url"] for one in listed(crawl)] == in_order
    assert [one["url"] for one in listed(crawl, "--limit", "3")] == in_order[:3]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--state", "failed"), {"/missing", "/broken"}),
        (("--state", "gone"), {"/goes"}),
        (("--state", "queued"), set()),
        (("--reason", "robots-denied"), {"/secret/x"}),
        (("--reason", "http-4xx"), {"/missing", "/goes"}),
        (("--reason", "http-4xx", "--state", "failed"), {"/missing"}),
        (("--state", "aside", "--host", "elsewhere.example"), {"http://elsewhere.example/"}),
        (("--host", "*.example"), {"http://elsewhere.example/"}),
        (("--state", "done", "--host", "127.0.0.1"), {"/", "/a", "/b", "/new", "/moved"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_filters(site: Site, crawl: Crawl, options: tuple[str, ...], expected: set[str]) -> None:
    assert set(paths(site, crawl, *options)) == expected


def test_what_has_changed_since_a_time(site: Site, crawl: Crawl) -> None:
    ((second,),) = crawl.query("SELECT max(started_at) FROM runs")
    since = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(second))
    changes = {one["url"].removeprefix(site.url): one["change"] for one in listed(crawl, "--changed-since", since)}
    assert changes == {"/b": "changed", "/new": "new", "/goes": "gone"}
    assert "changed" in crawl.run("list", "--changed-since", since, "--state", "done").stdout
    assert Counter(one["change"] for one in listed(crawl, "--changed-since", "1h")) == {"new": 4, "gone": 1}
    assert listed(crawl, "--changed-since", str(time.time() + 60)) == []


def test_a_page_is_gone_since_it_was_first_missed(make_crawl: MakeCrawl) -> None:
    with Site({"/": page("/goes"), "/goes": page(text="goes")}) as site:
        crawl = make_crawl([site.url + "/"], SETTINGS)
        crawl.run("crawl")
        del site.pages["/goes"]
        crawl.run("crawl", "--recrawl")
        missed = time.time()
        crawl.run("crawl", "--recrawl")
        assert paths(site, crawl, "--state", "gone") == ["/goes"]
        assert listed(crawl, "--changed-since", str(missed)) == []
        assert "http-4xx 404, as since 20" in crawl.run("why", site.url + "/goes").stdout


def test_the_plain_lines(site: Site, crawl: Crawl) -> None:
    lines = crawl.run("list").stdout.splitlines()
    assert [line.split()[2] for line in lines] == [one["url"] for one in listed(crawl)]
    text = crawl.run("list", "--state", "failed").stdout
    assert f"failed  http-4xx             {site.url}/missing  404\n" in text
    moved = crawl.run("list", "--reason", "redirect").stdout
    assert moved == f"done    redirect             {site.url}/moved  301 {site.url}/b\n"


def test_what_is_queued_and_due(tmp_path: Path) -> None:
    fresh = Crawl.make(tmp_path / "crawl", ["http://example.com/"])
    assert [(one["state"], one["reason"]) for one in listed(fresh)] == [("queued", "new")]
    assert len(listed(fresh, "--due")) == 1
    database = Database.open(fresh.directory.state)
    later = time.time() + 3600
    database.write("UPDATE hosts SET ready_at = ?, failures = 5, trouble = 'dns-failure'", (later,))
    database.commit()
    database.close()
    assert listed(fresh, "--due") == []
    assert [one["host_ready_at"] for one in listed(fresh, "--reason", "dns-failure")] == [later]
    assert "not before " in fresh.run("list", "--state", "queued").stdout


def test_wrong_values_are_answered_with_what_there_is(site: Site, crawl: Crawl) -> None:
    wrong = crawl.run("list", "--reason", "404", exit_code=USAGE).stderr
    assert all(reason in wrong for reason in all_reasons())
    assert "'queued', 'done', 'aside', 'failed', 'gone'" in crawl.run("list", "--state", "x", exit_code=USAGE).stderr
    assert f"It knows 127.0.0.1:{site.port}" in crawl.run("list", "--host", "zzz", exit_code=USAGE).stderr
    near = crawl.run("list", "--host", "elswhere.example", exit_code=USAGE).stderr
    assert "Did you mean elsewhere.example?" in near
    assert "expected a host such as" in crawl.run("list", "--host", "a b", exit_code=USAGE).stderr
    assert "2026-03-01T12:30" in crawl.run("list", "--changed-since", "yesterday", exit_code=USAGE).stderr


def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    """More than a pipe holds, and nobody complains."""
    crawl = Crawl.make(tmp_path / "crawl", [])
    add_urls(crawl, 20_000)
    listing = subprocess.Popen([*PROGRAM, "list", "-C", crawl.path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert listing.stdout
    assert listing.stderr
    assert listing.stdout.readline() == b"queued  new                  http://h.example/1\n"
    listing.stdout.close()
    assert listing.stderr.read() == b""
    listing.wait()
    listing.stderr.close()


def test_listing_reads_row_by_row(tmp_path: Path) -> None:
    """The first URL of many is there before the others are looked at: nothing is gathered or sorted first."""
    crawl = Crawl.make(tmp_path / "crawl", [])
    add_urls(crawl, 200_000)
    database = Database.open_readonly(crawl.directory.state)
    begun = time.perf_counter()
    rows = standings(database, Filter(state="queued"))
    assert next(rows).url == "http://h.example/1"
    first = time.perf_counter() - begun
    assert sum(1 for _ in rows) == 199_999
    assert first < (time.perf_counter() - begun) / 10
    database.close()


def add_urls(crawl: Crawl, amount: int) -> None:
    database = Database.open(crawl.directory.state)
    database.write("INSERT INTO hosts (id, key) VALUES (1, 'h.example')")
    database.write_many(
        "INSERT INTO urls (id, url, host_id, depth, hops, via, parent_id, found_at) VALUES (?, ?, 1, 0, 0, 0, 0, 0)",
        ((number, f"http://h.example/{number}") for number in range(1, amount + 1)),
    )
    database.commit()
    database.close()
