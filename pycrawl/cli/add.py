"""`pycrawl add`: adds seeds to a crawl, also while it runs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from pycrawl.cli import output
from pycrawl.cli.common import crawl_directory, directory_option, open_for_reading, plural, say_what_is_aside
from pycrawl.cli.seeding import lines_of, report, report_refused, seed
from pycrawl.errors import DirectoryHeld, UsageError

if TYPE_CHECKING:
    from pycrawl.config import Config
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.crawl.seeding import Seeded


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
            say_what_is_aside(session.aside)
            report(seed(session, lines_of(urls, files)))
    except DirectoryHeld as held:
        refused = Seeded()
        seeds = _wanted(directory, read_seeds(lines_of(urls, files), config, refused), refused)
        if not seeds:
            report(refused)
        report_refused(refused)
        directory.leave_in_inbox(seeds)
        output.say(f"{held}; it will add {plural(len(seeds), 'URL')} within a few seconds.")


def _wanted(directory: CrawlDirectory, urls: Iterable[str], refused: Seeded) -> list[str]:
    """Returns the URLs that were not forgotten; those that were are refused in `refused`."""
    from pycrawl.state import meta
    from pycrawl.state.unwanted import Unwanted
    from pycrawl.urls.reasons import Reason

    database = open_for_reading(directory)
    with database.explained():
        unwanted = Unwanted(database, meta.hash_seed(database))
    database.close()
    wanted = []
    for url in urls:
        if unwanted.is_unwanted(url):
            refused.refuse(url, Reason.FORGOTTEN)
        else:
            wanted.append(url)
    return wanted


def _add_again(directory: CrawlDirectory, config: Config, lines: list[str]) -> None:
    """Takes back what was forgotten, and adds the rest as seeds."""
    from pycrawl.crawl.forgetting import take_back
    from pycrawl.crawl.seeding import Seeded, read_seeds
    from pycrawl.crawl.session import Session

    with directory.hold():
        taken = take_back(directory, config, read_seeds(lines, config, Seeded()), time.time())
        output.say(f"{plural(taken, 'forgotten URL')} taken back.")
        with Session(directory, config) as session:
            say_what_is_aside(session.aside)
            report(seed(session, iter(lines)))
