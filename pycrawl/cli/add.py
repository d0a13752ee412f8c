"""`pycrawl add`: adds seeds to a crawl, also while it runs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from pycrawl.cli.common import crawl_directory, directory_option, open_for_reading, plural
from pycrawl.cli.seeding import NONE_USABLE, lines_of, report, report_refused, seed
from pycrawl.errors import DirectoryHeld, UsageError

if TYPE_CHECKING:
    from pycrawl.config import Config
    from pycrawl.crawl.directory import CrawlDirectory


@click.command("add")
@directory_option
@click.argument("urls", metavar="[URL]...", nargs=-1)
@click.option(
    "--file", "files", metavar="FILE", multiple=True, type=click.File(encoding="utf-8"),
    help="A file with one URL on each line; - is standard input. Empty lines and lines that start with # are skipped.",
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
        lines = [line.strip() for line in lines_of(urls, files)]
        seeds = [line for line in lines if line and not line.startswith("#")]
        seeds = _wanted(directory, config, seeds)
        directory.leave_in_inbox(seeds)
        click.echo(f"{held}; it will add {plural(len(seeds), 'URL')} within a few seconds.")


def _wanted(directory: CrawlDirectory, config: Config, seeds: list[str]) -> list[str]:
    """Returns the seeds that were not forgotten, and says which were; raises UsageError if all were."""
    from pycrawl.crawl.seeding import Seeded
    from pycrawl.state import meta
    from pycrawl.state.unwanted import Unwanted
    from pycrawl.urls.normal_form import UrlRules, from_user
    from pycrawl.urls.reasons import Reason

    database = open_for_reading(directory)
    with database.explained():
        unwanted = Unwanted(database, meta.hash_seed(database))
    database.close()
    refused = Seeded()
    wanted = []
    for text in seeds:
        url = from_user(text, UrlRules.of(config))
        if url is not None and unwanted.is_unwanted(url):
            refused.refuse(text, Reason.FORGOTTEN)
        else:
            wanted.append(text)
    report_refused(refused)
    if not wanted:
        raise UsageError(NONE_USABLE)
    return wanted


def _add_again(directory: CrawlDirectory, config: Config, lines: list[str]) -> None:
    """Takes back what was forgotten, and adds the rest as seeds."""
    from pycrawl.crawl.forgetting import take_back
    from pycrawl.crawl.session import Session

    with directory.hold():
        taken = take_back(directory, config, lines, time.time())
        click.echo(f"{plural(taken, 'forgotten URL')} taken back.")
        with Session(directory, config) as session:
            report(seed(session, iter(lines)))
