"""After a crash: cuts the compound files back to what the database has committed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pycrawl.errors import StoreError
from pycrawl.store.compound import CompoundFile, failure, fsync_directory, is_compound_name


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
        found = dict(_compound_files(root))
        _check_nothing_is_missing(root, known, found)
        cut = {name: size - known[name] for name, size in found.items() if name in known and size > known[name]}
        unknown = {name: size for name, size in found.items() if name not in known}
        for name in cut:
            _cut(root / name, known[name])
        _remove([root / name for name in unknown])
    except OSError as error:
        raise failure(error, Path(error.filename or root)) from error
    return Recovery(sum(cut.values()) + sum(unknown.values()), tuple(sorted(unknown)), tuple(sorted(cut)))


def _compound_files(root: Path) -> Iterator[tuple[str, int]]:
    """Returns name and size of every file that is named like one of the store's own."""
    if not root.exists():
        return
    with os.scandir(root) as directories:
        inner = [entry for entry in directories if entry.name.startswith("WTX") and entry.is_dir()]
    for directory in inner:
        with os.scandir(directory) as entries:
            for entry in entries:
                name = f"{directory.name}/{entry.name}"
                if is_compound_name(name) and entry.is_file():
                    yield name, entry.stat().st_size


def _check_nothing_is_missing(root: Path, known: dict[str, int], found: dict[str, int]) -> None:
    for name, length in known.items():
        size = found.get(name, None if length else 0)  # a file that all records have left is not there
        if size is None:
            raise StoreError(f"{root / name}: expected {length} bytes, found no such file")
        if size < length:
            raise StoreError(f"{root / name}: expected at least {length} bytes, found {size}")


def _cut(path: Path, length: int) -> None:
    with path.open("r+b") as file:
        file.truncate(length)
        os.fsync(file.fileno())


def _remove(paths: list[Path]) -> None:
    for path in paths:
        path.unlink()
    for directory in {path.parent for path in paths}:
        fsync_directory(directory)
