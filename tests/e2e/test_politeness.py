"""Politeness, as the server sees it."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from pycrawl.crawl.fetch_log import read
from pycrawl.simweb import LogEntry, PageKind, SimServer, SimWebSettings
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import assert_holds_the_web, url_of

DELAY = 0.2
# Seconds: by which two processes may be told different times. A server that notes times late does no harm: it learns of
# a request's start no earlier than the client sends it, and notes its end before it sends the last byte.
CLOCK_ERROR = 0.005

WEB = SimWebSettings(
    seed=71, hosts=12, pages=96, port=0, host_skew=0.0, mean_page_bytes=3_000, redirect_share=0.08, error_share=0.08,
    robots_share=0.5, disallowed_share=0.2, crawl_delay=0.4, retry_after=0, latency=0.02,
)  # fmt: skip


def by_host(log: list[LogEntry]) -> dict[str, list[LogEntry]]:
    hosts: dict[str, list[LogEntry]] = defaultdict(list)
    for entry in log:
        hosts[entry.address].append(entry)
    return hosts


def check_robots(server: SimServer) -> None:
    """Asked for once, before anything else, and obeyed."""
    disallowed = {page.url for page in server.web.pages(PageKind.DISALLOWED)}
    assert disallowed
    for entries in by_host(server.log()).values():
        assert [entry.is_robots for entry in entries] == [True] + [False] * (len(entries) - 1)
        assert disallowed.isdisjoint(url_of(server, entry) for entry in entries[1:])


def test_one_request_at_a_time_and_a_pause_after_each(make_crawl: MakeCrawl) -> None:
    with SimServer(WEB) as server:
        crawl = make_crawl([server.seed], {"politeness": {"delay": DELAY, "max_backoff": DELAY}})
        crawl.run("crawl")
        assert_holds_the_web(crawl, server)
        check_robots(server)
        assert len(server.log()) == server.web.expected_requests()
        delays = {host.address: max(DELAY, host.crawl_delay) for host in server.web.hosts}
        assert set(delays.values()) == {DELAY, 0.4}
        for address, entries in by_host(server.log()).items():
            for before, after in pairwise(entries):
                assert after.started - before.ended >= delays[address] - CLOCK_ERROR
        agents = {entry.user_agent for entry in server.log()}
        assert len(agents) == 1
        assert agents.pop().startswith("pycrawl/")


def test_a_pause_that_counts_from_the_start(make_crawl: MakeCrawl) -> None:
    """One request at a time all the same, and half of the pause is kept after an answer."""
    web = SimWebSettings.plain(seed=74, hosts=4, pages=32, port=0, mean_page_bytes=3_000, host_skew=0.0, latency=0.3)
    delay = 0.6
    with SimServer(web) as server:
        crawl = make_crawl([server.seed], {"politeness": {"delay": delay, "delay_from": "start"}})
        crawl.run("crawl")
        assert_holds_the_web(crawl, server)
        pauses = []
        for entries in by_host(server.log()).values():
            pauses += [after.started - before.ended for before, after in pairwise(entries)]
        assert min(pauses) >= delay / 2 - CLOCK_ERROR
        assert min(pauses) < delay, "none can be shorter if it counts from the end"
        # By the crawler's clock, as a busy server learns of a request some time after it was sent.
        started = defaultdict(list)
        for line in read(crawl.directory.log):
            started[line.host].append(line.started)
        assert len(started) == web.hosts
        for times in started.values():
            assert min(later - earlier for earlier, later in pairwise(times)) >= delay - CLOCK_ERROR


def test_connections_per_host_are_used_and_not_exceeded(make_crawl: MakeCrawl) -> None:
    web = SimWebSettings.plain(seed=72, hosts=2, pages=80, port=0, mean_page_bytes=3_000, host_skew=0.0, latency=0.1)
    with SimServer(web) as server:
        crawl = make_crawl([server.seed], {"politeness": {"connections_per_host": 3}})
        crawl.run("crawl")
        assert_holds_the_web(crawl, server)
        for entries in by_host(server.log()).values():
            assert most_at_once(entries) == 3


def most_at_once(entries: list[LogEntry]) -> int:
    changes = sorted([(entry.started, 1) for entry in entries] + [(entry.ended, -1) for entry in entries])
    most = now = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def test_the_pause_holds_over_two_runs(make_crawl: MakeCrawl) -> None:
    """A host is not hit again at once because the program was started anew."""
    web = SimWebSettings.plain(seed=73, hosts=1, pages=10, port=0, mean_page_bytes=3_000)
    with SimServer(web) as server:
        crawl = make_crawl([server.seed], {"politeness": {"delay": "4s", "obey_robots": False}})
        for _ in range(2):
            crawl.run("crawl", "--max-pages", "1")
        first, second = server.log()
        assert second.started - first.ended >= 4.0 - CLOCK_ERROR
