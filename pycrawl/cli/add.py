"""`pycrawl add`: adds seeds to a crawl, also while it runs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
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
    from pycrawl.model import Kind


@click.command("add")
@directory_option
@click.argument("urls", metavar="[URL]...", nargs=-1)
@click.option(
    "--file", "files", metavar="FILE", multiple=True, type=click.File(encoding="utf-8"),
    help="A file with one URL on each line; - is standard input. A # behind a space starts a comment.",
)  # fmt: skip
@click.option(
    "--sitemap", "sitemaps", metavar="URL", multiple=True,
    help="A sitemap: the pages it lists are crawled, and it is read again as often as it changes. A host alone:"
    " its /sitemap.xml.",
)  # fmt: skip
@click.option(
    "--feed", "feeds", metavar="URL", multiple=True,
    help="A feed (RSS, Atom, JSON Feed): likewise; its new entries are fetched first.",
)  # fmt: skip
@click.option("--again", is_flag=True, help="Take URLs back that `pycrawl forget` removed.")
def command(
    path: Path,
    urls: tuple[str, ...],
    files: tuple[TextIO, ...],
    sitemaps: tuple[str, ...],
    feeds: tuple[str, ...],
    again: bool,
) -> None:
    """Add seeds to a crawl, also while it runs.

    A crawl that is running reads the new seeds within a few seconds. A URL that the crawl knows already is not changed.
    One that `pycrawl forget` removed is refused; --again takes it back, unless a crawl is running.

    \b
      pycrawl add https://example.com/ example.org
      pycrawl add --file urls.txt
      pycrawl add --sitemap example.com --feed https://example.com/news.atom
    """
    from pycrawl.crawl.seeding import Seeded
    from pycrawl.crawl.session import Session
    from pycrawl.model import Kind

    if not urls and not files and not sitemaps and not feeds:
        raise UsageError("nothing to add: give URLs, a file with --file, a --sitemap or a --feed")
    directory = crawl_directory(path)
    config = directory.config()
    if again:
        if sitemaps or feeds:
            raise UsageError("--again takes URLs back as pages: give sitemaps and feeds in a call of their own")
        _add_again(directory, config, list(lines_of(urls, files)))
        return
    seeds = {
        kind: lines
        for kind, lines in (
            (Kind.PAGE, lines_of(urls, files) if urls or files else None),
            (Kind.SITEMAP, lines_of(sitemaps, ()) if sitemaps else None),
            (Kind.FEED, lines_of(feeds, ()) if feeds else None),
        )
        if lines is not None
    }
    try:
        with directory.hold(), Session(directory, config) as session:
            say_what_is_aside(session.aside)
            total = Seeded()
            for kind, lines in seeds.items():
                total.add(seed(session, lines, kind))
        report(total)
    except DirectoryHeld as held:
        _leave(directory, config, seeds, str(held))


def _leave(directory: CrawlDirectory, config: Config, lines_by_kind: dict[Kind, Iterator[str]], held: str) -> None:
    """Hands seeds to the crawl that is running; `held` says which one that is."""
    from pycrawl.crawl.seeding import Seeded, read_seeds

    refused = Seeded()
    count = 0
    for kind, lines in lines_by_kind.items():
        seeds = _wanted(directory, read_seeds(lines, config, refused), refused)
        if seeds:
            directory.leave_in_inbox(seeds, kind)
            count += len(seeds)
    if not count:
        report(refused)
    report_refused(refused)
    output.say(f"{held}; it will add {plural(count, 'URL')} within a few seconds.")


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
