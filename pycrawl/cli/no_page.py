"""Why a crawl has no page at all, in words: what happened to its seeds, and what is likely to help."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pycrawl.cli.common import plural
from pycrawl.model import Outcome
from pycrawl.urls.reasons import Reason

if TYPE_CHECKING:
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.crawl.seed_outcomes import SeedOutcome
    from pycrawl.state.database import Database

_MOST_LINES = 5
# What happened, and what helps, by outcome; the others speak for themselves.
_ADVICE = {
    Outcome.ROBOTS_DENIED: "robots.txt denies it; `pycrawl why` shows the line",
    Outcome.ROBOTS_UNREACHABLE: "its robots.txt gives errors, so nothing may be fetched; it is asked again later",
    Outcome.DNS_FAILURE: "the name of its host cannot be found: check its spelling, and the network",
    Outcome.CONNECT_FAILED: "its host refuses connections: check the port, or set crawl.proxy if one is needed",
    Outcome.CONNECT_TIMEOUT: "its host does not answer: check the network, or set crawl.proxy if one is needed",
    Outcome.TLS_FAILURE: "no secure connection can be made",
    Outcome.TIMEOUT: "its host takes longer than limits.total_timeout",
    Outcome.TOO_SLOW: "its host sends less than limits.min_bytes_per_second",
    Outcome.TOO_BUSY: "its host says that it is too busy; try again later",
    Outcome.CLIENT_ERROR: "its host refuses it, or has no such page",
    Outcome.SERVER_ERROR: "its host has a fault; try again later",
}


def why_no_page(database: Database, directory: CrawlDirectory) -> list[str]:
    """Returns lines that say why no seed gave a page; none if one did, or if none was tried yet."""
    from pycrawl.crawl.seed_outcomes import has_page, seed_outcomes

    if has_page(database):
        return []
    seeds = seed_outcomes(database, directory)
    if not seeds:
        return ["There are no seeds yet: `pycrawl add URL` adds one."]
    reasons = Counter(reason for seed in seeds if (reason := _reason(seed)))
    if not reasons:
        return []
    lines = ["Nothing could be fetched: no seed gave a page."]
    for reason, count in reasons.most_common(_MOST_LINES):
        example = next(seed.url for seed in seeds if _reason(seed) == reason)
        others = f" (and {plural(count - 1, 'other seed')})" if count > 1 else ""
        lines.append(f"{example}{others}: {reason}")
    return lines


def _reason(seed: SeedOutcome) -> str:
    """Returns why a seed gave no page, and what is likely to help; empty: it was not tried yet."""
    if seed.aside:
        return Reason.from_code(seed.aside).words
    if not seed.outcome:
        return "its host does not answer" if seed.host_failures else ""
    if seed.outcome == Outcome.ADDRESS_REFUSED:
        return seed.detail
    outcome = f"{seed.outcome} {seed.status}" if seed.status else seed.outcome
    told = f"{outcome}: {seed.detail}" if seed.detail else outcome
    words = _ADVICE.get(Outcome(seed.outcome), "")
    return f"{words} ({told})" if words else told
