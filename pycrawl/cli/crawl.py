"""`pycrawl crawl`: starts a crawl, or continues it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pycrawl.cli import output
from pycrawl.cli.common import crawl_directory, directory_option, judging_progress, moment, open_for_reading, plural
from pycrawl.errors import NothingFetched, PycrawlError, StoppedByLimit, UsageError

if TYPE_CHECKING:
    from pycrawl.cli.display import Display
    from pycrawl.config import Config
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.crawl.progress import Ended, RunLimits
    from pycrawl.crawl.session import Session
    from pycrawl.state.database import Database

_MOST_DEFAULT_FETCHERS = 8  # processes, however many cores there are
_INTERRUPTED = 130
_OTHERS = 0o077  # the mode's bits for all but the owner
_SECRET_HEADERS = ("authorization", "cookie", "key", "token")  # in names of headers


def _reads(kind: str) -> Any:
    """Returns a click callback that reads a "duration" or a "size" as pycrawl.toml does."""

    def callback(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
        from pycrawl import config

        if value is None:
            return None
        try:
            return config.parse_duration(value) if kind == "duration" else config.parse_size(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return callback


@click.command("crawl")
@directory_option
@click.option(
    "--max-pages", metavar="N", type=click.IntRange(1), help="Stop after N pages with a 2xx status in this run."
)
@click.option(
    "--max-time", metavar="TIME", callback=_reads("duration"), help="Stop after this time, such as 90s, 30m or 2h."
)
@click.option(
    "--max-bytes",
    metavar="SIZE",
    callback=_reads("size"),
    help="Stop after this much was received, such as 500MB or 10GB.",
)
@click.option("--max-depth", metavar="D", type=click.IntRange(0), help="Follow links at most D steps away from a seed.")
@click.option("--fetchers", metavar="N", type=click.IntRange(1, 256), help="Number of fetcher processes in this run.")
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the figures of this run to FILE, as JSON.",
)
@click.option(
    "--recrawl", is_flag=True, help="Also visit again the pages whose last visit is older than recrawl.min_interval."
)
def command(
    path: Path,
    max_pages: int | None,
    max_time: float | None,
    max_bytes: float | None,
    max_depth: int | None,
    fetchers: int | None,
    report: Path | None,
    recrawl: bool,
) -> None:
    """Crawl until nothing is left, a limit is reached, or Ctrl-C.

    The first Ctrl-C lets the open fetches finish and saves; a second one stops at once. Either way, and also after a
    crash or a power cut, the next `pycrawl crawl` continues where this one stopped.

    \b
      pycrawl crawl --max-pages 1000
      pycrawl crawl --max-time 2h --recrawl      (for cron)
    """
    from pycrawl.crawl.progress import RunLimits

    never = float("inf")
    limits = RunLimits(
        max_pages or never, max_time or never, max_bytes or never, never if max_depth is None else max_depth
    )
    with _dated_errors():
        _crawl(crawl_directory(path), limits, fetchers, report, recrawl)


@contextmanager
def _dated_errors() -> Iterator[None]:
    """Says what went wrong with date and time, as all other lines in the log of a cron job have; not on a terminal."""
    try:
        yield
    except PycrawlError as error:
        if sys.stderr.isatty():
            raise
        output.complain(*(f"{moment(time.time())} pycrawl: {line}" for line in error.lines))
        raise SystemExit(error.exit_code) from None


def _crawl(
    directory: CrawlDirectory, limits: RunLimits, fetchers: int | None, report: Path | None, recrawl: bool
) -> None:
    config = directory.config()
    count = fetchers or config.crawl.fetchers or min(os.cpu_count() or 1, _MOST_DEFAULT_FETCHERS)
    if report is not None:
        _must_be_writable(report)
    with directory.hold():
        ended = _run(directory, config, count, limits, recrawl)
    if report is not None:
        _write_report(report, ended)
    if ended.reason == "interrupted":
        raise SystemExit(_INTERRUPTED)
    if not ended.counts.pages and not ended.counts.not_modified:
        _check_seeds(directory)


def _check_seeds(directory: CrawlDirectory) -> None:
    """Raises NothingFetched, with what is likely to help, if no seed gave a page in this run or an earlier one."""
    from pycrawl.cli.no_page import why_no_page

    database = open_for_reading(directory)
    with database.explained():
        lines = why_no_page(database, directory)
    database.close()
    if lines:
        raise NothingFetched(*lines)


def _must_be_writable(report: Path) -> None:
    """Raises UsageError if the report could not be written: better now than when the crawl is over."""
    try:
        report.open("a").close()
    except OSError as error:
        raise UsageError(f"--report {report}: cannot be written: {error.strerror}") from None


def _write_report(report: Path, ended: Ended) -> None:
    try:
        report.write_text(json.dumps(_figures(ended), indent=2), "utf-8")
    except OSError as error:
        raise StoppedByLimit(f"--report {report}: {error.strerror}; the crawl itself is saved") from None


def _figures(ended: Ended) -> dict[str, Any]:
    figures = asdict(ended)
    return {**figures.pop("counts"), **figures}


def _run(directory: CrawlDirectory, config: Config, fetchers: int, limits: RunLimits, recrawl: bool) -> Ended:
    from pycrawl.crawl.run_log import open_run_log
    from pycrawl.processes.pool import FetcherPool
    from pycrawl.processes.signals import Interrupts
    from pycrawl.state import meta
    from pycrawl.state.database import Database

    _check_settings(config)
    directory.make_folders()
    open_run_log(directory)
    database = Database.open(directory.state)
    with database.explained():
        seed = meta.hash_seed(database)
        notes = _notes_on_the_reader(database) + _notes_on_secrets(directory, config)
    database.close()
    with Interrupts() as interrupts:
        # Started first, so that the fetchers load their libraries while this process loads its own and opens the state.
        pool = FetcherPool(config, seed, fetchers, directory.log / "fetchers.log")
        try:
            from pycrawl.cli.display import open_display
            from pycrawl.coordinator import Coordinator
            from pycrawl.crawl.session import Session

            display = open_display()
            for note in notes:
                display.say(note)
            with Session(directory, config, on_judging=judging_progress(display.say)) as session:
                _say_what_was_recovered(session, display)
                if recrawl:
                    _requeue(session, display)
                with display:
                    ended = Coordinator(session, pool, limits, interrupts, display.show).run()
                display.end(ended, directory.docs)
        finally:
            pool.close()
    return ended


def _check_settings(config: Config) -> None:
    """What is wrong with the scope or names no plugin is said here, not in a fetcher's log."""
    from pycrawl.config.sections import BUILT_IN_TRANSPORTS
    from pycrawl.urls.scope import Scope

    Scope(config)
    if config.crawl.transport not in BUILT_IN_TRANSPORTS:
        from pycrawl.plugins import registry  # takes some 30 ms to load

        registry.find(registry.TRANSPORTS, config.crawl.transport, "crawl.transport")


