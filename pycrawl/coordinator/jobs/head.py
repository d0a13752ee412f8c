"""Jobs for HEAD: of a large page whose server gives nothing for a conditional request, only the headers are asked for
(`policy/head_answers.py`)."""

from __future__ import annotations

from pycrawl.coordinator.jobs.common import JobMaker
from pycrawl.coordinator.jobs.settling import Settler
from pycrawl.coordinator.leases import Lease
from pycrawl.coordinator.run import Run
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.model import CONDUCT, FetchJob, FetchResult, Kind, Outcome
from pycrawl.policy.head_answers import HeadNote, Marks, are_worth_asking, is_enough, said
from pycrawl.state.documents import visit_of
from pycrawl.state.head_marks import HeadMarks

_BY_HEAD = "its HEAD is as it was"


class HeadJobs:
    kind = Kind.HEAD

    def __init__(self, run: Run, maker: JobMaker, settler: Settler) -> None:
        self._run = run
        self._maker = maker
        self._settler = settler
        self._rates = run.session.change_rates

    def make(self, queue: BackQueue, entry: Entry, site: str, now: float) -> FetchJob | None:
        if not entry.revisit or entry.head is not None or self._known(entry, queue.host.id) is None:
            return None
        rules = self._maker.rules_to_send(queue, site, now) if queue.settings.politeness.obey_robots else None
        return self._maker.job(
            queue, entry, entry.url, now, kind=Kind.HEAD, hops=entry.hops, cookies=entry.cookies, robots=rules
        )

    def _known(self, entry: Entry, host_id: int) -> HeadMarks | None:
        """Returns what a HEAD of the page would be compared with; None if the page itself is to be asked for."""
        least = self._run.config.recrawl.head_above
        known = self._rates.marks_of(entry.url_id) if least else None
        if known is None or known.size <= least:
            return None
        visit = visit_of(self._run.session.database, entry.url_id)
        if visit is None or visit.digest != known.digest or visit.unkept in self._run.config.recrawl.keep:
            return None
        if visit.last_modified or (visit.etag and not self._rates.has_useless_etags(host_id)):
            return None
        trust = self._rates.trusts([host_id])[host_id]
        return known if are_worth_asking(trust.head_right, trust.head_wrong) else None

    def settle(self, lease: Lease, result: FetchResult) -> None:
        """Finish the page if the HEAD shows that it is as it was, and that is believed; else the page itself is asked
        for next. Where nothing was asked, or the host is too busy, it is settled as a page would be."""
        conduct = CONDUCT[result.outcome]
        if result.outcome is Outcome.TOO_BUSY or not conduct.is_hit or conduct.goes_back:
            self._settler.settle(lease, result)
            return
        entry, host_id = lease.entry, lease.queue.host.id
        known = self._known(entry, host_id)
        etag = "" if self._rates.has_useless_etags(host_id) else result.etag
        marks = Marks(result.length, etag, result.last_modified)
        says = said(known.marks if known is not None else Marks(), marks)
        trust = self._rates.trusts([host_id])[host_id]
        if is_enough(says, trust.head_right, trust.head_wrong, entry.url_id + int(result.fetched_at)):
            same = result._replace(outcome=Outcome.NOT_MODIFIED, detail=_BY_HEAD, etag="", last_modified="")
            self._settler.finish_by_head(lease, same)
        else:
            entry.head = HeadNote(says, marks)
            self._run.frontier.put_back(lease.queue, entry)
