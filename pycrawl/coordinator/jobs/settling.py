"""Settling: decides whether a fetched URL is done, tried again or put back, and enters what is done into the session's
open group."""

from __future__ import annotations

import logging
from typing import NamedTuple

from pycrawl.convert.simple_page import CONVERSION_FAILED, NOT_READ
from pycrawl.coordinator.jobs.observing import found_without_page, marks_to_keep, observation
from pycrawl.coordinator.leases import Lease
from pycrawl.coordinator.run import Run
from pycrawl.crawl.change_log import ChangeLog
from pycrawl.fingerprint.change import change
from pycrawl.frontier.back import Entry
from pycrawl.model import CONDUCT, Change, FetchResult, Kind, Outcome, StoredBody
from pycrawl.policy.page_records import Found
from pycrawl.state.documents import Visit, document, visit_of
from pycrawl.state.head_marks import HeadMarks
from pycrawl.state.near_seen import packed_prints
from pycrawl.urls import asks

_MOST_TYPES = 20  # media types that are counted apart, as servers may name any number of them
_LONGEST_TYPE = 80  # characters of a media type
_OTHER_TYPES = "other types"
_GONE = (404, 410)
_READ = (
    Outcome.FETCHED,
    Outcome.NOINDEX,
    Outcome.UNWANTED_LANGUAGE,
    Outcome.SOFT_404,
)  # the page was read for its links
_WORDS = {Found.FIRST: "new", Found.CHANGED: "changed", Found.SAME: "unchanged", Found.GONE: "gone"}

log = logging.getLogger(__name__)


class _Kept(NamedTuple):
    """What became of a page that was fetched."""

    document_id: int  # a new one or the one from before; 0: there was no page
    found: Found  # whether the page has changed; a cosmetic change is none
    unkept: str = ""  # the change that was not stored
    detail: str = ""  # of the visit, in place of the result's


_NOTHING_KEPT = _Kept(0, Found.NOTHING)


