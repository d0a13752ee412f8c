"""What `init` and `add` share: reads seeds from arguments and files, enters them, and says what became of them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, TextIO

import click

from pycrawl.cli.common import plural
from pycrawl.cli.reasons import in_words
from pycrawl.errors import UsageError
from pycrawl.urls.reasons import Reason

if TYPE_CHECKING:
    from pycrawl.crawl.seeding import Seeded
    from pycrawl.crawl.session import Session

NONE_USABLE = "none of these URLs can be crawled"
_BATCH = 100_000  # lines that are entered and committed together


def lines_of(urls: Iterable[str], files: Iterable[TextIO]) -> Iterator[str]:
    """Yields the URLs, then the lines of the files, as they stand there."""
    yield from urls
    for file in files:
        try:
            yield from file
        except (UnicodeDecodeError, OSError) as error:
            raise UsageError(f"{file.name}: cannot be read as text: {error}") from None


def seed(session: Session, lines: Iterator[str]) -> Seeded:
    """Enters all lines, and commits after each batch; returns how many were new, known and refused."""
    from pycrawl.crawl.seeding import Seeded, add_seeds

    total = Seeded()
    begun = time.monotonic()
    show = sys.stderr.isatty()
    while batch := list(islice(lines, _BATCH)):
        total.add(add_seeds(session, batch, time.time()))
        session.commit(time.time())
        if show and len(batch) == _BATCH:
            done = total.new + total.known + total.refused.total()
            click.echo(f"\r{done:,} lines, {done / (time.monotonic() - begun):,.0f}/s", nl=False, err=True)
    session.commit_last(time.time())
    if show and time.monotonic() - begun > 1:
        click.echo("\r" + " " * 60 + "\r", nl=False, err=True)
    return total


def report(total: Seeded) -> None:
    """Prints what became of the seeds; raises UsageError if not one of them can be used."""
    report_refused(total)
    known = f", {total.known:,} known already" if total.known else ""
    click.echo(f"{plural(total.new, 'new URL')}{known}.")
    if total.refused and not total.new and not total.known:
        raise UsageError(NONE_USABLE)


def report_refused(total: Seeded) -> None:
    """Prints which seeds cannot be used, and why."""
    for line, reason in total.examples:
        click.echo(f"pycrawl: not added: {line} ({in_words(reason)})", err=True)
    hidden = total.refused.total() + total.aside.total() - len(total.examples)
    if hidden > 0:
        click.echo(f"pycrawl: … and {plural(hidden, 'more line')}", err=True)
    if total.refused[Reason.FORGOTTEN]:
        click.echo("pycrawl: `pycrawl add --again URL` takes back what was forgotten", err=True)
