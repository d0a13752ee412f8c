"""The handlers of all kinds of jobs, in the order in which a leased URL is offered to them."""

from __future__ import annotations

from collections.abc import Sequence

from pycrawl.coordinator.jobs import JobHandler
from pycrawl.coordinator.jobs.common import JobMaker
from pycrawl.coordinator.jobs.head import HeadJobs
from pycrawl.coordinator.jobs.hub import HubJobs
from pycrawl.coordinator.jobs.page import PageJobs
from pycrawl.coordinator.jobs.probe import ProbeJobs
from pycrawl.coordinator.jobs.robots import RobotsJobs
from pycrawl.coordinator.jobs.settling import Settler
from pycrawl.coordinator.jobs.sources import SourceJobs
from pycrawl.coordinator.origin_failures import OriginFailures
from pycrawl.coordinator.run import Run
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.model import FetchJob, Kind


def new_handlers(run: Run, settler: Settler, origins: OriginFailures) -> tuple[JobHandler, ...]:
    maker = JobMaker(run)
    return (
        RobotsJobs(run, maker, settler, origins),
        SourceJobs(run, maker, settler, Kind.SITEMAP),
        SourceJobs(run, maker, settler, Kind.FEED),
        HubJobs(run, maker, settler),
        ProbeJobs(run, maker),
        HeadJobs(run, maker, settler),
        PageJobs(run, maker, settler),
    )


def next_job(handlers: Sequence[JobHandler], queue: BackQueue, entry: Entry, site: str, now: float) -> FetchJob:
    """Returns the job of the first handler that has one for the leased URL; the last handler, for pages, always has."""
    for handler in handlers:
        job = handler.make(queue, entry, site, now)
        if job is not None:
            return job
    raise AssertionError("a page is always asked for")
