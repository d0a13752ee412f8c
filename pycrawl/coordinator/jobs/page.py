"""Jobs for pages: the leased URL itself is fetched."""

from __future__ import annotations

from pycrawl.convert.simple_page import lacks_reader
from pycrawl.coordinator.jobs.common import JobMaker
from pycrawl.coordinator.jobs.settling import Settler
from pycrawl.coordinator.leases import Lease
from pycrawl.coordinator.run import Run
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.model import NO_VALIDATORS, FetchJob, FetchResult, Kind, Outcome, Validators
from pycrawl.state.documents import visit_of


class PageJobs:
    kind = Kind.PAGE

    def __init__(self, run: Run, maker: JobMaker, settler: Settler) -> None:
        self._run = run
        self._session = run.session
        self._maker = maker
        self._settler = settler

    def make(self, queue: BackQueue, entry: Entry, site: str, now: float) -> FetchJob:
        rules = self._maker.rules_to_send(queue, site, now) if queue.settings.politeness.obey_robots else None
        return self._maker.job(
            queue,
            entry,
            entry.url,
            now,
            kind=Kind.PAGE,
            depth=self._session.depth_of(entry),
            hops=entry.hops,
            cookies=entry.cookies,
            close_look=self._run.judges_traps and self._session.kinds.wants_close_look(queue.host, entry.url),
            validators=self._validators(entry.url_id, queue.host.id) if entry.revisit else NO_VALIDATORS,
            robots=rules,
        )

    def _validators(self, url_id: int, host_id: int) -> Validators:
        """Returns what the last visit of the URL left for a conditional request. There is none where that visit found a
        change which was not kept and would be now, or a document that nobody could read: it is needed again, although
        it may be the same. An ETag of a host that gives another one each time is left out: it would keep the server
        from looking at the date."""
        visit = visit_of(self._session.database, url_id)
        if visit is None or visit.unkept in self._run.config.recrawl.keep or lacks_reader(visit.detail):
            return NO_VALIDATORS
        etag = "" if visit.etag and self._session.change_rates.has_useless_etags(host_id) else visit.etag
        return Validators(etag, visit.last_modified, visit.digest)

    def settle(self, lease: Lease, result: FetchResult) -> None:
        if 200 <= result.status < 300 and not self._was_page(lease):
            lease.queue.host.pages += 1
        if result.outcome is Outcome.COOKIE_WANTED:
            lease.entry.cookies = result.cookies
            self._run.frontier.put_back(lease.queue, lease.entry)
        else:
            self._settler.settle(lease, self._judged(lease, result) if self._run.judges_traps else result)

    def _was_page(self, lease: Lease) -> bool:
        """True if an earlier visit of the URL brought a page, which is counted in `host.pages` already."""
        visit = visit_of(self._session.database, lease.entry.url_id) if lease.entry.revisit else None
        return visit is not None and (visit.document_id > 0 or 200 <= visit.status < 300)

    def _judged(self, lease: Lease, result: FetchResult) -> FetchResult:
        """Count what the page brings for its kind (`traps/`), and set the order of the host's URLs by it.

        Returns the result; that of a page which is like the host's answer to a probe becomes SOFT_404, without a body.
        """
        kinds = self._session.kinds
        entry, host, look = lease.entry, lease.queue.host, result.close_look
        if entry.revisit:
            return result
        if result.outcome is Outcome.REDIRECT:
            known = self._session.is_known(result.location_hash)
            kinds.take_in_redirect(host, entry.url, result.location, known)
        elif look is not None:
            if kinds.is_soft_404(host, entry.url, look):
                result = result._replace(outcome=Outcome.SOFT_404, body=None)
                self._session.group.counts["soft_404"] += 1
            lease.queue.order = kinds.take_in_page(host, entry.url, self._session.depth_of(entry), look, result.links)
        return result
