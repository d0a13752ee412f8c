"""Jobs for probes: a URL that cannot exist is fetched, to learn how its host answers for pages that it does
not have."""

from __future__ import annotations

from pycrawl.coordinator.jobs.common import JobMaker
from pycrawl.coordinator.leases import Lease
from pycrawl.coordinator.run import Run
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.model import FetchJob, FetchResult, Kind


class ProbeJobs:
    kind = Kind.PROBE

    def __init__(self, run: Run, maker: JobMaker) -> None:
        self._run = run
        self._maker = maker

    def make(self, queue: BackQueue, entry: Entry, site: str, now: float) -> FetchJob | None:
        if not self._run.judges_traps:
            return None
        kinds = self._run.session.kinds
        directory = kinds.directory_to_probe(queue.host, entry.url)
        if not directory:
            return None
        url = kinds.start_probe(queue.host, entry.url, directory)
        if self._run.session.judge.scope.verdict(url) is not None:
            return None  # a probe is a request like any other: nothing out of scope is asked for
        rules = self._maker.rules_to_send(queue, site, now)
        return self._maker.job(queue, entry, url, now, kind=Kind.PROBE, robots=rules)

    def settle(self, lease: Lease, result: FetchResult) -> None:
        """Keep the answer, whatever it is, so that this directory is not probed again; the page's turn comes next."""
        pairs = result.close_look.pairs if result.close_look is not None else b""
        self._run.session.kinds.take_in_probe(lease.queue.host, lease.url, pairs)
        self._run.frontier.put_back(lease.queue, lease.entry)
