"""`pycrawl get`: a stored document."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

import click

from pycrawl.cli.common import crawl_directory, directory_option, open_for_reading
from pycrawl.errors import PycrawlError, UsageError


def _time(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Seconds since the epoch, or ISO 8601; without a zone it is local time."""
    if value is None:
        return None
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(value).timestamp()
    except ValueError:
        raise click.BadParameter(
            f"expected a time such as 2026-03-01, 2026-03-01T12:30 or seconds since 1970, found {value!r}"
        ) from None


@click.command("get")
@directory_option
@click.argument("url")
@click.option("--headers", "with_headers", is_flag=True, help="Print the status line and headers before the body.")
@click.option(
    "--at", metavar="TIME", callback=_time, help="As it was at this time (2026-03-01T12:30); without: the newest."
)
def command(path: Path, url: str, with_headers: bool, at: float | None) -> None:
    """Write the stored document of URL to standard output, byte for byte as it was served.

    \b
      pycrawl get https://example.com/ > page.html
    """
    from pycrawl import trecweb
    from pycrawl.state import meta
    from pycrawl.state.documents import file_name, newest_document
    from pycrawl.store.reader import RecordReader
    from pycrawl.urls import UrlRules, from_user, url_hash

    directory = crawl_directory(path)
    normal = from_user(url, UrlRules.of(directory.config()))
    if normal is None:
        raise UsageError(f"{url}: not an http or https URL")
    database = open_for_reading(directory)
    with database.explained():
        document = newest_document(database, url_hash(normal, meta.hash_seed(database)), at)
        if document is None:
            when = " from before that time" if at is not None else ""
            raise PycrawlError(f"{normal}: no document{when}. `pycrawl why` tells what is known of it.")
        name = file_name(database, document.file_id)
    with RecordReader(directory.docs) as reader:
        record = trecweb.decode(
            reader.read(name, document.offset, document.length), document.escapes, document.body_length
        )
    output = sys.stdout.buffer
    if with_headers:
        output.write(record.status_line + b"\r\n")
        for header, value in record.headers:
            output.write(header + b": " + value + b"\r\n")
        output.write(b"\r\n")
    output.write(record.body)
    output.flush()
