"""What `init` and `add` share: reads seeds from arguments and files, enters them, and says what became of them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, TextIO

from pycrawl.cli import output
from pycrawl.cli.common import plural
from pycrawl.cli.reasons import in_words
from pycrawl.errors import UsageError
from pycrawl.urls.reasons import Reason

if TYPE_CHECKING:
    from pycrawl.crawl.seeding import Seeded
    from pycrawl.crawl.session import Session
    from pycrawl.model import Kind

_BATCH = 100_000  # lines that are entered and committed together


def lines_of(urls: Iterable[str], files: Iterable[TextIO]) -> Iterator[str]:
    """Yields the URLs, then the lines of the files, as they stand there.

    An empty URL, as from a shell's variable that is not set, becomes a line that is no URL: it is a mistake to show.
    """
    yield from (url.strip() or "<empty>" for url in urls)
    for file in files:
        try:
            yield from file
        except (UnicodeDecodeError, OSError) as error:
            raise UsageError(f"{file.name}: cannot be read as text: {error}") from None


def seed(session: Session, lines: Iterator[str], kind: Kind | None = None) -> Seeded:
    """Enters all lines, as pages unless `kind` says that they are sitemaps or feeds, and commits after each batch;
    returns how many were new, known and refused."""
    from pycrawl.crawl.seeding import Seeded, add_seeds
    from pycrawl.model import Kind

    total = Seeded()
    begun = time.monotonic()
    show = output.shows_progress()
    while batch := list(islice(lines, _BATCH)):
        total.add(add_seeds(session, batch, time.time(), kind or Kind.PAGE))
        session.commit(time.time())
        if show and len(batch) == _BATCH:
            done = total.new + total.known + total.refused.total()
            output.show_progress(f"{done:,} lines, {done / (time.monotonic() - begun):,.0f}/s")
    session.commit_last(time.time())
    if show and time.monotonic() - begun > 1:
        output.clear_progress()
    return total


def _in_words(reason: str) -> str:
    from pycrawl.crawl.seeding import CREDENTIALS

    if reason == CREDENTIALS:
        return "it has a user name or a password in it, which pycrawl does not send: give the URL without them"
    return in_words(reason)


def report(total: Seeded) -> None:
    """Prints what became of the seeds; raises UsageError if not one of them can be used."""
    report_refused(total)
    for url, reason in total.aside_examples:
        output.complain(f"pycrawl: {url}: known, but {in_words(reason)}")
    hidden = total.aside.total() - len(total.aside_examples)
    if hidden > 0:
        output.complain(f"pycrawl: … and {plural(hidden, 'more seed')} that settings keep out")
    known = f", {total.known:,} known already" if total.known else ""
    output.say(f"{plural(total.new, 'new URL')}{known}.")
    if total.refused and not (total.new or total.known or total.aside):
        raise UsageError("none of these URLs can be crawled")


def report_refused(total: Seeded) -> None:
    """Prints which seeds cannot be used, and why."""
    for line, reason in total.examples:
        output.complain(f"pycrawl: not added: {line} ({_in_words(reason)})")
    hidden = total.refused.total() - len(total.examples)
    if hidden > 0:
        output.complain(f"pycrawl: … and {plural(hidden, 'more line')}")
    if total.refused[Reason.FORGOTTEN]:
        output.complain("pycrawl: `pycrawl add --again URL` takes back what was forgotten")
