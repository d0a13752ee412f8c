"""Faults that a power cut must bring to light: each is planted into a running pycrawl, and the harness must find it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pycrawl.crawl.session import Session
from pycrawl.foreign import files
from pycrawl.state.database import Database
from pycrawl.store import aside, compound


def no_fsync() -> None:
    """Compound files are not synced."""
    run = compound.PendingSync.run

    def without(self: compound.PendingSync) -> None:
        handles, self._handles = self._handles, []
        run(self)
        for _, handle in handles:
            handle.close()

    compound.PendingSync.run = without  # type: ignore[method-assign]


def commit_first() -> None:
    """A group is committed, and its records are synced afterwards."""
    run, finish = compound.PendingSync.run, Session.finish_commit
    late: list[compound.PendingSync] = []

    def later(self: compound.PendingSync) -> None:
        late.append(compound.PendingSync(self._files, self._handles, self._directories, self._on_failure))
        self._handles, self._directories = [], []
        run(self)

    def finish_then_sync(self: Session) -> None:
        finish(self)
        while late:
            run(late.pop())

    compound.PendingSync.run = later  # type: ignore[method-assign]
    Session.finish_commit = finish_then_sync  # type: ignore[method-assign]


def no_folder_sync() -> None:
    """The inbox's folder is not synced after a file in it was renamed."""
    sync_folder = files.sync_folder

    def others_only(root: Path, name: str) -> None:
        if name != "inbox":
            sync_folder(root, name)

    files.sync_folder = others_only


def no_aside_sync() -> None:
    """What is moved aside is not synced under its new name before the crawl goes on."""
    vars(aside)["sync_folder"] = lambda root, name: None


def lazy_database() -> None:
    """SQLite does not wait for the disk when it commits (PRAGMA synchronous = NORMAL)."""
    begin = Database._begin

    def lazy(self: Database) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("PRAGMA synchronous = NORMAL")
        begin(self)

    Database._begin = lazy  # type: ignore[method-assign]


def deaf_to_errors() -> None:
    """An fsync that fails counts as one that has worked."""
    fsync = os.fsync

    def deaf(handle: int) -> None:
        with suppress(OSError):
            fsync(handle)

    os.fsync = deaf  # type: ignore[assignment]


FAULTS: dict[str, Callable[[], None]] = {
    "no-fsync": no_fsync,
    "commit-first": commit_first,
    "no-folder-sync": no_folder_sync,
    "no-aside-sync": no_aside_sync,
    "lazy-database": lazy_database,
    "deaf-to-errors": deaf_to_errors,
}
