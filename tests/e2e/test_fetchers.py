"""Fetchers that die or hang: the crawl goes on by itself and misses nothing."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import psutil
import pytest

from pycrawl.simweb import SimServer, SimWebSettings
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Running, Settings, assert_holds_the_web, pages_served
from tests.e2e.site import Reply, Site, page

SLOTS = 16  # of one fetcher
SLOW_WEB = SimWebSettings.plain(seed=31, hosts=20, pages=260, port=0, mean_page_bytes=3_000, host_skew=0.0, latency=0.2)


def until_pages(running: Running, server: SimServer, count: int) -> None:
    assert running.until(lambda: len(server.log()) >= count)


@pytest.mark.parametrize("count", [1, 2])
def test_killed_fetchers_are_replaced(make_crawl: MakeCrawl, count: int) -> None:
    with SimServer(SLOW_WEB) as server:
        crawl = make_crawl([server.seed], {"crawl": {"fetchers": 2}})
        running = crawl.start("crawl")
        until_pages(running, server, 70)
        fetchers = running.fetchers()
        assert len(fetchers) == 2
        for fetcher in fetchers[:count]:
            fetcher.kill()
        assert running.wait() == 0
        assert f"{count} fetcher{'s' * (count - 1)} died" in running.output()
        crawl.verify()
        assert_holds_the_web(crawl, server)
        # What was in flight when a fetcher died is fetched again, and nothing else.
        assert sum(pages_served(server).values()) - len(server.web.reachable()) <= count * SLOTS


def test_a_fetcher_that_hangs_is_replaced(make_crawl: MakeCrawl) -> None:
    with SimServer(SLOW_WEB) as server:
        crawl = make_crawl([server.seed], {"crawl": {"fetchers": 2}, "limits": {"fetcher_timeout": "10s"}})
        running = crawl.start("crawl")
        until_pages(running, server, 70)
        hanging = running.fetchers()[0]
        hanging.suspend()
        assert running.wait() == 0
        assert "1 fetcher died" in running.output()
        assert not hanging.is_running()
        crawl.verify()
        assert_holds_the_web(crawl, server)


def holder_of(port: int) -> int:
    """The process that has the client's end of a connection: one that this test has started, as others on the machine
    may have the same port on another address."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            connections = process.net_connections("tcp4")
            if any(connection.laddr and connection.laddr.port == port for connection in connections):
                return int(process.pid)
    raise AssertionError(f"nobody has port {port}")


def test_a_url_that_kills_its_fetcher_twice_is_given_up(make_crawl: MakeCrawl) -> None:
    def kill_client(port: int) -> None:
        os.kill(holder_of(port), signal.SIGSEGV)

    paths = [f"/page-{number}" for number in range(30)]
    pages = {path: page("/", text=path) for path in paths}
    pages["/killer"] = Reply("never seen", before=kill_client)
    with Site({"/": page(*paths[:15], "/killer", *paths[15:]), **pages}) as site:
        # What is being worked on when a fetcher dies is blamed: a close look at the first pages takes a while.
        settings: Settings = {
            "politeness": {"connections_per_host": 4},
            "traps": {"novelty": False},
            "content": {"near_duplicates": False},
        }
        crawl = make_crawl([site.url + "/"], settings)
        output = crawl.run("crawl").stdout
        assert "2 fetchers died" in output, output + (crawl.directory.log / "crawl.log").read_text()
        assert site.times()["/killer"] == 2
        assert set(site.times()) == {"/", "/killer", *paths}
        assert crawl.stats()["errors"] == {"fetcher-killed": 1}
        assert crawl.stats()["urls_queued"] == 0
        visit = crawl.why(site.url + "/killer")["visit"]
        assert visit["outcome"] == "fetcher-killed"
        assert set(crawl.bodies(site.url + path for path in paths)) == {site.url + path for path in paths}
        crawl.verify()
        crawl.configure({"recrawl": {"min_interval": 0}})
        crawl.run("crawl", "--recrawl")
        assert site.times()["/killer"] == 2


def test_kills_from_outside_are_not_held_against_a_url(make_crawl: MakeCrawl) -> None:
    """An operator, or another program's hunger for memory, may strike twice while the same URL is in flight."""
    kills = iter(range(3))

    def kill_client(port: int) -> None:
        if next(kills, None) is not None:
            os.kill(holder_of(port), signal.SIGKILL)

    with Site({"/": page("/unlucky"), "/unlucky": Reply("seen at last", before=kill_client)}) as site:
        crawl = make_crawl([site.url + "/"])
        output = crawl.run("crawl").stdout
        assert "3 fetchers died" in output
        assert site.times()["/unlucky"] == 4
        assert crawl.why(site.url + "/unlucky")["visit"]["outcome"] == "fetched"
        assert crawl.stats()["errors"] == {}
        crawl.verify()
