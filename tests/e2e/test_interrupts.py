"""Ctrl-C and SIGTERM: once saves what is in flight, twice stops at once, and the next run goes on."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from pycrawl.simweb import ABORTED, SimServer, SimWebSettings
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import RUN_SECONDS, Crawl, Running, assert_holds_the_web, pages_served
from tests.e2e.site import Reply, Site, after, page

INTERRUPTED = 130
# Each page takes so long that fetches are in flight at every moment.
SLOW = SimWebSettings.plain(seed=51, hosts=10, pages=90, port=0, mean_page_bytes=3_000, host_skew=0.0, latency=0.5)


def started(crawl: Crawl, server: SimServer, pages: int) -> Running:
    server.clear_log()
    running = crawl.start("crawl")
    assert running.until(lambda: len(pages_served(server)) >= pages)
    return running


def check_one_signal(crawl: Crawl, server: SimServer, number: signal.Signals) -> None:
    """What is in flight is finished and saved, and nothing new is asked for."""
    running = started(crawl, server, 12)
    before = len(server.log())
    running.send(number)
    assert running.wait() == INTERRUPTED
    assert "everything is saved" in running.output()
    log = server.log()
    # One of each host is in flight, and another one may have been sent while the signal was on its way.
    assert len(log) - before <= 2 * server.web.settings.hosts
    assert all(entry.status != ABORTED for entry in log)
    served = pages_served(server)
    assert served.keys() <= crawl.documents_by_url().keys()
    crawl.verify()
    last = crawl.stats()["last_crawl"]
    assert (last["ended_by"], last["pages"]) == ("interrupted", len(served))


def check_two_signals(crawl: Crawl, server: SimServer) -> None:
    running = started(crawl, server, 12)
    send_two(running)
    assert running.wait() == INTERRUPTED
    crawl.verify()


def send_two(running: Running) -> None:
    """Two different ones, as two of a kind that come at once are one."""
    running.send(signal.SIGINT)
    running.send(signal.SIGTERM)


def test_the_state_is_safe_after_every_interrupt(make_crawl: MakeCrawl) -> None:
    with SimServer(SLOW) as server:
        crawl = make_crawl([server.seed])
        check_one_signal(crawl, server, signal.SIGINT)
        check_one_signal(crawl, server, signal.SIGTERM)
        check_two_signals(crawl, server)
        crawl.run("crawl")
        crawl.run("verify", "--deep")
        assert_holds_the_web(crawl, server)


def test_a_second_signal_does_not_wait_for_answers(make_crawl: MakeCrawl) -> None:
    over = threading.Event()
    pages = {"/": page("/slow"), "/slow": Reply(before=after(over, RUN_SECONDS))}
    with Site(pages) as site:
        limits: dict[str, object] = {"total_timeout": 2 * RUN_SECONDS, "min_bytes_per_second": 0}
        crawl = make_crawl([f"{site.url}/"], {"limits": limits})
        running = crawl.start("crawl")
        assert running.until(lambda: "/slow" in site.times())
        send_two(running)
        assert running.wait() == INTERRUPTED
        over.set()
        crawl.verify()


def test_an_interrupt_while_hosts_rest_ends_the_wait(make_crawl: MakeCrawl) -> None:
    """Nobody waits for a polite pause in order to stop."""
    with SimServer(SimWebSettings.plain(seed=52, hosts=1, pages=20, port=0)) as server:
        crawl = make_crawl([server.seed], {"politeness": {"delay": "1h"}})
        running = crawl.start("crawl")
        assert running.until(lambda: len(server.log()) >= 1)
        time.sleep(0.3)  # for the answer to arrive, and the pause to begin
        running.send(signal.SIGINT)
        assert running.wait() == INTERRUPTED


@pytest.fixture
def _hangup_counts() -> Iterator[None]:
    """Whoever runs the tests with nohup has SIGHUP ignored, and what they start inherits that."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("_hangup_counts")
def test_an_interrupt_from_a_terminal_while_fetchers_start(make_crawl: MakeCrawl) -> None:
    """It reaches the whole process group: fetchers must not take it as theirs, however early it comes."""
    with SimServer(SimWebSettings.plain(seed=53, hosts=5, pages=400, port=0, latency=0.2)) as server:
        crawl = make_crawl([server.seed])
        for number, seconds in ((signal.SIGINT, 0.05), (signal.SIGHUP, 0.2), (signal.SIGINT, 0.5)):
            running = crawl.start("crawl")
            assert running.until(lambda: len(running.fetchers()) > 0)  # noqa: B023  # called at once
            time.sleep(seconds)
            running.send_to_group(number)
            assert running.wait() == INTERRUPTED
            assert "died" not in running.output()
        assert (crawl.directory.log / "fetchers.log").read_text() == ""


def test_nohup_means_what_it_says(make_crawl: MakeCrawl) -> None:
    with SimServer(SimWebSettings.plain(seed=54, hosts=5, pages=40, port=0, latency=0.1)) as server:
        crawl = make_crawl([server.seed])
        running = crawl.start("crawl", before=["nohup"])
        assert running.until(lambda: len(pages_served(server)) >= 5)
        running.send_to_group(signal.SIGHUP)
        assert running.wait() == 0
        assert_holds_the_web(crawl, server)
