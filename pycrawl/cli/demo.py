"""`pycrawl demo`: a crawl of a web of our own, to look at."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from pycrawl.cli import crawl, init
from pycrawl.cli.common import crawl_directory, open_for_reading
from pycrawl.errors import UsageError

if TYPE_CHECKING:
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.simweb import SimServer

_MARK = "demo-web"  # this file in a crawl's directory says that it is a demo's, and holds the seed URL
_CONFIG = {"crawl.proxy": '"none"', "politeness.delay": "0.05", "security.allow_private_addresses": "true"}
_COLLECTION = "docs/WTX001/B01.gz"


@click.command("demo")
@click.argument("path", metavar="[DIR]", default="demo-crawl", type=click.Path(file_okay=False, path_type=Path))
def command(path: Path) -> None:
    """Serve a small synthetic web on loopback addresses and crawl it, in DIR (by default demo-crawl).

    The web has 30 hosts and 1,500 pages, some of them broken, moved, copied or forbidden by robots.txt; nothing leaves
    this machine. A demo that was stopped goes on; one that was finished starts afresh.
    """
    directory = crawl_directory(path)
    goes_on = _prepare(directory)
    with _web(_port(directory) if goes_on else 0) as server:
        if goes_on:
            click.echo(f"Going on with {path}.")
        else:
            _make(directory, server.seed)
        click.echo(f"Crawling a web of {server.web.settings.hosts} hosts, served on loopback at {server.seed}")
        try:
            click.get_current_context().invoke(crawl.command, path=path)
        except SystemExit:
            click.echo("To go on, start the demo again: its web is there only while it runs.")
            raise
    _say_what_to_try(directory, server.seed)


def _prepare(directory: CrawlDirectory) -> bool:
    """True when there is a demo to go on with; else there is room for a new one. Only a demo is ever removed."""
    if not directory.path.exists() or not any(directory.path.iterdir()):
        return False
    if not (directory.path / _MARK).exists():
        raise UsageError(f"{directory.path}: exists and is not a demo's. Name another directory.")
    with directory.hold():
        if _is_unfinished(directory):
            return True
        click.echo(f"The demo in {directory.path} was finished: starting afresh.")
        shutil.rmtree(directory.path)
    return False


def _is_unfinished(directory: CrawlDirectory) -> bool:
    from pycrawl.cli.stats import collect

    if not directory.state.exists():
        return False  # it was stopped while it was being made
    database = open_for_reading(directory)
    try:
        return bool(collect(database)["urls_queued"])
    finally:
        database.close()


def _make(directory: CrawlDirectory, seed: str) -> None:
    directory.path.mkdir(parents=True, exist_ok=True)
    (directory.path / _MARK).write_text(f"{seed}\n", "utf-8")
    init.make(directory, _CONFIG, iter([seed]))


def _port(directory: CrawlDirectory) -> int:
    """Where the web was: the URLs that wait have it in them."""
    return urlsplit((directory.path / _MARK).read_text("utf-8").strip()).port or 0


def _web(port: int) -> SimServer:
    from pycrawl.simweb import SimServer, SimWebSettings

    # Sizes and delays are such that hosts wait for one another, and that all of it takes some ten seconds.
    settings = SimWebSettings(hosts=30, pages=1_500, port=port, host_skew=0.5, crawl_delay=0.2, latency=0.02)
    return SimServer(settings, log=False)


def _say_what_to_try(directory: CrawlDirectory, seed: str) -> None:
    name, path = _own_name(), directory.path
    denied = _a_denied_url(directory) or seed
    click.echo(
        "Try next:\n"
        f"  {name} stats -C {path} --hosts\n"
        f"  {name} get -C {path} {seed}\n"
        f"  {name} why -C {path} {denied}\n"
        f"  {name} verify -C {path}\n"
        f"  zcat {path / _COLLECTION} | less"
    )


def _a_denied_url(directory: CrawlDirectory) -> str:
    from pycrawl.model import Outcome
    from pycrawl.state.documents import last_visits

    database = open_for_reading(directory)
    try:
        return next((url for url, _ in last_visits(database, [str(Outcome.ROBOTS_DENIED)], 1)), "")
    finally:
        database.close()


def _own_name() -> str:
    """How this program can be called from here."""
    own = Path(sys.argv[0])
    found = shutil.which("pycrawl")
    return "pycrawl" if found and Path(found).resolve() == own.resolve() else str(own)
