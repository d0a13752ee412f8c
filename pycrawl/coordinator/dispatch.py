"""Dispatch: leases URLs whose hosts may be hit now, makes jobs of them, and sends these to the fetchers."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pycrawl.coordinator.intake import Intake
from pycrawl.coordinator.jobs import JobHandler
from pycrawl.coordinator.jobs.handlers import next_job
from pycrawl.coordinator.jobs.hub import wish
from pycrawl.coordinator.leases import Lease, Leases
from pycrawl.coordinator.run import Run
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.frontier.guests import Guest
from pycrawl.model import FetchJob, Jobs, Kind, Outcome
from pycrawl.processes.pool import FetcherPool
from pycrawl.state.documents import visit_of
from pycrawl.urls.parts import address_literal, host_key, origin

_SIEVE_LINKS = 50_000  # links that are sieved at once, whatever the time: a batch that costs little for each link
_SIEVE_SHARE = 0.2  # of the time may go into sieving smaller batches, which happens when hosts run out of URLs
_LONGEST_SIEVE_PAUSE = 0.4  # seconds between two small batches, reached when they bring no URL that may be fetched
_SUSPECT_SECONDS = 0.2  # until a suspect is offered again, if another one is in flight at its fetcher (`leases.py`)
_RULES_BYTES = 16_000_000  # of robots.txt files that one message takes to a fetcher
_NEVER = float("inf")


class Dispatcher:
    """Sends jobs out as long as slots are free, hosts are ready and the run is not about to end."""

    def __init__(
        self, run: Run, leases: Leases, handlers: Sequence[JobHandler], intake: Intake, pool: FetcherPool
    ) -> None:
        self._run = run
        self._session = run.session
        self._frontier = run.frontier
        self._leases = leases
        self._handlers = handlers
        self._intake = intake
        self._pool = pool
        self._sieve_at = 0.0  # monotonic: a small batch is not sieved before
        self._sieve_pause = 0.0  # seconds after the last small batch

    def may_dispatch(self) -> bool:
        """True if the run goes on, and what was fetched and is in flight is less than its limits."""
        return not self._run.stopping and self._most_jobs() > 0

    def _most_jobs(self) -> float:
        """Returns how many more jobs may be sent, if each in flight counts as it may: as a page and as a request."""
        run = self._run
        pages = run.limits.max_pages - run.counts.pages - self._leases.pages
        return min(pages, run.limits.max_requests - run.counts.requests - len(self._leases))

    @property
    def next_sieve_at(self) -> float:
        """Returns when found links should be sieved if no host is ready, by the monotonic clock: at once if no fetch is
        under way that might bring more of them; infinity if there are none."""
        if not self._session.discovered.count:
            return _NEVER
        return self._sieve_at if len(self._leases) else 0.0

    def dispatch(self) -> None:
        """Sieve found links if that is due, fill the back queues, and send each fetcher as many jobs as it has room
        for."""
        if not self.may_dispatch():
            return
        now = self._run.now()
        starving = self._leases.has_free_slots and self._frontier.next_ready_at(self._leases.has_free_slot) > now
        links = self._session.discovered.count
        if links >= _SIEVE_LINKS or (links and starving and time.monotonic() >= self.next_sieve_at):
            self._sieve(now)
        self._frontier.fill(starving)
        for fetcher in range(len(self._pool)):
            jobs = self._jobs_for(fetcher, now)
            if jobs:
                self._pool.send(fetcher, Jobs(tuple(jobs)))

    def _sieve(self, now: float) -> None:
        """Sieve the found links, and set when the next small batch is due.

        A small batch costs nearly as much as a large one; so the pause grows as long as batches bring no URL that may
        be fetched.
        """
        begun = time.monotonic()
        self._session.sieve(now)
        self._frontier.fill(True)
        ended = time.monotonic()
        least = (ended - begun) / _SIEVE_SHARE
        if self._frontier.next_ready_at(self._leases.has_free_slot) <= now or not len(self._leases):
            self._sieve_pause = least
        else:
            self._sieve_pause = max(least, min(2 * self._sieve_pause, _LONGEST_SIEVE_PAUSE))
        self._sieve_at = ended + self._sieve_pause

    def _jobs_for(self, fetcher: int, now: float) -> list[FetchJob]:
        """Lease URLs for a fetcher, at most as many as it has free slots. Returns the jobs; each has an open lease."""
        jobs: list[FetchJob] = []
        run = self._run
        most = min(self._leases.free_slots(fetcher), self._most_jobs())
        rules_bytes = 0
        while len(jobs) < most and rules_bytes < _RULES_BYTES:
            leased = self._frontier.lease(fetcher, now)
            if leased is None:
                break
            queue, entry = leased
            if run.judges_traps:
                wanted = self._first_wanted(queue, entry)
                if wanted is None:
                    continue
                entry = wanted
            if not self._leases.may_send(fetcher, entry.url_id):
                self._frontier.put_back(queue, entry)
                self._frontier.release(queue, now + _SUSPECT_SECONDS)
                continue
            needless = self._needless(entry)
            if needless is not None:
                self._turn_away(queue, entry, needless, "")
                continue
            site = origin(entry.url)
            job = next_job(self._handlers, queue, entry, site, now)
            lease = Lease(queue, entry, job.kind, fetcher, queue.due, job.url, site)
            if job.kind is Kind.ROBOTS and job.hops and host_key(job.url) != queue.host.key:
                failure = self._session.origin_failure_of(origin(job.url))
                if failure is not None and failure.is_of_connecting and failure.next_at > now:
                    self._frontier.shut(queue.host, failure._replace(origin=site, of_robots=True), now)
                    self._frontier.put_back(queue, entry)
                    self._frontier.release(queue, 0.0)
                    continue
                guest = self._frontier.visit(queue, host_key(job.url), now)
                if not isinstance(guest, Guest):
                    self._frontier.put_back(queue, entry)
                    self._frontier.release(queue, guest)
                    continue
                lease.guest, lease.due, lease.fetcher = guest, guest.due, guest.fetcher
                job = job._replace(address=guest.host.address, look_up=not address_literal(guest.host.key))
            queue.holds_up |= job.kind is not Kind.PAGE
            self._leases.open(lease)
            if lease.fetcher != fetcher:
                self._pool.send(lease.fetcher, Jobs((job,)))
                most -= 1
                continue
            jobs.append(job)
            rules_bytes += len(job.robots.body) if job.robots is not None else 0
        return jobs

    def _needless(self, entry: Entry) -> Outcome | None:
        """Returns why a source is not asked for after all; None: it is, or the URL is none."""
        if self._session.sources.is_over_limit(entry.url_id):
            return Outcome.SOURCE_LIMIT
        is_hub = self._session.sources.kind_of(entry.url_id) is Kind.HUB
        return Outcome.NOT_NEEDED if is_hub and not wish(self._run, entry.url_id) else None

    # Traps

    def _first_wanted(self, queue: BackQueue, entry: Entry) -> Entry | None:
        """Returns the first URL of the queue that is to be sent, from the leased one on, and leases it instead: those
        whose kind of page brings little go behind the others. Returns None if the lease has ended, because a URL was
        turned away for good as a trap, or because none may take the place of the leased one."""
        kinds = self._session.kinds
        host = queue.host
        if not kinds.watches(host):
            return entry
        while entry.depth and self._session.sources.kind_of(entry.url_id) is Kind.PAGE:
            if entry.revisit and not self._was_turned_away(entry.url_id):
                break
            trap = kinds.trap(host, entry.url)
            if trap:
                self._session.group.counts["filtered:trap"] += 1
                self._turn_away(queue, entry, Outcome.TRAP, trap)
                return None
            if kinds.has_turn(host, entry.url, others_wait=not queue.is_empty):
                break
            following = self._frontier.let_next_go(queue, entry)
            if following is None:
                self._frontier.release(queue, 0.0)
                return None
            entry = following
        return entry  # a seed is wanted, whatever it is like; so are sitemaps and feeds

    def _was_turned_away(self, url_id: int) -> bool:
        """True if the URL's last visit ended as a trap: it was never fetched, and is judged like a new one."""
        visit = visit_of(self._session.database, url_id)
        return visit is not None and visit.outcome == Outcome.TRAP

    def _turn_away(self, queue: BackQueue, entry: Entry, outcome: Outcome, detail: str) -> None:
        lease = Lease(queue, entry, Kind.PAGE, queue.fetcher, queue.due, entry.url, origin(entry.url))
        self._intake.turn_away(lease, outcome, detail)
