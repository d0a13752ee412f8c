"""Compound files: `WTX001/B01.gz` … `B50.gz`, `WTX002/B01.gz` …, each holds whole records, one after the other.

Files are numbered from 1 through all directories (`file_id`), and records from 1 in each file.
"""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pycrawl.errors import PycrawlError, StoppedByLimit, StoreError
from pycrawl.foreign.files import file_names, make_folder, open_file
from pycrawl.record import trec_web

FILES_PER_DIRECTORY = 50
WRITE_BUFFER_BYTES = 1 << 20
_PARTS_AT_ONCE = 1_000  # written in one call: the system takes 1,024
MAX_UNSYNCED_FILES = 16  # finished files kept open for the next sync; only a tiny file_size makes more

_NAME = re.compile(r"WTX([0-9]{3,})/B([0-9]{2})(?:\.gz)?")
_NEW = re.compile(r"\.new(?=(?:\.gz)?\Z)")
_FULL = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file is too big",
}


@dataclass(frozen=True, slots=True)
class CompoundFile:
    """A compound file as the database knows it. Bytes beyond `length` are not committed and do not count."""

    file_id: int
    name: str  # below the collection's directory: "WTX001/B01.gz"
    length: int
    records: int
    closed: bool = False  # records have left it: none is added any more, so that no number in it is given out twice

    def __post_init__(self) -> None:
        """What the database says leads nowhere else, and is what a database of ours can say."""
        numbers = (self.file_id, self.length, self.records)
        if not all(isinstance(number, int) and number >= 0 for number in numbers):
            raise StoreError(f"state.db: expected numbers for {self.name!r}, found {numbers}")
        if self.file_id:
            own_name(self.name)


class Location(NamedTuple):
    """Where a record lies: `length` bytes from `offset` are its gzip members, or its text in a plain file."""

    file_id: int
    offset: int
    length: int
    number: int  # in its file
    docno: str


def file_name(file_id: int, compress: bool) -> str:
    """The name of a compound file below the collection's directory."""
    directory, file = _directory_and_file(file_id)
    return f"WTX{directory:03d}/B{file:02d}{'.gz' if compress else ''}"


def docno_of(file_id: int, number: int) -> str:
    """Returns the DOCNO of the record with this number in a compound file."""
    return trec_web.docno(*_directory_and_file(file_id), number)


def place_of(docno: str) -> tuple[int, int]:
    """Returns the compound file and the number in it that a DOCNO names. Raises StoreError if it is none of ours."""
    directory, file, number = trec_web.parse_docno(docno)
    return (directory - 1) * FILES_PER_DIRECTORY + file, number


def is_compound_name(name: str) -> bool:
    """True if a file of this name can be one of the store's own."""
    match = _NAME.fullmatch(name)
    if not match or not 1 <= int(match[2]) <= FILES_PER_DIRECTORY or int(match[1]) == 0:
        return False
    file_id = (int(match[1]) - 1) * FILES_PER_DIRECTORY + int(match[2])
    return file_name(file_id, name.endswith(".gz")) == name


def own_name(name: str) -> str:
    """Returns the name if it can be that of a compound file, also one that is being written anew (`rewrite.py`); so it
    leads nowhere else. Raises StoreError for any other."""
    if not isinstance(name, str) or not (is_compound_name(name) or is_compound_name(_NEW.sub("", name))):
        raise StoreError(f"state.db: expected the name of a compound file such as WTX001/B01.gz, found {name!r}")
    return name


def below(root: Path, name: str) -> tuple[Path, str]:
    """Returns where the file `name` of the collection in `root` is, as `foreign/files.py` wants it: from the crawl's
    directory on, as the collection's own must not be a link either."""
    return root.parent, f"{root.name}/{own_name(name)}"


def length_of(root: Path, name: str) -> int:
    """Returns how many bytes a compound file has. Raises StoreError if it is not there."""
    try:
        with io.FileIO(open_file(*below(root, name))) as file:
            return os.fstat(file.fileno()).st_size
    except OSError as error:
        raise failure(error, root / name) from error


def names_in(root: Path) -> Iterator[str]:
    """Yields the names of the ordinary files in the collection's folders ("WTX001/B01.gz" …), whatever they are."""
    no_folders = set(file_names(root.parent, root.name, ordinary=True))
    for folder in file_names(root.parent, root.name):
        if folder.startswith("WTX") and folder not in no_folders:
            for file in file_names(root.parent, f"{root.name}/{folder}", ordinary=True):
                yield f"{folder}/{file}"


