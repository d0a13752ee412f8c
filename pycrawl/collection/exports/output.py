"""The files of an export: each is written under another name (".NAME.partial"), and gets its own when all are whole and
on the disk. So no half file is ever seen under a final name, and what a killed export has left is overwritten by the
next one."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pycrawl.errors import PycrawlError, UsageError
from pycrawl.store.compound import failure, fsync_directory

STANDARD_OUTPUT = "-"
_BUFFER_BYTES = 1 << 20


class PartialFile:
    """A file on its way. `commit` gives it its name, `abort` removes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.partial = path.with_name(f".{path.name}.partial")
        try:
            handle = os.open(self.partial, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(handle, 0)
        except BlockingIOError:
            os.close(handle)
            raise UsageError(f"{path}: another export is writing it") from None
        self.file: BinaryIO = os.fdopen(handle, "wb", _BUFFER_BYTES)
        self.length = 0

    def write(self, data: bytes) -> None:
        try:
            self.file.write(data)
        except OSError as error:
            raise _failed(error, self.path) from error
        self.length += len(data)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of the file system into pycrawl's, for who writes to the file by its partial name."""
        try:
            yield
        except OSError as error:
            raise _failed(error, self.path) from error

    def sync(self) -> None:
        """Make what was written durable, still without its name."""
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
        except OSError as error:
            raise _failed(error, self.path) from error

    def rename(self) -> None:
        os.rename(self.partial, self.path)
        self._close()

    def abort(self) -> None:
        with suppress(OSError):
            os.unlink(self.partial)
        self._close()

    def _close(self) -> None:
        with suppress(OSError):  # what is buffered cannot be written, and is not wanted either
            self.file.close()


def _failed(error: OSError, path: Path) -> PycrawlError:
    worded = failure(error, path)
    return type(worded)(str(worded).replace("; what was committed is safe", "; nothing was left under that name"))


class FileOutput:
    """One file, or with `split` numbered ones of about so many bytes each: "out-00001.warc.gz" …"""

    def __init__(self, path: Path, split: int | None, overwrite: bool, head: Callable[[str], bytes]) -> None:
        _check(path)
        self._path = path
        self._split = split
        self._overwrite = overwrite
        self._head = head
        self._files: list[PartialFile] = []
        self._current: PartialFile | None = None
        self._is_begun = False  # the current file has a piece: one that is larger than a file has one of its own

    def write(self, data: bytes) -> tuple[str, int]:
        """Write a piece. Returns the name of its file, and where in that it begins."""
        current = self._current
        if current is None or (self._split and current.length + len(data) > self._split and self._is_begun):
            current = self._next()
        offset = current.length
        current.write(data)
        self._is_begun = True
        return current.path.name, offset

    def _next(self) -> PartialFile:
        if self._current is not None:
            self._current.sync()
        self._current = self.partial_file(self._name(len(self._files) + 1) if self._split else self._path)
        self._current.write(self._head(self._current.path.name))
        self._is_begun = False
        return self._current

    def _name(self, number: int) -> Path:
        stem, dot, extension = self._path.name.partition(".")
        return self._path.with_name(f"{stem}-{number:05d}{dot}{extension}")

    def partial_file(self, path: Path) -> PartialFile:
        """Returns a further file that appears with the others."""
        check_free(path, self._overwrite)
        file = PartialFile(path)
        self._files.append(file)
        return file

    def commit(self) -> list[Path]:
        """Give all files their names. Returns these."""
        if not self._files:
            self._next()
        for file in self._files:
            file.sync()
        for file in self._files:
            file.rename()
        fsync_directory(self._path.parent)
        return [file.path for file in self._files]

    def abort(self) -> None:
        for file in self._files:
            file.abort()


class StreamOutput:
    """Standard output."""

    def __init__(self, head: Callable[[str], bytes]) -> None:
        self._offset = 0
        self._stream = sys.stdout.buffer
        self.write(head(STANDARD_OUTPUT))

    def write(self, data: bytes) -> tuple[str, int]:
        offset = self._offset
        self._stream.write(data)
        self._offset += len(data)
        return STANDARD_OUTPUT, offset

    def commit(self) -> list[Path]:
        self._stream.flush()
        return []

    def abort(self) -> None:
        pass


def _check(path: Path) -> None:
    """Raises UsageError if there can be no file of this name."""
    if path.is_dir():
        raise UsageError(f"{path}: is a directory; name a file")
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: is a device or a pipe; -o - writes to standard output")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no directory {path.parent}")


def check_free(path: Path, overwrite: bool) -> None:
    """Raises UsageError if there is such a file, unless it may be overwritten."""
    _check(path)
    if path.exists() and not overwrite:
        raise UsageError(f"{path}: exists already; --force overwrites it")
