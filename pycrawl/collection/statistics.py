"""The figures of a crawl: what `pycrawl stats --json` prints."""

from __future__ import annotations

import time
from typing import Any

from pycrawl.collection.activity import activity
from pycrawl.model import Kind
from pycrawl.state import meta
from pycrawl.state.counters import family, totals
from pycrawl.state.database import Database
from pycrawl.state.hosts import count_hosts
from pycrawl.state.kinds_table import stopped_series, worst_kinds
from pycrawl.state.meta import RunRow
from pycrawl.state.mirrors import mirrors
from pycrawl.state.origin_failures import count_failures, first_failures
from pycrawl.state.sources import count_sources
from pycrawl.state.subscriptions import count_subscriptions

_MOST_TRAPS = 20  # listed
_MOST_UNREACHABLE = 50  # listed
_TOTALS = (
    "pages_fetched",
    "pages_stored",
    "bytes_fetched",
    "bytes_stored",
    "robots_denied",
    "duplicates_exact",
    "duplicates_near",
    "soft_404",
    "unchanged",
    "not_modified",
    "by_head",
    "feed_entries",
)


def collect(database: Database) -> dict[str, Any]:
    """Returns what `stats --json` prints, all of it as of one commit.

    `pages_fetched` = `pages_stored` + `duplicates_exact` + `unchanged` + all of `not_kept`.
    """
    with database.explained(), database.snapshot():
        known = totals(database)
        run = meta.last_run(database)
        hosts, named = count_hosts(database)
        created = meta.created_at(database)
        traps = _traps(database)
        found_mirrors = mirrors(database)
        without_robots = _unreachable(database, of_robots=True)
        unconnected = _unreachable(database, of_robots=False)
        now = activity(database, run, time.time())
        sources = count_sources(database)
        subscriptions = count_subscriptions(database, time.time())
    front = family(known, "front")
    return {
        **{name: known.get(name, 0) for name in _TOTALS},
        "not_kept": family(known, "not_kept"),
        "unread": family(known, "unread"),
        "unconverted": family(known, "unconverted"),
        "changed": family(known, "changed"),
        "languages": _nonzero(family(known, "language")),
        "urls_known": known.get("urls", 0),
        "urls_queued": sum(front.values()) + sum(known.get(queue, 0) for queue in ("recrawls", "back", "held")),
        "urls_aside": _nonzero(family(known, "aside")),
        "hosts_known": hosts,
        "hosts_named": named,
        "mirrors": [
            {"host": host, "original": original, "copies": copies, "pages": pages}
            for host, original, copies, pages in found_mirrors
        ],
        "robots_unreachable": without_robots,
        "origins_unreachable": unconnected,
        "sitemaps": _sources(known, Kind.SITEMAP, sources),
        "feeds": _sources(known, Kind.FEED, sources),
        "hubs": _sources(known, Kind.HUB, sources),
        "pushes": {"subscriptions": subscriptions, "requests": family(known, "push")},
        "errors": family(known, "error"),
        "filtered": family(known, "filtered"),
        "traps": traps,
        "status": family(known, "status"),
        "pages_per_second": _rate(run),
        "started_at": created,
        "now": now,
        "last_crawl": _run_as_json(run),
    }


def _sources(known: dict[str, int], kind: Kind, counts: dict[Kind, tuple[int, int]]) -> dict[str, Any]:
    """How many sitemaps, feeds or hubs there are, how many were read, and how the visits to them ended."""
    number, read = counts.get(kind, (0, 0))
    return {"known": number, "read": read, "visits": family(known, kind.name.lower())}


def _nonzero(members: dict[str, int]) -> dict[str, int]:
    """Returns the members that count something, the largest first."""
    return {name: count for name, count in sorted(members.items(), key=lambda one: -one[1]) if count}


def _unreachable(database: Database, of_robots: bool) -> dict[str, Any]:
    """The origins whose robots.txt cannot be had, or to which no connection can be made: how many, and the first of
    them, by the time of the next try."""
    return {
        "origins": count_failures(database, of_robots),
        "first": [failure.facts for failure in first_failures(database, of_robots, _MOST_UNREACHABLE)],
    }


def _traps(database: Database) -> list[dict[str, Any]]:
    """The series that were stopped, and the kinds that brought least, the stopped ones first."""

    series = [
        {"host": host, "kind": name, "pages": one.pages, "stopped": one.stopped, "reason": one.reason}
        for host, name, one in stopped_series(database, _MOST_TRAPS)
    ]
    return series + [
        {
            "host": host,
            "kind": name,
            "pages": kind.pages,
            "yield": round(kind.yield_, 3),
            "open_share": round(kind.open_share, 3),
            "stopped": kind.stopped,
            "reason": kind.reason,
        }
        for host, name, kind in worst_kinds(database, _MOST_TRAPS)
    ]


def _rate(run: RunRow | None) -> float:
    if run is None or run.updated_at <= run.started_at:
        return 0.0
    return round(run.pages / (run.updated_at - run.started_at), 3)


def _run_as_json(run: RunRow | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "updated_at": run.updated_at,
        "pages": run.pages,
        "ended_by": run.ended_by,
        "pid": run.pid,
    }
