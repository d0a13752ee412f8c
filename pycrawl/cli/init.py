"""`pycrawl init`: make a crawl's directory."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from pycrawl.cli.common import directory_option, plural
from pycrawl.cli.seeding import lines_of, report, seed
from pycrawl.errors import UsageError

if TYPE_CHECKING:
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.crawl.seeding import Seeded


@click.command("init")
@click.argument("target", metavar="[DIR]", required=False, type=click.Path(file_okay=False, path_type=Path))
@directory_option
@click.option("--seed", "seeds", metavar="URL", multiple=True, help="A URL to start from; may be given often.")
@click.option(
    "--seeds-file", "seed_files", metavar="FILE", multiple=True, type=click.File(encoding="utf-8"),
    help="A file with one URL a line; - is standard input.",
)  # fmt: skip
@click.option("--contact", metavar="TEXT", default="", help="A URL or mail address for the User-Agent.")
def command(
    target: Path | None, path: Path, seeds: tuple[str, ...], seed_files: tuple[TextIO, ...], contact: str
) -> None:
    """Make a crawl in DIR (by default the current directory): pycrawl.toml and state.db.

    An existing crawl is never overwritten.

    \b
      pycrawl init my-crawl --seed https://example.com/ --contact me@example.com
    """
    from pycrawl.config import toml_value
    from pycrawl.crawl.directory import CrawlDirectory

    directory = CrawlDirectory(target or path)
    for existing in (directory.state, directory.config_file):
        if existing.exists():
            raise UsageError(f"{existing}: exists already. `pycrawl add` adds seeds, `pycrawl crawl` goes on with it.")
    if any(directory.docs.glob("WTX*/B*")):
        raise UsageError(f"{directory.docs}: holds a collection whose state.db is gone. Move it away first.")
    _check_seeds(seeds)
    if not contact and sys.stdin.isatty():
        question = "A URL or mail address at which webmasters can reach you (empty: none)"
        contact = click.prompt(question, default="", show_default=False)
    changed = {"crawl.contact": toml_value(contact)} if contact else {}
    total = make(directory, changed, lines_of(seeds, seed_files))
    if total.refused and not total.new:  # a crawl without one usable seed is not what was asked for
        directory.state.unlink()
        directory.config_file.unlink()
        report(total)
    where = "" if directory.path == Path() else f" -C {directory.path}"
    if total.new:
        click.echo(f"Next: pycrawl crawl{where} --max-pages 1000    ({plural(total.new, 'seed')} to start from)")
    else:
        click.echo(f"Next: pycrawl add{where} URL    (there are no seeds yet), then: pycrawl crawl{where}")
    if total.refused:
        report(total)
    click.echo(f"Settings are in {directory.config_file}; each is explained there.")
    if not contact:
        click.echo("No contact is set: webmasters will not know whom to ask. Set crawl.contact there.", err=True)


def make(directory: CrawlDirectory, changed: dict[str, str], seeds: Iterator[str]) -> Seeded:
    """The crawl itself: its folders, pycrawl.toml with these keys changed, state.db with these seeds."""
    from pycrawl.config import example
    from pycrawl.crawl.session import Session
    from pycrawl.state import meta
    from pycrawl.state.database import Database

    try:
        for folder in (directory.path, directory.docs, directory.log):
            folder.mkdir(parents=True, exist_ok=True)
        directory.config_file.write_text(example(changed), "utf-8")
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be written: {error.strerror}") from None
    with directory.hold():
        database = Database.create(directory.state)
        meta.write_first(database, time.time())
        database.commit()
        database.close()
        with Session(directory, directory.config()) as session:
            return seed(session, seeds)


def _check_seeds(seeds: tuple[str, ...]) -> None:
    """A seed on the command line that is no URL is a slip: nothing is made."""
    from pycrawl.urls.normal_form import UrlRules, from_user

    for text in seeds:
        if from_user(text, UrlRules()) is None:
            raise UsageError(f"--seed {text!r}: not an http or https URL")
