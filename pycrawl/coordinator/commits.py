"""Group commit: at most a second or a thousand pages; the wait for the disk is on another thread."""

from __future__ import annotations

import os
import time
from concurrent.futures import Future, ThreadPoolExecutor

from pycrawl.coordinator.run import Run
from pycrawl.crawl.fetch_log import FetchLog
from pycrawl.state import meta

COMMIT_SECONDS = 1.0
COMMIT_PAGES = 1_000
_NEVER = float("inf")


class CommitCycle:
    def __init__(self, run: Run, fetch_log: FetchLog) -> None:
        self._run = run
        self._session = run.session
        self._database = run.session.database
        self._fetch_log = fetch_log
        self._disk = ThreadPoolExecutor(1, "fsync")
        self._syncing: Future[None] | None = None
        self._begun_at = run.started
        self._row = 0  # the run's, in the database

    def start(self) -> None:
        """Enter the run."""
        now = self._run.now()
        self._row = meta.start_run(self._database, now, os.getpid())
        self._session.commit(now)

    @property
    def next_at(self) -> float:
        """When there is something to do, by the monotonic clock."""
        if self._syncing is not None:
            return 0.0 if self._syncing.done() else _NEVER
        return self._begun_at + COMMIT_SECONDS

    def go_on(self) -> None:
        """Do what is due."""
        if self._syncing is not None:
            if self._syncing.done():
                self.finish()
        elif self._is_due:
            self._syncing = self._disk.submit(self._session.begin_commit(self._run.now()).run)
            self._begun_at = time.monotonic()

    @property
    def _is_due(self) -> bool:
        return time.monotonic() - self._begun_at >= COMMIT_SECONDS or len(self._session.group.finished) >= COMMIT_PAGES

    def finish(self) -> None:
        """Wait for the commit that is under way, if one is."""
        if self._syncing is not None:
            self._syncing.result()
            self._syncing = None
            self._update_row()
            self._session.finish_commit()
            self._fetch_log.flush()

    def commit_now(self) -> None:
        """Everything so far, and wait for it."""
        self.finish()
        self._session.commit(self._run.now())

    def end(self) -> None:
        """The last commit of the run."""
        self.finish()
        self._update_row()
        meta.end_run(self._database, self._row, self._run.now(), self._run.stopping or "finished")
        self._session.commit_last(self._run.now())

    def _update_row(self) -> None:
        meta.update_run(self._database, self._row, self._run.counts.pages, self._run.now())

    def close(self) -> None:
        """Let go of the thread, once the disk has answered it."""
        self._disk.shutdown()
