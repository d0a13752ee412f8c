"""The books of a run: each answer is counted, and entered into the log of fetches."""

from __future__ import annotations

from pycrawl.coordinator.leases import Lease
from pycrawl.coordinator.run import Run
from pycrawl.crawl.fetch_log import FetchLine, FetchLog
from pycrawl.model import CONDUCT, FetchResult, Kind, Outcome

_NOT_MODIFIED = 304
_SOURCES = (Kind.SITEMAP, Kind.FEED, Kind.HUB)
_KIND_WORDS = [kind.name.lower() for kind in Kind]


class Books:
    def __init__(self, run: Run, fetch_log: FetchLog) -> None:
        self._run = run
        self._fetch_log = fetch_log

    def enter(self, lease: Lease, result: FetchResult) -> None:
        """Count an answer, and log it if the host was hit or robots.txt denied the URL: what `audit` needs to see."""
        self.count(result)
        is_hit = CONDUCT[result.outcome].is_hit
        self._run.counts.requests += is_hit
        if is_hit or result.outcome is Outcome.ROBOTS_DENIED:
            self._log(lease, result)

    def _log(self, lease: Lease, result: FetchResult) -> None:
        digest = lease.queue.rules.digest_of(lease.site) if result.kind is not Kind.ROBOTS else ""
        epoch = self._run.epoch
        host = lease.guest.host if lease.guest is not None else lease.queue.host
        line = FetchLine(
            lease.due, result.started + epoch, result.ended + epoch, _KIND_WORDS[result.kind], host.key,
            result.address, result.status, result.outcome.value, digest, lease.url,
        )  # fmt: skip
        self._fetch_log.write(line)

    def count(self, result: FetchResult) -> None:
        """Count an answer in this run (`RunCounts`) and in the totals of the crawl, which the open group commits."""
        counts = self._run.counts
        total = self._run.session.group.counts
        counts.bytes += result.wire_bytes
        total["bytes_fetched"] += result.wire_bytes
        if result.kind is Kind.PROBE:
            total["probes"] += 1
            return
        if result.kind is Kind.HEAD and result.outcome is not Outcome.ROBOTS_DENIED:
            return  # the page counts when it is done: by its GET, or as not changed
        if result.kind in _SOURCES and result.outcome is Outcome.CLIENT_ERROR:
            return  # a sitemap that is not there is no failure of the crawl; `sitemap:http-4xx` counts it
        if CONDUCT[result.outcome].is_error:
            # The log of fetches says what was wrong with a robots.txt; of pages, nothing was.
            is_page = result.kind is not Kind.ROBOTS or result.outcome is Outcome.ADDRESS_REFUSED
            outcome = result.outcome if is_page else Outcome.ROBOTS_UNREACHABLE
            counts.errors[outcome] = counts.errors.get(outcome, 0) + 1
            total[f"error:{outcome}"] += 1
        if result.kind is Kind.ROBOTS:
            total["robots_fetched"] += 1
            return
        if result.kind in _SOURCES:
            return  # its handler counts it
        if result.status:
            total[f"status:{result.status}"] += 1
        if 200 <= result.status < 300:
            counts.pages += 1
            total["pages_fetched"] += 1
        if result.status == _NOT_MODIFIED and result.outcome is Outcome.NOT_MODIFIED:  # else nobody asked for a 304
            counts.not_modified += 1
            total["not_modified"] += 1
        elif result.outcome is Outcome.ROBOTS_DENIED:
            counts.robots_denied += 1
            total["robots_denied"] += 1
        elif result.outcome is Outcome.UNWANTED_TYPE:
            total["filtered:content-type"] += 1
        elif result.outcome is Outcome.UNWANTED_LANGUAGE:
            total["filtered:language"] += 1
        for reason, amount in result.filtered.items():
            total[f"filtered:{reason}"] += amount
