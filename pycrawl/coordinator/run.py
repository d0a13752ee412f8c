"""The values that all parts of the coordinator share in one run."""

from __future__ import annotations

import time

from pycrawl.crawl.progress import RunCounts, RunLimits
from pycrawl.crawl.session import Session


class Run:
    """One run of `pycrawl crawl`: what it works on, what bounds it, and how far it is."""

    def __init__(self, session: Session, limits: RunLimits) -> None:
        self.session = session
        self.frontier = session.frontier
        self.config = session.config
        self.limits = limits
        self.counts = RunCounts()
        self.epoch = time.time() - time.monotonic()  # turns the monotonic clock into a steady time of day
        self.started = time.monotonic()
        self.stopping = ""  # why it is about to end; empty while it goes on
        self.judges_traps = self.config.traps.novelty or self.config.traps.soft_404

    def now(self) -> float:
        """Seconds since the epoch, by a clock that never goes back."""
        return time.monotonic() + self.epoch
