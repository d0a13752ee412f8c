"""One connection to a host, and to an address that hosts share: open ones count, idle or not, as a server sees them."""

from __future__ import annotations

import time
from contextlib import ExitStack

import pytest

from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl, Settings
from tests.e2e.robots_server import Fault, RobotsServer

PAGES = 5
NAMES = 4
TRANSPORTS = pytest.mark.parametrize("transport", ["curl", "urllib3"])


def most_open(*servers: RobotsServer) -> int:
    """Returns how many connections to the servers were open at once; those that are left are closed with the crawl."""
    changes = []
    for server in servers:
        server.wait_until_closed()
        for connection in server.connections:
            changes += [(connection.opened, 1), (connection.closed, -1)]
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def pages_of(server: RobotsServer) -> list[str]:
    return sorted(one.path for one in server.asked if one.path in server.page_paths)


@TRANSPORTS
def test_hosts_stay_with_their_fetcher(make_crawl: MakeCrawl, transport: str) -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(RobotsServer(f"127.0.8.{n + 1}", [], PAGES)) for n in range(20)]
        settings: Settings = {"crawl": {"fetchers": 3, "transport": transport}, "politeness": {"delay": 0.05}}
        crawl = make_crawl([f"{server.url}/0" for server in servers], settings)
        crawl.run("crawl")
        for server in servers:
            assert pages_of(server) == sorted(server.page_paths)
            assert most_open(server) == 1
            assert len(server.connections) == 1, "it is kept open between two pages"


@TRANSPORTS
def test_names_and_ports_of_one_address_share_its_connection(make_crawl: MakeCrawl, transport: str) -> None:
    with RobotsServer("127.0.0.1", [], PAGES) as named, RobotsServer("127.0.0.1", [], PAGES) as other:
        seeds = [f"http://name{number}.localhost:{named.port}/0" for number in range(NAMES)]
        seeds += [f"{other.url}/0", f"https://{other.authority}/x"]
        settings: Settings = {
            "crawl": {"fetchers": 3, "transport": transport},
            "politeness": {"delay": 0.02, "max_backoff": 0.1},
        }
        crawl = make_crawl(seeds, settings)
        crawl.run("crawl")
        assert len(pages_of(named)) == NAMES * PAGES
        assert pages_of(other) == sorted(other.page_paths)
        assert most_open(named, other) == 1


@TRANSPORTS
def test_a_robots_txt_on_another_host_uses_the_connection_of_that_host(make_crawl: MakeCrawl, transport: str) -> None:
    with ExitStack() as stack:
        target = stack.enter_context(RobotsServer("127.0.8.100", [], PAGES))
        asking = [
            stack.enter_context(RobotsServer(f"127.0.8.{n + 1}", [], PAGES, robots_at=f"{target.url}/robots.txt?{n}"))
            for n in range(6)
        ]
        settings: Settings = {"crawl": {"fetchers": 3, "transport": transport}, "politeness": {"delay": 0.02}}
        crawl = make_crawl([f"{server.url}/0" for server in (target, *asking)], settings)
        crawl.run("crawl")
        for server in (target, *asking):
            assert pages_of(server) == sorted(server.page_paths)
            assert most_open(server) == 1


@TRANSPORTS
def test_more_connections_are_used_where_they_are_allowed(make_crawl: MakeCrawl, transport: str) -> None:
    with RobotsServer("127.0.8.1", [], 40, seconds=0.05) as server:
        settings: Settings = {"crawl": {"transport": transport}, "politeness": {"connections_per_host": 3}}
        crawl = make_crawl([f"{server.url}/0"], settings)
        crawl.run("crawl")
        assert pages_of(server) == sorted(server.page_paths)
        assert most_open(server) == 3


def test_a_fetcher_that_is_replaced(make_crawl: MakeCrawl) -> None:
    with RobotsServer("127.0.8.1", [Fault.BUSY], 30) as server:
        crawl: Crawl = make_crawl([f"{server.url}/0"], {"crawl": {"fetchers": 2}, "politeness": {"delay": 0.05}})
        running = crawl.start("crawl")
        assert running.until(lambda: len(pages_of(server)) >= 5)
        for fetcher in running.fetchers():
            fetcher.kill()
        assert running.wait() == 0
        assert set(pages_of(server)) == server.page_paths
        time.sleep(0.1)
        assert most_open(server) == 1
