"""One run of a crawl: starts the fetchers, opens the session, and lets the coordinator work until the run ends."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from pycrawl.config import Config
from pycrawl.config.sections import BUILT_IN_TRANSPORTS
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.log_rotation import rotate
from pycrawl.crawl.progress import Ended, Progress, RunLimits
from pycrawl.crawl.run_log import run_log
from pycrawl.crawl.words import judging_progress, plural
from pycrawl.native import reader_in_use, why_not
from pycrawl.processes.allocation import collected_as_before
from pycrawl.processes.pool import FetcherPool, load_fetcher
from pycrawl.processes.signals import Interrupts
from pycrawl.state import meta
from pycrawl.state.clock import follow_clock
from pycrawl.state.database import Database
from pycrawl.urls.scope import Scope

if TYPE_CHECKING:
    from pycrawl.crawl.session import Session

_MOST_DEFAULT_FETCHERS = 8  # processes, however many cores there are
_OTHERS = 0o077  # the mode's bits for all but the owner
_SECRET_HEADERS = ("authorization", "cookie", "key", "token")  # in names of headers


class Watcher(Protocol):
    """Who watches a run: `show` is called a few times a second while the context is open, `say` and `end` while it is
    not."""

    def __enter__(self) -> Watcher: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, progress: Progress) -> None: ...

    def say(self, text: str) -> None: ...

    def end(self, ended: Ended, docs: Path) -> None: ...


def run_crawl(
    directory: CrawlDirectory,
    config: Config,
    fetchers: int | None,
    limits: RunLimits,
    recrawl: bool,
    open_watcher: Callable[[], Watcher],
    interrupts: Interrupts | None = None,
) -> Ended:
    """Crawl until nothing is left or a limit is reached. Returns how the run ended. The caller holds the directory.

    `fetchers`: processes; None: what the settings say. `interrupts` is what another thread can end the run with.
    """
    _check_settings(config)
    directory.make_folders()
    rotate(directory.log, config, time.time())
    count = fetchers or config.crawl.fetchers or min(os.cpu_count() or 1, _MOST_DEFAULT_FETCHERS)
    with run_log(directory), collected_as_before():
        database = Database.open(directory.state)
        with database.explained():
            seed = meta.hash_seed(database)
            notes = (
                _notes_on_the_reader(database) + _notes_on_secrets(directory, config) + _notes_on_the_clock(database)
            )
        database.close()
        with interrupts or Interrupts() as signals, closing(load_fetcher(config)) as server:
            # What this process needs is loaded while the server loads what the fetchers need.
            from pycrawl.coordinator import Coordinator
            from pycrawl.crawl.session import Session

            watcher = open_watcher()
            with closing(FetcherPool(server, config, seed, count, directory.log / "fetchers.log")) as pool:
                for note in notes:
                    watcher.say(note)
                with Session(directory, config, on_judging=judging_progress(watcher.say)) as session:
                    _say_what_was_recovered(session, watcher)
                    if recrawl:
                        from pycrawl.crawl.recrawling import choose

                        chosen = choose(session, limits, time.time())
                        watcher.say(f"{plural(chosen, 'page')} to visit again.")
                    with watcher:
                        ended = Coordinator(session, pool, limits, signals, watcher.show).run()
                watcher.end(ended, directory.docs)
    return ended


def _check_settings(config: Config) -> None:
    """What is wrong with the scope or names no plugin is said here, not in a fetcher's log."""
    Scope(config)
    if config.crawl.transport not in BUILT_IN_TRANSPORTS:
        from pycrawl.plugins import registry  # takes some 30 ms to load

        registry.find(registry.TRANSPORTS, config.crawl.transport, "crawl.transport")


def _notes_on_the_reader(database: Database) -> list[str]:
    """Returns what to say if the compiled reader is missing, or another reader goes on than the one of the last run,
    and remembers which one it is."""
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


def _notes_on_the_clock(database: Database) -> list[str]:
    """Returns what to say if the clock was set back since the last run, and lets what was planned follow it."""
    shift = follow_clock(database, time.time())
    if not shift:
        return []
    return [
        f"The clock is {shift / 3600:.1f} h behind the end of the last run: what was planned is done earlier by that."
    ]


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


def _say_what_was_recovered(session: Session, watcher: Watcher) -> None:
    from pycrawl.crawl.opening import aside_told

    if session.aside is not None:
        watcher.say(aside_told(session.aside))
    recovery = session.recovery
    if recovery.cut or recovery.removed:
        watcher.say(
            f"The last run was cut short: {plural(recovery.cut_bytes, 'byte')} behind the last commit were removed from"
            " docs/. Their pages are fetched again."
        )
