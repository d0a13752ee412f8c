"""What the state knows of the robots.txt that a URL is judged by. Nothing is asked for."""

from __future__ import annotations

from typing import Any

from pycrawl.config import Config
from pycrawl.policy.robots import RobotsRules
from pycrawl.state.database import Database
from pycrawl.state.hosts import find_host, robots_of
from pycrawl.urls.parts import host_key, origin, robots_url


def robots_facts(database: Database, config: Config, url: str) -> dict[str, Any]:
    """Returns what `pycrawl robots --json` prints: `known` is False for an origin that was not asked for it yet.

    `allowed` is None where nothing is known. A robots.txt that cannot be read any more forbids everything until it can,
    whatever it said before (RFC 9309, 2.3.1.4).
    """
    file = robots_of(database, origin(url))
    host = find_host(database, host_key(url))
    failing_since = host.robots_failing_since if host else 0.0
    rules = RobotsRules.parse(file, config.crawl.name) if file is not None else None
    verdict = rules.verdict(url) if rules else None
    is_unreachable = bool(failing_since) or (rules is not None and rules.unreachable)
    return {
        "url": url,
        "robots_url": robots_url(url),
        "agent": config.crawl.name,
        "obeyed": config.politeness.obey_robots,
        "known": file is not None,
        "allowed": False if is_unreachable else verdict.allowed if verdict else None,
        "line": verdict.line if verdict else "",
        "line_number": verdict.line_number if verdict else 0,
        "status": file.status if file else None,
        "fetched_at": file.fetched_at if file else None,
        "asked_again_at": _asked_again_at(
            file.expires_at if file else None, failing_since, host.ready_at if host else 0
        ),
        "unreachable_since": failing_since or None,
        "crawl_delay": rules.crawl_delay if rules else None,
        "sitemaps": list(rules.sitemaps) if rules else [],
    }


def _asked_again_at(expires_at: float | None, failing_since: float, host_ready_at: float) -> float | None:
    """When it is asked for at the earliest; None: with the first page of its origin."""
    return host_ready_at if failing_since else expires_at
