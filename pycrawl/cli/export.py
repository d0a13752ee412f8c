"""`pycrawl export`: writes documents into files for other tools."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pycrawl.cli import output
from pycrawl.cli.common import WholeNumber, directory_option, duration, parse_moment, plural
from pycrawl.errors import PycrawlError

if TYPE_CHECKING:
    from pycrawl.collection.collection import Collection

_MOST_FAULTS = 20  # that are named
_SHOW_SECONDS = 0.5  # between two changes of the line that shows progress


def _parse_size(ctx: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    from pycrawl.config import parse_size

    if value is None:
        return None
    try:
        size = int(parse_size(value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    if size < 1:
        raise click.BadParameter("expected a size such as 1GB, found none")
    return size


@click.command("export")
@directory_option
@click.option(
    "--format",
    "format_",
    metavar="FORMAT",
    required=True,
    help="trec, warc, jsonl, parquet, links (a table of all links), or that of a plugin (pycrawl.exports).",
)
@click.option("-o", "target", metavar="PATH", required=True, help="The file to write; - is standard output.")
@click.option("--host", metavar="HOST", help='Only this host, or "*.example.com" for a domain and all below it.')
@click.option("--since", metavar="TIME", callback=parse_moment, help="Only what was fetched at this time or later.")
@click.option("--until", metavar="TIME", callback=parse_moment, help="Only what was fetched before this time.")
@click.option("--status", metavar="N", help='Only this HTTP status: 200, or "2xx".')
@click.option("--language", metavar="LANG", help='Only documents in this language: "pt" means "pt-BR" too.')
@click.option("--newest", is_flag=True, help="Only the newest version of each URL.")
@click.option(
    "--dedup",
    type=click.Choice(["exact", "near"]),
    help="Only one of each cluster of exact copies, or of those and near-duplicates.",
)
@click.option(
    "--keep",
    type=click.Choice(["oldest", "best"]),
    help="Which one --dedup keeps: the oldest (default), or the one with the longest text and the most in-links.",
)
@click.option(
    "--order", type=click.Choice(["crawl", "host", "time"]), default="crawl", help="In which order; default: crawl."
)
@click.option("--utf8", is_flag=True, help="trec: convert bodies to UTF-8, and declare them so.")
@click.option("--dochdr", type=click.Choice(["wt10g", "gov2"]), help="trec: the form of a record's first header line.")
@click.option("--cdxj", is_flag=True, help="warc: also write an index, PATH with .cdxj.")
@click.option(
    "--fields", metavar="NAMES", help="jsonl, parquet: the fields, with commas between them (docs/fields.md)."
)
@click.option(
    "--compress",
    type=click.Choice(["none", "gzip", "zstd"]),
    help="Default: what the end of PATH says (.gz, .zst); warc: gzip.",
)
@click.option(
    "--split", metavar="SIZE", callback=_parse_size, help="Write files of about this size: PATH-00001 … (1GB, 100MB)."
)
@click.option("--workers", metavar="N", type=WholeNumber(1, 64), help="Number of processes; default: one a core.")
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
def command(path: Path, format_: str, target: str, **options: Any) -> None:
    """Write the collection, or a part of it, into a file for other tools.

    It works while a crawl runs. The file appears under its name when it is whole. Without filters all documents are
    written: every version of every URL, copies included. A document that cannot be read is named and left out, and the
    exit code is 1.

    \b
      pycrawl export --format trec --dedup near --newest -o pages.trec.gz
      pycrawl export --format warc --cdxj --split 1GB -o pages.warc.gz
      pycrawl export --format jsonl --fields url,title,content -o - | head
    """
    from pycrawl.collection.collection import Collection

    if options["keep"] and not options["dedup"]:
        raise click.UsageError("--keep says which one of a cluster --dedup keeps, and there is no --dedup")
    with Collection(path) as collection:
        _export(collection, format_, target, options)


def _export(collection: Collection, format_: str, path: str, options: dict[str, Any]) -> None:
    fields = options.pop("fields")
    split_fields = [name.strip() for name in fields.split(",")] if fields is not None else None
    faults: list[str] = []
    begun = time.monotonic()
    progress = _progress(begun, len(collection) if output.shows_progress() else 0)
    try:
        done = collection.export(
            path,
            format_,
            fields=split_fields,
            overwrite=options.pop("force"),
            on_progress=progress,
            on_fault=_named(faults),
            **{name: value for name, value in options.items() if value is not None},
        )
    finally:
        if output.shows_progress():
            output.clear_progress()
    sys.stdout.flush()
    if path != "-":
        names = ", ".join(map(str, done.files[:3])) + (" …" if len(done.files) > 3 else "")
        output.say(f"{plural(done.documents, 'document')} in {duration(time.monotonic() - begun)}: {names}")
    if done.faults:
        hidden = done.faults - min(done.faults, _MOST_FAULTS)
        more = f" ({hidden:,} more than are named here)" if hidden else ""
        raise PycrawlError(
            f"{plural(done.faults, 'document')} left out, as they cannot be read{more};"
            " `pycrawl verify --deep` looks at all"
        )


def _named(faults: list[str]) -> Callable[[str], None]:
    """Says which documents cannot be read, the first few of them."""

    def on_fault(line: str) -> None:
        faults.append("")
        if len(faults) <= _MOST_FAULTS:
            output.complain(f"pycrawl: left out: {line}")

    return on_fault


def _progress(begun: float, total: int) -> Callable[[int], None]:
    shown = [begun]

    def show(written: int) -> None:
        now = time.monotonic()
        if total and now - shown[0] >= _SHOW_SECONDS:
            shown[0] = now
            output.show_progress(f"{written:,} of {total:,} documents, {written / (now - begun):,.0f}/s")

    return show
