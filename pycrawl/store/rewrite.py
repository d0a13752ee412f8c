"""Compound files written anew, so that records leave them.

The new content is written beside the file under a name of its own ("B01.new.gz") and fsynced. Then one transaction of
the caller gives the database the new places of its records together with that name; from there on the new file counts.
Last, the old name is given to it (`take_old_name`), which the caller commits too. So at any moment the database names a
file that is there and holds what it says, and a crash leaves at most a file that the database does not name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple

from pycrawl.errors import StoreError
from pycrawl.foreign.files import is_there, new_file, open_file, remove
from pycrawl.record import trec_web
from pycrawl.store.compound import below, failure, fsync_directory, names_in

_COPY_BYTES = 1 << 20  # read and written at once

_NEW = re.compile(r"(WTX[0-9]{3,}/B[0-9]{2})\.new((?:\.gz)?)")


class Moved(NamedTuple):
    """Where a record lies in the new file."""

    offset: int
    length: int


def new_name(name: str) -> str:
    """The name under which a compound file is written anew: "WTX001/B01.gz" → "WTX001/B01.new.gz"."""
    stem, dot, suffix = name.partition(".")
    return f"{stem}.new{dot}{suffix}"


def old_name(name: str) -> str | None:
    """The name that a file with a new name is to take; None if the name is not a new one."""
    match = _NEW.fullmatch(name)
    return match[1] + match[2] if match else None


class Rewriter:
    """Writes one compound file anew, record by record, in the order of the old one."""

    def __init__(self, root: Path, name: str) -> None:
        self._root = root
        self._compress = name.endswith(".gz")
        self._old = name
        self.name = new_name(name)
        self._source_path = root / name
        self._path = root / self.name
        self._source: BinaryIO | None = None
        self._target: BinaryIO | None = None
        self.length = 0
        self.records = 0

    def __enter__(self) -> Rewriter:
        try:
            self._source = open(open_file(*below(self._root, self._old)), "rb")
            self._target = open(new_file(*below(self._root, self.name)), "wb")
        except OSError as error:
            self._close()
            raise failure(error, Path(error.filename or self._path)) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        if kind is not None:
            remove(*below(self._root, self.name))

    def _close(self) -> None:
        for file in (self._source, self._target):
            if file is not None:
                file.close()

    def keep(self, offset: int, length: int) -> Moved:
        """Take a record of the old file over as it is."""
        assert self._source is not None
        try:
            self._source.seek(offset)
            left = length
            while left:
                part = self._source.read(min(left, _COPY_BYTES))
                if not part:
                    raise StoreError(f"{self._source_path}: expected {length} bytes from {offset} on, found fewer")
                self._write(part)
                left -= len(part)
        except OSError as error:
            raise failure(error, self._source_path) from error
        return self._wrote(length)

    def put(self, docno: str, record: bytes) -> Moved:
        """Write another record in the place of an old one, under its DOCNO; `record`: from `<DOCHDR>` on, plain."""
        head = trec_web.head(docno)
        data = trec_web.pack_stored(head) + trec_web.pack(record) if self._compress else head + record
        self._write(data)
        return self._wrote(len(data))

    def finish(self) -> None:
        """Return when the new file is on the disk, under its new name."""
        assert self._target is not None
        try:
            self._target.flush()
            os.fsync(self._target.fileno())
            fsync_directory(self._path.parent)
        except OSError as error:
            raise failure(error, self._path) from error

    def _write(self, data: bytes) -> None:
        assert self._target is not None
        try:
            self._target.write(data)
        except OSError as error:
            raise failure(error, self._path) from error

    def _wrote(self, length: int) -> Moved:
        moved = Moved(self.length, length)
        self.length += length
        self.records += 1
        return moved


def take_old_name(root: Path, name: str, length: int, link: Callable[[Path, Path], None] = os.link) -> str:
    """Give a new file that counts its old name too, and return that name; one without records goes instead.

    The caller commits the returned name and then calls `drop_new_name`. A second call after a crash does the same.
    Where the file system has no links, the file is renamed, and has only the old name from then on.
    """
    old = old_name(name)
    assert old is not None
    new_path, old_path = root / name, root / old
    try:
        if not length:
            remove(*below(root, old))
        elif is_there(*below(root, name)):  # else a call before has renamed it; no part of the way is a link
            remove(*below(root, old))
            try:
                link(new_path, old_path)
            except OSError:
                new_path.rename(old_path)
        _sync_names(new_path.parent)
    except OSError as error:
        raise failure(error, old_path) from error
    return old


def drop_new_name(root: Path, name: str) -> None:
    """The file has its old name again, by the database too: its new name goes."""
    path = root / name
    try:
        remove(*below(root, name))
        _sync_names(path.parent)
    except OSError as error:
        raise failure(error, path) from error


def _sync_names(folder: Path) -> None:
    """Make the names in a folder durable; where the folder itself is lost, there are none."""
    if folder.is_dir():
        fsync_directory(folder)


def remove_unfinished(root: Path, committed: set[str]) -> None:
    """Remove new files that a crash left behind before the database named them."""
    for name in list(_new_files(root)):
        if name not in committed:
            drop_new_name(root, name)


def _new_files(root: Path) -> Iterator[str]:
    yield from (name for name in names_in(root) if old_name(name) is not None)