class Settler:
    """Shared by the handlers of pages and of robots.txt: where no page of a host may be asked for, as its address is
    refused, the page URL is settled with the result of the robots job."""

    def __init__(self, run: Run, change_log: ChangeLog) -> None:
        self._run = run
        self._change_log = change_log
        self._session = run.session
        self._frontier = run.frontier

    def settle(self, lease: Lease, result: FetchResult) -> None:
        """Put the leased URL back, retry it or finish it, as the `Conduct` of the outcome says."""
        conduct = CONDUCT[result.outcome]
        entry = lease.entry
        if result.kind is Kind.PAGE and 200 <= result.status < 300 and result.body is None:
            self._count_without_body(result.outcome)
        if conduct.goes_back:
            lease.queue.looked_up_at = 0.0  # the host may have moved: its name is looked up with the next job
            self._frontier.put_back(lease.queue, entry)
            return
        entry.tries += 1
        if conduct.retry and entry.tries < lease.queue.settings.limits.max_tries:
            self._frontier.retry(lease.queue, entry)
            return
        if conduct.is_error:
            self._fail(lease, result)
        self.finish(lease, result)

    def finish_by_head(self, lease: Lease, result: FetchResult) -> None:
        """Finish a page that is as it was, by its HEAD."""
        self._run.counts.by_head += 1
        self._session.group.counts["by_head"] += 1
        self.finish(lease, result)

    def _count_without_body(self, outcome: Outcome) -> None:
        """Count a 2xx answer without a body. `_keep` counts the others, so that each 2xx answer counts once."""
        if outcome is Outcome.NOT_MODIFIED:
            self._count_unchanged()
        else:
            self._count_not_kept(outcome)

    def _count_unchanged(self) -> None:
        self._run.counts.unchanged += 1
        self._session.group.counts["unchanged"] += 1

    def _count_not_kept(self, reason: str) -> None:
        not_kept = self._run.counts.not_kept
        not_kept[reason] = not_kept.get(reason, 0) + 1
        self._session.group.counts[f"not_kept:{reason}"] += 1

    def _count_change(self, grade: Change) -> None:
        counts = self._run.counts
        counts.changed += 1
        counts.changes[grade] = counts.changes.get(grade, 0) + 1
        self._session.group.counts[f"changed:{grade}"] += 1

    def _count_unread(self, content_type: str) -> None:
        """Count a stored page that no parser reads, by its media type."""
        unread = self._run.counts.unread
        media_type = content_type.partition(";")[0].strip().lower()[:_LONGEST_TYPE] or "no type"
        name = media_type if media_type in unread or len(unread) < _MOST_TYPES else _OTHER_TYPES
        unread[name] = unread.get(name, 0) + 1
        self._session.group.counts[f"unread:{name}"] += 1

    def _count_unconverted(self, trouble: str) -> None:
        """Count a stored document that could not be read, or not to its end, by what is wrong with it."""
        unconverted = self._run.counts.unconverted
        unconverted[trouble] = unconverted.get(trouble, 0) + 1
        self._session.group.counts[f"unconverted:{trouble}"] += 1

    def _fail(self, lease: Lease, result: FetchResult) -> None:
        """Count a URL that is given up, and stop the run if they are too many."""
        self._run.counts.failed_urls += 1
        most = self._run.config.limits.max_errors
        if most and self._run.counts.failed_urls > most:
            self._run.stopping = "max-errors"
        log.info("%s: %s %s %s", lease.entry.url, result.outcome, result.status or "", result.detail)

    def finish(self, lease: Lease, result: FetchResult) -> None:
        """Enter a URL that is done: its visit, document and links go into the open group.

        A visit that brought no page keeps what earlier visits have left: document, digest and validators.
        """
        entry = lease.entry
        last = visit_of(self._session.database, entry.url_id) if entry.revisit else None
        if result.body is not None:
            kept = self._keep(lease, result, last, result.body)
            visit, found = self._visit(entry, result, kept), kept.found
        else:
            visit = self._visit(entry, result, _NOTHING_KEPT)
            found = found_without_page(visit, last)
            if last is not None:
                if last.document_id and result.status in _GONE and last.status not in _GONE:
                    self._run.counts.gone += 1
                visit = with_what_is_known(visit, last, result)
        if lease.kind is not Kind.ROBOTS:
            self._session.group.observations.append(
                observation(lease, result, visit, last, found, self._marks(lease, result, visit))
            )
            if visit.document_id and found in _WORDS:
                self._change_log.write(visit.visited_at, _WORDS[found], entry.url)
        self._session.group.visits.append(visit)
        self._session.group.finished.append((lease.queue, entry))
        self._follow(lease, result)

    def _visit(self, entry: Entry, result: FetchResult, kept: _Kept) -> Visit:
        return Visit(
            entry.url_id, result.outcome.value, result.status, result.fetched_at, entry.tries,
            kept.detail or result.detail, result.etag, result.last_modified,
            result.body.digest if result.body is not None else b"", kept.document_id, kept.unkept,
        )  # fmt: skip

    def _marks(self, lease: Lease, result: FetchResult, visit: Visit) -> HeadMarks | None:
        """Returns what a HEAD of the page that was fetched is to be compared with; None: it needs no HEAD."""
        most = self._run.config.recrawl.head_above
        if not most or not visit.document_id or result.kind is not Kind.PAGE or not 200 <= result.status < 300:
            return None
        trusts_etags = not self._session.change_rates.has_useless_etags(lease.queue.host.id)
        if visit.last_modified or (visit.etag and trusts_etags):
            return None
        body = result.body or document(self._session.database, visit.document_id)
        return marks_to_keep(lease, result, visit, body.body_length) if body.body_length > most else None

    def _keep(self, lease: Lease, result: FetchResult, last: Visit | None, body: StoredBody) -> _Kept:
        """Store the page of a result, if it is new or has changed as much as `recrawl.keep` wants it. `last` is the
        URL's last visit."""
        if last is None or not last.document_id:
            self._run.counts.new += 1
            return _Kept(self._store(lease, result, body), Found.FIRST)
        wanted = self._run.config.recrawl.keep
        is_found_again = body.digest == last.digest and last.unkept not in wanted
        if is_found_again or body.digest == document(self._session.database, last.document_id).digest:
            self._count_unchanged()
            return _Kept(last.document_id, Found.SAME, last.unkept if is_found_again else "")
        grade = change(packed_prints(self._session.database, last.document_id), body.prints)
        self._count_change(grade)
        found = Found.SAME if grade is Change.COSMETIC else Found.CHANGED
        if grade in wanted:
            return _Kept(self._store(lease, result, body), found)
        self._count_not_kept(f"{grade}-change")
        return _Kept(last.document_id, found, grade.value, f"changed: {grade}")

    def _store(self, lease: Lease, result: FetchResult, body: StoredBody) -> int:
        """Store a page. Returns the id of its new document, which may share the record of a copy."""
        entry = lease.entry
        document = self._session.store(entry.url_id, entry.url, result.fetched_at, body)
        if document.duplicate_of:
            self._run.counts.duplicates += 1
        else:
            self._run.counts.stored += 1
            if body.is_unread:
                self._count_unread(body.content_type)
            elif result.detail.startswith(CONVERSION_FAILED):
                self._count_unconverted(result.detail.removeprefix(CONVERSION_FAILED).split(maxsplit=1)[0])
        return document.id

    def _follow(self, lease: Lease, result: FetchResult) -> None:
        """Hand the redirect and all links of a page to the ledger, whatever became of the page: the fetcher does not
        send their texts again."""
        discovered = self._session.discovered
        entry = lease.entry
        links = result.links
        depth = self._session.depth_of(entry)
        if result.location:
            discovered.add_redirect(
                entry.url_id, depth, entry.hops + 1, result.location, result.location_hash, result.location_verdict
            )
        if result.kind is Kind.PAGE and result.outcome in _READ:
            discovered.add_page(entry.url_id, result.anchors)
        ask = asks.SOFT_404 if result.outcome is Outcome.SOFT_404 else 0
        if links.hashes:
            discovered.add_links(entry.url_id, depth + 1, links, ask)
        for other_ask, links in result.withheld:
            kind = Kind.FEED if other_ask & asks.FEED else Kind.PAGE
            discovered.add_links(entry.url_id, depth + 1, links, ask | other_ask, kind)


def with_what_is_known(visit: Visit, last: Visit, result: FetchResult) -> Visit:
    """Returns a visit that brought no page, with the document, the digest and the validators of the last one; if the
    document is the same, also with what was wrong with it."""
    if result.outcome is Outcome.NOT_MODIFIED and last.detail.startswith((CONVERSION_FAILED, NOT_READ)):
        visit = visit._replace(detail=visit.detail or last.detail)
    if result.outcome is not Outcome.NOT_MODIFIED or result.kind is Kind.HEAD:
        visit = visit._replace(etag=last.etag, last_modified=last.last_modified)
    return visit._replace(digest=last.digest, document_id=last.document_id, unkept=last.unkept)
