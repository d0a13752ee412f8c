"""Starts pycrawl for a recording: groups, files and checkpoints are small, so that much happens in a short run, and a
mark in the record says of each commit that it has returned."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path

from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.model import Kind
from pycrawl.state.database import Database
from tests.power import planted
from tests.power.recording import mark_in

_SMALL: dict[str, dict[str, float]] = {
    "pycrawl.coordinator.commits": {"COMMIT_SECONDS": 0.04},
    "pycrawl.coordinator.loop": {"_INBOX_SECONDS": 0.1},
    "pycrawl.crawl.session": {"_COPY_SECONDS": 0.3, "_UNSAVED_URLS": 10, "_SAVED_AT_END": 10},
    "pycrawl.state.database": {"_CHECKPOINT_PAGES": 100},
    "pycrawl.store.compound": {"WRITE_BUFFER_BYTES": 2_000, "MAX_UNSYNCED_FILES": 1},
}


def main(faults: Sequence[str] = ()) -> None:
    """Runs `pycrawl`, with the named faults planted."""
    for name, values in _SMALL.items():
        module = importlib.import_module(name)
        for key, value in values.items():
            assert hasattr(module, key), f"{name} has no {key} any more: what makes it do more in less time now?"
            setattr(module, key, value)
    trace = Path(os.environ["POWER_TRACE"])
    _mark_commits(trace)
    _mark_added(trace)
    for fault in faults:
        planted.FAULTS[fault]()
    from pycrawl.cli import main as run

    run()


def _mark_commits(trace: Path) -> None:
    commit = Database.commit

    def marked(self: Database) -> None:
        is_open = self._connection.in_transaction
        commit(self)
        if is_open:
            mark_in(trace, "commit")

    Database.commit = marked  # type: ignore[method-assign]  # every commit of the program


def _mark_added(trace: Path) -> None:
    """What `add` has left in the inbox counts from then on, though it takes a moment until the program has ended."""
    leave = CrawlDirectory.leave_in_inbox

    def marked(self: CrawlDirectory, urls: Sequence[str], kind: Kind = Kind.PAGE) -> None:
        leave(self, urls, kind)
        for url in urls:
            mark_in(trace, "added", url=url)

    CrawlDirectory.leave_in_inbox = marked  # type: ignore[method-assign]
