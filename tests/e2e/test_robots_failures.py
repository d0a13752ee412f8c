"""A robots.txt that cannot be had is its origin's trouble: it is asked for again with growing intervals, and no page is
lost or charged with it."""

from __future__ import annotations

import random
import time
from contextlib import ExitStack
from itertools import pairwise

import pytest

from pycrawl.policy.politeness import PolitenessRules, retry_pause
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl, Settings
from tests.e2e.robots_server import Fault, RobotsServer

PAGES = 4
CLOCK_ERROR = 0.01  # seconds
BACKOFF = 0.4  # seconds
RULES = PolitenessRules(delay=0.0, delay_factor=0.0, max_crawl_delay=60.0, max_backoff=BACKOFF)
SETTINGS: Settings = {
    "crawl": {"fetchers": 2},
    "politeness": {"max_backoff": BACKOFF, "max_retry_after": "1h"},
    "limits": {"total_timeout": 3},
}


def check_intervals(server: RobotsServer, faults: list[Fault]) -> None:
    """The server was asked for its robots.txt as often as it failed and once more, each time after the due pause."""
    times = server.times_of("/robots.txt")
    assert len(times) == len(faults) + 1
    for number, (fault, (before, after)) in enumerate(zip(faults, pairwise(times), strict=True), 1):
        assert after - before >= retry_pause(RULES, number, fault.seconds) - CLOCK_ERROR, (fault, number)


def check_all_fetched(crawl: Crawl, servers: list[RobotsServer]) -> None:
    for server in servers:
        asked = [one.path for one in server.asked if one.path != "/robots.txt"]
        assert sorted(asked) == sorted(server.page_paths)
    assert {outcome for (outcome,) in crawl.query("SELECT outcome FROM visits")} == {"fetched"}
    assert crawl.query("SELECT * FROM origin_failures") == []
    assert crawl.query("SELECT 1 FROM hosts WHERE failures > 0 OR failing_since > 0") == []
    assert set(crawl.stats()["errors"]) <= {"robots-unreachable"}
    crawl.verify()


@pytest.mark.parametrize("seed", range(2))
def test_all_pages_are_fetched_once_robots_txt_works_again(make_crawl: MakeCrawl, seed: int) -> None:
    chance = random.Random(seed)
    plans = [[fault] for fault in Fault]
    plans += [chance.choices(list(Fault), k=chance.randrange(5)) for _ in range(6)]
    with ExitStack() as stack:
        servers = [
            stack.enter_context(RobotsServer(f"127.0.7.{number + 1}", faults, PAGES))
            for number, faults in enumerate(plans)
        ]
        crawl = make_crawl([f"{server.url}/0" for server in servers], SETTINGS)
        assert "nothing is left to fetch" in crawl.run("crawl").stdout
        check_all_fetched(crawl, servers)
        for server, faults in zip(servers, plans, strict=True):
            check_intervals(server, faults)


def test_a_failure_outlives_the_process(make_crawl: MakeCrawl) -> None:
    """Killed while it waits: the next run keeps to the time that the server has named."""
    faults = [Fault.BUSY, Fault.TOO_MANY, Fault.BUSY]
    with RobotsServer("127.0.7.1", faults, PAGES) as server:
        crawl = make_crawl([f"{server.url}/0"], SETTINGS)
        running = crawl.start("crawl")
        assert running.until(lambda: crawl.query("SELECT 1 FROM origin_failures WHERE failures = 2") != [])
        running.kill_tree()
        told = crawl.stats()["robots_unreachable"]
        assert [(one["origin"], one["detail"]) for one in told["first"]] == [(server.url, "status 429")]
        crawl.run("crawl")
        check_all_fetched(crawl, [server])
        check_intervals(server, faults)


def test_a_long_wait_does_not_keep_a_run_from_ending(make_crawl: MakeCrawl) -> None:
    with RobotsServer("127.0.7.1", [Fault.BROKEN] * 5, PAGES) as server:
        crawl = make_crawl([f"{server.url}/0"], SETTINGS)
        for _ in range(2):
            ended = crawl.run("crawl", exit_code=5)
            assert "robots.txt of 1 origin is unreachable, the next try is at 20" in ended.stdout
        (failure,) = crawl.stats()["robots_unreachable"]["first"]
        assert failure["failures"] == 5
        assert failure["next_try_at"] > time.time() + 500
        crawl.run("retry")
        crawl.run("crawl")
        check_all_fetched(crawl, [server])


def test_https_that_fails_does_not_put_off_http(make_crawl: MakeCrawl) -> None:
    """One host, two origins: a server without TLS is asked for both, and gives its http pages."""
    robots = "User-agent: *\nCrawl-delay: 0.3\n"
    with RobotsServer("127.0.7.1", [], PAGES, robots=robots) as server:
        crawl = make_crawl([f"https://{server.authority}/x", f"{server.url}/0"], SETTINGS)
        crawl.run("crawl")
        paths = [one.path for one in server.asked if one.path in server.page_paths]
        assert sorted(paths) == sorted(server.page_paths)
        times = [one.at for one in server.asked if one.path in server.page_paths]
        assert min(after - before for before, after in pairwise(times)) >= 0.3 - CLOCK_ERROR
        assert crawl.why(f"https://{server.authority}/x")["reason"] == "robots-unreachable"
        facts = crawl.why(f"https://{server.authority}/x")["robots"]
        assert facts["unreachable_reason"] == "tls-failure"
        assert crawl.query("SELECT failures FROM hosts") == [(0,)]
        assert crawl.stats()["urls_queued"] == 1
