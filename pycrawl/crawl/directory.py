"""The directory of a crawl: where its parts are, and the lock that lets one process write to it."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pycrawl.config import CONFIG_NAME, Config, load
from pycrawl.errors import DirectoryHeld, UsageError
from pycrawl.state.database import STATE_NAME

RETRY_SUFFIX = ".retry"


@dataclass(frozen=True, slots=True)
class CrawlDirectory:
    path: Path

    @property
    def config_file(self) -> Path:
        return self.path / CONFIG_NAME

    @property
    def state(self) -> Path:
        return self.path / STATE_NAME

    @property
    def docs(self) -> Path:
        return self.path / "docs"

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def inbox(self) -> Path:
        """The folder where `add` (*.urls) and `retry` (*.retry) leave files for a running crawl: one file a call. A
        file with such a name is always complete."""
        return self.path / "inbox"

    def config(self) -> Config:
        return load(self.config_file)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lock of the directory: only its holder may write here. Raises DirectoryHeld, which says who
        has it."""
        try:
            handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be written to: {error.strerror}") from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise DirectoryHeld(f"{self.path}: {_holder(os.pread(handle, 1000, 0))}") from None
            except OSError as error:
                raise UsageError(f"{self.path}: cannot be locked: {error.strerror}") from None
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps({"pid": os.getpid(), "since": int(time.time())}).encode(), 0)
            yield
        finally:
            os.close(handle)

    def leave_in_inbox(self, urls: Sequence[str]) -> None:
        """Hand seeds to the crawl that holds the directory; it takes them in within a second or two."""
        self._leave("\n".join(urls), ".urls")

    def leave_retry_in_inbox(self, request: str) -> None:
        """Hand a `RetryRequest`, as text, to the crawl that holds the directory."""
        self._leave(request, RETRY_SUFFIX)

    def _leave(self, text: str, suffix: str) -> None:
        self.inbox.mkdir(exist_ok=True)
        name = f"{time.time_ns()}-{os.getpid()}"
        unfinished = self.inbox / f".{name}"
        with unfinished.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(self.inbox / f"{name}{suffix}")

    def inbox_files(self) -> list[Path]:
        """Returns the files in the inbox, the oldest first, without those that are still being written."""
        return sorted(self.inbox.glob("[!.]*")) if self.inbox.is_dir() else []


def _holder(data: bytes) -> str:
    try:
        holder = json.loads(data)
        since = datetime.fromtimestamp(holder["since"]).astimezone().isoformat(" ")
        return f"a crawl is running (process {holder['pid']}, since {since})"
    except (ValueError, KeyError, TypeError):
        return "a crawl is running"
