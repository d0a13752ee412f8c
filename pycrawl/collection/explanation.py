"""All that the ledger says of one URL: how it was found, where it stands and why, when it is next, what is stored.

Everything is read, nothing is guessed: where the settings have changed since the URL was judged, `judged_anew` is True,
and `scope` is what the next crawl will find.
"""

from __future__ import annotations

import time
from typing import Any

from pycrawl.collection import freshness
from pycrawl.collection.link_view import pages_that_link_to
from pycrawl.collection.robots_rules import robots_facts
from pycrawl.config import Config
from pycrawl.crawl import judging
from pycrawl.frontier.judge import Judge
from pycrawl.model import Outcome
from pycrawl.policy.websub import SUBSCRIBE
from pycrawl.state import documents, meta, urls_table
from pycrawl.state.counters import totals
from pycrawl.state.database import Database
from pycrawl.state.hosts import Host, find_host
from pycrawl.state.kinds_table import kinds_of, series_of
from pycrawl.state.ledger import Standing, State, standing, words_of
from pycrawl.state.mirrors import original_of
from pycrawl.state.nearness import nearness_of
from pycrawl.state.origin_failures import failure_of
from pycrawl.state.sources import NEVER, hint_of, source_of
from pycrawl.state.subscriptions import subscription_of_feed
from pycrawl.state.unwanted import Unwanted
from pycrawl.state.url_lookup import find_url, inlinks_of
from pycrawl.urls import asks
from pycrawl.urls.hints import CHANGE_FREQUENCIES, NO_PRIORITY
from pycrawl.urls.host_settings import SettingsByHost
from pycrawl.urls.parts import HUB_MARK, host_key, origin, url_hash
from pycrawl.urls.reasons import Reason

UNKNOWN = "unknown"  # the state of a URL that the crawl never met
_NOT_MET = "not-met"
_WANTED = "wanted"
_LONGEST_CHAIN = 20  # pages on the way from a seed to the URL
_MOST_SOURCES = 20  # pages that link or redirect to it
_ASK_WORDS = {
    asks.REL: "rel=nofollow at the link",
    asks.META: "nofollow in the page's meta robots",
    asks.HEADER: "nofollow in the page's X-Robots-Tag",
    asks.SOFT_404: "the page says what its host says of missing pages",
    asks.FOREIGN: "a sitemap of another host, which its own does not name",
}


def explain(database: Database, config: Config, url: str) -> dict[str, Any]:
    """Returns what `pycrawl why --json` prints of a normalised URL."""
    seed = meta.hash_seed(database)
    url_id = find_url(database, url, seed)
    host = find_host(database, host_key(url))
    one = standing(database, url_id) if url_id else None
    linked_from, referrers = pages_that_link_to(database, url_id, _MOST_SOURCES) if url_id else ([], 0)
    now = _verdict_now(database, config, url, host, one, seed)
    facts: dict[str, Any] = {"url": url, "known": one is not None}
    facts |= _stands(one, now)
    facts["links_not_read"] = 0 if one is not None else totals(database).get(f"filtered:{Reason.TOO_MANY_LINKS}", 0)
    facts |= {
        "scope": _WANTED if now is None else now.value,
        "judged_anew": one is not None and judging.is_due(database, config),
        "robots": robots_facts(database, config, url),
        "found": _found(database, url_id),
        "asks": [word for bit, word in _ASK_WORDS.items() if one is not None and one.ask & bit],
        "inlinks": inlinks_of(database, url_id) if url_id else 0,
        "linked_from": linked_from,
        "referrers": referrers,
        "redirected_from": urls_table.redirects_to(database, url, _MOST_SOURCES),
        "visit": _visit(one) if one is not None and one.outcome is not None else None,
        "versions": _versions(database, url_hash(url, seed)),
        "copy": _copy(database, one.document_id) if one is not None and one.document_id else None,
        "charset": _charset(database, one.document_id) if one is not None and one.document_id else None,
    }
    facts |= {
        "source": _source(database, url_id) if url_id else None,
        "subscription": _subscription(database, url_id) if url_id else None,
        "sitemap_says": _sitemap_says(database, url_id) if url_id else None,
    }
    facts["recrawl"] = freshness.of_page(database, config, url_id, one.depth, time.time()) if one is not None else None
    facts |= _next(database, config, one, host)
    facts |= {
        "kinds": _kinds(database, host.id, url) if host else [],
        "series": _series(database, host.id, url) if host else None,
        "mirror_of": original_of(database, host.id) if host else None,
    }
    return facts


