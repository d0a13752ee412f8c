"""Group commit: results are committed together, every second or every 4,000 pages. The wait for the disk is on
another thread."""

from __future__ import annotations

import os
import time
from concurrent.futures import Future, ThreadPoolExecutor

from pycrawl.coordinator.run import Run
from pycrawl.crawl.change_log import ChangeLog
from pycrawl.crawl.fetch_log import FetchLog
from pycrawl.state import meta

COMMIT_SECONDS = 1.0  # between the beginnings of two commits: as much work as a crash may cost
COMMIT_PAGES = 4_000  # finished URLs that make a commit due earlier, so that a group stays small in memory
COMMIT_ROBOTS = 64  # robots.txt files that do, too: each may have 500 KiB
_NEVER = float("inf")


class CommitCycle:
    """Begins, finishes and repeats the commits of one run. At most one is under way at a time."""

    def __init__(self, run: Run, fetch_log: FetchLog, change_log: ChangeLog) -> None:
        self._run = run
        self._session = run.session
        self._database = run.session.database
        self._fetch_log = fetch_log
        self._change_log = change_log
        self._disk = ThreadPoolExecutor(1, "fsync")
        self._syncing: Future[None] | None = None  # the fsync of the commit that is under way
        self._begun_at = run.started  # monotonic: when the last commit was begun
        self._row = 0  # the id of this run's row in the table `runs`

    def start(self) -> None:
        """Enter the run into the table `runs`, and commit."""
        now = self._run.now()
        self._row = meta.start_run(self._database, now, os.getpid())
        self._session.commit(now)

    @property
    def next_at(self) -> float:
        """Returns when `go_on` has something to do, by the monotonic clock; infinity while the disk has
        not answered."""
        if self._syncing is not None:
            return 0.0 if self._syncing.done() else _NEVER
        return self._begun_at + COMMIT_SECONDS

    def go_on(self) -> None:
        """Finish the commit that is under way if the disk has answered, or begin one if it is due."""
        if self._syncing is not None:
            if self._syncing.done():
                self.finish()
        elif self._is_due:
            self._syncing = self._disk.submit(self._session.begin_commit(self._run.now()).run)
            self._begun_at = time.monotonic()

    @property
    def _is_due(self) -> bool:
        group = self._session.group
        is_large = len(group.finished) >= COMMIT_PAGES or len(group.robots) >= COMMIT_ROBOTS
        return is_large or time.monotonic() - self._begun_at >= COMMIT_SECONDS

    def finish(self) -> None:
        """Finish the commit that is under way, if one is, waiting for the disk."""
        if self._syncing is not None:
            self._syncing.result()
            self._syncing = None
            self._update_row()
            self._session.finish_commit()
            self._fetch_log.flush()
            self._change_log.flush()

    def commit_now(self) -> None:
        """Commit everything so far, waiting for the disk."""
        self.finish()
        self._session.commit(self._run.now())

    def end(self) -> None:
        """Make the last commit of the run, and enter how it ended."""
        self.finish()
        self._update_row()
        meta.end_run(self._database, self._row, self._run.now(), self._run.stopping or "finished")
        self._session.commit_last(self._run.now())

    def _update_row(self) -> None:
        meta.update_run(self._database, self._row, self._run.counts.pages, self._run.now())

    def close(self) -> None:
        """End the thread that waits for the disk, once it has its answer."""
        self._disk.shutdown()
