"""`pycrawl stats`: shows what the crawl has fetched, stored and met."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pycrawl.cli import output, reasons
from pycrawl.cli.activity import in_words
from pycrawl.cli.common import (
    by_count,
    crawl_directory,
    directory_option,
    duration,
    json_option,
    moment,
    open_for_reading,
    plural,
    size,
)
from pycrawl.cli.freshness import freshness_lines
from pycrawl.convert.kinds import DOCUMENT_TYPES, INSTALL

if TYPE_CHECKING:
    from pycrawl.state.database import Database

# How many are listed at the most.
_MOST_HOSTS = 50
_MOST_MIRRORS = 5
_MOST_LANGUAGES = 10
_UNREACHABLE_SHOWN = 5


@click.command("stats")
@directory_option
@json_option
@click.option("--hosts", "show_hosts", is_flag=True, help="List the hosts too, those with the most pages first.")
@click.option("--errors", "show_errors", is_flag=True, help="List the last URLs that failed too, and why.")
@click.option("--memory", "show_memory", is_flag=True, help="Show too what each part of the crawl held in memory.")
@click.option(
    "--freshness",
    "show_freshness",
    is_flag=True,
    help="Show too how many pages are likely to be current, how often they change, and what each policy comes to.",
)
def command(
    path: Path, as_json: bool, show_hosts: bool, show_errors: bool, show_memory: bool, show_freshness: bool
) -> None:
    """Show what was fetched and stored, what failed, and how fast it was.

    It works while a crawl runs; the numbers are those of the last commit, at most a second or two old.
    """
    from pycrawl.collection.statistics import collect

    directory = crawl_directory(path)
    database = open_for_reading(directory)
    facts = collect(database)
    if show_hosts:
        facts["hosts"] = _hosts(database)
    if show_errors:
        facts["failed"] = _failed(database)
    if show_memory:
        from pycrawl.state.meta import memory

        facts["memory"] = memory(database)
    if show_freshness:
        from pycrawl.collection.freshness import freshness

        facts["freshness"] = freshness(database, directory.config(), time.time())
    if as_json:
        output.say_json(facts)
        return
    output.say(*_lines(facts), *(freshness_lines(facts["freshness"]) if show_freshness else ()))


def _hosts(database: Database) -> list[dict[str, Any]]:
    from pycrawl.state.hosts import hosts_by_pages

    return [
        {
            "host": host.key,
            "pages": host.pages,
            "failures": host.failures,
            "ready_at": host.ready_at,
            "address": host.address,
        }
        for host in hosts_by_pages(database, _MOST_HOSTS)
    ]


def _failed(database: Database) -> list[dict[str, Any]]:
    from pycrawl.model import CONDUCT
    from pycrawl.state.documents import last_visits

    failures = [str(outcome) for outcome, conduct in CONDUCT.items() if conduct.is_error]
    return [
        {
            "url": url,
            "outcome": visit.outcome,
            "status": visit.status,
            "detail": visit.detail,
            "visited_at": visit.visited_at,
        }
        for url, visit in last_visits(database, failures, _MOST_HOSTS)
    ]


def _lines(facts: dict[str, Any]) -> list[str]:
    run = facts["last_crawl"]
    lines = [
        f"pages       {facts['pages_fetched']:,} fetched: {_parts_of_pages(facts)}",
        f"            near-duplicates among the stored: {facts['duplicates_near']:,} (`pycrawl dups --all`)",
        f"            {plural(facts['not_modified'], 'more visit')} found nothing new (status 304)",
        *([f"            {plural(facts['by_head'], 'page')} as before by a HEAD"] if facts["by_head"] else []),
        *([f"changes     {by_count(facts['changed'])} (`pycrawl versions URL`)"] if facts["changed"] else []),
        *([f"languages   {_top(facts['languages'])}"] if facts["languages"].keys() - {"unknown"} else []),
        *_document_lines(facts),
        f"bytes       {size(facts['bytes_fetched'])} fetched, {size(facts['bytes_stored'])} stored",
        f"URLs        {facts['urls_known']:,} known on {_hosts_of(facts)}, {facts['urls_queued']:,} queued",
        *_aside_lines(facts["urls_aside"]),
        f"mirrors     {_mirrors(facts['mirrors'])}",
        f"robots.txt  {plural(facts['robots_denied'], 'URL')} denied",
        *_unreachable_lines(facts["robots_unreachable"], "unreachable at", "robots-unreachable"),
        *_unreachable_lines(facts["origins_unreachable"], "no connection to", "connect-failed"),
        *_source_lines(facts),
        f"status      {_family(facts['status'])}",
        f"errors      {_family(facts['errors'])}",
        f"skipped     {_family(facts['filtered'])}",
        *_trap_lines(facts),
        f"started     {moment(facts['started_at'])}",
    ]
    if run is None:
        lines.append("last crawl  none yet: run `pycrawl crawl`")
    else:
        state = f"ended {moment(run['ended_at'])} ({run['ended_by']})" if run["ended_at"] else facts["now"]["state"]
        took = duration(run["updated_at"] - run["started_at"])
        lines.append(
            f"last crawl  {moment(run['started_at'])}, {state}: {plural(run['pages'], 'page')} in {took}"
            f" ({facts['pages_per_second']:,.1f}/s)"
        )
        words = in_words(facts["now"], facts["urls_queued"], run["pid"], run["updated_at"], time.time())
        lines.append(f"now         {words}")
    lines += [
        f"  {host['host']}  {plural(host['pages'], 'page')}, {plural(host['failures'], 'failure')} in a row"
        for host in facts.get("hosts", ())
    ]
    lines += [
        f"  {visit['url']}  {visit['outcome']} {visit['status'] or ''} {visit['detail']}"
        for visit in facts.get("failed", ())
    ]
    if "memory" in facts:
        parts = facts["memory"]
        lines.append("memory      " + ("" if parts else "not known: no crawl has written it down yet"))
        lines += [f"  {size(held):>12}  {name}" for name, held in parts.items()]
    return lines


def _parts_of_pages(facts: dict[str, Any]) -> str:
    """What became of the pages that were fetched; the numbers add up to theirs."""
    parts = [f"{facts['pages_stored']:,} stored", plural(facts["duplicates_exact"], "exact copy", "exact copies")]
    parts.append(f"{facts['unchanged']:,} unchanged")
    if facts["not_kept"]:
        parts.append(f"{sum(facts['not_kept'].values()):,} not kept ({by_count(facts['not_kept'])})")
    return ", ".join(parts)


def _hosts_of(facts: dict[str, Any]) -> str:
    more = facts["hosts_named"]
    verb = "was" if more == 1 else "were"
    return plural(facts["hosts_known"], "host") + (f" ({more:,} more {verb} named)" if more else "")


def _aside_lines(aside: dict[str, int]) -> list[str]:
    """Which settings keep URLs out, those that keep most first."""
    if not aside:
        return []
    lines = [f"left out    {plural(sum(aside.values()), 'URL')}, which can be let in by other settings:"]
    return lines + [f"            {count:,}  {reasons.in_words(reason)}" for reason, count in aside.items()]


def _source_lines(facts: dict[str, Any]) -> list[str]:
    return [
        f"{kind:<11} {one['known']:,} known, {one['read']:,} read; visits: {_family(one['visits'])}"
        for kind in ("sitemaps", "feeds")
        if (one := facts[kind])["known"]
    ] + _push_lines(facts["pushes"])


def _push_lines(pushes: dict[str, Any]) -> list[str]:
    """What WebSub hubs do, if one was ever asked or somebody called."""
    held, requests = pushes["subscriptions"], pushes["requests"]
    if not held and not requests:
        return []
    return [f"pushes      {plural(held, 'subscription')}; requests: {_family(requests)}"]


def _unreachable_lines(unreachable: dict[str, Any], what: str, reason: str) -> list[str]:
    """Which origins cannot be asked for pages, why, since when, and until when."""
    count = unreachable["origins"]
    if not count:
        return []
    lines = [f"            {what} {plural(count, 'origin')}, whose URLs wait:"]
    for one in unreachable["first"][:_UNREACHABLE_SHOWN]:
        why = f"{one['reason']}: {one['detail']}" if one["detail"] else one["reason"]
        next_try = f"next try {moment(one['next_try_at'])}" if one["next_try_at"] else "it counts as missing by now"
        lines.append(f"            {one['origin']}  {why}, since {moment(one['since'])}, {next_try}")
    if count > _UNREACHABLE_SHOWN:
        lines.append(f"            … and {count - _UNREACHABLE_SHOWN:,} more (`pycrawl list --reason {reason}`)")
    return lines


def _mirrors(mirrors: list[dict[str, Any]]) -> str:
    shown = [f"{one['host']} of {one['original']}" for one in mirrors[:_MOST_MIRRORS]]
    if len(mirrors) > _MOST_MIRRORS:
        shown.append(f"{len(mirrors) - _MOST_MIRRORS:,} more")
    return ", ".join(shown) or "none"


def _trap_lines(facts: dict[str, Any]) -> list[str]:
    lines = [f"soft 404    {plural(facts['soft_404'], 'page')}"] if facts["soft_404"] else []
    stopped = [trap for trap in facts["traps"] if trap["stopped"]]
    return lines + [f"trap        {trap['host']}{trap['kind']}  {trap['reason']}" for trap in stopped]


def _document_lines(facts: dict[str, Any]) -> list[str]:
    """What was stored and could not be read, when it came."""
    lines = []
    if facts["unread"]:
        hint = "" if DOCUMENT_TYPES.isdisjoint(facts["unread"]) else f"; {INSTALL} reads some"
        lines.append(f"unread      no parser for {_family(facts['unread'])}{hint}")
    if facts["unconverted"]:
        lines.append(f"documents   not read, or not to the end: {_family(facts['unconverted'])} (docs/documents.md)")
    return lines


def _top(members: dict[str, int]) -> str:
    """Returns the first members of a family that is in order, and how many more there are."""
    shown = _family(dict(list(members.items())[:_MOST_LANGUAGES]))
    return shown + (f" and {len(members) - _MOST_LANGUAGES:,} more" if len(members) > _MOST_LANGUAGES else "")


def _family(members: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in members.items()) or "none"
