"""What the visit of a page shows of its changes: the observation that is entered with the visit."""

from __future__ import annotations

import math

from pycrawl.coordinator.leases import Lease
from pycrawl.model import CONDUCT, FetchResult, Kind, Outcome
from pycrawl.policy.head_answers import Marks, verdict
from pycrawl.policy.http_date import http_date
from pycrawl.policy.page_records import Found
from pycrawl.state.change_rates import Observation
from pycrawl.state.documents import Visit
from pycrawl.state.head_marks import HeadMarks
from pycrawl.traps.url_kinds import kind_number

_GONE = (404, 410)


def found_without_page(visit: Visit, last: Visit | None) -> Found:
    """Returns what a visit has shown that brought no page. `last`: the URL's visit before; None: there was none."""
    outcome = Outcome(visit.outcome)
    if outcome is Outcome.FETCHER_KILLED:
        return Found.DEADLY
    if outcome is Outcome.NOT_MODIFIED:
        return Found.SAME
    if last is not None and last.document_id and visit.status in _GONE:
        return Found.GONE
    if CONDUCT[outcome].is_error:
        return Found.NOTHING
    if last is None or CONDUCT[Outcome(last.outcome)].is_error:
        return Found.FIRST
    return Found.SAME if (visit.outcome, visit.detail) == (last.outcome, last.detail) else Found.CHANGED


def observation(
    lease: Lease, result: FetchResult, visit: Visit, last: Visit | None, found: Found, marks: HeadMarks | None
) -> Observation:
    """Returns what the visit of a leased URL has shown. `last`: the visit before; None: there was none.

    `marks`: those of the page, if a HEAD is to be compared with them."""
    entry = lease.entry
    etag = 0
    if found is Found.SAME and last is not None and last.digest == visit.digest and last.etag and result.etag:
        etag = 1 if result.etag == last.etag else -1
    head = 0
    if entry.head is not None and result.kind is Kind.PAGE:
        head = verdict(entry.head, result.length, found, last is not None and last.digest == visit.digest)
    return Observation(
        entry.url_id,
        lease.queue.host.id,
        kind_number(entry.url),
        visit.visited_at,
        found,
        is_page=visit.document_id > 0,
        is_new=not entry.revisit,
        modified=http_date(result.last_modified) if result.last_modified else math.nan,
        etag=etag,
        head=head,
        marks=marks,
    )


def marks_to_keep(lease: Lease, result: FetchResult, visit: Visit, size: int) -> HeadMarks:
    """Returns what a HEAD of a page is to be compared with: the length that its GET told, and what only the HEAD before
    that told. `size`: that of the page, in bytes."""
    note = lease.entry.head
    marks = (note.marks if note is not None else Marks())._replace(length=result.length)
    return HeadMarks(lease.entry.url_id, visit.digest, size, marks)
