"""`pycrawl add`: more seeds, at any time."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import click

from pycrawl.cli.common import crawl_directory, directory_option, plural
from pycrawl.cli.seeding import lines_of, report, seed
from pycrawl.errors import DirectoryHeld, UsageError


@click.command("add")
@directory_option
@click.argument("urls", metavar="[URL]...", nargs=-1)
@click.option(
    "--file", "files", metavar="FILE", multiple=True, type=click.File(encoding="utf-8"),
    help="A file with one URL a line; - is standard input. Empty lines and those that start with # are passed over.",
)  # fmt: skip
def command(path: Path, urls: tuple[str, ...], files: tuple[TextIO, ...]) -> None:
    """Add seeds to a crawl.

    Works while a crawl runs: it takes them in within a second or two. A URL that is known already is left as it is.

    \b
      pycrawl add https://example.com/ example.org
      pycrawl add --file urls.txt
    """
    from pycrawl.crawl.session import Session

    if not urls and not files:
        raise UsageError("nothing to add: name URLs, or a file with --file")
    directory = crawl_directory(path)
    config = directory.config()
    try:
        with directory.hold(), Session(directory, config) as session:
            report(seed(session, lines_of(urls, files)))
    except DirectoryHeld as held:
        lines = [line.strip() for line in lines_of(urls, files)]
        directory.leave_in_inbox(lines)
        click.echo(f"{held}: it takes in {plural(len(lines), 'line')} within a few seconds.")
