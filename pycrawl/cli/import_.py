"""`pycrawl import`: takes pages from archives into a crawl."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pycrawl.cli import output
from pycrawl.cli.common import crawl_directory, directory_option, duration, json_option, plural
from pycrawl.errors import PycrawlError

if TYPE_CHECKING:
    from pycrawl.crawl.importing import Imported

_MOST_FAULTS = 20  # that are named
_SHOW_SECONDS = 0.5


@click.command("import")
@directory_option
@json_option
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
def command(path: Path, as_json: bool, files: tuple[Path, ...]) -> None:
    """Take pages from WARC and TREC Web files into the collection.

    Files may be compressed with gzip. Each page goes the way of a fetched one: it is parsed, compared with what is
    stored, and its links are queued; the settings of scope and content types hold for it. Its URL counts as a seed that
    was visited when the archive says. A page that is stored already adds nothing, so an import can be repeated, and one
    that was cut short goes on.

    \b
      pycrawl init my-crawl && pycrawl import -C my-crawl pages.warc.gz
    """
    from pycrawl.crawl.importing import Imported, import_file
    from pycrawl.crawl.session import Session

    directory = crawl_directory(path)
    config = directory.config()
    done = Imported()
    begun = time.monotonic()
    with directory.hold():
        directory.make_folders()
        with Session(directory, config) as session:
            try:
                for file in files:
                    import_file(session, file, done, _progress(begun))
            finally:
                if output.shows_progress():
                    output.clear_progress()
            session.commit_last(time.time())
    if as_json:
        output.say_json(_as_json(done))
    else:
        output.say(*_lines(done, time.monotonic() - begun))
    for fault in done.faults[:_MOST_FAULTS]:
        output.complain(f"pycrawl: {fault}")
    if done.faults:
        raise PycrawlError(f"{plural(len(done.faults), 'fault')} in these files; all that could be read was taken in")


def _lines(done: Imported, seconds: float) -> list[str]:
    lines = [
        f"{plural(done.records, 'record')} in {duration(seconds)}: {plural(done.stored, 'page')} stored,"
        f" {plural(done.copies, 'exact copy', 'exact copies')}, {plural(done.redirects, 'redirect')}."
    ]
    if done.skipped:
        lines.append(f"{done.skipped.total():,} skipped:")
        lines += [f"  {count:,}  {why}" for why, count in done.skipped.most_common()]
    return lines


def _as_json(done: Imported) -> dict[str, object]:
    return {
        "records": done.records,
        "stored": done.stored,
        "copies": done.copies,
        "redirects": done.redirects,
        "skipped": dict(done.skipped),
        "faults": done.faults,
    }


def _progress(begun: float) -> Callable[[Imported], None]:
    shown = [begun]

    def show(done: Imported) -> None:
        now = time.monotonic()
        if output.shows_progress() and now - shown[0] >= _SHOW_SECONDS:
            shown[0] = now
            output.show_progress(f"{done.records:,} records, {done.records / (now - begun):,.0f}/s")

    return show
