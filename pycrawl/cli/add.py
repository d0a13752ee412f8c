"""`pycrawl add`: adds seeds to a crawl, also while it runs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from pycrawl.cli.common import crawl_directory, directory_option, plural
from pycrawl.cli.seeding import lines_of, report, report_refused, seed
from pycrawl.errors import DirectoryHeld, UsageError

if TYPE_CHECKING:
    from pycrawl.config import Config
    from pycrawl.crawl.directory import CrawlDirectory


@click.command("add")
@directory_option
@click.argument("urls", metavar="[URL]...", nargs=-1)
@click.option(
    "--file", "files", metavar="FILE", multiple=True, type=click.File(encoding="utf-8"),
    help="A file with one URL on each line; - is standard input. A # behind a space starts a comment.",
)  # fmt: skip
@click.option("--again", is_flag=True, help="Take URLs back that `pycrawl forget` removed.")
def command(path: Path, urls: tuple[str, ...], files: tuple[TextIO, ...], again: bool) -> None:
    """Add seeds to a crawl, also while it runs.

    A crawl that is running reads the new seeds within a few seconds. A URL that the crawl knows already is not changed.
    One that `pycrawl forget` removed is refused; --again takes it back, unless a crawl is running.

    \b
      pycrawl add https://example.com/ example.org
      pycrawl add --file urls.txt
    """
    from pycrawl.crawl.seeding import Seeded, read_seeds
    from pycrawl.crawl.session import Session

    if not urls and not files:
        raise UsageError("nothing to add: give URLs, or a file with --file")
    directory = crawl_directory(path)
    config = directory.config()
    if again:
        _add_again(directory, config, list(lines_of(urls, files)))
        return
    try:
        with directory.hold(), Session(directory, config) as session:
            report(seed(session, lines_of(urls, files)))
    except DirectoryHeld as held:
        refused = Seeded()
        seeds = list(read_seeds(lines_of(urls, files), config, refused))
        if not seeds:
            report(refused)
        report_refused(refused)
        directory.leave_in_inbox(seeds)
        click.echo(f"{held}; it will add {plural(len(seeds), 'URL')} within a few seconds.")


def _add_again(directory: CrawlDirectory, config: Config, lines: list[str]) -> None:
    """Takes back what was forgotten, and adds the rest as seeds."""
    from pycrawl.crawl.forgetting import take_back
    from pycrawl.crawl.session import Session

    with directory.hold():
        taken = take_back(directory, config, lines, time.time())
        click.echo(f"{plural(taken, 'forgotten URL')} taken back.")
        with Session(directory, config) as session:
            report(seed(session, iter(lines)))
