"""The files below a crawl's directory. The directory may come from somebody else, so nothing in it leads out of it.

Every name is walked component by component, and a symbolic link, a pipe, a device or a socket is refused wherever it
stands; only the crawl's directory itself may be a link. A file with several names (hard links) is refused where it
would be written to. What is made here can be read by its owner only, whatever the umask: settings, logs and pages may
hold what is secret.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pycrawl.errors import UnsafeFile

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700

_ANY = os.O_CLOEXEC | os.O_NOFOLLOW
_WRITING = os.O_WRONLY | os.O_RDWR
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def open_file(root: Path, name: str, flags: int = os.O_RDONLY) -> int:
    """Returns a descriptor of the file `name` ("docs/WTX001/B01.gz") below `root`. Raises UnsafeFile if it is not an
    ordinary file of the directory's own. `flags` must not have O_TRUNC, which would act before it is looked at."""
    path = root / name
    with _folder_of(root, name) as (folder, last), _named(path):
        with suppress(FileNotFoundError):
            _check(path, os.stat(last, dir_fd=folder, follow_symlinks=False), flags)
        handle = os.open(last, flags | _ANY | os.O_NONBLOCK, PRIVATE_FILE, dir_fd=folder)
    try:
        _check(path, os.fstat(handle), flags)
    except BaseException:
        os.close(handle)
        raise
    return handle


def new_file(root: Path, name: str) -> int:
    """Returns a descriptor of a new file, open for writing. What had its name goes: of a link, not its target."""
    remove(root, name)
    return open_file(root, name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)


def read_bytes(root: Path, name: str, most: int) -> bytes:
    """Returns the content of a file; one that is longer than `most` bytes is refused."""
    with open(open_file(root, name), "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise UnsafeFile(f"{root / name}: expected at most {most:,} bytes")
    return data


def is_there(root: Path, name: str, writable: bool = False) -> bool:
    """True if there is such a file. Raises UnsafeFile as `open_file` does."""
    try:
        with _folder_of(root, name) as (folder, last):
            _check(root / name, os.stat(last, dir_fd=folder, follow_symlinks=False), os.O_RDWR if writable else 0)
    except FileNotFoundError:
        return False
    return True


def make_folder(root: Path, name: str) -> None:
    """Make a folder, unless it is there. Raises UnsafeFile if something else has its name."""
    with _folder_of(root, name) as (folder, last), _named(root / name):
        with suppress(FileExistsError):
            os.mkdir(last, PRIVATE_FOLDER, dir_fd=folder)
        mode = os.stat(last, dir_fd=folder, follow_symlinks=False).st_mode
    if not stat.S_ISDIR(mode):
        raise _refused(root / name, mode, "a folder")


def file_names(root: Path, name: str, ordinary: bool = False) -> list[str]:
    """Returns the sorted names in a folder; none if it is not there. They may be those of anything, unless `ordinary`
    files are asked for."""
    try:
        with _folder_of(root, f"{name}/.") as (folder, _), os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if not ordinary or entry.is_file(follow_symlinks=False))
    except FileNotFoundError:
        return []


def remove(root: Path, name: str) -> None:
    """Remove a file, if it is there; of a link, the link itself."""
    with suppress(FileNotFoundError), _folder_of(root, name) as (folder, last), _named(root / name):
        os.unlink(last, dir_fd=folder)


def rename(root: Path, name: str, new: str) -> None:
    """Give a file another name below `root`; what had that name goes."""
    with _folder_of(root, name) as (folder, last), _folder_of(root, new) as (new_folder, new_last), _named(root / name):
        os.rename(last, new_last, src_dir_fd=folder, dst_dir_fd=new_folder)


def sync_folder(root: Path, name: str) -> None:
    """Return when the names in a folder are on the disk; "." is `root` itself. What is in the files is not synced."""
    with _folder_of(root, name if name == "." else f"{name}/.") as (folder, _), _named(root / name):
        os.fsync(folder)


@contextmanager
def _folder_of(root: Path, name: str) -> Iterator[tuple[int, str]]:
    """Yields a descriptor of the folder that `name` is in, and the last part of the name."""
    *parts, last = name.split("/")
    if not all(parts) or not last or ".." in (*parts, last):
        raise UnsafeFile(f"{root}: expected the name of a file in it, found {name!r}")
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    path = root
    try:
        for part in parts:
            path /= part
            with _named(path):
                mode = os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode
                if not stat.S_ISDIR(mode):
                    raise _refused(path, mode, "a folder")
                inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _ANY, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder, last
    finally:
        os.close(folder)


def _check(path: Path, found: os.stat_result, flags: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise _refused(path, found.st_mode, "a file")
    if flags & _WRITING and found.st_nlink > 1:
        raise UnsafeFile(
            f"{path}: has {found.st_nlink} names (hard links), and is not written to, as what has the other name would"
            " change too. Put a copy in its place."
        )


def _refused(path: Path, mode: int, expected: str) -> UnsafeFile:
    kind = _KINDS.get(stat.S_IFMT(mode), "a file")
    return UnsafeFile(f"{path}: expected {expected}, found {kind}. Nothing in a crawl's directory may lead out of it.")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let an OSError name the whole path, and not only what is opened below a descriptor."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise
