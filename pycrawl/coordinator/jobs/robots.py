"""Jobs for robots.txt: it is fetched before the first page of an origin, and again when it has expired."""

from __future__ import annotations

from pycrawl.coordinator.jobs.common import JobMaker
from pycrawl.coordinator.jobs.settling import Settler
from pycrawl.coordinator.leases import Lease
from pycrawl.coordinator.origin_failures import OriginFailures
from pycrawl.coordinator.run import Run
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.model import FetchJob, FetchResult, Kind, Outcome, RobotsFile
from pycrawl.policy.politeness import is_robots_current, may_ignore_robots
from pycrawl.urls.parts import host_key, origins_of, robots_url

_NOT_FOUND = 404


class RobotsJobs:
    kind = Kind.ROBOTS

    def __init__(self, run: Run, maker: JobMaker, settler: Settler, origins: OriginFailures) -> None:
        self._run = run
        self._maker = maker
        self._settler = settler
        self._origins = origins

    def make(self, queue: BackQueue, entry: Entry, site: str, now: float) -> FetchJob | None:
        if not queue.settings.politeness.obey_robots or self._is_current(queue, site, now):
            return None
        url, hops = queue.rules.redirect_of(site) or (robots_url(entry.url), 0)
        return self._maker.job(queue, entry, url, now, kind=Kind.ROBOTS, hops=hops, site=site)

    def _is_current(self, queue: BackQueue, site: str, now: float) -> bool:
        """True if the queue's fetcher or the state has the robots.txt of the origin, and it has not expired."""
        if queue.rules.are_current(site, now):
            return True
        file = self._run.session.robots_of(site)
        return file is not None and is_robots_current(file, queue.settings.politeness.robots_ttl, now)

    def settle(self, lease: Lease, result: FetchResult) -> None:
        lease.queue.rules.forget_redirect(lease.site)
        if result.outcome is Outcome.REDIRECT and self._is_out_of_scope(result.location):
            # RFC 9309, 2.3.1.2: rules that cannot be reached by redirects count as not there.
            self._keep(lease, self._missing(lease, result))
        elif result.outcome is Outcome.REDIRECT:
            lease.queue.rules.note_redirect(lease.site, result.location, result.hops)
            self._run.frontier.put_back(lease.queue, lease.entry)
        elif result.robots is not None:
            self._enter_sitemaps(lease, result)
            self._keep(lease, result.robots)
        elif result.outcome is Outcome.NO_ROOM:  # our own trouble
            self._run.frontier.put_back(lease.queue, lease.entry)
        elif result.outcome is Outcome.ADDRESS_REFUSED and lease.guest is None:
            self._settler.settle(lease, result)  # no page of this host may be asked for
        else:
            self._note_failure(lease, result)

    def _enter_sitemaps(self, lease: Lease, result: FetchResult) -> None:
        """Enter the sitemaps that a robots.txt names: they are as deep as links of the URL that needed it."""
        session = self._run.session
        depth = session.depth_of(lease.entry) + 1
        for ask, links in result.withheld:
            session.discovered.add_robots_sitemaps(lease.entry.url_id, depth, links, ask, host_key(f"{lease.site}/"))

    def _is_out_of_scope(self, url: str) -> bool:
        """True if the scope forbids every request to the URL's host, which a robots.txt redirects to."""
        return self._run.session.judge.scope.host_verdict(host_key(url)) is not None

    def _missing(self, lease: Lease, result: FetchResult) -> RobotsFile:
        """Returns what stands for a robots.txt that counts as not there, until it expires and is asked for again."""
        expires_at = self._run.now() + lease.queue.settings.politeness.robots_ttl
        return RobotsFile(_NOT_FOUND, b"", result.fetched_at, expires_at)

    def _keep(self, lease: Lease, file: RobotsFile) -> None:
        """Keep a robots.txt; the leased page URL goes back, and its turn comes next.

        The origins of a host, http and https, are one server: it gets the longest Crawl-delay that either asks for.
        """
        session, host = self._run.session, lease.queue.host
        session.group.robots[lease.site] = file
        self._origins.forget(host, lease.site)
        others = [session.robots_of(site) for site in origins_of(host.key) if site != lease.site]
        host.crawl_delay = max([file.crawl_delay, *(other.crawl_delay for other in others if other is not None)])
        self._run.frontier.put_back(lease.queue, lease.entry)

    def _note_failure(self, lease: Lease, result: FetchResult) -> None:
        """The robots.txt cannot be had: that is the origin's trouble and no page's. All URLs of the origin wait until
        it is asked for again, with growing intervals."""
        host = lease.queue.host
        detail = f"{host_key(lease.url)}: {result.detail}" if lease.guest is not None else result.detail
        failure = self._origins.failure(host, lease.site, result, detail, of_robots=True)
        if may_ignore_robots(failure.since, self._run.now()):
            # RFC 9309, 2.3.1.4: it has failed for so long that it counts as not there.
            self._keep(lease, self._missing(lease, result))
            self._run.session.group.origin_failures[lease.site] = failure._replace(next_at=0.0)
            host.failing_since = failure.since
        else:
            self._origins.shut(host, failure)
            self._run.frontier.put_back(lease.queue, lease.entry)
