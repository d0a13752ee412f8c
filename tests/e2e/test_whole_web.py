"""Limits of a run, and what a crawl to the end must have found."""

from __future__ import annotations

import subprocess

import pytest

from pycrawl.simweb import PageKind, SimServer, SimWebSettings
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import PROGRAM, Crawl, Settings, answered, assert_holds_the_web, pages_served

TWO_FETCHERS: Settings = {"crawl": {"fetchers": 2}}
WITH_FAULTS = SimWebSettings(
    seed=11,
    hosts=20,
    pages=800,
    port=0,
    mean_page_bytes=4_000,
    redirect_share=0.06,
    error_share=0.1,
    duplicates_share=0.05,
    robots_share=0.4,
    crawl_delay=0,
    retry_after=0,
)


def run_in_steps(crawl: Crawl, server: SimServer, steps: tuple[int, ...]) -> None:
    """Every run with --max-pages stops at exactly so many, and none is fetched twice by the next one."""
    before = 0
    for step in steps:
        crawl.run("crawl", "--max-pages", str(step))
        served = len(answered(server.log()))
        assert served - before == step
        assert crawl.stats()["last_crawl"]["pages"] == step
        before = served
    crawl.run("crawl")
    assert pages_served(server) == dict.fromkeys(server.web.reachable(), 1)
    assert len(server.log()) == server.web.expected_requests()
    assert_holds_the_web(crawl, server)


def test_max_pages_is_exact_and_the_whole_web_is_fetched_once(make_crawl: MakeCrawl) -> None:
    with SimServer(WITH_FAULTS) as server:
        crawl = make_crawl([server.seed], TWO_FETCHERS)
        run_in_steps(crawl, server, (1, 46, 150))
        check_counters(crawl, server)
        for page in list(server.web.pages(PageKind.CONTENT))[::300]:
            ended = subprocess.run([*PROGRAM, "get", "-C", crawl.path, page.url], capture_output=True, check=True)
            assert ended.stdout == page.body()
        crawl.run("verify", "--deep")


def check_counters(crawl: Crawl, server: SimServer) -> None:
    facts = crawl.stats()
    pages = {kind: len(list(server.web.pages(kind))) for kind in PageKind}
    reachable = len(server.web.reachable())
    assert facts["pages_fetched"] == reachable
    assert facts["pages_stored"] + facts["duplicates_exact"] == reachable
    assert facts["duplicates_exact"] == pages[PageKind.DUPLICATE]
    assert facts["robots_denied"] == pages[PageKind.DISALLOWED]
    assert facts["urls_known"] == server.web.settings.pages
    assert facts["urls_queued"] == 0
    assert facts["hosts_known"] == server.web.settings.hosts
    assert facts["errors"] == {
        "http-4xx": pages[PageKind.MISSING],
        "http-5xx": 3 * pages[PageKind.BROKEN],
        "too-busy": pages[PageKind.FLAKY],
    }
    assert facts["status"]["200"] == reachable
    assert facts["last_crawl"]["ended_by"] == "finished"


def test_limits_on_time_and_bytes(make_crawl: MakeCrawl) -> None:
    web = SimWebSettings.plain(seed=13, hosts=5, pages=500, port=0, mean_page_bytes=4_000, host_skew=0.0, latency=0.1)
    with SimServer(web) as server:
        crawl = make_crawl([server.seed])
        crawl.run("crawl", "--max-bytes", "100 KB")
        assert crawl.stats()["last_crawl"]["ended_by"] == "max-bytes"
        assert 100_000 <= crawl.stats()["bytes_fetched"] <= 100_000 + 5 * 20_000
        crawl.run("crawl", "--max-time", "1s")
        last = crawl.stats()["last_crawl"]
        assert last["ended_by"] == "max-time"
        assert last["ended_at"] - last["started_at"] >= 1.0
        assert crawl.documents_by_url() == pages_served(server)
        crawl.verify()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_max_pages_is_exact_in_a_web_of_5000_pages(make_crawl: MakeCrawl) -> None:
    settings = SimWebSettings(
        seed=12, hosts=50, pages=5_000, port=0, crawl_delay=0, retry_after=0, error_share=0.08, redirect_share=0.06
    )
    with SimServer(settings) as server:
        run_in_steps(make_crawl([server.seed], TWO_FETCHERS), server, (1, 2, 99, 500, 1000, 7, 1234))
