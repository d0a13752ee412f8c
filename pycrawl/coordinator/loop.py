"""The main loop of a run: lease URLs, wait for results, take them in, commit; until nothing is left to fetch or a limit
is reached."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import closing

from pycrawl.coordinator.books import Books
from pycrawl.coordinator.commits import CommitCycle
from pycrawl.coordinator.dispatch import Dispatcher
from pycrawl.coordinator.intake import Intake
from pycrawl.coordinator.jobs.handlers import new_handlers
from pycrawl.coordinator.jobs.settling import Settler
from pycrawl.coordinator.leases import Leases
from pycrawl.coordinator.meter import Meter
from pycrawl.coordinator.origin_failures import OriginFailures
from pycrawl.coordinator.pace import Pace
from pycrawl.coordinator.pushes import Pushes
from pycrawl.coordinator.run import Run
from pycrawl.crawl.change_log import ChangeLog
from pycrawl.crawl.directory import RETRY_SUFFIX, kind_of_seeds
from pycrawl.crawl.fetch_log import FetchLog
from pycrawl.crawl.progress import Ended, Progress, RunLimits
from pycrawl.crawl.retrying import RetryRequest, retry
from pycrawl.crawl.seeding import add_seeds
from pycrawl.crawl.session import Session
from pycrawl.errors import StoppedByLimit, UnsafeFile
from pycrawl.model import Outcome
from pycrawl.processes.pool import FetcherPool
from pycrawl.processes.signals import Interrupts

_INBOX_SECONDS = 1.0  # between two looks into the inbox
_SOURCES_SECONDS = 10.0  # between two looks for sitemaps and feeds that are due
_LONGEST_WAIT = 0.25  # seconds for results, so that limits and the inbox are looked at in time

log = logging.getLogger(__name__)


class Coordinator:
    """One run of `pycrawl crawl`. `on_tick` is shown the progress about twice a second, and at the end."""

    def __init__(
        self,
        session: Session,
        pool: FetcherPool,
        limits: RunLimits,
        interrupts: Interrupts,
        on_tick: Callable[[Progress], None],
    ) -> None:
        self._session = session
        self._frontier = session.frontier
        self._pool = pool
        self._interrupts = interrupts
        self._run = Run(session, limits)
        self._pace = Pace(session.config.crawl.slots_per_fetcher)
        self._leases = Leases(len(pool), self._pace.slots)
        self._fetch_log = FetchLog(session.directory.log)
        self._change_log = ChangeLog(session.directory.log)
        settler = Settler(self._run, self._change_log)
        origins = OriginFailures(self._run)
        handlers = new_handlers(self._run, settler, origins)
        by_kind = {handler.kind: handler for handler in handlers}
        books = Books(self._run, self._fetch_log)
        self._intake = Intake(self._run, self._leases, by_kind, settler, origins, books)
        self._dispatcher = Dispatcher(self._run, self._leases, handlers, self._intake, pool)
        self._commits = CommitCycle(self._run, self._fetch_log, self._change_log)
        self._meter = Meter(self._run, self._leases, pool, on_tick)
        self._pushes = Pushes(self._run)
        self._inbox_at = 0.0  # monotonic: the last look into the inbox
        self._sources_at = 0.0  # monotonic: the last look for sitemaps and feeds that are due

    def run(self) -> Ended:
        """Crawl until the end of the run. Returns how it ended; raises StoppedByLimit if too many URLs failed."""
        with self._session.database.explained(), closing(self._commits), closing(self._pushes):
            self._frontier.open_queues(
                len(self._pool), self._leases.all_slots, self._run.now(), self._run.limits.max_depth
            )
            self._commits.start()
            self._pushes.open()
            while not self._is_over():
                self._take_in_inbox()
                self._queue_due_sources()
                self._dispatcher.dispatch()
                self._commits.go_on()
                self._meter.tick()
                self._wait()
            self._end()
        self._fetch_log.close()
        self._change_log.close()
        return self._meter.ended(self._interrupts.count > 0)

    def _is_over(self) -> bool:
        """True if the loop is to be left: at a second interrupt at once, for another reason to stop when nothing is in
        flight any more, else when nothing is left to fetch."""
        if self._interrupts.count > 1:
            return True
        self._run.stopping = self._run.stopping or self._reason_to_stop()
        if self._run.stopping:
            return not len(self._leases)
        if self._frontier.is_finished and not self._session.discovered.count and not self._pushes.are_awaited:
            self._inbox_at = self._sources_at = 0.0
            self._take_in_inbox()
            self._queue_due_sources()
            return self._frontier.is_finished
        return False

    def _reason_to_stop(self) -> str:
        """Returns the word for the interrupt or the limit that ends the run; empty if it goes on."""
        counts, limits = self._run.counts, self._run.limits
        if self._interrupts.count:
            return "interrupted"
        if counts.pages >= limits.max_pages:
            return "max-pages"
        if time.monotonic() - self._run.started >= limits.max_seconds:
            return "max-time"
        if counts.bytes >= limits.max_bytes:
            return "max-bytes"
        if counts.requests >= limits.max_requests:
            return "max-requests"
        return ""

    def _take_in_inbox(self) -> None:
        """Take in what `pycrawl add` and `pycrawl retry` have left since the last look. A file is deleted only after
        its content is committed."""
        now = time.monotonic()
        if now - self._inbox_at < _INBOX_SECONDS:
            return
        self._inbox_at = now
        directory = self._session.directory
        for name in directory.inbox_files():
            try:
                text = directory.read_from_inbox(name)
                request = RetryRequest.from_text(text) if name.endswith(RETRY_SUFFIX) else None
            except (UnsafeFile, ValueError) as error:
                log.warning("inbox: %s is refused: %s", name, error)
                directory.refuse_from_inbox(name)
                continue
            if request is not None:
                self._commits.commit_now()
                self._retry(request)
            else:
                seeded = add_seeds(self._session, text.split("\n"), self._run.now(), kind_of_seeds(name))
                log.info("%s: %d new URLs, %d turned away", name, seeded.new, seeded.refused.total())
            self._commits.commit_now()
            directory.take_from_inbox(name)

    def _queue_due_sources(self) -> None:
        """Queue the sitemaps and feeds that are to be asked for again, if the last look was some time ago."""
        now = time.monotonic()
        if now - self._sources_at >= _SOURCES_SECONDS:
            self._sources_at = now
            self._session.queue_due_sources(self._run.now())

    def _retry(self, request: RetryRequest) -> None:
        done = retry(self._session, request, self._run.now())
        log.info("%d URLs to be tried again, %d hosts to be asked again", done.queued, done.hosts)

    def _wait(self) -> None:
        """Wait for results, take them in, and adapt the pace to how fast they come."""
        begun = time.monotonic()
        if self._pace.gathering:
            time.sleep(self._pace.gathering)
        news = self._pool.wait(self._patience(begun), self._interrupts.fileno(), self._pushes.fileno())
        self._interrupts.clear()
        now = time.monotonic()
        self._meter.idle_seconds += now - begun
        results = [result for _, message in news.results for result in message.results]
        for _, message in news.results:
            self._pace.cap(message.most_slots)
            for fetched in message.fetched:
                self._intake.take_in_fetched(fetched)
        self._pace.measure(len(results), len(self._leases), self._do_hosts_wait, now)
        if any(result.outcome is Outcome.NO_ROOM for result in results):
            self._pace.shrink(now)
        self._leases.slots = self._pace.slots
        if results:
            self._intake.take_in(results)
        for death in news.deaths:
            self._intake.take_in_death(death)
        if self._pushes.work():
            self._sources_at = 0.0

    def _do_hosts_wait(self) -> bool:
        """True if a host may be hit now, and only its fetcher's lack of a free slot keeps it waiting."""
        return self._frontier.next_ready_at(lambda fetcher: not self._leases.has_free_slot(fetcher)) <= self._run.now()

    def _patience(self, now: float) -> float:
        """Returns the seconds during which there is nothing to do but wait for results."""
        if self._frontier.is_finished and not self._pushes.are_awaited:
            return 0.0
        wait = min(self._commits.next_at, self._meter.next_at) - now
        if self._dispatcher.may_dispatch() and self._leases.has_free_slots:
            wait = min(wait, self._dispatcher.next_sieve_at - now)
            wait = min(wait, self._frontier.next_ready_at(self._leases.has_free_slot) - self._run.now())
        return min(max(wait, 0.0), _LONGEST_WAIT)

    def _end(self) -> None:
        """Make the last commit; at a second interrupt only finish the one that is under way."""
        if self._interrupts.count > 1:
            self._commits.finish()
            return
        self._commits.end()
        if self._run.stopping == "max-errors":
            most = self._run.config.limits.max_errors
            urls = "URL" if most == 1 else "URLs"
            raise StoppedByLimit(f"more than {most} {urls} failed (limits.max_errors); all work so far is saved")
