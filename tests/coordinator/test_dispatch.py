"""What a job says of its turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from pycrawl.config import Config
from pycrawl.coordinator.dispatch import Dispatcher
from pycrawl.coordinator.intake import Intake
from pycrawl.coordinator.leases import Leases
from pycrawl.coordinator.run import Run
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.fetch_log import FetchLog
from pycrawl.crawl.progress import RunLimits
from pycrawl.crawl.session import Session
from pycrawl.frontier.back import BackQueue, Entry, SentRules
from pycrawl.model import Kind
from pycrawl.processes.pool import FetcherPool
from pycrawl.state.hosts import Host
from tests.e2e.crawling import Crawl

SITE = "http://192.0.2.1"
NOW = 1_000.0
NEVER = float("inf")
ENTRY = Entry(1, f"{SITE}/page", 1, 0, 0)


@pytest.fixture
def dispatcher(tmp_path: Path) -> Iterator[Dispatcher]:
    crawl = Crawl.make(tmp_path / "crawl", [f"{SITE}/"])
    with Session(CrawlDirectory(crawl.path), Config()) as session:
        run = Run(session, RunLimits())
        leases = Leases(1, 10)
        log = FetchLog(tmp_path)
        # Jobs are made here, and not sent: there is no need for fetchers.
        yield Dispatcher(run, leases, Intake(run, leases, log), cast(FetcherPool, None))
        log.close()


@pytest.mark.parametrize("in_flight", [1, 2])
@pytest.mark.parametrize("kind", Kind)
def test_whatever_waits_for_another_fetch_of_its_host_says_so(
    dispatcher: Dispatcher, kind: Kind, in_flight: int
) -> None:
    """Its fetcher knows by that what not to ask for when the host has just said that it is busy."""
    queue = BackQueue(Host(1, "192.0.2.1", address="192.0.2.1"), 0, in_flight=in_flight)
    if kind is not Kind.ROBOTS:
        queue.robots_sent[SITE] = SentRules(NEVER, "")
    if kind is Kind.PROBE:
        queue.host.pages = 5
    job = dispatcher._job(queue, ENTRY, SITE, NOW)
    assert job.kind is kind
    assert job.ahead == (in_flight > 1)
