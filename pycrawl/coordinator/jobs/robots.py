"""Jobs for robots.txt: it is fetched before the first page of an origin, and again when it has expired."""

from __future__ import annotations

from pycrawl.coordinator.jobs.common import JobMaker
from pycrawl.coordinator.jobs.settling import Settler
from pycrawl.coordinator.leases import Lease
from pycrawl.coordinator.run import Run
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.model import FetchJob, FetchResult, Kind, Outcome, RobotsFile
from pycrawl.policy.politeness import is_robots_current, may_ignore_robots
from pycrawl.urls.parts import host_key, robots_url

_NOT_FOUND = 404


class RobotsJobs:
    kind = Kind.ROBOTS

    def __init__(self, run: Run, maker: JobMaker, settler: Settler) -> None:
        self._run = run
        self._maker = maker
        self._settler = settler

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
        host = lease.queue.host
        lease.queue.rules.forget_redirect(lease.site)
        if result.outcome is Outcome.REDIRECT and self._is_out_of_scope(result.location):
            # RFC 9309, 2.3.1.2: rules that cannot be reached by redirects count as not there.
            expires_at = self._run.now() + lease.queue.settings.politeness.robots_ttl
            self._keep(lease, RobotsFile(_NOT_FOUND, b"", result.fetched_at, expires_at), 0.0)
        elif result.outcome is Outcome.REDIRECT:
            lease.queue.rules.note_redirect(lease.site, result.location, result.hops)
            self._run.frontier.put_back(lease.queue, lease.entry)
        elif result.robots is not None:
            host.robots_failing_since = 0.0
            self._enter_sitemaps(lease, result)
            self._keep(lease, result.robots, result.crawl_delay)
        else:
            now = self._run.now()
            host.robots_failing_since = host.robots_failing_since or now
            if may_ignore_robots(host.robots_failing_since, now):
                # It has failed for so long that it counts as not there, until it expires and is asked for again.
                expires_at = now + lease.queue.settings.politeness.robots_ttl
                self._keep(lease, RobotsFile(_NOT_FOUND, b"", result.fetched_at, expires_at), 0.0)
            else:
                self._settler.settle(lease, result)

    def _enter_sitemaps(self, lease: Lease, result: FetchResult) -> None:
        """Enter the sitemaps that a robots.txt names: they are as deep as links of the URL that needed it."""
        session = self._run.session
        depth = session.depth_of(lease.entry) + 1
        for ask, links in result.withheld:
            session.discovered.add_robots_sitemaps(lease.entry.url_id, depth, links, ask, host_key(f"{lease.site}/"))

    def _is_out_of_scope(self, url: str) -> bool:
        """True if the scope forbids every request to the URL's host, which a robots.txt redirects to."""
        return self._run.session.judge.scope.host_verdict(host_key(url)) is not None

    def _keep(self, lease: Lease, file: RobotsFile, crawl_delay: float) -> None:
        """Keep a robots.txt with its Crawl-delay (seconds); the leased page URL goes back, and its turn comes next."""
        self._run.session.group.robots[lease.site] = file
        lease.queue.host.crawl_delay = crawl_delay
        self._run.frontier.put_back(lease.queue, lease.entry)
