"""`pycrawl verify`: proves that a crawl's database and collection agree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pycrawl.cli import output
from pycrawl.cli.common import crawl_directory, directory_option, json_option, plural
from pycrawl.errors import PycrawlError

if TYPE_CHECKING:
    from pycrawl.collection.verify import Check

_SHOW_EVERY = 1_000  # records read


@click.command("verify")
@directory_option
@json_option
def command(path: Path, as_json: bool) -> None:
    """Prove that database and collection agree, by reading everything.

    No document may be missing, cut or stored twice. It changes nothing, and may run while a crawl runs.
    """
    from pycrawl.collection.verify import verify

    on_terminal = output.shows_progress()

    def on_record(count: int) -> None:
        if on_terminal and count % _SHOW_EVERY == 0:
            output.show_progress(f"{count:,} records read")

    checks = []
    for check in verify(crawl_directory(path), on_record):
        checks.append(check)
        if not as_json:
            _show(check)
    faults = sum(len(check.faults) for check in checks)
    if as_json:
        facts = [{"check": check.name, "examined": check.examined, "faults": check.faults} for check in checks]
        output.say_json({"ok": not faults, "checks": facts})
    elif not faults:
        output.say("All is well.")
    if faults:
        raise PycrawlError(f"{path}: {plural(faults, 'fault')} found")


def _show(check: Check) -> None:
    output.say(f"{'ok   ' if not check.faults else 'FAULT'} {check.name} ({check.examined:,} examined)")
    for fault in check.faults:
        output.say(f"        {fault}")
