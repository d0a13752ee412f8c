"""Intake: each answer of a fetcher goes to the handler of its kind, which settles the URL; then its host is released,
until it may be hit again."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence

from pycrawl.coordinator.books import Books
from pycrawl.coordinator.jobs import JobHandler
from pycrawl.coordinator.jobs.settling import Settler
from pycrawl.coordinator.jobs.sources import SourceJobs
from pycrawl.coordinator.leases import Lease, Leases
from pycrawl.coordinator.origin_failures import OriginFailures
from pycrawl.coordinator.run import Run
from pycrawl.frontier.guests import Guest
from pycrawl.model import CONDUCT, Fetched, FetchResult, Kind, Outcome, UrlOrder
from pycrawl.policy.politeness import PolitenessRules, ahead, gap, is_parked, parking
from pycrawl.processes.pool import Death
from pycrawl.state.hosts import Host
from pycrawl.urls.host_settings import HostSettings
from pycrawl.urls.parts import origin

_LEISURE_SECONDS = 0.5  # added to the pause of a host in the order NEWEST_FIRST_SLOWLY: its links are sieved meanwhile

log = logging.getLogger(__name__)


class Intake:
    """Ends every lease: by a result, by the death of its fetcher, or because the URL was turned away."""

    def __init__(
        self,
        run: Run,
        leases: Leases,
        handlers: Mapping[Kind, JobHandler],
        settler: Settler,
        origins: OriginFailures,
        books: Books,
    ) -> None:
        self._run = run
        self._session = run.session
        self._frontier = run.frontier
        self._rules: dict[HostSettings, PolitenessRules] = {}
        self._leases = leases
        self._handlers = handlers
        self._settler = settler
        self._origins = origins
        self._books = books
        self._looks_for_copies = not run.config.content.store_duplicates

    def take_in(self, results: Sequence[FetchResult]) -> None:
        """Take in a batch of results."""
        if self._looks_for_copies:
            self._session.content_seen.look([result.body.digest for result in results if result.body is not None])
        for result in results:
            self._take_in(result)

    def take_in_fetched(self, fetched: Fetched) -> None:
        """A document has come, and is being converted: its host does not wait for that."""
        lease = self._leases.begin_reading(fetched.url_id)
        if lease is not None:
            url_id, started, ended = fetched
            came = FetchResult(url_id, lease.queue.host.id, lease.kind, Outcome.FETCHED, started, ended, 0.0)
            self._frontier.begin_reading(lease.queue, *self._ready_at(lease, came))

    def _take_in(self, result: FetchResult) -> None:
        if result.source is not None and result.source.more:
            self._take_in_part(result)
            return
        lease = self._leases.close(result.url_id)
        if lease is None:
            return  # its fetcher was given up meanwhile, and the URL is back in its queue
        self._books.enter(lease, result)
        if result.outcome is Outcome.ADDRESS_MOVED:
            (lease.guest.host if lease.guest else lease.queue.host).address = result.address
            self._frontier.put_back(lease.queue, lease.entry)
        elif result.outcome in (Outcome.HELD_BACK, Outcome.ROBOTS_UNKNOWN):
            if result.outcome is Outcome.ROBOTS_UNKNOWN:
                lease.queue.rules.forget(lease.site)
            self._frontier.put_back(lease.queue, lease.entry)
        else:
            self._note_origin(lease, result)
            self._handlers[result.kind].settle(lease, result)
        self._release(lease, result)

    def _take_in_part(self, result: FetchResult) -> None:
        lease = self._leases.get(result.url_id)
        handler = self._handlers[result.kind]
        if lease is not None and isinstance(handler, SourceJobs):
            handler.take_in_part(lease, result)

    def take_in_death(self, death: Death) -> None:
        """Put the URLs that a dead fetcher had in flight back into their queues. Those that have taken down too many
        fetchers are given up."""
        leases = self._leases.close_all_of(death)
        log.warning("fetcher %d %s; %d fetches start again", death.fetcher, death.cause, len(leases))
        self._frontier.fetcher_replaced(death.fetcher)
        self._run.counts.requests += len(leases)  # each may have been sent
        for lease in leases:
            result = self._unfetched(lease, Outcome.FETCHER_KILLED, death.cause)
            if self._leases.is_struck_out(lease.entry.url_id):
                self._books.count(result)
                if lease.kind is Kind.ROBOTS:  # it is not the page that took the fetchers down
                    self._handlers[Kind.ROBOTS].settle(lease, result)
                else:
                    self._settler.settle(lease, result)
            else:
                self._frontier.put_back(lease.queue, lease.entry)
            self._release(lease, result)

    def turn_away(self, lease: Lease, outcome: Outcome, detail: str) -> None:
        """Finish a URL that was leased, and then for this outcome not asked for; its host was not hit."""
        self._settler.finish(lease, self._unfetched(lease, outcome, detail))
        self._frontier.release(lease.queue, 0.0)

    def _unfetched(self, lease: Lease, outcome: Outcome, detail: str) -> FetchResult:
        """Returns the result of a leased URL that no fetcher has answered."""
        now = time.monotonic()
        return FetchResult(
            lease.entry.url_id, lease.queue.host.id, lease.kind, outcome, now, now, self._run.now(), detail=detail
        )

    def _note_origin(self, lease: Lease, result: FetchResult) -> None:
        """Note whether the origin that was asked for something could be connected to. Where that was its own
        robots.txt, it is noted with that (`jobs/robots.py`)."""
        if lease.guest is not None:
            host, site = lease.guest.host, origin(lease.url)
        elif lease.kind is not Kind.ROBOTS:
            host, site = lease.queue.host, lease.site
        else:
            return
        if CONDUCT[result.outcome].shuts_origin:
            self._origins.no_connection(host, site, result)
        elif result.status and host.failing_since:
            self._origins.answered(host, site)

    # The host

    def _release(self, lease: Lease, result: FetchResult) -> None:
        """End the lease: release the host, until it may be hit again, if that was not done when the document came."""
        if lease.is_read:
            self._frontier.end_reading(lease.queue)
            return
        if lease.guest is not None:
            self._end_visit(lease.guest, result)
        self._frontier.release(lease.queue, *self._ready_at(lease, result))

    def _ready_at(self, lease: Lease, result: FetchResult) -> tuple[float, float]:
        """Work out when the host of a lease and its address may be hit again, and park the host if it keeps failing.
        Returns both times; 0: it was not hit."""
        conduct = CONDUCT[result.outcome]
        queue = lease.queue
        host = queue.host
        self._frontier.allow_ahead(queue, 0)
        queue.holds_up &= lease.kind is Kind.PAGE
        if lease.guest is not None or not conduct.is_hit:
            return 0.0, 0.0
        # An origin that cannot be connected to, or whose robots.txt cannot be had, slows nothing else of its host down.
        is_of_origin = conduct.shuts_origin or (lease.kind is Kind.ROBOTS and conduct.is_error)
        put_off = not is_of_origin and self._count_failure(host, queue.settings, result)
        ended = result.ended + self._run.epoch
        usual = self._pause(host, queue.settings, result)
        pause = usual if is_of_origin or not host.failures else self._pause_after(host, queue.settings, result)
        if put_off:
            self._frontier.park(queue)
        else:
            self._frontier.unpark(queue)
            if queue.order is UrlOrder.NEWEST_FIRST_SLOWLY:
                pause += _LEISURE_SECONDS
            if not pause and not queue.order:
                self._frontier.allow_ahead(queue, ahead(host.pages, result.ended - result.started))
        return ended + pause, ended + usual

    def _count_failure(self, host: Host, settings: HostSettings, result: FetchResult) -> bool:
        """Count a failure of the host, or forget half of the earlier ones. Returns True if it is to be put off: it
        keeps failing, or has asked to be left alone for long."""
        conduct = CONDUCT[result.outcome]
        if conduct.shuts_origin:
            return False
        if not conduct.slows_host:
            host.failures //= 2
            return False
        host.failures += 1
        host.trouble = result.outcome.value
        return is_parked(host.failures, min(result.retry_after, self._rules_of(settings).max_retry_after))

    def _end_visit(self, guest: Guest, result: FetchResult) -> None:
        """Work out when the host that was hit as a guest may be hit again, and end the visit. Failures are its own."""
        if not CONDUCT[result.outcome].is_hit:
            self._frontier.end_visit(guest, 0.0, 0.0)
            return
        settings = self._frontier.settings.of(guest.host.key)
        put_off = self._count_failure(guest.host, settings, result)
        ended = result.ended + self._run.epoch
        pause = self._pause_after(guest.host, settings, result)
        self._frontier.end_visit(guest, ended + pause, ended + self._pause(guest.host, settings, result), put_off)

    def _pause(self, host: Host, settings: HostSettings, result: FetchResult) -> float:
        """Returns the seconds that a host must be left alone after a fetch, and all hosts at its address."""
        return gap(self._rules_of(settings), host.crawl_delay, result.ended - result.started, 0, 0.0)

    def _pause_after(self, host: Host, settings: HostSettings, result: FetchResult) -> float:
        """Returns the seconds that the host must be left alone after this result, with its failures so far."""
        rules = self._rules_of(settings)
        if CONDUCT[result.outcome].slows_host and is_parked(host.failures):
            return parking(rules, host.failures, result.retry_after)
        return gap(rules, host.crawl_delay, result.ended - result.started, host.failures, result.retry_after)

    def _rules_of(self, settings: HostSettings) -> PolitenessRules:
        rules = self._rules.get(settings)
        if rules is None:
            rules = self._rules[settings] = PolitenessRules.of(settings.politeness)
        return rules
