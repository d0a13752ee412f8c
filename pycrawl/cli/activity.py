"""What the crawl does now, in words."""

from __future__ import annotations

from typing import Any

from pycrawl.cli.common import duration, moment, plural


def in_words(facts: dict[str, Any], queued: int, pid: int, saved_at: float, now: float) -> str:
    """Returns one line: what the crawl does now, or what the next one would do."""
    if facts["state"] == "stuck":
        return (
            f"process {pid} has saved nothing for {duration(now - saved_at)}, and may be stuck;"
            " it may be killed, the next `pycrawl crawl` goes on"
        )
    if facts["state"] == "running":
        page = facts["last_page_at"]
        last = f"last page stored {duration(max(0.0, now - page))} ago" if page else "no page stored yet"
        return f"running (process {pid}); {last}; {_hosts(facts, now)}"
    if facts["state"] == "cut-short":
        return "not running: the last run was cut short; `pycrawl crawl` goes on"
    if not queued:
        return "not running; nothing is left to fetch"
    if facts["hosts"] and facts["hosts"] == facts["hosts_failing"] + facts["hosts_without_robots"]:
        return f"not running; {_hosts(facts, now)}"
    return f"not running; `pycrawl crawl` goes on with {plural(queued, 'URL')}"


def _hosts(facts: dict[str, Any], now: float) -> str:
    parts = []
    able = facts["hosts"] - facts["hosts_failing"] - facts["hosts_without_robots"]
    if able:
        ready = facts["hosts_ready"]
        have = "has" if able == 1 else "have"
        due = f"{ready:,} may be asked now" if ready else f"the next is due in {duration(facts['next_host_at'] - now)}"
        parts.append(f"{plural(able, 'host')} {have} URLs to fetch, {due}")
    if facts["hosts_failing"]:
        verb = "does not answer" if facts["hosts_failing"] == 1 else "do not answer"
        parts.append(f"{plural(facts['hosts_failing'], 'host')} {verb}")
    if facts["hosts_without_robots"]:
        parts.append(f"robots.txt of {plural(facts['hosts_without_robots'], 'host')} is unreachable")
    if facts["next_try_at"] is not None:
        parts[-1] += f", the next try is at {moment(facts['next_try_at'])}"
    return "; ".join(parts) or "no URL waits for its host"
