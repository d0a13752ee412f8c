"""One handler for each kind of job: it makes the job, and settles what the fetcher answered.

A leased URL is offered to the handlers in the order of `handlers.py`; the first one that has something to ask makes the
job: a robots.txt before anything else of its origin, a sitemap or feed if the URL is one, a probe before the page that
made it necessary, a HEAD where headers may be enough, else the page itself. The answer goes to the handler of its kind.
To add a kind of job: a member of `model.Kind`, a handler here, and a reader of its answers in `fetcher/`.
"""

from __future__ import annotations

from typing import Protocol

from pycrawl.coordinator.leases import Lease
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.model import FetchJob, FetchResult, Kind


class JobHandler(Protocol):
    kind: Kind

    def make(self, queue: BackQueue, entry: Entry, site: str, now: float) -> FetchJob | None:
        """Returns the job that the leased URL `entry` of the origin `site` needs next; None if it needs none of this
        kind."""

    def settle(self, lease: Lease, result: FetchResult) -> None:
        """Take in an answer: put the leased URL back, retry it or finish it. The caller releases its
        host afterwards."""
