"""Where no pause is due, URLs wait at their fetcher: still one after the other, and none once a host is in trouble."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from pycrawl.simweb import SimServer, SimWebSettings
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import assert_holds_the_web
from tests.e2e.site import Reply, Site, page
from tests.e2e.test_politeness import by_host, most_at_once

PAGES = 250
BUSY = "/p200"
WAIT = 2.0  # seconds
CLOCK_ERROR = 0.03  # seconds


def test_one_request_at_a_time_without_a_pause(make_crawl: MakeCrawl) -> None:
    web = SimWebSettings.plain(seed=75, hosts=3, pages=600, port=0, mean_page_bytes=2_000, host_skew=0.0)
    with SimServer(web) as server:
        crawl = make_crawl([server.seed])
        crawl.run("crawl")
        assert_holds_the_web(crawl, server)
        assert len(server.log()) == server.web.expected_requests()
        for entries in by_host(server.log()).values():
            assert most_at_once(entries) == 1


@pytest.mark.parametrize("robots_ttl", ["24h", "10ms"])
def test_a_host_in_trouble_gets_its_pause_at_once(make_crawl: MakeCrawl, robots_ttl: str) -> None:
    """The 200th page says that the server is busy: what was sent ahead by then is not asked for, robots.txt neither."""
    asked: list[float] = []
    refused: list[float] = []

    def note(port: int) -> None:
        asked.append(time.monotonic())

    def recover(port: int) -> None:
        refused.append(time.monotonic())
        site.pages[BUSY] = Reply("well again", before=note)

    pages = {f"/p{number}": Reply(f"<title>{number}</title>", before=note) for number in range(PAGES)}
    busy = Reply(status=503, headers={"Retry-After": str(int(WAIT))}, before=recover)
    robots = Reply("User-agent: *", content_type="text/plain", before=note)
    with Site({"/robots.txt": robots, "/": page(*pages), **pages, BUSY: busy}) as site:
        politeness = {"max_backoff": 600, "max_retry_after": 600, "robots_ttl": robots_ttl}
        crawl = make_crawl([f"{site.url}/"], {"politeness": politeness, "traps": {"novelty": False}})
        crawl.run("crawl")
        times = site.times()
        assert times.pop(BUSY) == 2
        assert set(times.values()) == {1}
        assert len(times) == PAGES
        after = [moment for moment in asked if moment > refused[0]]
        assert min(after) - refused[0] >= WAIT - CLOCK_ERROR
        assert sum(later - earlier >= WAIT - CLOCK_ERROR for earlier, later in pairwise(asked)) == 1
        assert crawl.stats()["errors"] == {"too-busy": 1}
