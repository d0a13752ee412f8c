"""What fetchers answer: is the URL done, tried again or put back; and when may its host be hit again?

What is done goes into the session's open group.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from pycrawl.coordinator.leases import Lease, Leases
from pycrawl.coordinator.run import Run
from pycrawl.crawl.fetch_log import FetchLine, FetchLog
from pycrawl.frontier.guests import Guest
from pycrawl.model import CONDUCT, NO_LINKS, FetchResult, Kind, Outcome, RobotsFile, UrlOrder
from pycrawl.policy.politeness import PolitenessRules, ahead, gap, is_parked, may_ignore_robots, parking
from pycrawl.processes.pool import Death
from pycrawl.state.documents import Visit, visit_of
from pycrawl.state.hosts import Host

_LEISURE_SECONDS = 0.5  # in which links are sieved
_KIND_WORDS = [kind.name.lower() for kind in Kind]

log = logging.getLogger(__name__)


class Intake:
    def __init__(self, run: Run, leases: Leases, fetch_log: FetchLog) -> None:
        self._run = run
        self._session = run.session
        self._frontier = run.frontier
        self._config = run.config
        self._rules = PolitenessRules.of(run.config)
        self._leases = leases
        self._fetch_log = fetch_log
        self._looks_for_copies = not run.config.content.store_duplicates

    def take_in(self, results: Sequence[FetchResult]) -> None:
        if self._looks_for_copies:
            self._session.content_seen.look([result.body.digest for result in results if result.body is not None])
        for result in results:
            self._take_in(result)

    def _take_in(self, result: FetchResult) -> None:
        lease = self._leases.close(result.url_id)
        if lease is None:
            return  # of a fetcher that was given up meanwhile
        self._count(result)
        self._log(lease, result)
        host = lease.queue.host
        site = lease.site
        if result.kind is Kind.PAGE and 200 <= result.status < 300:
            host.pages += 1
        if result.kind is Kind.ROBOTS and result.outcome is not Outcome.ADDRESS_MOVED:
            lease.queue.robots_hops.pop(site, None)
        if result.outcome is Outcome.ADDRESS_MOVED:
            (lease.guest.host if lease.guest else host).address = result.address
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
            self._on_robots(lease, RobotsFile(404, b"", result.fetched_at, self._run.now() + ttl), 0.0)
        elif result.kind is Kind.PROBE:
            self._on_probe(lease, result)
        else:
            self._settle(lease, self._judged(lease, result) if self._run.judges_traps else result)
        self._release(lease, result)

    def take_in_death(self, death: Death) -> None:
        """What the dead fetcher had in flight goes back."""
        leases = self._leases.close_all_of(death)
        log.warning("fetcher %d %s; %d fetches start again", death.fetcher, death.cause, len(leases))
        self._frontier.fetcher_replaced(death.fetcher)
        for lease in leases:
            result = self.result_without_fetch(lease, Outcome.FETCHER_KILLED, death.cause)
            if self._leases.is_struck_out(lease.entry.url_id):
                self._count(result)
                self._settle(lease, result)
            else:
                self._frontier.put_back(lease.queue, lease.entry)
            self._release(lease, result)

    def result_without_fetch(self, lease: Lease, outcome: Outcome, detail: str) -> FetchResult:
        now = time.monotonic()
        return FetchResult(
            lease.entry.url_id, lease.queue.host.id, lease.kind, outcome, now, now, self._run.now(), detail=detail
        )

    # The host

    def _release(self, lease: Lease, result: FetchResult) -> None:
        """The hit is over: when may the host be hit again?"""
        conduct = CONDUCT[result.outcome]
        queue = lease.queue
        host = queue.host
        if lease.guest is not None:
            self._end_visit(lease.guest, result)
        queue.ahead = 0
        queue.holds_up &= lease.kind is Kind.PAGE
        if conduct.slows_host:
            host.failures += 1
        elif conduct.is_hit:
            host.failures //= 2
        if not conduct.is_hit:
            self._frontier.release(queue, 0.0, queue.parked)
            return
        ended = result.ended + self._run.epoch
        if conduct.slows_host and is_parked(host.failures):
            self._frontier.release(queue, ended + parking(host.failures), True)
            return
        if queue.order is UrlOrder.NEWEST_FIRST_SLOWLY:
            ended += _LEISURE_SECONDS
        pause = self._pause(host, result)
        if not pause and not queue.order:
            queue.ahead = ahead(host.pages, result.ended - result.started)
        self._frontier.release(queue, ended + pause)

    def _end_visit(self, guest: Guest, result: FetchResult) -> None:
        ready_at = 0.0
        if CONDUCT[result.outcome].is_hit:
            ready_at = result.ended + self._run.epoch + self._pause(guest.host, result)
        self._frontier.end_visit(guest, ready_at)

    def _pause(self, host: Host, result: FetchResult) -> float:
        return gap(self._rules, host.crawl_delay, result.ended - result.started, host.failures, result.retry_after)

    def _is_robots_given_up(self, host: Host) -> bool:
        host.robots_failing_since = host.robots_failing_since or self._run.now()
        return may_ignore_robots(host.robots_failing_since, self._run.now())

    def _on_robots(self, lease: Lease, file: RobotsFile, crawl_delay: float) -> None:
        self._session.group.robots[lease.site] = file
        lease.queue.host.crawl_delay = crawl_delay
        self._frontier.put_back(lease.queue, lease.entry)

    # Traps

    def _on_probe(self, lease: Lease, result: FetchResult) -> None:
        """Whatever came of it, it is not asked for again."""
        pairs = result.close_look.pairs if result.close_look is not None else b""
        self._session.kinds.take_in_probe(lease.queue.host, lease.url, pairs)
        self._frontier.put_back(lease.queue, lease.entry)

    def _judged(self, lease: Lease, result: FetchResult) -> FetchResult:
        """Does the page bring anything new? One that says what the host says of missing pages is not kept."""
        kinds = self._session.kinds
        entry, host, look = lease.entry, lease.queue.host, result.close_look
        if entry.revisit:
            return result
        if result.outcome is Outcome.REDIRECT:
            known = self._session.is_known(result.location_hash)
            kinds.take_in_redirect(host, entry.url, result.location, known)
        elif look is not None:
            if kinds.is_soft_404(host, entry.url, look):
                result = result._replace(outcome=Outcome.SOFT_404, body=None, links=NO_LINKS)
                self._session.group.counts["soft_404"] += 1
            lease.queue.order = kinds.take_in_page(host, entry.url, entry.depth, look, result.links)
        return result

    # The URL

    def _settle(self, lease: Lease, result: FetchResult) -> None:
        """Is the URL done with, or does it wait for another try?"""
        conduct = CONDUCT[result.outcome]
        entry = lease.entry
        if conduct.goes_back:
            lease.queue.looked_up_at = 0.0  # its host may have moved
            self._frontier.put_back(lease.queue, entry)
            return
        entry.tries += 1
        if conduct.retry and entry.tries < self._config.limits.max_tries:
            self._frontier.retry(lease.queue, entry)
            return
        if conduct.is_error:
            self._fail(result)
        self.finish(lease, result)

    def _fail(self, result: FetchResult) -> None:
        self._run.counts.failed_urls += 1
        most = self._config.limits.max_errors
        if most and self._run.counts.failed_urls > most:
            self._run.stopping = "max-errors"
        log.info("%s: %s %s %s", result.url_id, result.outcome, result.status or "", result.detail)

    def finish(self, lease: Lease, result: FetchResult) -> None:
        """The URL is done: its visit, document and links go into the open group."""
        session = self._session
        entry = lease.entry
        document_id = 0
        follows = True
        digest = result.body.digest if result.body else b""
        if result.body is not None:
            document = session.store(entry.url_id, entry.url, result.fetched_at, result.body)
            document_id = document.id
            if document.duplicate_of:
                self._run.counts.duplicates += 1
                # Those of the original were followed; but on another host, relative links are other pages.
                follows = session.host_of_original(document) != lease.queue.host.id
            else:
                self._run.counts.stored += 1
        elif result.outcome is Outcome.NOT_MODIFIED:
            last = visit_of(session.database, entry.url_id)
            digest, document_id = (last.digest, last.document_id) if last else (b"", 0)
        if result.outcome is Outcome.REDIRECT:
            session.discovered.add_redirect(
                entry.url_id, entry.depth, entry.hops + 1, result.location, result.location_hash
            )
        if follows:
            session.discovered.add_links(entry.url_id, entry.depth + 1, result.links)
        visit = Visit(
            entry.url_id, result.outcome.value, result.status, result.fetched_at, entry.tries, result.detail,
            result.etag, result.last_modified, digest, document_id,
        )  # fmt: skip
        session.group.visits.append(visit)
        session.group.finished.append((lease.queue, entry))

    # The books

    def _log(self, lease: Lease, result: FetchResult) -> None:
        if CONDUCT[result.outcome].is_hit or result.outcome is Outcome.ROBOTS_DENIED:
            rules = lease.queue.robots_sent.get(lease.site) if result.kind is not Kind.ROBOTS else None
            epoch = self._run.epoch
            host = lease.guest.host if lease.guest is not None else lease.queue.host
            line = FetchLine(
                lease.due, result.started + epoch, result.ended + epoch, _KIND_WORDS[result.kind], host.key,
                result.address, result.status, result.outcome.value, rules.digest if rules is not None else "",
                lease.url,
            )  # fmt: skip
            self._fetch_log.write(line)

    def _count(self, result: FetchResult) -> None:
        counts = self._run.counts
        total = self._session.group.counts
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
