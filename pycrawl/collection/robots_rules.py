"""What the state knows of the robots.txt that a URL is judged by. Nothing is asked for."""

from __future__ import annotations

from typing import Any

from pycrawl.config import Config
from pycrawl.policy.politeness import robots_expire_at
from pycrawl.policy.robots import RobotsRules
from pycrawl.state.database import Database
from pycrawl.state.origin_failures import failure_of
from pycrawl.state.robots import robots_of
from pycrawl.urls.host_settings import SettingsByHost
from pycrawl.urls.parts import origin, robots_url


def robots_facts(database: Database, config: Config, url: str) -> dict[str, Any]:
    """Returns what `pycrawl robots --json` prints: `known` is False for an origin that was not asked for it yet.

    `allowed` is None where nothing is known. A robots.txt that cannot be read any more forbids everything until it can,
    whatever it said before (RFC 9309, 2.3.1.4).
    """
    politeness = SettingsByHost(config).of_url(url).politeness
    file = robots_of(database, origin(url))
    failure = failure_of(database, origin(url))
    if failure is not None and not (failure.of_robots and failure.next_at):
        failure = None  # its pages cannot be had; or it has failed for so long that it counts as missing
    rules = RobotsRules.parse(file, config.crawl.name) if file is not None else None
    verdict = rules.verdict(url) if rules else None
    again_at = robots_expire_at(file, politeness.robots_ttl) if file is not None else None
    if failure is not None:
        again_at = failure.next_at
    is_unreachable = failure is not None or (rules is not None and rules.unreachable)
    return {
        "url": url,
        "robots_url": robots_url(url),
        "agent": config.crawl.name,
        "obeyed": politeness.obey_robots,
        "known": file is not None,
        "allowed": False if is_unreachable else verdict.allowed if verdict else None,
        "line": verdict.line if verdict else "",
        "line_number": verdict.line_number if verdict else 0,
        "status": file.status if file else None,
        "fetched_at": file.fetched_at if file else None,
        "asked_again_at": again_at,
        "unreachable_since": failure.since if failure else None,
        "unreachable_reason": failure.outcome if failure else None,
        "unreachable_detail": failure.words if failure else None,
        "failures": failure.failures if failure else 0,
        "crawl_delay": rules.crawl_delay if rules else None,
        "sitemaps": list(rules.sitemaps) if rules else [],
    }
