"""`pycrawl crawl`: starts a crawl, or continues it."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pycrawl.cli.common import crawl_directory, directory_option, judging_progress, plural

if TYPE_CHECKING:
    from pycrawl.config import Config
    from pycrawl.crawl.progress import Ended, RunLimits
    from pycrawl.crawl.session import Session
    from pycrawl.state.database import Database

_MOST_DEFAULT_FETCHERS = 8  # processes, however many cores there are
_INTERRUPTED = 130


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

    directory = crawl_directory(path)
    config = directory.config()
    count = fetchers or config.crawl.fetchers or min(os.cpu_count() or 1, _MOST_DEFAULT_FETCHERS)
    never = float("inf")
    limits = RunLimits(
        max_pages or never, max_time or never, max_bytes or never, never if max_depth is None else max_depth
    )
    with directory.hold():
        ended = _run(path, config, count, limits, recrawl)
    if report is not None:
        report.write_text(json.dumps(_figures(ended), indent=2), "utf-8")
    if ended.reason == "interrupted":
        raise SystemExit(_INTERRUPTED)


def _figures(ended: Ended) -> dict[str, Any]:
    figures = asdict(ended)
    return {**figures.pop("counts"), **figures}


def _run(path: Path, config: Config, fetchers: int, limits: RunLimits, recrawl: bool) -> Ended:
    from pycrawl.processes.pool import FetcherPool
    from pycrawl.processes.signals import Interrupts
    from pycrawl.state import meta
    from pycrawl.state.database import Database

    directory = crawl_directory(path)
    _check_settings(config)
    directory.log.mkdir(exist_ok=True)
    logging.basicConfig(
        filename=directory.log / "crawl.log", level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    database = Database.open(directory.state)
    with database.explained():
        seed = meta.hash_seed(database)
        _say_which_reader(database)
    database.close()
    with Interrupts() as interrupts:
        # Started first, so that the fetchers load their libraries while this process loads its own and opens the state.
        pool = FetcherPool(config, seed, fetchers, directory.log / "fetchers.log")
        try:
            from pycrawl.cli.display import open_display
            from pycrawl.coordinator import Coordinator
            from pycrawl.crawl.session import Session

            with Session(directory, config, on_judging=judging_progress()) as session:
                _say_what_was_recovered(session)
                if recrawl:
                    _requeue(session)
                with open_display(limits) as display:
                    ended = Coordinator(session, pool, limits, interrupts, display.show).run()
                display.end(ended, directory.docs)
        finally:
            pool.close()
    return ended


def _check_settings(config: Config) -> None:
    """What is wrong with the scope or names no plugin is said here, not in a fetcher's log."""
    from pycrawl.config.sections import BUILT_IN_TRANSPORTS
    from pycrawl.plugins import registry
    from pycrawl.urls.scope import Scope

    Scope(config)
    if config.crawl.transport not in BUILT_IN_TRANSPORTS:
        registry.find(registry.TRANSPORTS, config.crawl.transport, "crawl.transport")


def _say_which_reader(database: Database) -> None:
    """Says if the compiled reader is missing, and if another reader goes on than the one of the last run."""
    from pycrawl.native import reader_in_use, why_not
    from pycrawl.state import meta

    reader, before = reader_in_use(), meta.last_reader(database)
    if reader == "tree":
        click.echo(f"The compiled reader is not used ({why_not}): pages are read by way of a tree, which is slower.")
    if before and before != reader:
        click.echo(f"Up to now the {before} reader read this crawl's pages; the {reader} reader goes on.")
    if before != reader:
        meta.remember_reader(database, reader)
        database.commit()


def _say_what_was_recovered(session: Session) -> None:
    recovery = session.recovery
    if recovery.cut or recovery.removed:
        click.echo(
            f"The last run was cut short: {recovery.cut_bytes:,} bytes that were not committed were removed from docs/."
            " Their pages are fetched again."
        )


def _requeue(session: Session) -> None:
    import time

    from pycrawl.model import REVISITED

    interval = session.config.recrawl.min_interval
    count = session.frontier.requeue(time.time() - interval, tuple(REVISITED))
    click.echo(f"{plural(count, 'page')} to visit again.")