def explain_unusable(text: str) -> dict[str, Any]:
    """Returns the first part of the same for what has no normal form."""
    reason = Reason.NOT_HTTP if _names_a_scheme(text) else Reason.NOT_A_URL
    return {"url": text, "known": False, **_is_not_kept(reason)}


def _is_not_kept(reason: Reason) -> dict[str, Any]:
    """Where a link stands that the ledger has no row for, whoever names it."""
    words = f"{reason.words}: such links are counted, and not kept"
    return {"state": UNKNOWN, "reason": reason.value, "words": words, "setting": reason.setting or None}


def _names_a_scheme(text: str) -> bool:
    scheme, colon, _ = text.strip().partition(":")
    return bool(colon) and scheme.isascii() and scheme[:1].isalpha() and scheme.lower() not in ("http", "https")


def _verdict_now(
    database: Database, config: Config, url: str, host: Host | None, one: Standing | None, seed: int
) -> Reason | None:
    """What the present settings say of the URL; None: it is wanted."""
    judge = Judge(config, Unwanted(database, seed))
    is_seed_host = host is not None and host.is_seed
    depth, hops, ask = (one.depth, one.hops, one.ask) if one is not None else (0, 0, 0)
    code = judge.code_of(url, host_key(url), is_seed_host, depth, hops, ask)
    return Reason.from_code(code) if code else None


def _stands(one: Standing | None, now: Reason | None) -> dict[str, Any]:
    if one is not None:
        return {"state": one.state, "reason": one.reason, "words": one.words, "setting": one.setting or None}
    if now is Reason.FORGOTTEN:
        return {"state": State.ASIDE.value, "reason": now.value, "words": now.words, "setting": None}
    if now is Reason.TOO_LONG:
        return _is_not_kept(now)
    return {
        "state": UNKNOWN,
        "reason": _NOT_MET,
        "words": "the crawl never met it: it is no seed, and no page that was read links to it",
        "setting": now.setting or None if now is not None else None,
    }


def _found(database: Database, url_id: int) -> list[dict[str, Any]]:
    chain = urls_table.discovery_chain(database, url_id, _LONGEST_CHAIN) if url_id else []
    return [{"url": step.url, "via": step.via, "depth": step.depth, "found_at": step.found_at} for step in chain]


def _source(database: Database, url_id: int) -> dict[str, Any] | None:
    """Returns what is known of a sitemap or feed; None if the URL is none."""
    found = source_of(database, url_id)
    if found is None:
        return None
    return {
        "kind": found.kind.name.lower(),
        "read_at": found.read_at or None,
        "entries": found.entries,
        "next_at": found.next_at if found.next_at < NEVER else None,
        "watched_seconds": found.watched.seconds,
        "changes": found.watched.changes,
        "failures": found.watched.failures,
        "hub": found.hub or None,
    }


def _subscription(database: Database, feed_id: int) -> dict[str, Any] | None:
    """Returns whether a hub pushes the news of a feed; None if none was ever asked to."""
    found = subscription_of_feed(database, feed_id)
    if found is None:
        return None
    is_open = found.ends_at > time.time()
    return {
        "hub": urls_table.text_of(database, found.url_id).partition(HUB_MARK)[0],
        "state": "open" if is_open else "asked" if found.asked == SUBSCRIBE else "none",
        "ends_at": found.ends_at if is_open else None,
        "pushed_at": found.pushed_at or None,
    }


