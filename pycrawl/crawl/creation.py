"""Makes a crawl's directory: folders, settings, state, first seeds; and undoes it where it comes to nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pycrawl.config import example
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.seeding import Seeded
from pycrawl.crawl.session import Session
from pycrawl.errors import START_ANEW, UsageError
from pycrawl.foreign.files import is_there, new_file, remove, sync_folder
from pycrawl.state import meta
from pycrawl.state.database import Database
from pycrawl.store.aside import NOTE_NAME


def make(directory: CrawlDirectory, changed: dict[str, str], seed: Callable[[Session], Seeded]) -> Seeded:
    """Make the crawl: folders, pycrawl.toml (unless there is one) with the keys in `changed` ("section.key" → value as
    TOML), and state.db, into which `seed` enters the first seeds. Returns what became of these."""
    try:
        directory.make_folders()
        if not is_there(directory.path, directory.config_file.name):
            with open(new_file(directory.path, directory.config_file.name), "w", encoding="utf-8") as file:
                file.write(example(changed))
                file.flush()
                os.fsync(file.fileno())
            sync_folder(directory.path, ".")
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be written: {error.strerror}") from None
    with directory.hold():
        remove(directory.path, NOTE_NAME)  # of a crawl whose state has gone
        database = Database.create(directory.state)
        meta.write_first(database, time.time())
        database.commit()
        database.close()
        with Session(directory, directory.config()) as session:
            return seed(session)


def check_room(directory: CrawlDirectory, contact: str = "") -> None:
    """Raises UsageError if there is a crawl already, or what is left of one and a new state would not fit to."""
    if directory.state.exists():
        raise UsageError(f"{directory.state}: exists already. `pycrawl add` adds seeds, `pycrawl crawl` continues it.")
    if any(directory.docs.glob("WTX*/B*")):
        raise UsageError(f"{directory.docs}: contains a collection, but its state.db is missing. {START_ANEW}")
    if contact and directory.config_file.exists():
        raise UsageError(f"{directory.config_file}: exists already, and is kept. Set crawl.contact in it.")


@dataclass(frozen=True, slots=True)
class Made:
    """What of a crawl's directory is not there before `init` makes it, to be removed if it comes to nothing."""

    files: tuple[Path, ...]
    folders: tuple[Path, ...]  # the innermost first

    @classmethod
    def of(cls, directory: CrawlDirectory) -> Made:
        state = [directory.state.with_name(directory.state.name + ending) for ending in ("", "-wal", "-shm")]
        files = (*state, directory.config_file, directory.path / "lock")
        folders = (directory.docs, directory.log, directory.path, *directory.path.parents)
        return cls(
            tuple(file for file in files if not file.exists()),
            tuple(folder for folder in folders if not folder.exists()),
        )

    def undo(self) -> None:
        for file in self.files:
            if file.exists():
                file.unlink()
        for folder in self.folders:
            if folder.exists():
                folder.rmdir()
