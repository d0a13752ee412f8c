"""Keeps log/ small: logs of events get a new file when they are long, logs of fetches go when they are many or old."""

from __future__ import annotations

import os
from pathlib import Path

from pycrawl.config import Config
from pycrawl.crawl.fetch_log import log_files
from pycrawl.foreign import files

MOST_EVENT_BYTES = 10_000_000  # of each of the logs of events, after which crawl.log becomes crawl.log.1 …
_OLDER_KEPT = 5  # crawl.log.1 to crawl.log.5
CHANGE_LOG = "changes.log"
EVENT_LOGS = ("crawl.log", "fetchers.log", CHANGE_LOG)


def rotate(folder: Path, config: Config, now: float) -> None:
    """Rotate all logs in `folder`, before a run begins. The caller holds the crawl's directory."""
    for name in EVENT_LOGS:
        if _facts(folder, name)[0] > MOST_EVENT_BYTES:
            rotate_one(folder, name)
    _remove_old(folder, config.logs.max_bytes, config.logs.max_age, now)


def rotate_one(folder: Path, name: str) -> None:
    """Give a log the suffix ".1", that with ".1" the suffix ".2", and so on; the last one goes."""
    present = set(files.file_names(folder.parent, folder.name))
    for number in range(_OLDER_KEPT - 1, -1, -1):
        old = f"{name}.{number}" if number else name
        if old in present:
            files.rename(folder.parent, f"{folder.name}/{old}", f"{folder.name}/{name}.{number + 1}")


def _remove_old(folder: Path, most_bytes: int, max_age: float, now: float) -> None:
    """Remove logs of fetches that are older than `max_age` seconds, and the oldest if all have more than `most_bytes`.
    The newest stays: `pycrawl stats` and `audit` read it."""
    names = log_files(folder)[:-1]
    sizes = [_facts(folder, name) for name in names]
    total = sum(size for size, _ in sizes)
    for name, (size, changed_at) in zip(names, sizes, strict=True):
        if total > most_bytes or changed_at < now - max_age:
            files.remove(folder.parent, f"{folder.name}/{name}")
            total -= size


def _facts(folder: Path, name: str) -> tuple[int, float]:
    """Returns the size of a log and when it was last written to; (0, 0) if there is none."""
    if not files.is_there(folder.parent, f"{folder.name}/{name}"):
        return 0, 0.0
    handle = files.open_file(folder.parent, f"{folder.name}/{name}")
    try:
        found = os.fstat(handle)
    finally:
        os.close(handle)
    return found.st_size, found.st_mtime
