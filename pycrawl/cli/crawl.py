"""`pycrawl crawl`: starts a crawl, or continues it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pycrawl.cli import output
from pycrawl.cli.common import WholeNumber, crawl_directory, directory_option, moment, open_for_reading
from pycrawl.cli.repeating import IF_RUNNING, holding, repeat
from pycrawl.errors import NothingFetched, PycrawlError, StoppedByLimit, UsageError
from pycrawl.urls.language_tags import DETECTOR, INSTALL

if TYPE_CHECKING:
    from pycrawl.cli.display import Display
    from pycrawl.config import Config
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.crawl.progress import Ended, RunLimits
    from pycrawl.processes.signals import Interrupts

_INTERRUPTED = 130


def _reads(kind: str) -> Any:
    """Returns a click callback that reads a "duration" or a "size" as pycrawl.toml does; an "interval" is a duration
    above 0."""

    def callback(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
        from pycrawl import config

        if value is None:
            return None
        try:
            number = config.parse_size(value) if kind == "size" else config.parse_duration(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
        if kind == "interval" and not number:
            raise click.BadParameter("expected a time between the starts of two runs, such as 6h, found none")
        return number

    return callback


@click.command("crawl")
@directory_option
@click.option("--max-pages", metavar="N", type=WholeNumber(1), help="Stop after N pages with a 2xx status in this run.")
@click.option(
    "--max-time", metavar="TIME", callback=_reads("duration"), help="Stop after this time, such as 90s, 30m or 2h."
)
@click.option(
    "--max-bytes",
    metavar="SIZE",
    callback=_reads("size"),
    help="Stop after this much was received, such as 500MB or 10GB.",
)
@click.option(
    "--max-requests",
    metavar="N",
    type=WholeNumber(1),
    help="Stop after N requests of any kind: the budget of a recrawl. robots.txt and 304 answers count too.",
)
@click.option("--max-depth", metavar="D", type=WholeNumber(0), help="Follow links at most D steps away from a seed.")
@click.option("--fetchers", metavar="N", type=WholeNumber(1, 256), help="Number of fetcher processes in this run.")
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the figures of this run to FILE, as JSON.",
)
@click.option(
    "--recrawl",
    is_flag=True,
    help="Also visit pages again, as recrawl.policy chooses them, if their last visit is older than"
    " recrawl.min_interval.",
)
@click.option(
    "--if-running",
    type=click.Choice(IF_RUNNING),
    default="fail",
    show_default=True,
    help="When another crawl runs in the directory: fail (exit code 3), skip this run (silently, exit code 0), or wait"
    " until it has ended.",
)
@click.option("--quiet", is_flag=True, help="Print nothing when all goes well.")
@click.option(
    "--every",
    metavar="TIME",
    callback=_reads("interval"),
    help="Start a run every so often, such as 6h, until a signal comes; each one reads the settings anew.",
)
def command(
    path: Path,
    max_pages: int | None,
    max_time: float | None,
    max_bytes: float | None,
    max_requests: int | None,
    max_depth: int | None,
    fetchers: int | None,
    report: Path | None,
    recrawl: bool,
    if_running: str,
    quiet: bool,
    every: float | None,
) -> None:
    """Crawl until nothing is left, a limit is reached, or Ctrl-C.

    The first Ctrl-C lets the open fetches finish and saves; a second one stops at once. Either way, and also after a
    crash or a power cut, the next `pycrawl crawl` continues where this one stopped.

    \b
      pycrawl crawl --max-pages 1000
      pycrawl crawl --recrawl --max-requests 5000
      pycrawl crawl --recrawl --max-time 2h --quiet --if-running skip      (for cron)
      pycrawl crawl --recrawl --every 6h                                   (in its place)
    """
    from pycrawl.crawl.progress import RunLimits

    never = float("inf")
    limits = RunLimits(
        max_pages or never,
        max_time or never,
        max_bytes or never,
        never if max_depth is None else max_depth,
        max_requests or never,
    )
    directory = crawl_directory(path)

    def run(signals: Interrupts | None = None) -> None:
        directory.config()  # what is wrong is said before this run waits for another one
        with holding(directory, if_running, signals) as is_held:
            if is_held:
                _crawl(directory, limits, fetchers, report, recrawl, quiet)

    with _dated_errors():
        if every is None:
            run()
        else:
            repeat(every, run, quiet)


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
    directory: CrawlDirectory, limits: RunLimits, fetchers: int | None, report: Path | None, recrawl: bool, quiet: bool
) -> None:
    """Does one run; the directory is held."""
    config = directory.config()
    if report is not None:
        _must_be_writable(report)
    if not quiet and (config.scope.languages or config.content.detect_languages) and find_spec(DETECTOR) is None:
        output.complain(f"Only declared languages are known: the others are told after {INSTALL}.")
    ended = _run(directory, config, fetchers, limits, recrawl, quiet)
    if report is not None:
        _write_report(report, ended)
    if ended.reason == "interrupted":
        raise SystemExit(_INTERRUPTED)
    if not (ended.counts.pages or ended.counts.not_modified or ended.counts.by_head):
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


def _run(
    directory: CrawlDirectory, config: Config, fetchers: int | None, limits: RunLimits, recrawl: bool, quiet: bool
) -> Ended:
    from pycrawl.api.running import run_crawl

    return run_crawl(directory, config, fetchers, limits, recrawl, lambda: _open_display(quiet))


def _open_display(quiet: bool) -> Display:
    from pycrawl.cli.display import open_display  # while the fetchers start

    return open_display(quiet)
