"""The coordinator: leases URLs to fetchers, takes in their results, commits.

One thread decides everything; a second one only waits for the disk (`fsync`), so that fetchers do not wait with it.
"""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from pycrawl.errors import StoppedByLimit
from pycrawl.fetch_log import FetchLine, FetchLog
from pycrawl.frontier.back import BackQueue, Entry, SentRules
from pycrawl.interrupts import Interrupts
from pycrawl.model import (
    CONDUCT,
    NO_LINKS,
    NO_VALIDATORS,
    FetchJob,
    FetchResult,
    Jobs,
    Kind,
    Outcome,
    RobotsFile,
    Validators,
)
from pycrawl.politeness import PolitenessRules, gap, is_parked, may_ignore_robots, parking
from pycrawl.pool import Death, FetcherPool
from pycrawl.progress import Ended, Progress, RunCounts, RunLimits
from pycrawl.state import meta
from pycrawl.state.documents import Visit, visit_of
from pycrawl.state.hosts import Host
from pycrawl.urls import address_literal, origin, robots_url
from pycrawl.workspace import Workspace

COMMIT_SECONDS = 1.0
COMMIT_PAGES = 1_000
_SIEVE_LINKS = 50_000
_SIEVE_SHARE = 0.2  # of the time may go into sieving small batches when hosts run out of URLs
_INBOX_SECONDS = 1.0
_TICK_SECONDS = 0.5
_LONGEST_WAIT = 0.25  # seconds
_STRIKES = 2  # fetchers that one URL may take down
_SUSPECT_SECONDS = 0.2  # until a suspect is tried again when another one is in flight at its fetcher
_RATE_SECONDS = 10.0
# A host that may be a maze gets more time between its first pages: its newest URLs are to be there when it is its turn.
_MAZE_SECONDS = 0.5
_MAZE_PAGES = 32
_LOOK_UP_SECONDS = 60.0  # between two look-ups of a host's name

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Lease:
    """A URL in flight. A robots job holds the URL that it was needed for."""

    queue: BackQueue
    entry: Entry
    kind: Kind
    fetcher: int
    due: float  # when the host might be hit
    url: str  # that is asked for: that of the entry, of its host's robots.txt, or one that cannot exist


