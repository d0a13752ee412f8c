"""Hosts that do not answer keep their URLs queued, and do not keep a run from ending."""

from __future__ import annotations

import socket

from tests.e2e.conftest import MakeCrawl
from tests.e2e.site import Reply, Site, page

TRIES = 5  # failures in a row until a host is put off


def unused_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port


def test_dead_hosts_do_not_keep_a_run_from_ending(make_crawl: MakeCrawl) -> None:
    down = f"http://127.0.0.3:{unused_port('127.0.0.3')}"
    busy_pages = {"/robots.txt": Reply(status=503), "/x": page(), "/y": page()}
    with Site(busy_pages, "127.0.0.4") as busy:
        seeds = [down + "/1", down + "/2", busy.url + "/x"]
        pages = {"/": page(*seeds, busy.url + "/y", *(f"/{number}" for number in range(20)))}
        pages |= {f"/{number}": page(text=str(number)) for number in range(20)}
        with Site(pages) as site:
            crawl = make_crawl([site.url + "/", *seeds])
            output = crawl.run("crawl").stdout
            waiting = "4 URLs wait; robots.txt of 2 origins is unreachable, the next try is at 20"
            assert f"Finished for now: {waiting}" in output
            assert "nothing is left" not in output
            assert site.times() == dict.fromkeys(pages, 1)
            assert busy.asked == ["/robots.txt"] * TRIES
            facts = crawl.stats()
            assert facts["urls_queued"] == 4
            assert facts["pages_fetched"] == 21
            assert facts["errors"] == {"robots-unreachable": 2 * TRIES}
            unreachable = {one["origin"]: one for one in facts["robots_unreachable"]["first"]}
            assert {origin: (one["reason"], one["failures"]) for origin, one in unreachable.items()} == {
                down: ("connect-failed", TRIES),
                busy.url: ("robots-unreachable", TRIES),
            }
            told = crawl.why(down + "/2")
            assert told["queue"]
            assert told["host_ready_at"] == unreachable[down]["next_try_at"]
            assert told["robots"]["unreachable_reason"] == "connect-failed"
            assert told["visit"] is None
            crawl.verify()

            # The next run neither asks before it is time nor waits for it.
            crawl.run("crawl")
            assert busy.asked == ["/robots.txt"] * TRIES
            assert crawl.stats()["urls_queued"] == 4


def test_a_host_that_comes_back_is_crawled(make_crawl: MakeCrawl) -> None:
    """The first failures pass within one run, and cost the URL nothing."""
    pages = {"/": page("/a"), "/a": page()}

    def recover(port: int) -> None:
        if site.asked.count("/robots.txt") == TRIES - 2:
            del site.pages["/robots.txt"]

    with Site(pages) as site:
        site.pages["/robots.txt"] = Reply(status=503, before=recover)
        crawl = make_crawl([site.url + "/"])
        crawl.run("crawl")
        assert site.asked.count("/robots.txt") == TRIES - 1
        assert site.times() == {"/": 1, "/a": 1}
