"""An older database, put back beside a newer collection: what it does not know is kept, under names of its own.

After a crash, what a compound file has beyond its committed length was never counted, and goes (`recovery.py`). But if
somebody puts an old copy of state.db back, the same bytes are documents that were counted. To tell the two apart, each
commit that changes the collection has a number, which the database holds, and which is noted in a small file beside it
once the commit has returned (`note_commit`). A crash can lose the note, but never the commit that it is of: a note that
is ahead of the database can only mean that the database is an older one.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from pycrawl.foreign.files import file_names, make_folder, new_file, open_file, rename, sync_folder
from pycrawl.store.compound import CompoundFile, below, failure
from pycrawl.store.recovery import compound_files
from pycrawl.store.rewrite import old_name

log = logging.getLogger(__name__)

NOTE_NAME = "committed"  # in the crawl's directory
ASIDE_NAME = "aside"  # the folder there for what is kept; the store never touches it again

_NOTE = re.compile(rb"([0-9]{18})\n")
_NOTE_BYTES = 19
_COPY_BYTES = 1 << 20  # read and written at once


@dataclass(frozen=True, slots=True)
class Aside:
    """What was moved out of the collection, as the database does not know it."""

    folder: str  # below the crawl's directory; empty if nothing was moved
    files: int
    size: int  # bytes


def noted_commit(directory: Path) -> int:
    """Returns the number of the newest commit that was noted; 0 if there is no note, or none that can be read."""
    try:
        with open(open_file(directory, NOTE_NAME), "rb") as file:
            match = _NOTE.fullmatch(file.read(_NOTE_BYTES + 1))
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise failure(error, directory / NOTE_NAME) from error
    return int(match[1]) if match else 0


def note_commit(directory: Path, number: int) -> None:
    """Note that the commit with this number has returned. It is not synced, and may fail: a note that is lost does no
    harm, unless the database is replaced by one that is hardly older."""
    try:
        handle = open_file(directory, NOTE_NAME, os.O_WRONLY | os.O_CREAT)
        try:
            os.pwrite(handle, b"%018d\n" % number, 0)
        finally:
            os.close(handle)
    except OSError as error:
        log.warning("%s: %s", directory / NOTE_NAME, error.strerror)


def move_aside(root: Path, committed: Iterable[CompoundFile]) -> Aside:
    """Move the compound files that the database does not know, and what others have beyond their committed lengths, to
    a new folder. `root` is the collection's folder. Cut short at any instruction, it can be done again."""
    lengths = {}
    for file in committed:
        lengths[file.name] = file.length
        lengths[old_name(file.name) or file.name] = file.length  # one that is written anew has its old name too
    directory = root.parent
    try:
        found = {name: size for name, size in compound_files(root) if size > lengths.get(name, -1)}
        if not found:
            return Aside("", 0, 0)
        folder = _new_folder(directory, {name.partition("/")[0] for name in found})
        for name in found:
            if name in lengths:
                _move_tail(root, name, lengths[name], folder)
            else:
                rename(*below(root, name), f"{folder}/{name}")
        for part in {name.partition("/")[0] for name in found}:
            sync_folder(directory, f"{folder}/{part}")
            sync_folder(directory, f"{root.name}/{part}")
    except OSError as error:
        raise failure(error, Path(error.filename or root)) from error
    return Aside(folder, len(found), sum(size - lengths.get(name, 0) for name, size in found.items()))


def _new_folder(directory: Path, parts: Iterable[str]) -> str:
    """Returns a folder that was not there, with these folders in it, all of them on the disk."""
    make_folder(directory, ASIDE_NAME)
    taken = set(file_names(directory, ASIDE_NAME))
    folder = next(f"{ASIDE_NAME}/{number:03d}" for number in count(1) if f"{number:03d}" not in taken)
    for name in (folder, *(f"{folder}/{part}" for part in parts)):
        make_folder(directory, name)
    for name in (folder, ASIDE_NAME, "."):
        sync_folder(directory, name)
    return folder


def _move_tail(root: Path, name: str, length: int, folder: str) -> None:
    """Copy what a file has beyond `length` to a file of its own ("B01.from-5000.gz"), and cut it off once that is on
    the disk."""
    stem, dot, suffix = name.partition(".")
    tail = f"{folder}/{stem}.from-{length}{dot}{suffix}"
    with (
        open(open_file(*below(root, name), os.O_RDWR), "r+b") as source,
        open(new_file(root.parent, tail), "wb") as target,
    ):
        source.seek(length)
        while part := source.read(_COPY_BYTES):
            target.write(part)
        target.flush()
        os.fsync(target.fileno())
        sync_folder(root.parent, tail.rpartition("/")[0])
        source.truncate(length)
        os.fsync(source.fileno())
