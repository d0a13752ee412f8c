"""Jobs for WebSub hubs: a hub is asked to push the news of a feed, or to do so no longer.

A subscription has a URL of its own in the ledger, named by its feed: so it is judged, waits, obeys robots.txt, is tried
again and outlives a crash like any other URL. That the hub has taken the request says little: it checks the wish by
asking this crawl (`pushes.py`).
"""

from __future__ import annotations

import numpy as np

from pycrawl.coordinator.jobs.common import JobMaker
from pycrawl.coordinator.jobs.settling import Settler
from pycrawl.coordinator.leases import Lease
from pycrawl.coordinator.run import Run
from pycrawl.crawl.session import Session
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.frontier.discovered import MOST_RISE
from pycrawl.model import CONDUCT, FetchJob, FetchResult, Kind, Named, Outcome, PackedLinks, Via
from pycrawl.policy.source_visits import Watched
from pycrawl.policy.websub import SUBSCRIBE, UNSUBSCRIBE, form, next_try
from pycrawl.state.documents import Visit
from pycrawl.state.sources import SourceVisit, source_of
from pycrawl.state.urls_table import parent_of, text_of
from pycrawl.urls.parts import HUB_MARK, subscription_url, url_hash


def name_hub(session: Session, feed_id: int, depth: int, hub: str, topic: str) -> None:
    """Enter the wish that a hub push the news of a feed into the ledger."""
    url = subscription_url(hub, topic, session.seed)
    verdict = bytes([session.judge.scope.code_of(url)])
    links = PackedLinks(np.array([url_hash(url, session.seed)], np.uint64).tobytes(), url.encode(), 1, verdict)
    session.discovered.add_named(feed_id, depth, Via.FEED, Named(Kind.HUB, links, 0, MOST_RISE), 0, True)


def wish(run: Run, url_id: int) -> str:
    """Returns what is wanted of a hub, by the URL that stands for the subscription: SUBSCRIBE as long as its feed is
    wanted and names this hub, else UNSUBSCRIBE if it may still push; empty: nothing."""
    session = run.session
    feed_id = parent_of(session.database, url_id)
    if run.config.feeds.callback and session.sources.kind_of(feed_id) is Kind.FEED:
        hub, topic = session.hub_of(feed_id)
        is_wanted = hub and not session.standings.asides_of(np.array([feed_id], np.uint32))[0]
        if is_wanted and subscription_url(hub, topic, session.seed) == text_of(session.database, url_id):
            return SUBSCRIBE
    known = session.subscriptions.of_url(url_id)
    return UNSUBSCRIBE if known is not None and known.may_hold(run.now()) else ""


class HubJobs:
    kind = Kind.HUB

    def __init__(self, run: Run, maker: JobMaker, settler: Settler) -> None:
        self._run = run
        self._session = run.session
        self._maker = maker
        self._settler = settler

    def make(self, queue: BackQueue, entry: Entry, site: str, now: float) -> FetchJob | None:
        if self._session.sources.kind_of(entry.url_id) is not Kind.HUB:
            return None
        rules = self._maker.rules_to_send(queue, site, now) if queue.settings.politeness.obey_robots else None
        url = entry.url.partition(HUB_MARK)[0]
        return self._maker.job(queue, entry, url, now, kind=Kind.HUB, form=self._ask(entry.url_id, now), robots=rules)

    def _ask(self, url_id: int, now: float) -> str:
        """Enter what the hub is asked for now, and return it. Whoever is only to unsubscribe is known by the address
        that the hub has."""
        subscriptions, mode = self._session.subscriptions, wish(self._run, url_id) or UNSUBSCRIBE
        known = subscriptions.of_url(url_id)
        feed_id = parent_of(self._session.database, url_id)
        callback = self._run.config.feeds.callback
        if known is not None and mode == UNSUBSCRIBE:
            callback = known.callback
        topic = known.topic if known is not None else self._session.hub_of(feed_id)[1]
        one = subscriptions.note_asked(url_id, feed_id, topic, callback, mode, now)
        return form(mode, topic, one.address, one.secret)

    def settle(self, lease: Lease, result: FetchResult) -> None:
        """Enter the visit. Where the hub has taken the request and not checked it yet, or failed, it is asked again
        later; where it has checked it already, that said when (`pushes.py`)."""
        conduct, entry, session = CONDUCT[result.outcome], lease.entry, self._session
        last_try = entry.tries + 1 >= lease.queue.settings.limits.max_tries
        if conduct.goes_back or (conduct.retry and not last_try):
            self._settler.settle(lease, result)
            return
        entry.tries += 1
        group = session.group
        group.visits.append(
            Visit(
                entry.url_id, result.outcome.value, result.status, result.fetched_at, entry.tries, result.detail, "", ""
            )
        )
        group.finished.append((lease.queue, entry))
        group.counts[f"hub:{result.outcome}"] += 1
        known = session.subscriptions.of_url(entry.url_id)
        if result.outcome is Outcome.ASKED and known is not None and not known.asked:
            return
        if result.outcome is not Outcome.ASKED:
            session.subscriptions.note_refused(entry.url_id)
        facts = source_of(session.database, entry.url_id)
        failures = facts.watched.failures + 1 if facts is not None else 1
        next_at = next_try(result.fetched_at, failures)
        group.sources.append(SourceVisit(entry.url_id, next_at, 0.0, 0, Watched(failures=failures)))
