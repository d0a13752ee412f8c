"""`pycrawl report`: one page that shows what a crawl has collected."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path

import click

from pycrawl.cli import output
from pycrawl.cli.common import crawl_directory, directory_option, json_option, plural, size, step_progress
from pycrawl.errors import PycrawlError, StoppedByLimit, UsageError

_MARK_WITHIN = 2_000  # bytes from the start of a report, in which its mark stands


@click.command("report")
@directory_option
@click.option("-o", "--output", "target", metavar="FILE", type=click.Path(path_type=Path), help="The page to write.")
@click.option(
    "--sample",
    metavar="N",
    type=click.IntRange(0),
    default=2_000,
    show_default=True,
    help="Documents that are read for languages and rights signals, evenly over the collection.",
)
@json_option
def command(path: Path, target: Path | None, sample: int, as_json: bool) -> None:
    """Make a report of the crawl: one self-contained page of HTML.

    It shows pages over time, hosts, status, depth, types, encodings, languages, changes, duplicates, what failed or was
    turned away and why, politeness as audited, rights signals, settings (without secrets) and versions of the software.
    It needs no network, prints well, and follows the reader's choice of dark or light. --json prints the figures.

    An older report is replaced, any other file is not. It works while a crawl runs.

    \b
      pycrawl report -o report.html
    """
    from pycrawl.collection.collection import Collection
    from pycrawl.collection.report.figures import collect
    from pycrawl.collection.report.page import page

    if target is None and not as_json:
        raise UsageError("nowhere to write to: give -o FILE, or --json")
    if target is not None:
        _check(target)
    with Collection(crawl_directory(path).path) as collection, step_progress() as on_step:
        found = collect(collection, sample, on_step)
    if target is not None:
        written = page(found)
        _write(target, written)
        if not as_json:
            documents = found["time"]["documents"] if found["time"] else 0
            output.say(f"{target}: {size(len(written.encode()))}, about {plural(documents, 'document')}.")
    if as_json:
        output.say_json(found)


def _check(target: Path) -> None:
    """Raises UsageError if the report cannot be written there."""
    from pycrawl.collection.report.page import MARK

    try:
        if target.is_dir():
            raise UsageError(f"{target}: expected the name of a file, found a folder")
        if not target.parent.is_dir():
            raise UsageError(f"{target}: there is no folder {target.parent}")
        if target.exists():
            with target.open("rb") as file:
                if MARK.encode() not in file.read(_MARK_WITHIN):
                    raise UsageError(f"{target}: exists, and is no report of pycrawl; it is not overwritten")
    except OSError as error:
        raise UsageError(f"{target}: {error.strerror}") from None


def _write(target: Path, written: str) -> None:
    """Writes the whole report under a name of its own first, so that no half of one is ever there."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        if temporary:
            with suppress(OSError):
                os.unlink(temporary)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StoppedByLimit(f"{target}: the disk is full; nothing was written") from None
        raise PycrawlError(f"{target}: {error.strerror}") from None