def _notes_on_the_reader(database: Database) -> list[str]:
    """Returns what to say if the compiled reader is missing, or another reader goes on than the one of the last run,
    and remembers which one it is."""
    from pycrawl.native import reader_in_use, why_not
    from pycrawl.state import meta

    reader, before = reader_in_use(), meta.last_reader(database)
    notes = []
    if reader == "tree":
        notes.append(f"The compiled reader is not used ({why_not}): pages are read by way of a tree, which is slower.")
    if before and before != reader:
        notes.append(f"Up to now the {before} reader read this crawl's pages; the {reader} reader goes on.")
    if before != reader:
        meta.remember_reader(database, reader)
        database.commit()
    return notes


def _notes_on_secrets(directory: CrawlDirectory, config: Config) -> list[str]:
    """Returns what to say if others can read settings that are likely to be secret."""
    names = " ".join(name for name, _ in config.crawl.headers).lower()
    has_secrets = "@" in config.crawl.proxy or any(entry.headers for entry in config.hosts)
    has_secrets |= any(word in names for word in _SECRET_HEADERS)
    if not has_secrets or not directory.config_file.stat().st_mode & _OTHERS:
        return []
    return [
        f"{directory.config_file} may hold secrets (headers, or the password of a proxy), and other users can read it:"
        " `chmod 600` changes that."
    ]


def _say_what_was_recovered(session: Session, display: Display) -> None:
    from pycrawl.crawl.opening import aside_told

    if session.aside is not None:
        display.say(aside_told(session.aside))
    recovery = session.recovery
    if recovery.cut or recovery.removed:
        display.say(
            f"The last run was cut short: {plural(recovery.cut_bytes, 'byte')} behind the last commit were removed from"
            " docs/. Their pages are fetched again."
        )


def _requeue(session: Session, display: Display) -> None:
    from pycrawl.model import REVISITED

    interval = session.config.recrawl.min_interval
    count = session.frontier.requeue(time.time() - interval, tuple(REVISITED))
    display.say(f"{plural(count, 'page')} to visit again.")