def _sitemap_says(database: Database, url_id: int) -> dict[str, Any] | None:
    """Returns what a sitemap or feed says of the URL; None if none does."""
    found = hint_of(database, url_id)
    if found is None:
        return None
    hint, source_id = found
    return {
        "source": urls_table.text_of(database, source_id),
        "lastmod": hint.lastmod or None,
        "changefreq": CHANGE_FREQUENCIES[hint.changefreq] or None,
        "priority": hint.priority / 100 if hint.priority != NO_PRIORITY else None,
    }


def _visit(one: Standing) -> dict[str, Any]:
    return {
        "outcome": one.outcome,
        "status": one.status,
        "visited_at": one.visited_at,
        "since": one.since or None,
        "tries": one.tries,
        "detail": one.detail,
        "document": one.document_id or None,
        "redirect_to": one.detail if one.outcome == Outcome.REDIRECT else None,
        "words": words_of(one.outcome or ""),
    }


def _versions(database: Database, hash_of_url: int) -> list[dict[str, Any]]:
    return [
        {
            "fetched_at": version.fetched_at,
            "bytes": version.body_length,
            "content_type": version.content_type,
            "copy": bool(version.duplicate_of),
        }
        for version in documents.versions(database, hash_of_url)
    ]


def _next(database: Database, config: Config, one: Standing | None, host: Host | None) -> dict[str, Any]:
    """When it is asked for: where it waits, and what its host is waiting for."""
    is_queued = one is not None and one.state == State.QUEUED
    most = SettingsByHost(config).of(host.key).limits.max_pages_per_host if host else 0
    return {
        "queue": urls_table.place_in_queue(database, one.url_id) if one is not None and is_queued else None,
        "host_ready_at": one.host_ready_at if one is not None else host.ready_at if host else None,
        "host_failures": host.failures if host else 0,
        "host_trouble": host.trouble if host and host.failures else None,
        "unconnected": _unconnected(database, one.url) if one is not None and is_queued else None,
        "host_is_full": bool(is_queued and host and most and host.pages >= most),
    }


def _unconnected(database: Database, url: str) -> dict[str, Any] | None:
    """Returns why no connection to the URL's origin can be made; None if nothing speaks against it."""
    failure = failure_of(database, origin(url))
    return failure.facts if failure is not None and not failure.of_robots else None


def _charset(database: Database, document_id: int) -> dict[str, str] | None:
    """Returns the encoding that the text was read in and the one it declares; None if it is ASCII, or no text."""
    found = documents.document(database, document_id)
    return {"used": found.charset, "declared": found.declared_charset} if found.charset else None


def _copy(database: Database, document_id: int) -> dict[str, Any] | None:
    """Returns what the document is an exact or near copy of; None if it is no copy."""
    found = documents.document(database, document_id)
    original_id = found.duplicate_of
    if original_id:
        if documents.document(database, original_id).url_id == found.url_id:
            return None  # the page has gone back to an older version of its own
        url, _ = documents.url_and_time(database, original_id)
        return {"kind": "exact", "of": url, "resemblance": 1.0, "representative": url}
    near = nearness_of(database, document_id)
    if near is None:
        return None
    return {
        "kind": "near",
        "of": documents.url_and_time(database, near.near_id)[0],
        "resemblance": near.resemblance,
        "representative": documents.url_and_time(database, near.representative_id)[0],
    }


def _kinds(database: Database, host_id: int, url: str) -> list[dict[str, Any]]:
    """What the kinds that the URL is of have brought so far, as far as it was little."""
    return [
        {
            "kind": name,
            "pages": kind.pages,
            "yield": round(kind.yield_, 3),
            "open_share": round(kind.open_share, 3),
            "stopped": kind.stopped,
        }
        for name, kind in kinds_of(database, host_id, url).items()
    ]


def _series(database: Database, host_id: int, url: str) -> dict[str, Any] | None:
    """The series that the URL is part of, if it runs on."""
    found = series_of(database, host_id, url)
    if found is None:
        return None
    name, series = found
    return {
        "series": name,
        "pages": series.pages,
        "before": series.before,
        "after": series.after,
        "stopped": series.stopped,
        "reason": series.reason,
    }
