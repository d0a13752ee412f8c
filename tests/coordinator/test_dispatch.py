"""What a job says of its turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pycrawl.config import Config
from pycrawl.coordinator.jobs.handlers import new_handlers, next_job
from pycrawl.coordinator.jobs.settling import Settler
from pycrawl.coordinator.origin_failures import OriginFailures
from pycrawl.coordinator.run import Run
from pycrawl.crawl.change_log import ChangeLog
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.progress import RunLimits
from pycrawl.crawl.session import Session
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.model import Kind, Outcome, RobotsFile, Via
from pycrawl.policy.head_answers import Marks
from pycrawl.state.documents import Visit, save_visits
from pycrawl.state.head_marks import HeadMarks, save_marks
from pycrawl.state.hosts import Host
from pycrawl.urls.host_settings import HostSettings
from tests.e2e.crawling import Crawl

SITE = "http://192.0.2.1"
NOW = 1_000.0
NEVER = float("inf")
DIGEST = bytes(range(16))
ENTRY = Entry(1, f"{SITE}/page", 1, 0, 0)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    crawl = Crawl.make(tmp_path / "crawl", [f"{SITE}/"])
    with Session(CrawlDirectory(crawl.path), Config()) as session:
        yield session


@pytest.mark.parametrize("in_flight", [1, 2])
@pytest.mark.parametrize("kind", Kind)
def test_whatever_waits_for_another_fetch_of_its_host_says_so(session: Session, kind: Kind, in_flight: int) -> None:
    """Its fetcher knows by that what not to ask for when the host has just said that it is busy."""
    run = Run(session, RunLimits())
    session.directory.make_folders()
    with closing(ChangeLog(session.directory.log)) as change_log:
        handlers = new_handlers(run, Settler(run, change_log), OriginFailures(run))
    host = Host(1, "192.0.2.1", address="192.0.2.1")
    queue = BackQueue(host, 0, HostSettings.of(Config()), in_flight=in_flight)
    if kind is not Kind.ROBOTS:
        queue.rules.note_sent(SITE, RobotsFile(200, b"", NOW, NEVER))
    if kind is Kind.PROBE:
        queue.host.pages = 5
    if kind in (Kind.SITEMAP, Kind.FEED, Kind.HUB):
        session.sources.take_in(kind, np.array([ENTRY.url_id], np.uint32), Via.LINK, 0, 0, "")
    entry = ENTRY
    if kind is Kind.HEAD:
        entry = replace(ENTRY, revisit=1)
        size = 1_000_000
        save_marks(session.database, [HeadMarks(entry.url_id, DIGEST, size, Marks(size))])
        save_visits(session.database, [Visit(entry.url_id, Outcome.FETCHED.value, 200, NOW, 1, digest=DIGEST)])
    job = next_job(handlers, queue, entry, SITE, NOW)
    assert job.kind is kind
    assert job.ahead == (in_flight > 1)
