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
from pycrawl.foreign import files
from pycrawl.model import Kind
from pycrawl.state.database import STATE_NAME

RETRY_SUFFIX = ".retry"
SEED_SUFFIXES = {Kind.PAGE: ".urls", Kind.SITEMAP: ".sitemaps", Kind.FEED: ".feeds"}
_MOST_INBOX_BYTES = 1 << 30  # of one file: some ten million seeds


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
        """The folder where `add` (*.urls, *.sitemaps, *.feeds) and `retry` (*.retry) leave files for a running crawl:
        one file a call. A file with such a name is always complete."""
        return self.path / "inbox"

    def make_folders(self) -> None:
        """Make what folders are missing: the crawl's own, and those of the collection and of the logs. When it returns,
        their names are on the disk."""
        missing = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        self.path.mkdir(files.PRIVATE_FOLDER, parents=True, exist_ok=True)
        for folder in (self.docs, self.log):
            files.make_folder(self.path, folder.name)
        for folder in (self.path, *(one.parent for one in missing)):
            files.sync_folder(folder, ".")

    def config(self) -> Config:
        return load(self.config_file)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lock of the directory: only its holder may write here. Raises DirectoryHeld, which says who
        has it."""
        try:
            handle = files.open_file(self.path, "lock", os.O_RDWR | os.O_CREAT)
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

    def leave_in_inbox(self, urls: Sequence[str], kind: Kind = Kind.PAGE) -> None:
        """Hand seeds to the crawl that holds the directory; it takes them in within a second or two."""
        self._leave("\n".join(urls), SEED_SUFFIXES[kind])

    def leave_retry_in_inbox(self, request: str) -> None:
        """Hand a `RetryRequest`, as text, to the crawl that holds the directory."""
        self._leave(request, RETRY_SUFFIX)

    def _leave(self, text: str, suffix: str) -> None:
        folder = self.inbox.name
        files.make_folder(self.path, folder)
        name = f"{time.time_ns()}-{os.getpid()}"
        with open(files.new_file(self.path, f"{folder}/.{name}"), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        files.rename(self.path, f"{folder}/.{name}", f"{folder}/{name}{suffix}")
        for parent in (folder, "."):  # the folder may be new
            files.sync_folder(self.path, parent)

    def inbox_files(self) -> list[str]:
        """Returns the names of the files in the inbox, the oldest first, without those that are still being written."""
        return [name for name in files.file_names(self.path, self.inbox.name) if not name.startswith(".")]

    def read_from_inbox(self, name: str) -> str:
        """Returns the text of a file in the inbox. Raises UnsafeFile if it is not an ordinary file."""
        return files.read_bytes(self.path, f"{self.inbox.name}/{name}", _MOST_INBOX_BYTES).decode("utf-8", "replace")

    def take_from_inbox(self, name: str) -> None:
        """Remove a file from the inbox, as its content was taken in."""
        files.remove(self.path, f"{self.inbox.name}/{name}")

    def refuse_from_inbox(self, name: str) -> None:
        """Put a file in the inbox that cannot be read under a name that is not looked at again."""
        files.rename(self.path, f"{self.inbox.name}/{name}", f"{self.inbox.name}/.refused-{name}")


def kind_of_seeds(name: str) -> Kind:
    """Returns what the URLs in a file of the inbox are."""
    return next((kind for kind, suffix in SEED_SUFFIXES.items() if name.endswith(suffix)), Kind.PAGE)


def _holder(data: bytes) -> str:
    try:
        holder = json.loads(data)
        since = datetime.fromtimestamp(holder["since"]).astimezone().isoformat(" ")
        return f"a crawl is running (process {holder['pid']}, since {since})"
    except (ValueError, KeyError, TypeError, OverflowError, OSError):
        return "a crawl is running"
