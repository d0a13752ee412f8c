"""Chooses the pages that a run visits again: those with the highest index under `recrawl.policy`, as many as the run
has requests for. All pages are looked at, in one pass over their records of changes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pycrawl.crawl.progress import RunLimits
from pycrawl.crawl.session import Session
from pycrawl.model import Policy
from pycrawl.policy.page_records import Bounds, PriorTable, Records, as_pages, importance
from pycrawl.policy.politeness import PolitenessRules, gap
from pycrawl.policy.recrawl import Numbers, Pages, Places, Room, chosen, indexes
from pycrawl.state.change_rates import lastmods_between
from pycrawl.state.hosts import crawl_delays
from pycrawl.state.older_visits import enter_older_visits
from pycrawl.state.recrawl_facts import Choice, set_last_choice
from pycrawl.traps.url_kinds import kind_number

MOST_AT_ONCE = 2_000_000  # pages that one run chooses
_NEVER = float("inf")


def choose(session: Session, limits: RunLimits, now: float) -> int:
    """Queue the pages to be visited again, after putting back what an earlier recrawl chose and did not get to. Returns
    how many were queued. All visits must be committed before; no back queue may be open. The caller commits."""
    with session.database.explained():
        session.frontier.put_back_recrawls()
        enter_older_visits(session.database, session.change_rates, kind_number)
        priors = session.change_rates.learn_priors()
        settings = session.config.recrawl
        bounds = Bounds.of(settings)
        most = int(min(limits.max_requests, MOST_AT_ONCE))
        batches = _batches(session, priors, bounds, now)
        room = _room(session, limits.max_seconds) if limits.max_seconds < _NEVER else None
        policy = Policy(settings.policy)
        ids = chosen(policy, batches, most, bounds.least, room)
        least = _index_of(session, priors, bounds, now, int(ids[-1])) if len(ids) == most else 0.0
        set_last_choice(session.database, Choice(policy.value, now, len(ids), least))
        return session.frontier.queue_recrawls(ids.tolist())


def _index_of(session: Session, priors: PriorTable, bounds: Bounds, now: float, url_id: int) -> float:
    """Returns the index of one page that is due."""
    ids, record = np.array([url_id]), session.change_rates.records_of([url_id])[url_id]
    pages = _as_pages(session, priors, bounds, now, ids, record)
    return float(indexes(Policy(session.config.recrawl.policy), pages, bounds.least)[0])


def _batches(session: Session, priors: PriorTable, bounds: Bounds, now: float) -> Iterator[Pages]:
    """Yields all pages that may be asked for, portion by portion."""
    for ids, records in session.change_rates.portions():
        is_wanted = (session.standings.asides_of(ids.astype(np.uint32)) == 0) & ~session.sources.are_sources(ids)
        yield _as_pages(session, priors, bounds, now, ids[is_wanted], records[is_wanted])


def _as_pages(session: Session, priors: PriorTable, bounds: Bounds, now: float, ids: Places, records: Records) -> Pages:
    weights = importance(session.standings.depths_of(ids.astype(np.uint32)), session.seen.inlinks_at(ids))
    return as_pages(ids, records, priors, weights, _changed_at(session, ids, records["host"]), now, bounds)


def _changed_at(session: Session, ids: Places, hosts: Places) -> Numbers:
    """Returns when each page changed last by a sitemap, where its host's sitemaps proved right; else 0."""
    found = np.zeros(len(ids))
    dates = lastmods_between(session.database, int(ids[0]), int(ids[-1])) if len(ids) else {}
    places = np.flatnonzero(np.isin(ids, np.array(list(dates), np.int64))).tolist()
    trusts = session.change_rates.trusts({int(hosts[place]) for place in places})
    for place in places:
        if trusts[int(hosts[place])].believes_lastmod:
            found[place] = dates[int(ids[place])]
    return found


def _room(session: Session, seconds: float) -> Room:
    """Returns how many pages hosts can give in so many seconds, if each request waits out the host's pause."""
    known: dict[int, int] = {}

    def room(host_ids: Places) -> Places:
        unknown = [host_id for host_id in host_ids.tolist() if host_id not in known]
        for host_id, key, delay in crawl_delays(session.database, unknown):
            politeness = session.frontier.settings.of(key).politeness
            pause = gap(PolitenessRules.of(politeness), delay, 0.0, 0, 0.0)
            most = seconds / pause * politeness.connections_per_host if pause else MOST_AT_ONCE
            known[host_id] = 1 + int(min(most, MOST_AT_ONCE))
        return np.array([known.get(host_id, MOST_AT_ONCE) for host_id in host_ids.tolist()])

    return room
