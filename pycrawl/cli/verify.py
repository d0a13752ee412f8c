"""`pycrawl verify`: proves that a crawl's database and collection agree, and repairs what is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pycrawl.cli import output
from pycrawl.cli.common import (
    crawl_directory,
    directory_option,
    json_option,
    moment,
    plural,
    say_what_is_aside,
    step_progress,
)
from pycrawl.errors import PycrawlError

if TYPE_CHECKING:
    from pycrawl.collection.verify import Check
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.crawl.repairing import Lost, Repaired

_SHOW_EVERY = 1_000  # records read
_MOST_LISTED = 20  # lost documents


@click.command("verify")
@directory_option
@click.option("--deep", is_flag=True, help="Read every record and every table, and compare each body with its digest.")
@click.option(
    "--repair", "is_repair", is_flag=True, help="Remove documents that cannot be read, to be fetched by the next crawl."
)
@json_option
def command(path: Path, deep: bool, is_repair: bool, as_json: bool) -> None:
    """Prove that database and collection agree.

    By default lengths and numbers are compared, which takes seconds. With --deep everything is read: no document may be
    missing, cut, changed or stored twice. Both change nothing, and may run while a crawl runs.

    With --repair every record is read. Documents whose records are damaged or missing are named and removed, and their
    pages are queued: the next `pycrawl crawl` fetches them again. Older versions that are lost cannot be fetched again.
    If it is cut short, nothing else is lost, and the next `pycrawl verify --repair` or `pycrawl crawl` carries it on.

    \b
      pycrawl verify --deep
      pycrawl verify --repair && pycrawl crawl
    """
    from pycrawl.collection.verify import MOST_FAULTS, verify

    directory = crawl_directory(path)
    lost, repaired = _repair(directory, as_json) if is_repair else ([], None)
    checks = []
    with step_progress() as on_step:
        for check in verify(directory, _counted(on_step), deep):
            checks.append(check)
            if not as_json:
                _show(check)
    faults = sum(len(check.faults) for check in checks)
    if as_json:
        facts = [{"check": check.name, "examined": check.examined, "faults": check.faults} for check in checks]
        output.say_json({"ok": not faults, "checks": facts, **_repaired_as_json(lost, repaired)})
    elif not faults:
        output.say("All is well." if deep or is_repair else "All is well, as far as lengths and numbers tell (--deep).")
    if faults:
        is_cut = any(len(check.faults) >= MOST_FAULTS for check in checks)
        raise PycrawlError(f"{path}: {'at least ' if is_cut else ''}{plural(faults, 'fault')} found")


def _counted(on_step: Callable[[str], None]) -> Callable[[int], None]:
    """Returns the function that shows how many records were read."""

    def on_record(count: int) -> None:
        if count % _SHOW_EVERY == 0:
            on_step(f"{count:,} records read")

    return on_record


def _show(check: Check) -> None:
    output.say(f"{'ok   ' if not check.faults else 'FAULT'} {check.name} ({check.examined:,} examined)")
    for fault in check.faults:
        output.say(f"        {fault}")


def _repair(directory: CrawlDirectory, as_json: bool) -> tuple[list[Lost], Repaired | None]:
    """Removes lost documents. Returns them, and what became of their URLs."""
    from pycrawl.crawl.forgetting import carry_on
    from pycrawl.crawl.opening import open_state
    from pycrawl.crawl.repairing import lost_documents, repair

    config = directory.config()
    with directory.hold():
        database, aside = open_state(directory)
        say_what_is_aside(aside)
        try:
            with step_progress() as on_step, database.explained():
                carry_on(directory, database, config, on_step)
                lost = list(lost_documents(directory, database, _counted(on_step)))
            if not as_json:
                _list(lost)
            with step_progress() as on_step:
                repaired = repair(directory, database, config, lost, on_step) if lost else None
        finally:
            database.close()
    if repaired and not as_json:
        output.say(f"{plural(repaired.queued, 'page')} queued: the next `pycrawl crawl` fetches what was lost.")
        if repaired.aside:
            output.say(f"{plural(repaired.aside, 'page')} not queued, as the settings keep them out now.")
    return lost, repaired


def _list(lost: list[Lost]) -> None:
    output.say(f"{plural(len(lost), 'document')} lost" + (":" if lost else "."))
    for one in lost[:_MOST_LISTED]:
        output.say(f"  {one.url}  ({moment(one.fetched_at)})", f"      {one.reason}")
    if len(lost) > _MOST_LISTED:
        output.say(f"  … and {len(lost) - _MOST_LISTED:,} more (--json has all)")


def _repaired_as_json(lost: list[Lost], repaired: Repaired | None) -> dict[str, Any]:
    listed = [{"url": one.url, "time": one.fetched_at, "reason": one.reason} for one in lost]
    queued = {"queued": repaired.queued, "aside": repaired.aside} if repaired else {}
    return {"lost": listed, **queued} if repaired or lost else {}
