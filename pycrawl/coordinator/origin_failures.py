"""Notes which origins cannot be asked for pages, and tries them again with growing intervals."""

from __future__ import annotations

import logging

from pycrawl.coordinator.run import Run
from pycrawl.model import FetchResult
from pycrawl.policy.politeness import PolitenessRules, may_ignore_robots, retry_pause
from pycrawl.state.hosts import Host
from pycrawl.state.origin_failures import OriginFailure
from pycrawl.urls.parts import origins_of

log = logging.getLogger(__name__)


class OriginFailures:
    """The open group takes the failures in, and commits them with the visits. Whoever calls releases the host."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._session = run.session

    def no_connection(self, host: Host, site: str, result: FetchResult) -> None:
        """Note that no connection to an origin could be made. Other fetches that failed with it count no more."""
        last, now = self._session.origin_failure_of(site), self._run.now()
        if last is None or last.next_at <= now:
            self.shut(host, self.failure(host, site, result, result.detail, of_robots=False))

    def answered(self, host: Host, site: str) -> None:
        """Note that an origin has answered. A robots.txt that cannot be had is not settled by that."""
        failure = self._session.origin_failure_of(site)
        if failure is None or failure.of_robots:
            return
        if may_ignore_robots(failure.since, self._run.now()):
            self._session.group.origin_failures[site] = failure._replace(next_at=0.0, of_robots=True)
        else:
            self.forget(host, site)

    def failure(self, host: Host, site: str, result: FetchResult, detail: str, of_robots: bool) -> OriginFailure:
        """Count a failure of an origin. Returns it, as it is kept from now on."""
        now = self._run.now()
        last = self._session.origin_failure_of(site)
        since, failures = (last.since, last.failures + 1) if last is not None else (now, 1)
        rules = PolitenessRules.of(self._run.frontier.settings.of(host.key).politeness)
        not_before = now + min(result.retry_after, rules.max_retry_after) if result.retry_after else 0.0
        next_at = now + retry_pause(rules, failures, result.retry_after)
        failure = OriginFailure(
            site, since, failures, next_at, not_before, result.outcome.value, detail, of_robots=of_robots
        )
        self._session.group.origin_failures[site] = failure
        host.failing_since = host.failing_since or now
        return failure

    def shut(self, host: Host, failure: OriginFailure) -> None:
        """Let all URLs of the origin wait until it is tried again."""
        now = self._run.now()
        what = f"{failure.origin}/robots.txt" if failure.of_robots else failure.origin
        log.info("%s: %s; asked for again in %.0f s", what, failure.words, failure.next_at - now)
        self._run.frontier.shut(host, failure, now)

    def forget(self, host: Host, site: str) -> None:
        """Forget the failures of an origin."""
        if self._session.origin_failure_of(site) is not None:
            self._session.group.origin_failures[site] = None
        others = (other for other in origins_of(host.key) if other != site)
        if host.failing_since and not any(self._session.origin_failure_of(other) for other in others):
            host.failing_since = 0.0
