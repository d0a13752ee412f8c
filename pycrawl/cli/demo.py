"""`pycrawl demo`: crawls a synthetic web that it serves itself."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from pycrawl.cli import crawl, output
from pycrawl.cli.common import (
    crawl_directory,
    directory_option_or_argument,
    directory_type,
    one_directory,
    open_for_reading,
)
from pycrawl.cli.seeding import seed as enter_seeds
from pycrawl.errors import UsageError
from pycrawl.foreign.files import is_there, new_file, read_bytes

if TYPE_CHECKING:
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.simweb import SimServer

_MARK = "demo-web"  # a directory with this file belongs to a demo, and may be removed; the file holds the seed URL
_DEFAULT_DIRECTORY = Path("demo-crawl")
_CONFIG = {"crawl.proxy": '"none"', "politeness.delay": "0.05", "security.allow_private_addresses": "true"}
_MOST_MARK_BYTES = 1_000
_COLLECTION = "docs/WTX001/B01.gz"


@click.command("demo")
@click.argument("target", metavar="[DIR]", required=False, type=directory_type)
@directory_option_or_argument
def command(target: Path | None, path: Path | None) -> None:
    """Crawl a small synthetic web, served on this machine for it.

    The crawl is made in DIR, by default demo-crawl. The web has 30 hosts and 1,500 pages, some of them broken, moved,
    copied or denied by robots.txt; it is served on loopback addresses, so nothing leaves this machine. A demo that was
    stopped goes on; one that had finished is removed and starts again.
    """
    path = one_directory(target, path, _DEFAULT_DIRECTORY)
    directory = crawl_directory(path)
    goes_on = _prepare(directory)
    with _web(_port(directory) if goes_on else 0) as server:
        if goes_on:
            output.say(f"Continuing the demo in {path}.")
        else:
            _make(directory, server.seed)
        output.say(f"Crawling a web of {server.web.settings.hosts} hosts, served on loopback at {server.seed}")
        try:
            click.get_current_context().invoke(crawl.command, path=path)
        except SystemExit:
            output.say("To continue, run `pycrawl demo` again: its web is served only while it runs.")
            raise
    _say_what_to_try(directory, server.seed)


def _prepare(directory: CrawlDirectory) -> bool:
    """Returns True if the directory has a demo to continue; otherwise there is room for a new one afterwards.

    A demo that has finished is removed; anything else in the directory is an error.
    """
    if not directory.path.exists() or not any(directory.path.iterdir()):
        return False
    if not is_there(directory.path, _MARK):
        raise UsageError(f"{directory.path}: contains something other than a demo. Name another directory.")
    with directory.hold():
        if _is_unfinished(directory):
            return True
        output.say(f"The demo in {directory.path} had finished: starting a new one.")
        shutil.rmtree(directory.path)
    return False


def _is_unfinished(directory: CrawlDirectory) -> bool:
    from pycrawl.collection.statistics import collect

    if not directory.state.exists():
        return False  # it was stopped while its directory was being made
    database = open_for_reading(directory)
    try:
        return bool(collect(database)["urls_queued"])
    finally:
        database.close()


def _make(directory: CrawlDirectory, seed: str) -> None:
    from pycrawl.crawl.creation import make

    directory.make_folders()
    with open(new_file(directory.path, _MARK), "w", encoding="utf-8") as file:
        file.write(f"{seed}\n")
    make(directory, _CONFIG, lambda session: enter_seeds(session, iter([seed])))


def _port(directory: CrawlDirectory) -> int:
    """Returns the port that the web was served on: the queued URLs contain it."""
    seed = read_bytes(directory.path, _MARK, _MOST_MARK_BYTES).decode("utf-8", "replace")
    try:
        return urlsplit(seed.strip()).port or 0
    except ValueError:
        raise UsageError(f"{directory.path / _MARK}: expected the URL of a demo, found {seed!r}") from None


def _web(port: int) -> SimServer:
    from pycrawl.simweb import SimServer, SimWebSettings

    # Chosen so that the live view has something to show (hosts that wait) and the crawl takes about 15 seconds.
    settings = SimWebSettings(hosts=30, pages=1_500, port=port, host_skew=0.5, crawl_delay=0.2, latency=0.02)
    return SimServer(settings, log=False)


def _say_what_to_try(directory: CrawlDirectory, seed: str) -> None:
    name, path = callable_as(Path(sys.argv[0])), directory.path
    denied = _a_denied_url(directory) or seed
    output.say(
        "Try next:",
        f"  {name} stats -C {path} --hosts",
        f"  {name} get -C {path} {seed}",
        f"  {name} why -C {path} {denied}",
        f"  {name} verify -C {path}",
        f"  zcat {path / _COLLECTION} | less",
    )


def _a_denied_url(directory: CrawlDirectory) -> str:
    from pycrawl.model import Outcome
    from pycrawl.state.documents import last_visits

    database = open_for_reading(directory)
    try:
        return next((url for url, _ in last_visits(database, [str(Outcome.ROBOTS_DENIED)], 1)), "")
    finally:
        database.close()


def callable_as(own: Path) -> str:
    """Returns the words that start this program again, of which `own` is the file that was started."""
    if own.name == "__main__.py":
        return f"{sys.executable} -m pycrawl"
    found = shutil.which("pycrawl")
    return "pycrawl" if found and Path(found).resolve() == own.resolve() else str(own)