def _directory_and_file(file_id: int) -> tuple[int, int]:
    directory, file = divmod(file_id - 1, FILES_PER_DIRECTORY)
    return directory + 1, file + 1


def failure(error: OSError, path: Path) -> PycrawlError:
    """Returns the exception to raise for an error of the file system, worded for the user."""
    if error.errno in _FULL:
        return StoppedByLimit(f"{path}: {_FULL[error.errno]}; what was committed is safe")
    return StoreError(f"{path}: {error.strerror or error}")


def fsync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _failing(path: Path, on_failure: Callable[[PycrawlError], None]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        failed = failure(error, path)
        on_failure(failed)
        raise failed from error


class PendingSync:
    """The second half of a sync: `run` once, on any thread, while the writer goes on appending.

    `files` are the lengths and counts to commit. They can be had only once `run` has returned, so that nothing can be
    counted that is not on the disk. If `run` raised, they can never be had, and the writer refuses further work: the
    kernel may have dropped data that it could not write.
    """

    def __init__(
        self,
        files: tuple[CompoundFile, ...],
        handles: list[tuple[Path, io.FileIO]],
        directories: list[Path],
        on_failure: Callable[[PycrawlError], None],
    ) -> None:
        self._files = files
        self._is_durable = False  # True once `run` has returned
        self._handles = handles  # this sync's own: the writer neither uses nor closes them
        self._directories = directories
        self._on_failure = on_failure

    def run(self) -> None:
        """Wait until all records appended before `begin_sync`, and the names of their files, are on the disk."""
        try:
            for path, handle in self._handles:
                with _failing(path, self._on_failure):
                    os.fsync(handle.fileno())
            for path in self._directories:
                with _failing(path, self._on_failure):
                    fsync_directory(path)
            self._is_durable = True
        finally:
            for _, handle in self._handles:
                handle.close()

    @property
    def files(self) -> tuple[CompoundFile, ...]:
        """The lengths and counts to commit. Raises StoreError if `run` has not run, or has failed."""
        if not self._is_durable:
            raise StoreError("records cannot be committed: they are not on the disk yet")
        return self._files


class _OpenFile:
    """The compound file that is being written; `length` counts the buffer too."""

    def __init__(self, path: Path, handle: io.FileIO, file: CompoundFile) -> None:
        self.path = path
        self.handle = handle
        self.file_id = file.file_id
        self.name = file.name
        self.length = file.length
        self.records = file.records
        self.docno_prefix = trec_web.docno(*_directory_and_file(file.file_id), 0).removesuffix("0")
        self._waiting: list[bytes] = []  # appended and not written yet
        self.waiting_bytes = 0
        self.synced_records = file.records  # when the last sync began

    def append(self, head: bytes, record: bytes) -> None:
        self._waiting += (head, record)
        self.waiting_bytes += len(head) + len(record)
        self.length += len(head) + len(record)

    def flush(self) -> None:
        """Write what waits, as it is: to put it into one buffer first would copy every byte once more."""
        for begin in range(0, len(self._waiting), _PARTS_AT_ONCE):
            parts = self._waiting[begin : begin + _PARTS_AT_ONCE]
            written = os.writev(self.handle.fileno(), parts)
            if written < sum(map(len, parts)):
                rest = memoryview(b"".join(parts))[written:]
                while rest:
                    rest = rest[self.handle.write(rest) :]
        self._waiting, self.waiting_bytes = [], 0

    def value(self) -> CompoundFile:
        return CompoundFile(self.file_id, self.name, self.length, self.records)


class CompoundWriter:
    """Appends records to the last compound file, and turns to the next one when that has reached `file_size` bytes.

    All methods belong to one thread; only the `PendingSync` that `begin_sync` returns may run on another. A record is
    safe once that has run and its `files` are committed. After a failure every call raises it again, and what was
    not committed is for `recover` to cut off.

    `last` is the last file that the database knows; `recover` has run before.
    """

    def __init__(self, root: Path, file_size: int, compress: bool, last: CompoundFile | None) -> None:
        self._root = root
        self._file_size = file_size
        self._compress = compress
        self._last = last or CompoundFile(0, "", 0, 0)  # the file before the current one
        self._current: _OpenFile | None = None  # opened by the first record
        self._finished: list[tuple[CompoundFile, Path, io.FileIO]] = []  # since the last sync began
        self._synced_early: list[CompoundFile] = []  # finished likewise, but on the disk already
        self._new_names: dict[Path, None] = {}  # directories, parents last, in which a name may not be durable yet
        self._failure: PycrawlError | None = None

    def append(self, record: bytes) -> Location:
        """Put the record (from `<DOCHDR>` on, compressed if the store is) behind the others, under its new number."""
        if self._failure:
            raise self._failure
        file = self._current
        if file is None or file.length >= self._file_size:
            file = self._turn_to_next()
        file.records += 1
        docno = f"{file.docno_prefix}{file.records}"
        head = trec_web.head(docno)
        if self._compress:
            head = trec_web.pack_stored(head)
        location = Location(file.file_id, file.length, len(head) + len(record), file.records, docno)
        file.append(head, record)
        if file.waiting_bytes >= WRITE_BUFFER_BYTES:
            self._flush(file)
        return location

    def begin_sync(self) -> PendingSync:
        """Write everything appended so far to the kernel. Returns the `PendingSync` that makes it durable."""
        if self._failure:
            raise self._failure
        files = [*self._synced_early, *(file for file, _, _ in self._finished)]
        handles = [(path, handle) for _, path, handle in self._finished]
        current = self._current
        if current and current.records > current.synced_records:
            self._flush(current)
            with _failing(current.path, self._fail):
                handles.append((current.path, io.FileIO(os.dup(current.handle.fileno()), "wb")))
            files.append(current.value())
            current.synced_records = current.records
        pending = PendingSync(tuple(files), handles, list(self._new_names), self._fail)
        self._finished, self._synced_early, self._new_names = [], [], {}
        return pending

    def sync(self) -> tuple[CompoundFile, ...]:
        """Make everything appended so far durable. Returns the lengths and counts to commit."""
        pending = self.begin_sync()
        pending.run()
        return pending.files

    def close(self) -> None:
        """Close the files. Records appended since the last sync are dropped."""
        for _, _, handle in self._finished:
            handle.close()
        if self._current:
            self._current.handle.close()
        self._finished, self._current = [], None

    def _turn_to_next(self) -> _OpenFile:
        if self._current:
            self._finish(self._current)
        elif self._can_be_reopened(self._last):
            self._current = self._reopen(self._last)
            return self._current
        self._current = self._create(self._last.file_id + 1)
        return self._current

    def _can_be_reopened(self, last: CompoundFile) -> bool:
        is_ours = last.name == file_name(last.file_id, self._compress)
        return is_ours and not last.closed and last.length < self._file_size

    def _finish(self, file: _OpenFile) -> None:
        self._flush(file)
        self._current = None
        self._last = file.value()
        if file.records == file.synced_records:
            file.handle.close()
        elif len(self._finished) < MAX_UNSYNCED_FILES:
            self._finished.append((self._last, file.path, file.handle))
        else:
            with _failing(file.path, self._fail), file.handle:
                os.fsync(file.handle.fileno())
            self._synced_early.append(self._last)

    def _create(self, file_id: int) -> _OpenFile:
        name = file_name(file_id, self._compress)
        path = self._root / name
        with _failing(path, self._fail):
            for folder in (self._root.name, f"{self._root.name}/{path.parent.name}"):
                make_folder(self._root.parent, folder)
            handle = io.FileIO(open_file(*below(self._root, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb")
        self._new_names |= dict.fromkeys((path.parent, self._root, self._root.parent))
        return _OpenFile(path, handle, CompoundFile(file_id, name, 0, 0))

    def _reopen(self, last: CompoundFile) -> _OpenFile:
        path = self._root / last.name
        with _failing(path, self._fail):
            handle = io.FileIO(open_file(*below(self._root, last.name), os.O_WRONLY | os.O_APPEND), "ab")
            found = os.fstat(handle.fileno()).st_size
        if found != last.length:
            handle.close()
            raise StoreError(f"{path}: expected {last.length} bytes, found {found}")
        return _OpenFile(path, handle, last)

    def _flush(self, file: _OpenFile) -> None:
        with _failing(file.path, self._fail):
            file.flush()

    def _fail(self, failed: PycrawlError) -> None:
        self._failure = failed