class Coordinator:
    """One run of `pycrawl crawl`. `on_tick` is shown the progress about twice a second."""

    def __init__(
        self,
        workspace: Workspace,
        pool: FetcherPool,
        limits: RunLimits,
        interrupts: Interrupts,
        on_tick: Callable[[Progress], None],
    ) -> None:
        self._workspace = workspace
        self._frontier = workspace.frontier
        self._config = workspace.config
        self._rules = PolitenessRules.of(self._config)
        self._limits = limits
        self._interrupts = interrupts
        self._on_tick = on_tick
        self._pool = pool
        self._slots = self._config.crawl.slots_per_fetcher
        self._leases: dict[int, Lease] = {}  # by URL id
        self._open = [0] * len(pool)  # leases by fetcher
        self._pages_open = 0
        self._suspects: dict[int, int] = {}  # by fetcher: the URL in flight that may have killed another one
        self._strikes: dict[int, int] = {}  # by URL id
        self._counts = RunCounts()
        self._epoch = time.time() - time.monotonic()  # turns the monotonic clock into a steady time of day
        self._started = time.monotonic()
        self._committed_at = self._started
        self._commit_pages = 0  # pages in the open group
        self._syncing: Future[None] | None = None
        self._sieved_at = 0.0
        self._sieve_seconds = 0.0
        self._inbox_at = 0.0
        self._tick_at = 0.0
        self._idle_seconds = 0.0
        self._samples: deque[tuple[float, int, int, float]] = deque()  # time, pages, bytes, idle seconds
        self._stopping = ""
        self._run = 0
        self._fetch_log = FetchLog(workspace.directory.log)

    def now(self) -> float:
        """Seconds since the epoch, by a clock that never goes back."""
        return time.monotonic() + self._epoch

    # The run

    def run(self) -> Ended:
        database = self._workspace.database
        with database.explained(), ThreadPoolExecutor(1, "fsync") as disk:
            self._run = meta.start_run(database, self.now(), os.getpid())
            self._frontier.open_queues(len(self._pool), self._slots * len(self._pool), self.now())
            self._workspace.commit(self.now())
            while not self._is_over():
                self._take_in_inbox()
                self._dispatch()
                self._commit_if_due(disk)
                self._tick()
                self._wait()
            self._end(disk)
        self._fetch_log.close()
        return self._ended()

    def _is_over(self) -> bool:
        if self._interrupts.count > 1:
            return True
        self._stopping = self._stopping or self._reason_to_stop()
        if self._stopping:
            return not self._leases
        if self._frontier.is_finished and not self._workspace.discovered.count:
            self._inbox_at = 0.0
            self._take_in_inbox()
            return self._frontier.is_finished
        return False

    def _reason_to_stop(self) -> str:
        if self._interrupts.count:
            return "interrupted"
        if self._counts.pages >= self._limits.max_pages:
            return "max-pages"
        if time.monotonic() - self._started >= self._limits.max_seconds:
            return "max-time"
        if self._counts.bytes >= self._limits.max_bytes:
            return "max-bytes"
        return ""

    def _wait(self) -> None:
        begun = time.monotonic()
        news = self._pool.wait(self._patience(), self._interrupts.fileno())
        self._interrupts.clear()
        self._idle_seconds += time.monotonic() - begun
        for _, message in news.results:
            for result in message.results:
                self._take_in(result)
        for death in news.deaths:
            self._on_death(death)

    def _patience(self) -> float:
        """How long there is nothing to do but wait for results."""
        if self._syncing is not None and self._syncing.done():
            return 0.0
        wait = min(self._committed_at + COMMIT_SECONDS, self._tick_at + _TICK_SECONDS) - time.monotonic()
        if self._may_dispatch():
            wait = min(wait, self._frontier.next_ready_at(self._has_free_slot) - self.now())
        return min(max(wait, 0.0), _LONGEST_WAIT)

    # Jobs

    def _may_dispatch(self) -> bool:
        return not self._stopping and self._counts.pages + self._pages_open < self._limits.max_pages

    def _has_free_slot(self, fetcher: int) -> bool:
        return self._open[fetcher] < self._slots

    def _dispatch(self) -> None:
        if not self._may_dispatch():
            return
        now = self.now()
        starving = any(map(self._has_free_slot, range(len(self._pool)))) and (
            self._frontier.next_ready_at(self._has_free_slot) > now
        )
        if self._workspace.discovered.count and (starving or self._workspace.discovered.count >= _SIEVE_LINKS):
            self._sieve(now, starving)
        self._frontier.fill(starving)
        for fetcher in range(len(self._pool)):
            jobs = self._jobs_for(fetcher, now)
            if jobs:
                self._pool.send(fetcher, Jobs(tuple(jobs)))

    def _sieve(self, now: float, starving: bool) -> None:
        """A small batch costs nearly as much as a large one, so starving must not eat all the time."""
        begun = time.monotonic()
        if starving and begun - self._sieved_at < self._sieve_seconds / _SIEVE_SHARE:
            return
        self._workspace.sieve(now)
        self._sieved_at = time.monotonic()
        self._sieve_seconds = self._sieved_at - begun

    def _jobs_for(self, fetcher: int, now: float) -> list[FetchJob]:
        jobs = []
        while self._has_free_slot(fetcher) and self._may_dispatch():
            leased = self._frontier.lease(fetcher, now)
            if leased is None:
                break
            queue, entry = leased
            if entry.url_id in self._strikes and not self._admit_suspect(fetcher, entry):
                self._frontier.put_back(queue, entry)
                self._frontier.release(queue, now + _SUSPECT_SECONDS)
                continue
            if self._is_passed_over(queue, entry):
                continue
            job = self._job(queue, entry, now)
            self._leases[entry.url_id] = Lease(queue, entry, job.kind, fetcher, queue.due, job.url)
            self._open[fetcher] += 1
            self._pages_open += job.kind is Kind.PAGE
            jobs.append(job)
        return jobs

    def _is_passed_over(self, queue: BackQueue, entry: Entry) -> bool:
        """Is the URL one of a kind that brings nothing new: turned away for good, or behind the others for now?"""
        patterns = self._workspace.patterns
        host = queue.host
        if not entry.depth or not patterns.watches(host):
            return False  # a seed is wanted, whatever it is like
        if entry.revisit and not self._was_turned_away(entry.url_id):
            return False
        trap = patterns.trap(host, entry.url)
        if trap:
            self._turn_away(queue, entry, trap)
            return True
        if not queue.is_empty and patterns.lets_others_first(host, entry.url):
            self._frontier.retry(queue, entry)
            self._frontier.release(queue, 0.0, queue.parked)
            return True
        return False

    def _was_turned_away(self, url_id: int) -> bool:
        visit = visit_of(self._workspace.database, url_id)
        return visit is not None and visit.outcome == Outcome.TRAP

    def _turn_away(self, queue: BackQueue, entry: Entry, trap: str) -> None:
        now = time.monotonic()
        result = FetchResult(entry.url_id, queue.host.id, Kind.PAGE, Outcome.TRAP, now, now, self.now(), detail=trap)
        self._workspace.group.counts["filtered:trap"] += 1
        self._finish(Lease(queue, entry, Kind.PAGE, queue.fetcher, queue.due, entry.url), result)
        self._frontier.release(queue, 0.0, queue.parked)

    def _admit_suspect(self, fetcher: int, entry: Entry) -> bool:
        """One suspect at a time, so that the next death of its fetcher proves something."""
        return self._suspects.setdefault(fetcher, entry.url_id) == entry.url_id

    def _job(self, queue: BackQueue, entry: Entry, now: float) -> FetchJob:
        robots = None
        if self._config.politeness.obey_robots:
            site = origin(entry.url)
            known = queue.robots_sent.get(site)
            if known is None or known.expires_at <= now:
                robots = self._workspace.robots_of(site)
                if robots is None or robots.expires_at <= now:
                    return self._robots_job(queue, entry, site, now)
                queue.robots_sent[site] = SentRules.of(robots)
        probe = self._workspace.patterns.probe(queue.host, entry.url)
        if probe:
            return FetchJob(entry.url_id, probe, queue.host.id, Kind.PROBE, address=queue.host.address, robots=robots)
        return FetchJob(
            url_id=entry.url_id,
            url=entry.url,
            host_id=queue.host.id,
            depth=entry.depth,
            hops=entry.hops,
            address=queue.host.address,
            cookies=entry.cookies,
            close_look=self._workspace.patterns.looks_at(queue.host, entry.url),
            look_up=self._is_look_up_due(queue, now),
            validators=self._validators(entry.url_id) if entry.revisit else NO_VALIDATORS,
            robots=robots,
        )

    def _is_look_up_due(self, queue: BackQueue, now: float) -> bool:
        """Fetchers keep answers as long as DNS says; this only makes them ask."""
        if now - queue.looked_up_at < _LOOK_UP_SECONDS or address_literal(queue.host.key):
            return False
        queue.looked_up_at = now
        return True

    def _robots_job(self, queue: BackQueue, entry: Entry, site: str, now: float) -> FetchJob:
        url, hops = queue.robots_hops.pop(site, (robots_url(entry.url), 0))
        return FetchJob(
            url_id=entry.url_id,
            url=url,
            host_id=queue.host.id,
            kind=Kind.ROBOTS,
            hops=hops,
            address=queue.host.address,
            look_up=self._is_look_up_due(queue, now),
            site=site,
        )

    def _validators(self, url_id: int) -> Validators:
        visit = visit_of(self._workspace.database, url_id)
        return Validators(visit.etag, visit.last_modified, visit.digest) if visit else NO_VALIDATORS

    # Results

    def _take_in(self, result: FetchResult) -> None:
        lease = self._leases.pop(result.url_id, None)
        if lease is None:
            return  # of a fetcher that was given up meanwhile
        self._close_lease(lease)
        self._strikes.pop(result.url_id, None)
        self._count(result)
        self._log(lease, result)
        host = lease.queue.host
        site = origin(lease.entry.url)
        if result.kind is Kind.PAGE and 200 <= result.status < 300:
            host.pages += 1
        if result.outcome is Outcome.ADDRESS_MOVED:
            host.address = result.address
            self._frontier.put_back(lease.queue, lease.entry)
        elif result.outcome is Outcome.COOKIE_WANTED:
            lease.entry.cookies = result.cookies
            self._frontier.put_back(lease.queue, lease.entry)
        elif result.outcome is Outcome.ROBOTS_UNKNOWN:
            lease.queue.robots_sent.pop(site, None)
            self._frontier.put_back(lease.queue, lease.entry)
        elif result.kind is Kind.ROBOTS and result.outcome is Outcome.REDIRECT:
            lease.queue.robots_hops[site] = (result.location, result.hops)
            self._frontier.put_back(lease.queue, lease.entry)
        elif result.robots is not None:
            host.robots_failing_since = 0.0
            self._on_robots(lease, result.robots, result.crawl_delay)
        elif result.kind is Kind.ROBOTS and self._is_robots_given_up(host):
            # As if it were not there, until it is asked for again.
            ttl = self._config.politeness.robots_ttl
            self._on_robots(lease, RobotsFile(404, b"", result.fetched_at, self.now() + ttl), 0.0)
        elif result.kind is Kind.PROBE:
            self._on_probe(lease, result)
        else:
            self._settle(lease, self._judged(lease, result))
        self._release(lease.queue, result)

    def _log(self, lease: Lease, result: FetchResult) -> None:
        if CONDUCT[result.outcome].is_hit or result.outcome is Outcome.ROBOTS_DENIED:
            rules = lease.queue.robots_sent.get(origin(lease.entry.url))
            line = FetchLine(
                due=lease.due,
                started=result.started + self._epoch,
                ended=result.ended + self._epoch,
                kind=result.kind.name.lower(),
                host=lease.queue.host.key,
                address=result.address,
                status=result.status,
                outcome=result.outcome,
                robots=rules.digest if rules is not None and result.kind is not Kind.ROBOTS else "",
                url=lease.url,
            )
            self._fetch_log.write(line)

    def _close_lease(self, lease: Lease) -> None:
        self._open[lease.fetcher] -= 1
        self._pages_open -= lease.kind is Kind.PAGE
        if self._suspects.get(lease.fetcher) == lease.entry.url_id:
            del self._suspects[lease.fetcher]

    def _release(self, queue: BackQueue, result: FetchResult) -> None:
        """The hit is over: when may the host be hit again?"""
        conduct = CONDUCT[result.outcome]
        host = queue.host
        if conduct.slows_host:
            host.failures += 1
        elif conduct.is_hit:
            host.failures //= 2
        if not conduct.is_hit:
            self._frontier.release(queue, 0.0, queue.parked)
            return
        ended = result.ended + self._epoch
        if conduct.slows_host and is_parked(host.failures):
            self._frontier.release(queue, ended + parking(host.failures), True)
            return
        if queue.newest_first and host.pages <= _MAZE_PAGES:
            ended += _MAZE_SECONDS
        pause = gap(self._rules, host.crawl_delay, result.ended - result.started, host.failures, result.retry_after)
        self._frontier.release(queue, ended + pause)

    def _is_robots_given_up(self, host: Host) -> bool:
        host.robots_failing_since = host.robots_failing_since or self.now()
        return may_ignore_robots(host.robots_failing_since, self.now())

    def _on_robots(self, lease: Lease, file: RobotsFile, crawl_delay: float) -> None:
        self._workspace.group.robots[origin(lease.entry.url)] = file
        lease.queue.host.crawl_delay = crawl_delay
        self._frontier.put_back(lease.queue, lease.entry)

    def _on_probe(self, lease: Lease, result: FetchResult) -> None:
        """Whatever came of it, it is not asked for again."""
        pairs = result.traits.pairs if result.traits is not None else b""
        self._workspace.patterns.take_in_probe(lease.queue.host, lease.url, pairs)
        self._frontier.put_back(lease.queue, lease.entry)

    def _judged(self, lease: Lease, result: FetchResult) -> FetchResult:
        """Does the page bring anything new? One that says what the host says of missing pages is not kept."""
        patterns = self._workspace.patterns
        entry, host, traits = lease.entry, lease.queue.host, result.traits
        if entry.revisit:
            return result
        if result.outcome is Outcome.REDIRECT:
            known = self._workspace.is_known(result.location_hash)
            patterns.take_in_redirect(host, entry.url, result.location, known)
        elif traits is not None:
            if patterns.is_soft_404(host, entry.url, traits):
                result = replace(result, outcome=Outcome.SOFT_404, body=None, links=NO_LINKS)
                self._workspace.group.counts["soft_404"] += 1
            lease.queue.newest_first = patterns.take_in_page(host, entry.url, entry.depth, traits, result.links)
        return result

    def _settle(self, lease: Lease, result: FetchResult) -> None:
        """Is the URL done with, or does it wait for another try?"""
        conduct = CONDUCT[result.outcome]
        entry = lease.entry
        if conduct.host_fault:
            lease.queue.looked_up_at = 0.0  # it may have moved
            self._frontier.put_back(lease.queue, entry)
            return
        entry.tries += 1
        if conduct.retry and entry.tries < self._config.limits.max_tries:
            self._frontier.retry(lease.queue, entry)
            return
        if conduct.is_error:
            self._fail(result)
        self._finish(lease, result)

    def _fail(self, result: FetchResult) -> None:
        self._counts.failed_urls += 1
        most = self._config.limits.max_errors
        if most and self._counts.failed_urls > most:
            self._stopping = "max-errors"
        log.info("%s: %s %s %s", result.url_id, result.outcome, result.status or "", result.detail)

    def _finish(self, lease: Lease, result: FetchResult) -> None:
        """The URL is done: its visit, document and links go into the open group."""
        workspace = self._workspace
        entry = lease.entry
        document_id = 0
        is_copy = False
        digest = result.body.digest if result.body else b""
        if result.body is not None:
            document = workspace.store(entry.url_id, entry.url, result.fetched_at, result.body)
            document_id = document.id
            is_copy = document.duplicate_of != 0
            if is_copy:
                self._counts.duplicates += 1
            else:
                self._counts.stored += 1
        elif result.outcome is Outcome.NOT_MODIFIED:
            last = visit_of(workspace.database, entry.url_id)
            digest, document_id = (last.digest, last.document_id) if last else (b"", 0)
        if result.outcome is Outcome.REDIRECT:
            workspace.discovered.add_redirect(
                entry.url_id, entry.depth, entry.hops + 1, result.location, result.location_hash
            )
        if not is_copy:  # those of the original were followed
            workspace.discovered.add_links(entry.url_id, entry.depth + 1, result.links)
        visit = Visit(
            entry.url_id, result.outcome, result.status, result.fetched_at, entry.tries, result.detail,
            result.etag, result.last_modified, digest, document_id,
        )  # fmt: skip
        workspace.group.visits.append(visit)
        workspace.group.finished.append((lease.queue, entry))
        self._commit_pages += 1

    def _count(self, result: FetchResult) -> None:
        counts = self._counts
        total = self._workspace.group.counts
        counts.bytes += result.wire_bytes
        total["bytes_fetched"] += result.wire_bytes
        if result.kind is Kind.PROBE:
            total["probes"] += 1
            return
        if CONDUCT[result.outcome].is_error:
            counts.errors[result.outcome] = counts.errors.get(result.outcome, 0) + 1
            total[f"error:{result.outcome}"] += 1
        if result.kind is Kind.ROBOTS:
            total["robots_fetched"] += 1
            return
        if result.status:
            total[f"status:{result.status}"] += 1
        if 200 <= result.status < 300:
            counts.pages += 1
            total["pages_fetched"] += 1
        if result.outcome is Outcome.NOT_MODIFIED:
            counts.not_modified += 1
            total["not_modified"] += 1
        elif result.outcome is Outcome.ROBOTS_DENIED:
            counts.robots_denied += 1
            total["robots_denied"] += 1
        elif result.outcome is Outcome.UNWANTED_TYPE:
            total["filtered:content-type"] += 1
        for reason, amount in result.filtered.items():
            total[f"filtered:{reason}"] += amount

    # Deaths

    def _on_death(self, death: Death) -> None:
        """What the dead fetcher had in flight goes back; the URL that killed it, if that can be told, gets a strike."""
        leases = [lease for lease in self._leases.values() if lease.fetcher == death.fetcher]
        suspect = death.url_id or self._suspects.get(death.fetcher, 0)
        log.warning("fetcher %d %s; %d fetches start again", death.fetcher, death.cause, len(leases))
        self._frontier.fetcher_replaced(death.fetcher)
        for lease in leases:
            url_id = lease.entry.url_id
            del self._leases[url_id]
            self._close_lease(lease)
            if suspect in (0, url_id):
                self._strikes[url_id] = self._strikes.get(url_id, 0) + 1
            self._end_lease_of_dead(lease, death.cause)

    def _end_lease_of_dead(self, lease: Lease, cause: str) -> None:
        now = time.monotonic()
        outcome = Outcome.FETCHER_KILLED
        result = FetchResult(
            lease.entry.url_id, lease.queue.host.id, lease.kind, outcome, now, now, self.now(), detail=cause
        )
        if self._strikes.get(lease.entry.url_id, 0) >= _STRIKES:
            self._count(result)
            self._settle(lease, result)
        else:
            self._frontier.put_back(lease.queue, lease.entry)
        self._release(lease.queue, result)

    # Commit

    def _commit_if_due(self, disk: ThreadPoolExecutor) -> None:
        """Group commit: at most a second or a thousand pages; the wait for the disk is on the other thread."""
        if self._syncing is not None:
            if self._syncing.done():
                self._finish_commit()
            return
        due = time.monotonic() - self._committed_at >= COMMIT_SECONDS or self._commit_pages >= COMMIT_PAGES
        if due:
            self._syncing = disk.submit(self._workspace.begin_commit(self.now()).run)
            self._commit_pages = 0
            self._committed_at = time.monotonic()

    def _finish_commit(self) -> None:
        assert self._syncing is not None
        self._syncing.result()
        self._syncing = None
        meta.update_run(self._workspace.database, self._run, self._counts.pages, self.now())
        self._workspace.finish_commit()
        self._fetch_log.flush()

    def _end(self, disk: ThreadPoolExecutor) -> None:
        if self._syncing is not None:
            self._finish_commit()
        if self._interrupts.count > 1:
            return
        meta.update_run(self._workspace.database, self._run, self._counts.pages, self.now())
        meta.end_run(self._workspace.database, self._run, self.now(), self._stopping or "finished")
        self._workspace.commit_last(self.now())
        if self._stopping == "max-errors":
            raise StoppedByLimit(
                f"more than {self._config.limits.max_errors} URLs failed (limits.max_errors); all work so far is saved"
            )

    # Seeds from outside

    def _take_in_inbox(self) -> None:
        now = time.monotonic()
        if now - self._inbox_at < _INBOX_SECONDS:
            return
        self._inbox_at = now
        for path in self._workspace.directory.inbox_files():
            seeded = self._workspace.add_seeds(path.read_text("utf-8").split("\n"), self.now())
            if self._syncing is not None:
                self._finish_commit()
            self._workspace.commit(self.now())
            path.unlink()
            log.info("%s: %d new URLs, %d turned away", path.name, seeded.new, seeded.refused.total())

    # Progress

    def _tick(self) -> None:
        now = time.monotonic()
        if now - self._tick_at >= _TICK_SECONDS:
            self._tick_at = now
            self._samples.append((now, self._counts.pages, self._counts.bytes, self._idle_seconds))
            while now - self._samples[0][0] > _RATE_SECONDS:
                self._samples.popleft()
            self._on_tick(self._progress(now))

    def _progress(self, now: float) -> Progress:
        then, pages, received, idle = self._samples[0]
        seconds = max(now - then, 0.001)
        sizes = self._frontier.sizes()
        rate = (self._counts.pages - pages) / seconds
        next_ready = self._frontier.next_ready_at(lambda fetcher: True)
        pages_left = self._limits.max_pages - self._counts.pages
        return Progress(
            seconds=now - self._started,
            counts=self._counts,
            pages_per_second=rate,
            bytes_per_second=(self._counts.bytes - received) / seconds,
            front=sizes.front,
            back=sizes.back,
            in_flight=sizes.in_flight,
            active_hosts=min(sizes.in_flight, sizes.queues),
            waiting_hosts=max(sizes.queues - sizes.in_flight, 0),
            parked_hosts=sizes.parked,
            next_ready_in=max(0.0, next_ready - self.now()),
            slots=self._slots * len(self._pool),
            typical_gap=self._frontier.typical_gap(self._rules.delay, self._rules.max_crawl_delay),
            busy_share=1.0 - min(1.0, (self._idle_seconds - idle) / seconds),
            pages_left=pages_left,
            seconds_left=self._limits.max_seconds - (now - self._started),
            stopping=self._stopping,
        )

    def _ended(self) -> Ended:
        sizes = self._frontier.sizes()
        cpu = self._pool.cpu_seconds()
        return Ended(
            reason="interrupted" if self._interrupts.count else self._stopping or "finished",
            counts=self._counts,
            seconds=time.monotonic() - self._started,
            parked_hosts=sizes.parked,
            queued=sizes.front + sizes.back,
            fetchers_replaced=self._pool.replaced,
            cpu_seconds={**cpu, "coordinator": time.process_time()},
        )
