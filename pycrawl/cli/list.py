"""`pycrawl list`: shows the URLs that a crawl knows, with where each stands and why."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pycrawl.cli import output
from pycrawl.cli.common import WholeNumber, crawl_directory, directory_option, moment, open_for_reading, parse_moment
from pycrawl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.state.database import Database
    from pycrawl.state.ledger import Filter, Standing

_STATES = ("queued", "done", "aside", "failed", "gone")
_STATE_WIDTH = 6  # characters
_REASON_WIDTH = 19  # characters; a longer one pushes its URL to the right


def check_reason(reason: str) -> None:
    """Raises UsageError, which lists all reasons, if there is none of this name."""
    from pycrawl.state.ledger import all_reasons

    if reason and reason not in all_reasons():
        raise UsageError(f"--reason: expected one of {', '.join(all_reasons())}; found {reason!r}")


@click.command("list")
@directory_option
@click.option("--state", type=click.Choice(_STATES), help="Only URLs that stand there.")
@click.option("--reason", metavar="R", default="", help="Only URLs that stand there for this reason.")
@click.option("--host", metavar="H", help='Only URLs of this host; "*.example.com" means all hosts of a domain.')
@click.option(
    "--changed-since", metavar="TIME", callback=parse_moment,
    help="Only pages that are new, changed or gone since then (2026-03-01T18:00, or 12h: in the last 12 hours).",
)  # fmt: skip
@click.option("--language", metavar="L", help='Only URLs whose newest document is in it: "pt" means "pt-BR" too.')
@click.option(
    "--due", is_flag=True,
    help="Only URLs that may be asked for now: queued ones, and visited ones that a recrawl chooses from.",
)  # fmt: skip
@click.option("--limit", metavar="N", type=WholeNumber(min=1), help="Stop after N URLs.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object on each line, for programs.")
def command(
    path: Path,
    state: str | None,
    reason: str,
    host: str | None,
    changed_since: float | None,
    language: str | None,
    due: bool,
    limit: int | None,
    as_json: bool,
) -> None:
    """List the URLs that a crawl knows: where each stands, and why.

    One line for each URL, in the order of discovery: its state, the reason, the URL, and what else is known. States:
    queued (to be asked for), done (its last visit ended well, or an older version is stored), aside (kept out by a
    setting, by robots.txt, or by what it answered), failed (nothing was ever stored), gone (it was stored, and answers
    404 or 410 now).

    \b
      pycrawl list --state failed
      pycrawl list --state aside --reason host-denied | head
      pycrawl list --changed-since 12h
    """
    from pycrawl.collection.hosts_named import host_ids
    from pycrawl.state.ledger import Filter
    from pycrawl.urls.language_tags import wanted_tag

    check_reason(reason)
    directory = crawl_directory(path)
    database = open_for_reading(directory)
    now = time.time()
    with database.explained(), database.snapshot():
        wanted = Filter(
            state or "",
            reason,
            host_ids(database, host) if host else None,
            changed_since=changed_since,
            language="" if language is None else wanted_tag(language),
        )
        output.write_lines(
            _as_json(one, change) if as_json else _line(one, change, now)
            for one in _found(directory, database, wanted, now, limit or -1, only_due=due)
            for change in (change_of(database, one, changed_since) if changed_since is not None else "",)
        )


def _found(
    directory: CrawlDirectory, database: Database, wanted: Filter, now: float, most: int, only_due: bool
) -> Iterator[Standing]:
    if not only_due:
        from pycrawl.state.ledger import standings

        return standings(database, wanted, most)
    from pycrawl.collection.due import due

    return due(database, directory.config().recrawl.min_interval, wanted, now, most)


def change_of(database: Database, one: Standing, since: float) -> str:
    """Returns what has happened to a page since then: "gone", "changed", or "new" if nothing was stored before."""
    from pycrawl.state.documents import is_older_stored

    if one.state == "gone":
        return "gone"
    return "changed" if is_older_stored(database, one.document_id or 0, since) else "new"


def _line(one: Standing, change: str, now: float) -> str:
    note = _note(one, now)
    start = f"{one.state:<{_STATE_WIDTH}}  {change or one.reason:<{_REASON_WIDTH}}  {one.url}"
    return output.line(f"{start}  {note}" if note else start)


def _note(one: Standing, now: float) -> str:
    """Returns what else is known: when a queued URL is next, or what its last visit was answered."""
    if one.state == "queued":
        return f"not before {moment(one.host_ready_at)}" if one.host_ready_at > now else ""
    if one.outcome is None:
        return ""
    return " ".join(part for part in (str(one.status or ""), one.detail or "") if part)


def _as_json(one: Standing, change: str) -> str:
    facts: dict[str, Any] = {
        "url": one.url,
        "state": one.state,
        "reason": one.reason,
        "setting": one.setting or None,
        "host": one.host,
        "depth": one.depth,
        "found_at": one.found_at,
        "host_ready_at": one.host_ready_at,
        "outcome": one.outcome,
        "status": one.status,
        "visited_at": one.visited_at,
        "since": one.since or None,
        "detail": one.detail,
        "stored": bool(one.document_id),
        "language": one.language or None,
    }
    if change:
        facts["change"] = change
    return output.json_line(facts)
