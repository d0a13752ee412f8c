"""What is said of a run when it has ended. The parts that are named add up to the pages that were fetched."""

from __future__ import annotations

from pathlib import Path

from pycrawl.cli.common import by_count, duration, moment, plural, size
from pycrawl.convert.kinds import DOCUMENT_TYPES, INSTALL
from pycrawl.crawl.progress import Ended, RunCounts

_ENDINGS = {
    "finished": "Finished: nothing is left to fetch",
    "max-pages": "Stopped at --max-pages",
    "max-time": "Stopped at --max-time",
    "max-bytes": "Stopped at --max-bytes",
    "max-requests": "Stopped at --max-requests",
    "interrupted": "Interrupted; everything is saved. `pycrawl crawl` continues from here",
}


def summary(ended: Ended, docs: Path) -> list[str]:
    """Returns the lines that are printed when a run has ended."""
    counts = ended.counts
    rate = counts.pages / ended.seconds if ended.seconds else 0.0
    lines = [
        f"{_ending(ended)}.",
        f"{plural(counts.pages, 'page')} in {duration(ended.seconds)} ({rate:,.1f}/s), {size(counts.bytes)}:"
        f" {parts_of_pages(counts)}.",
        f"{plural(counts.requests, 'request')}: {_changes(counts)}. log/changes.log has a line for each page.",
    ]
    if counts.errors:
        lines.append(f"Failed fetches: {by_count(counts.errors)}.")
    if counts.unread:
        types = ", ".join(f"{name} ({count:,})" for name, count in sorted(counts.unread.items()))
        hint = f" ({INSTALL} reads some)" if not DOCUMENT_TYPES.isdisjoint(counts.unread) else ""
        lines.append(f"Stored unread, as no parser for these types is installed: {types}{hint}.")
    if counts.unconverted:
        lines.append(f"Documents stored that could not be read, or not to their end: {by_count(counts.unconverted)}.")
    if ended.fetchers_replaced:
        lines.append(
            f"{plural(ended.fetchers_replaced, 'fetcher')} died and had to be replaced; log/fetchers.log says why."
        )
    if ended.queued and ended.reason != "finished":
        waiting = _who_waits(ended)
        lines.append(f"{plural(ended.queued, 'URL')} still queued{f'; {waiting}' if waiting else ''}.")
    lines.append(f"The collection is in {docs}.")
    return lines


def parts_of_pages(counts: RunCounts) -> str:
    """Returns what became of the pages that were fetched: "34 stored, 2 copies, 4 not kept (3 noindex, 1 soft-404)"."""
    parts = [f"{counts.stored:,} stored"]
    if counts.duplicates:
        parts.append(plural(counts.duplicates, "copy", "copies"))
    if counts.unchanged:
        parts.append(f"{counts.unchanged:,} unchanged")
    if counts.not_kept:
        parts.append(f"{sum(counts.not_kept.values()):,} not kept ({by_count(counts.not_kept)})")
    return ", ".join(parts)


def _changes(counts: RunCounts) -> str:
    """Returns what a person who runs it every night wants to know, in numbers of URLs."""
    unchanged = f"{counts.unchanged + counts.not_modified + counts.by_head:,} unchanged"
    ways = (f"{counts.not_modified:,} by status 304", f"{counts.by_head:,} by HEAD")
    used = [way for way, amount in zip(ways, (counts.not_modified, counts.by_head), strict=True) if amount]
    unchanged += f" ({', '.join(used)})" if used else ""
    failed = counts.failed_urls - counts.gone
    changed = f"{counts.changed:,} changed" + (f" ({by_count(counts.changes)})" if counts.changes else "")
    text = f"{counts.new:,} new, {changed}, {counts.gone:,} gone, {unchanged}, {failed:,} failed"
    return text + (f", {counts.robots_denied:,} denied by robots.txt" if counts.robots_denied else "")


def _ending(ended: Ended) -> str:
    if ended.reason == "finished" and ended.queued:
        wait = "waits" if ended.queued == 1 else "wait"
        waiting = _who_waits(ended)
        return f"Finished for now: {plural(ended.queued, 'URL')} {wait}{f'; {waiting}' if waiting else ''}"
    return _ENDINGS.get(ended.reason, ended.reason)


def _who_waits(ended: Ended) -> str:
    """Returns why URLs are put off: "1 host does not answer, the next try is at …"; empty: none are."""
    parts = []
    if ended.failing_hosts:
        verb = "does not answer" if ended.failing_hosts == 1 else "do not answer"
        hosts = plural(ended.failing_hosts, "host")
        parts.append(f"{hosts} {verb}, the next try is at {moment(ended.next_try_at)}")
    if ended.unreachable_robots:
        origins = plural(ended.unreachable_robots, "origin")
        parts.append(f"robots.txt of {origins} is unreachable, the next try is at {moment(ended.next_robots_at)}")
    if ended.unreachable_origins:
        origins = plural(ended.unreachable_origins, "origin")
        parts.append(f"no connection to {origins} can be made, the next try is at {moment(ended.next_origin_at)}")
    full = ended.parked_hosts - ended.failing_hosts
    if full:
        verb = "has given" if full == 1 else "have given"
        parts.append(f"{plural(full, 'host')} {verb} all pages that limits.max_pages_per_host allows")
    if ended.held:
        verb = "is" if ended.held == 1 else "are"
        parts.append(f"{ended.held:,} {verb} deeper than --max-depth, and left for a run without it")
    return "; ".join(parts)
