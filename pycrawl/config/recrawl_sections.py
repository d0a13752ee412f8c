"""The sections of `pycrawl.toml` on what is asked for again: pages, sitemaps and feeds. See `sections.py`."""

from __future__ import annotations

from dataclasses import dataclass

from pycrawl.config.keys import (
    callback,
    choice,
    choices,
    integer,
    key,
    listening_address,
    number,
    parse_duration,
    parse_size,
    switch,
)
from pycrawl.model import Change, Policy


@dataclass(frozen=True, slots=True)
class RecrawlSection:
    """Which pages `pycrawl crawl --recrawl` visits again, and which of their versions are kept."""

    policy: str = key(
        choice(*Policy),
        Policy.AGE.value,
        'Which pages are visited again first: "age" (those whose visit takes most off the mean age of the collection),'
        ' "freshness" (those whose visit adds most to the share of current pages), "uniform" and "fixed" (those not'
        " visited for longest).",
    )
    min_interval: float = key(
        parse_duration, 72_000.0, "No page is visited again before this long after its last visit.", '"20h"'
    )
    max_interval: float = key(
        parse_duration,
        31_536_000.0,
        "Pages not visited for longer go before all others; 0: none do.",
        '"365d"',
    )
    new_share: float = key(
        number(0, 1), 0.5, "While pages are visited again, this share of the URLs are new ones, if there are any."
    )
    head_above: int = key(
        parse_size,
        256_000,
        "Of a larger page whose server gives neither ETag nor Last-Modified, only the headers are asked for first"
        " (HEAD), where they proved right; 0: never.",
        '"256 KB"',
    )
    keep: tuple[str, ...] = key(
        choices(*Change),
        (Change.EDITED.value, Change.REWRITTEN.value),
        'Changes after which a page is stored as a new version: "cosmetic" (the words of its main content are the'
        ' same), "edited" (at least half of it is as it was), "rewritten" (less than that).',
    )
    keep_versions: int = key(
        integer(0, 1_000_000), 0, "How many versions of a page `pycrawl compact` leaves, the newest; 0: all."
    )


@dataclass(frozen=True, slots=True)
class SitemapsSection:
    """Sitemaps: lists of a site's pages. They are read, not stored, and asked for again as often as they change."""

    from_robots: bool = key(switch, True, "Read the sitemaps that robots.txt files name, as far as they are in scope.")
    guess: bool = key(switch, False, "Ask each host whose robots.txt names no sitemap for /sitemap.xml, once.")
    max_per_host: int = key(
        integer(1, 10**9), 1_000, "The most sitemaps that are read of one host; those of `add --sitemap` are read too."
    )
    min_interval: float = key(
        parse_duration, 21_600.0, "A sitemap is not asked for again before, however often it changes.", '"6h"'
    )
    max_interval: float = key(
        parse_duration, 2_592_000.0, "A sitemap is asked for again by then, however rarely it changes.", '"30d"'
    )


@dataclass(frozen=True, slots=True)
class FeedsSection:
    """Feeds: RSS, Atom and JSON Feed. They are read, not stored; new entries are fetched before other URLs."""

    discover: bool = key(switch, True, 'Read the feeds that pages name (<link rel="alternate">) or link to.')
    max_per_host: int = key(
        integer(1, 10**9), 20, "The most feeds that are read of one host; those of `add --feed` are read too."
    )
    min_interval: float = key(
        parse_duration, 1_800.0, "A feed is not asked for again before, however often it changes.", '"30m"'
    )
    max_interval: float = key(
        parse_duration, 604_800.0, "A feed is asked for again by then, however rarely it changes.", '"7d"'
    )
    callback: str = key(
        callback,
        "",
        "The public address of this crawl for WebSub hubs, which push the news of feeds as long as a run listens:"
        ' "https://crawl.example.org/push". Empty: no hub is asked, and nothing listens (docs/sitemaps.md).',
    )
    listen: str = key(
        listening_address,
        "127.0.0.1:8790",
        "Where a run listens for what comes to feeds.callback: HOST:PORT, usually behind a web server with TLS.",
    )
