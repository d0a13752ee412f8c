"""After a crash: cuts the compound files back to what the database has committed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pycrawl.errors import StoreError
from pycrawl.foreign.files import is_there, open_file, remove
from pycrawl.store.compound import CompoundFile, below, failure, fsync_directory, is_compound_name, names_in


@dataclass(frozen=True, slots=True)
class Recovery:
    """What `recover` removed: uncommitted bytes and files that a crash had left behind."""

    cut_bytes: int  # with those of the removed files
    removed: tuple[str, ...]  # files that the database does not know
    cut: tuple[str, ...]  # files that were longer than committed


def recover(root: Path, committed: Iterable[CompoundFile]) -> Recovery:
    """Cut each file back to its committed length and remove those that no transaction has committed.

    A committed file that is missing or too short is damage and not a crash's doing: it is named in a StoreError, and
    nothing has been changed then. No file is read, so that ten thousand of them take a fraction of a second.
    """
    known = {file.name: file.length for file in committed}
    try:
        found = dict(compound_files(root))
        _check_nothing_is_missing(root, known, found)
        cut = {name: size - known[name] for name, size in found.items() if name in known and size > known[name]}
        unknown = {name: size for name, size in found.items() if name not in known}
        for name in cut:
            _cut(root, name, known[name])
        _remove(root, list(unknown))
    except OSError as error:
        raise failure(error, Path(error.filename or root)) from error
    return Recovery(sum(cut.values()) + sum(unknown.values()), tuple(sorted(unknown)), tuple(sorted(cut)))


def compound_files(root: Path) -> Iterator[tuple[str, int]]:
    """Returns name and size of every file that is named like one of the store's own."""
    for name in filter(is_compound_name, names_in(root)):
        yield name, (root / name).lstat().st_size


def _check_nothing_is_missing(root: Path, known: dict[str, int], found: dict[str, int]) -> None:
    for name, length in known.items():
        size = found.get(name, None if length else 0)  # a file that all records have left is not there
        if size is None:
            is_there(*below(root, name))  # raises if it is a link
            raise StoreError(f"{root / name}: expected {length} bytes, found no such file")
        if size < length:
            raise StoreError(f"{root / name}: expected at least {length} bytes, found {size}")


def _cut(root: Path, name: str, length: int) -> None:
    with open(open_file(*below(root, name), os.O_RDWR), "r+b") as file:
        file.truncate(length)
        os.fsync(file.fileno())


def _remove(root: Path, names: list[str]) -> None:
    for name in names:
        remove(*below(root, name))
    for directory in {(root / name).parent for name in names}:
        fsync_directory(directory)
