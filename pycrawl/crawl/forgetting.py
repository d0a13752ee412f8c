"""`forget`: pages leave a crawl for good, so that no byte of them is left in its directory.

One transaction removes the URLs from the state, and notes that they are not wanted and that forgetting is under way
(`state/forgetting.py`). Once it is committed, forgetting is final: whoever opens the crawl for writing carries it on
(`carry_on`). Then each compound file that holds a record of these URLs is written anew (`dropping.py`); then the lines
of logs and of the inbox that name the URLs are removed; last, the database is written anew. Every step can be cut short
at any instruction and done again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from pycrawl.config import Config
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.dropping import Dropping, OnStep
from pycrawl.crawl.opening import open_state
from pycrawl.foreign import files
from pycrawl.frontier.judge import Judge
from pycrawl.policy.priority import priority
from pycrawl.state import forgetting, leaving, meta
from pycrawl.state.database import Database
from pycrawl.state.unwanted import Unwanted
from pycrawl.store.compound import failure, fsync_directory
from pycrawl.urls.parts import host_key
from pycrawl.urls.url_texts import urls_in

_NEW_LINES = ".new"  # suffix of the new version of a log or inbox file, while it is written


def carry_on(
    directory: CrawlDirectory, database: Database, config: Config, on_step: OnStep = lambda step: None
) -> None:
    """Finish what `forget`, `compact` or `verify --repair` has begun, if anything. Afterwards no byte of forgotten
    pages is in the directory."""
    with database.explained():
        is_forgetting = forgetting.is_pending(database)
        if not is_forgetting and not leaving.is_pending(database):
            return
        Dropping(directory, database, config, on_step).drop_records()
        if is_forgetting:
            _drop_lines(directory, Unwanted(database, meta.hash_seed(database)), on_step)
            on_step("state.db: written anew")
            database.purge()
            on_step("state.db: done")
            forgetting.end(database)
        leaving.end(database)
        database.commit()


def take_back(directory: CrawlDirectory, config: Config, urls: Iterable[str], now: float) -> int:
    """Make those of the normalised URLs that were forgotten wanted again. Returns how many they are. The caller holds
    the directory."""
    database, _ = open_state(directory)
    try:
        carry_on(directory, database, config)
        with database.explained():
            seed = meta.hash_seed(database)
            unwanted = Unwanted(database, seed)
            judge = Judge(config, unwanted)
            taken = [url for url in dict.fromkeys(urls) if unwanted.is_unwanted(url)]
            for url in taken:
                unwanted.take_back(database, url, now)
                aside = judge.code_of(url, host_key(url), is_seed_host=True, depth=0, hops=0, ask=0)
                forgetting.restore(database, url, seed, aside, priority(0, 0))
            database.commit()
    finally:
        database.close()
    return len(taken)


# Lines


def _drop_lines(directory: CrawlDirectory, not_wanted: Unwanted, on_step: OnStep) -> None:
    """Remove the lines that name something unwanted from the logs and the inbox."""
    names = [re.compile(rf"(?<![\w.-]){re.escape(key)}(?![\w.-])") for key in not_wanted.hosts]

    def is_kept(line: str) -> bool:
        return not any(map(not_wanted.is_unwanted, urls_in(line))) and not any(name.search(line) for name in names)

    for folder in (directory.log.name, directory.inbox.name):
        for file in files.file_names(directory.path, folder, ordinary=True):
            name = f"{folder}/{file}"
            if name.endswith(_NEW_LINES):
                files.remove(directory.path, name)
            else:
                on_step(name)
                _keep_lines(directory.path, name, is_kept)


def _keep_lines(root: Path, name: str, is_kept: Callable[[str], bool]) -> None:
    """Write a file anew with only the lines that are kept, all or nothing. A file that keeps all is left alone."""
    new = name + _NEW_LINES
    changed = False
    try:
        with (
            open(files.open_file(root, name), encoding="utf-8", errors="surrogateescape", newline="") as old,
            open(files.new_file(root, new), "w", encoding="utf-8", errors="surrogateescape", newline="") as file,
        ):
            for line in old:
                if is_kept(line):
                    file.write(line)
                else:
                    changed = True
            file.flush()
            os.fsync(file.fileno())
        if changed:
            files.rename(root, new, name)
            fsync_directory((root / name).parent)
        else:
            files.remove(root, new)
    except OSError as error:
        files.remove(root, new)
        raise failure(error, root / name) from error
