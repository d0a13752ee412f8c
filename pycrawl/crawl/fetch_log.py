"""The log of fetches: what the crawl asked for and when, one line a fetch. `pycrawl audit` proves politeness from it.

A line is tab-separated: due, started, ended (seconds since the epoch), kind, host, address, status, outcome, the digest
of the robots.txt by which the URL was allowed or denied, URL. `due` is the time from which on the host and its address
might be hit. A URL that robots.txt denied has a line too, though nothing was sent.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

from pycrawl.errors import PycrawlError, StoppedByLimit
from pycrawl.foreign import files
from pycrawl.foreign.visible import visible

_FILE_BYTES = 64_000_000  # of one log file, after which the next one is begun
_NAME = re.compile(r"fetches-[0-9]{6,}\.tsv")
_LONGEST_LINE = 1_000_000  # characters


class FetchLine(NamedTuple):
    due: float
    started: float
    ended: float
    kind: str  # "page", "robots", "probe", "sitemap", "feed", "head" or "hub"
    host: str
    address: str
    status: int
    outcome: str
    robots: str  # the digest of the robots.txt; empty where none was needed
    url: str


class FetchLog:
    """Writes the log of one run. If the run is killed, its last lines may be missing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = max([_number_of(name) for name in log_files(folder)], default=0)
        self._file = self._open()

    def _open(self) -> TextIO:
        self._number += 1
        name = f"{self._folder.name}/fetches-{self._number:06d}.tsv"
        handle = files.open_file(self._folder.parent, name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        return open(handle, "a", encoding="utf-8", buffering=1 << 16)

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, line: FetchLine) -> None:
        try:
            self._file.write(
                f"{line.due:.6f}\t{line.started:.6f}\t{line.ended:.6f}\t{line.kind}\t{visible(line.host)}\t"
                f"{visible(line.address)}\t{line.status}\t{line.outcome}\t{line.robots}\t{visible(line.url)}\n"
            )
        except OSError as error:
            raise explained(error, self._folder) from error

    def flush(self) -> None:
        """Hand what is buffered to the kernel, and begin a new file when this one is long."""
        try:
            self._file.flush()
            if self._file.tell() >= _FILE_BYTES:
                self._file.close()
                self._file = self._open()
        except OSError as error:
            raise explained(error, self._folder) from error

    def close(self) -> None:
        try:
            self._file.close()
        except OSError as error:
            raise explained(error, self._folder) from error


def explained(error: OSError, folder: Path) -> PycrawlError:
    """Returns what to raise if a log in this folder cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoppedByLimit(f"{folder}: the disk is full; what was committed is safe")
    return PycrawlError(f"{folder}: {error.strerror}")


def _number_of(name: str) -> int:
    return int(name.removeprefix("fetches-").removesuffix(".tsv"))


def log_files(folder: Path) -> list[str]:
    """Returns the names of the log files, the oldest first."""
    return [name for name in files.file_names(folder.parent, folder.name) if _NAME.fullmatch(name)]


def read(folder: Path) -> Iterator[FetchLine]:
    """Yields the lines of all runs. A line that was cut off, or that is none of ours, is left out."""
    for name in log_files(folder):
        yield from _lines(folder, name)


def size_of(folder: Path) -> int:
    """Returns how many bytes all log files have."""
    return sum((folder / name).lstat().st_size for name in log_files(folder))


def read_newest(folder: Path) -> Iterator[FetchLine]:
    """Yields the lines of the newest file: those of the last run or, if that was long, of its end."""
    for name in log_files(folder)[-1:]:
        yield from _lines(folder, name)


def _lines(folder: Path, name: str) -> Iterator[FetchLine]:
    with open(
        files.open_file(folder.parent, f"{folder.name}/{name}"), encoding="utf-8", errors="replace", newline="\n"
    ) as file:
        while text := file.readline(_LONGEST_LINE):
            parts = text.rstrip("\n").split("\t")
            if len(parts) == len(FetchLine._fields) and text.endswith("\n"):
                due, started, ended, kind, host, address, status, outcome, robots, url = parts
                try:
                    times = (float(due), float(started), float(ended))
                    yield FetchLine(*times, kind, host, address, int(status), outcome, robots, url)
                except ValueError:  # not a line of ours
                    continue
