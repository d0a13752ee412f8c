"""`pycrawl retry`: URLs that failed are tried again, also by a crawl that is running."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pycrawl.crawl.retrying import RetryRequest
from pycrawl.state.database import Database
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import RUN_SECONDS, Crawl
from tests.e2e.site import Reply, Site, after, page

USAGE, NO_PAGE = 2, 5
BROKEN = Reply(status=500)
LINKS = ("/broken", "/busy", "/missing", "/fine")
TRIES: dict[str, dict[str, object]] = {"limits": {"max_tries": 2}}


def pages() -> dict[str, Reply]:
    return {"/": page(*LINKS), "/fine": page(text="fine"), "/broken": BROKEN, "/busy": Reply(status=503)}


def mend(site: Site) -> None:
    for path in ("/broken", "/busy", "/missing"):
        site.pages[path] = page(text=path)
    site.asked.clear()


def test_without_arguments_what_failed_for_reasons_that_may_pass(make_crawl: MakeCrawl) -> None:
    with Site(pages()) as site:
        crawl = make_crawl([site.url + "/"], TRIES)
        crawl.run("crawl")
        assert crawl.why(site.url + "/broken")["state"] == "failed"
        mend(site)
        crawl.run("crawl")
        assert site.times() == {}
        said = crawl.run("retry").stdout
        assert said.startswith("2 URLs to be tried again")
        assert crawl.why(site.url + "/broken")["state"] == "queued"
        assert crawl.run("retry").stdout.startswith("0 URLs to be tried again")
        crawl.run("crawl")
        assert site.times() == {"/broken": 1, "/busy": 1}
        assert crawl.why(site.url + "/busy")["state"] == "done"
        crawl.verify()


def test_a_reason_a_host_and_urls(make_crawl: MakeCrawl) -> None:
    with Site(pages()) as site, Site(pages(), "127.0.0.2") as other:
        crawl = make_crawl([site.url + "/", other.url + "/"], TRIES)
        crawl.run("crawl")
        mend(site)
        mend(other)
        assert crawl.run("retry", "--reason", "http-4xx", "--host", "127.0.0.2").stdout.startswith("1 URL to be tried")
        assert crawl.run("retry", "--host", "127.0.0.1").stdout.startswith("2 URLs to be tried again")
        named = crawl.run("retry", other.url + "/fine", other.url + "/missing", other.url + "/never-met")
        assert named.stdout.startswith("1 URL to be tried again, 1 queued already")
        assert f"not known: {other.url}/never-met" in named.stderr
        crawl.run("crawl")
        assert site.times() == {"/broken": 1, "/busy": 1}
        assert other.times() == {"/fine": 1, "/missing": 1}
        crawl.verify()


def test_a_dead_host_that_is_back(make_crawl: MakeCrawl) -> None:
    with Site({"/": page("/x"), "/x": page(text="x")}) as site:
        port = site.port
    crawl = make_crawl([site.url + "/"])
    crawl.run("crawl", exit_code=NO_PAGE)
    facts = crawl.why(site.url + "/")
    assert (facts["state"], facts["reason"]) == ("queued", "robots-unreachable")
    with Site({"/": page("/x"), "/x": page(text="x")}, port=port) as back:
        crawl.run("crawl", exit_code=NO_PAGE)
        assert back.times() == {}  # its host is left alone for a while
        assert "1 failing host to be asked again" in crawl.run("retry").stdout
        crawl.run("crawl")
        assert back.times() == {"/": 1, "/x": 1}
    assert crawl.why(site.url + "/")["state"] == "done"


def test_while_a_crawl_runs(make_crawl: MakeCrawl) -> None:
    done = threading.Event()
    last = replace(page(), before=after(done, RUN_SECONDS))  # the crawl waits for it
    with Site(pages()) as site, Site({"/": last}, "127.0.0.2") as slow:
        long: dict[str, object] = {"total_timeout": 2 * RUN_SECONDS, "min_bytes_per_second": 0, "max_tries": 2}
        crawl = make_crawl([site.url + "/", slow.url + "/"], {"limits": long})
        running = crawl.start("crawl")
        failed = "SELECT 1 FROM visits JOIN urls ON urls.id = url_id WHERE outcome IN ('http-5xx', 'too-busy')"
        assert running.until(lambda: len(crawl.query(failed)) == 2)
        mend(site)
        said = crawl.run("retry").stdout
        assert f"process {running.pid}" in said
        assert "it will try them again within a few seconds" in said
        assert running.until(lambda: {"/broken", "/busy"} <= set(site.times()))
        done.set()
        assert running.wait() == 0
        assert site.times() == {"/broken": 1, "/busy": 1}
        assert not list(crawl.directory.inbox.iterdir())
        crawl.verify()


def test_a_parked_host_is_asked_again_by_the_run_that_parked_it(make_crawl: MakeCrawl) -> None:
    done = threading.Event()
    last = replace(page(), before=after(done, RUN_SECONDS))
    with Site({"/": page()}, "127.0.0.3") as dead:
        port = dead.port
    with Site({"/": last}, "127.0.0.2") as slow:
        long: dict[str, object] = {"total_timeout": 2 * RUN_SECONDS, "min_bytes_per_second": 0}
        crawl = make_crawl([dead.url + "/", slow.url + "/"], {"limits": long})
        running = crawl.start("crawl")
        assert running.until(lambda: crawl.query("SELECT 1 FROM origin_failures WHERE failures >= 5") != [])
        with Site({"/": page()}, "127.0.0.3", port) as back:
            crawl.run("retry")
            assert running.until(lambda: back.times() == {"/": 1})
            done.set()
            assert running.wait() == 0
        crawl.verify()


@pytest.mark.parametrize(
    ("trouble", "most_seconds"),
    [("connect-failed", 7), ("too-busy", 90)],
    ids=lambda value: str(value),
)
def test_a_host_gets_its_pause_and_one_that_is_too_busy_the_time_that_it_named(
    tmp_path: Path, trouble: str, most_seconds: float
) -> None:
    crawl = Crawl.make(tmp_path / "crawl", ["http://example.com/"], {"politeness": {"delay": 7, "max_retry_after": 90}})
    database = Database.open(crawl.directory.state)
    before = time.time()
    database.write("UPDATE hosts SET failures = 6, trouble = ?, ready_at = ?", (trouble, before + 3600))
    database.commit()
    database.close()
    crawl.run("retry")
    ((failures, ready_at),) = crawl.query("SELECT failures, ready_at FROM hosts")
    assert failures == 0
    assert before + most_seconds <= ready_at <= time.time() + most_seconds


def test_what_a_setting_keeps_out_is_not_tried(make_crawl: MakeCrawl) -> None:
    with Site({"/": page("/a", "/b"), "/a": page(), "/b": page()}) as site:
        crawl = make_crawl([site.url + "/"], {"scope": {"deny_patterns": ["/b$"]}})
        crawl.run("crawl")
        refused = crawl.run("retry", site.url + "/b", exit_code=USAGE)
        assert f"not queued: {site.url}/b (out of scope: matches scope.deny_patterns)" in refused.stderr
        crawl.run("crawl")
        assert "/b" not in site.times()
        crawl.verify()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--reason", "bad-luck"), "expected one of address-moved, "),
        (("--reason", "host-denied"), "Change scope.deny_hosts, and the next crawl takes such URLs in."),
        (("--host", "nowhere.example"), "It knows example.com"),
        (("--reason", "timeout", "http://example.com/"), "found both"),
        (("http://never.example/",), "none of these URLs can be tried again"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_values(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    crawl = Crawl.make(tmp_path / "crawl", ["http://example.com/"])
    assert words in crawl.run("retry", *options, exit_code=USAGE).stderr


def test_a_request_survives_its_way_through_the_inbox() -> None:
    request = RetryRequest(("http://a.example/", "b"), "timeout", "*.example")
    assert RetryRequest.from_text(request.to_text()) == request
