"""Jobs for sitemaps and feeds: a leased URL that is one is read for the URLs that it names."""

from __future__ import annotations

import logging

import numpy as np

from pycrawl.coordinator.jobs.common import JobMaker
from pycrawl.coordinator.jobs.hub import name_hub
from pycrawl.coordinator.jobs.settling import Settler, with_what_is_known
from pycrawl.coordinator.leases import Lease
from pycrawl.coordinator.run import Run
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.model import (
    CONDUCT,
    NO_VALIDATORS,
    FetchJob,
    FetchResult,
    Kind,
    Named,
    Outcome,
    PackedLinks,
    SourceAnswer,
    Validators,
    Via,
)
from pycrawl.policy.source_visits import Watched, next_visit
from pycrawl.state.documents import Visit, visit_of
from pycrawl.state.sources import SourceFacts, SourceVisit, source_of
from pycrawl.urls import asks

_READ = (Outcome.READ, Outcome.NOT_MODIFIED)
_NO_FACTS = SourceFacts(Kind.FEED, 0, 0.0, 0.0, 0, Watched(), "", "")

log = logging.getLogger(__name__)


class SourceJobs:
    """The handler of sitemaps, and likewise that of feeds."""

    def __init__(self, run: Run, maker: JobMaker, settler: Settler, kind: Kind) -> None:
        self.kind = kind
        self._run = run
        self._session = run.session
        self._maker = maker
        self._settler = settler
        self._limits = run.config.sitemaps if kind is Kind.SITEMAP else run.config.feeds
        self._via = Via.SITEMAP if kind is Kind.SITEMAP else Via.FEED
        self._continued: set[int] = set()  # ids of sources that have sent a part of their URLs

    def make(self, queue: BackQueue, entry: Entry, site: str, now: float) -> FetchJob | None:
        sources = self._session.sources
        if sources.kind_of(entry.url_id) is not self.kind:
            return None
        rules = self._maker.rules_to_send(queue, site, now) if queue.settings.politeness.obey_robots else None
        facts = source_of(self._session.database, entry.url_id) or _NO_FACTS
        self._continued.discard(entry.url_id)
        return self._maker.job(
            queue,
            entry,
            entry.url,
            now,
            kind=self.kind,
            hops=entry.hops,
            validators=self._validators(entry.url_id) if entry.revisit else NO_VALIDATORS,
            robots=rules,
            vouchers=sources.vouchers_of(entry.url_id) if self.kind is Kind.SITEMAP else (),
            level=facts.level,
        )

    def _validators(self, url_id: int) -> Validators:
        visit = visit_of(self._session.database, url_id)
        if visit is None or visit.document_id:  # it was a page until now
            return NO_VALIDATORS
        return Validators(visit.etag, visit.last_modified, visit.digest)

    def take_in_part(self, lease: Lease, result: FetchResult) -> None:
        """Take in the first URLs of a source whose last result is still to come."""
        if result.source is not None:
            self._follow(lease, result.source)

    def settle(self, lease: Lease, result: FetchResult) -> None:
        conduct = CONDUCT[result.outcome]
        entry = lease.entry
        last_try = entry.tries + 1 >= lease.queue.settings.limits.max_tries
        if conduct.goes_back or (conduct.retry and not last_try):
            self._settler.settle(lease, result)
            return
        if self._is_page_again(entry, result):
            self._session.sources.leave(entry.url_id, entry.url, self._session.seed)
            self._run.frontier.put_back(lease.queue, entry)
            return
        entry.tries += 1
        if conduct.is_error:
            log.info("%s: %s %s %s", entry.url, result.outcome, result.status or "", result.detail)
        self._finish(lease, result)

    def _is_page_again(self, entry: Entry, result: FetchResult) -> bool:
        """True if a feed answers what is none, and nothing but an earlier answer said that it is one. It must have been
        read before: so a page that names itself as a feed is not asked for again and again."""
        if result.outcome is not Outcome.BAD_FEED or not 200 <= result.status < 300:
            return False
        facts = source_of(self._session.database, entry.url_id)
        return facts is not None and facts.read_at > 0 and not facts.hub and not self._own_ask(entry)

    def _finish(self, lease: Lease, result: FetchResult) -> None:
        """Enter the visit, when the next one is, and what the source names. The open group commits them together."""
        entry, answer, group = lease.entry, result.source, self._session.group
        if lease.kind is Kind.PAGE:  # a page that turned out to be a feed
            self._session.sources.take_in(self.kind, np.array([entry.url_id], np.uint32), Via.LINK, 0, 0, "")
        visit = Visit(
            entry.url_id, result.outcome.value, result.status, result.fetched_at, entry.tries, result.detail,
            result.etag, result.last_modified, answer.digest if answer is not None else b"",
        )  # fmt: skip
        last = visit_of(self._session.database, entry.url_id) if entry.revisit else None
        if last is not None and answer is None:
            visit = with_what_is_known(visit, last, result)
        group.visits.append(visit)
        group.finished.append((lease.queue, entry))
        visit_of_source = self._next_visit(entry, result)
        group.sources.append(visit_of_source)
        if visit_of_source.hub and self._run.config.feeds.callback:
            depth = max(1, self._session.depth_of(entry))
            name_hub(self._session, entry.url_id, depth, visit_of_source.hub, visit_of_source.topic)
        group.counts[f"{self.kind.name.lower()}:{result.outcome}"] += 1
        if result.location:
            self._follow_redirect(lease, result)
        if answer is not None:
            self._follow(lease, answer)
            self._store(lease, result, answer)
        self._continued.discard(entry.url_id)

    def _next_visit(self, entry: Entry, result: FetchResult) -> SourceVisit:
        facts = source_of(self._session.database, entry.url_id) or _NO_FACTS
        answer = result.source or SourceAnswer(entries=facts.entries, hub=facts.hub, topic=facts.topic)
        watched, read_at = facts.watched, facts.read_at
        if result.outcome in _READ:
            has_changed = facts.read_at > 0 and result.outcome is Outcome.READ
            seconds = watched.seconds + max(0.0, result.fetched_at - facts.read_at if facts.read_at else 0.0)
            watched = Watched(seconds, watched.changes + has_changed, 0)
            read_at = result.fetched_at
        elif result.outcome is not Outcome.REDIRECT:
            watched = Watched(watched.seconds, watched.changes, watched.failures + 1)
        next_at = next_visit(
            result.fetched_at, watched, self._limits.min_interval, self._limits.max_interval,
            answer.wait, answer.skip_hours, answer.skip_days,
        )  # fmt: skip
        return SourceVisit(entry.url_id, next_at, read_at, answer.entries, watched, answer.hub, answer.topic)

    def _follow_redirect(self, lease: Lease, result: FetchResult) -> None:
        """The target of a redirect is a source too."""
        entry = lease.entry
        self._session.discovered.add_redirect(
            entry.url_id, self._session.depth_of(entry), entry.hops + 1, result.location, result.location_hash,
            result.location_verdict, self._own_ask(entry), self.kind, self._level(entry),
        )  # fmt: skip

    def _follow(self, lease: Lease, answer: SourceAnswer) -> None:
        """Hand the URLs that the source names to the ledger; they are as deep as the source, and at least one link away
        from a seed."""
        entry = lease.entry
        depth = max(1, self._session.depth_of(entry))
        for named in answer.named:
            level = 0
            if named.kind is Kind.SITEMAP:
                level = self._level(entry) + 1
                named = named._replace(ask=named.ask | self._own_ask(entry))
            self._session.discovered.add_named(
                entry.url_id, depth, self._via, named, level, entry.url_id in self._continued
            )  # fmt: skip
            self._continued.add(entry.url_id)

    def _own_ask(self, entry: Entry) -> int:
        """Returns the bits of `urls/asks.py` that the source has as such: what it leads to is named by the same."""
        row = self._session.database.query("SELECT ask FROM urls WHERE id = ?", (entry.url_id,)).fetchone()
        return int(row[0]) & (asks.SITEMAP | asks.FEED) if row else 0

    def _level(self, entry: Entry) -> int:
        facts = source_of(self._session.database, entry.url_id)
        return facts.level if facts is not None else 0

    def _store(self, lease: Lease, result: FetchResult, answer: SourceAnswer) -> None:
        """Store the entries that are documents of their own, each under a URL that stands aside: it cannot be asked
        for. An entry that is stored as it is now is left alone."""
        if not answer.documents:
            return
        session, entry = self._session, lease.entry
        hashes = np.array([one.url_hash for one in answer.documents], np.uint64)
        links = PackedLinks(hashes.tobytes(), "\n".join(one.url for one in answer.documents).encode(), len(hashes))
        named = Named(Kind.PAGE, links, asks.ENTRY)
        depth = max(1, session.depth_of(entry))
        session.discovered.add_named(entry.url_id, depth, self._via, named, 0, True)
        session.sieve(self._run.now())
        looked = session.seen.look(hashes)
        ids = dict(zip(looked.hashes.tolist(), looked.ids.tolist(), strict=True))
        for one in answer.documents:
            url_id = ids[one.url_hash]
            last = visit_of(session.database, url_id)
            if not url_id or (last is not None and last.digest == one.body.digest):
                continue
            document = session.store(url_id, one.url, result.fetched_at, one.body)
            session.group.visits.append(
                Visit(
                    url_id, Outcome.FETCHED.value, 200, result.fetched_at, 1, "", "", "", one.body.digest, document.id
                )
            )
            session.group.counts["pages_fetched"] += 1  # with its feed: so each page fetched is stored, a copy …
            session.group.counts["feed_entries"] += 1
