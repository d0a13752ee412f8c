"""Is the crawl at work, does it wait, or is it stuck? Told from the state alone, by another process than the crawl."""

from __future__ import annotations

import os
from typing import Any

from pycrawl.frontier.back import hosts_with_queues
from pycrawl.policy.politeness import is_parked
from pycrawl.state.database import Database
from pycrawl.state.meta import RunRow
from pycrawl.state.origin_failures import OriginFailure, failures_of_host
from pycrawl.state.robots import robots_of
from pycrawl.urls.parts import origins_of

_STUCK_SECONDS = 60.0  # a crawl commits every second or two, also when it only waits


def activity(database: Database, run: RunRow | None, now: float) -> dict[str, Any]:
    """Returns what `stats --json` says of the moment, as of the last commit: what runs, and which hosts have URLs in
    their back queues (`hosts`), may be asked (`hosts_ready`), or are left alone as they do not answer (`hosts_failing`)
    or as their robots.txt is unreachable (`hosts_without_robots`). `next_host_at` is when the next of the others is
    due, `next_try_at` when the first of those that are left alone is.
    """
    row = database.query("SELECT fetched_at FROM documents ORDER BY id DESC LIMIT 1").fetchone()
    queued = database.query_each(
        "SELECT ready_at, failures, key, failing_since FROM hosts WHERE id IN ({})", hosts_with_queues(database)
    )
    healthy: list[float] = []
    failing: list[float] = []
    unreachable: list[float] = []
    for ready_at, failures, key, failing_since in queued:
        failure = _failure_of(database, key) if failing_since else None
        if is_parked(failures, ready_at - now) and ready_at > now:
            failing.append(ready_at)
        elif failure is not None and failure.next_at > now:
            (unreachable if failure.of_robots else failing).append(max(ready_at, failure.next_at))
        else:
            healthy.append(ready_at)
    return {
        "state": _state(run, now),
        "last_page_at": row[0] if row else None,
        "hosts": len(healthy) + len(failing) + len(unreachable),
        "hosts_ready": sum(ready_at <= now for ready_at in healthy),
        "hosts_failing": len(failing),
        "hosts_without_robots": len(unreachable),
        "next_host_at": min(healthy, default=None),
        "next_try_at": min(failing + unreachable, default=None),
    }


def _failure_of(database: Database, key: str) -> OriginFailure | None:
    """Returns the failure of a host's origins that is tried again first; None if the host has another origin, http or
    https, that can be asked for pages meanwhile."""
    failures = {failure.origin: failure for failure in failures_of_host(database, key) if failure.next_at}
    if any(robots_of(database, origin) for origin in origins_of(key) if origin not in failures):
        return None
    return min(failures.values(), key=lambda failure: failure.next_at, default=None)


def _state(run: RunRow | None, now: float) -> str:
    """Returns "running", "stuck", "cut-short" or "stopped"; a crawl that never ran is stopped."""
    if run is None or run.ended_at is not None:
        return "stopped"
    if not _is_alive(run.pid):
        return "cut-short"
    return "running" if now - run.updated_at < _STUCK_SECONDS else "stuck"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True
