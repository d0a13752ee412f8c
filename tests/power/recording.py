"""Runs programs so that every change to the files below a folder is recorded, and reads the record."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[2]
_SOURCE = Path(__file__).with_name("recorder.c")
_EVENT = struct.Struct("<IIQqIIII")  # `struct event` of recorder.c


class Op(IntEnum):
    """What happened: the numbers of recorder.c, and those of the snapshot and of marks, which are made here."""

    CREATE = 1
    MKDIR = 2
    WRITE = 3
    TRUNCATE = 4
    SYNC_BEGIN = 5
    SYNC_END = 6
    SYNC_FAILED = 7
    RENAME = 8
    LINK = 9
    UNLINK = 10
    RMDIR = 11
    MARK = 100


@dataclass(frozen=True, slots=True)
class Event:
    op: Op
    inode: int
    number: int  # WRITE: the offset; TRUNCATE: the new length; SYNC_…: which sync of its process
    pid: int
    path: str  # below the recorded folder
    other: str  # RENAME and LINK: the new name
    data: bytes  # WRITE: what was written; MARK: JSON


def compiler() -> str | None:
    """Returns the C compiler that builds the library; None if there is none, or the system is not Linux."""
    if not Path("/proc/self/fd").is_dir():
        return None
    for name in (os.environ.get("CC", ""), (sysconfig.get_config_var("CC") or "").partition(" ")[0], "cc", "gcc"):
        if name and shutil.which(name):
            return name
    return None


def build(folder: Path) -> Path:
    """Returns the library, built into the folder."""
    library = folder / "recorder.so"
    if not library.exists():
        command = [compiler() or "cc", "-shared", "-fPIC", "-O2", "-o", library, _SOURCE, "-ldl", "-lpthread"]
        subprocess.run([str(part) for part in command], check=True)
    return library


class Recording:
    """The changes below `root` from now on, made by programs that run in `environment()`."""

    def __init__(self, root: Path, library: Path, trace: Path) -> None:
        self.root = root.resolve()
        self._library = library
        self._trace = trace
        trace.write_bytes(b"")
        self.files, self.inodes = _snapshot(self.root)

    def environment(self, fail: str = "") -> dict[str, str]:
        """`fail`: what POWER_FAIL in recorder.c says."""
        added = {"LD_PRELOAD": str(self._library), "POWER_ROOT": str(self.root), "POWER_TRACE": str(self._trace)}
        return os.environ | added | ({"POWER_FAIL": fail} if fail else {})

    def mark(self, what: str, **facts: Any) -> None:
        """Note in the record that something has happened."""
        mark_in(self._trace, what, **facts)

    def events(self) -> Iterator[Event]:
        prefix = len(str(self.root)) + 1
        with self._trace.open("rb") as file:
            while head := file.read(_EVENT.size):
                size, op, inode, number, pid, *lengths = _EVENT.unpack(head)
                path, other, data = (file.read(length) for length in lengths)
                assert size == _EVENT.size + sum(lengths) == _EVENT.size + len(path) + len(other) + len(data)
                yield Event(Op(op), inode, number, pid, os.fsdecode(path)[prefix:], os.fsdecode(other)[prefix:], data)


def mark_in(trace: Path, what: str, **facts: Any) -> None:
    """Append a mark to a record. It takes its place among the events of programs that run at the same time."""
    data = json.dumps({"what": what, **facts}).encode()
    with trace.open("ab", buffering=0) as file:
        file.write(_EVENT.pack(_EVENT.size + len(data), Op.MARK, 0, 0, os.getpid(), 0, 0, len(data)) + data)


def _snapshot(root: Path) -> tuple[dict[str, bytes | None], dict[str, int]]:
    """Returns all files (a folder: None) and all inodes, by the path below the root."""
    files: dict[str, bytes | None] = {}
    inodes = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if not name.endswith("-shm"):
            files[name] = None if path.is_dir() else path.read_bytes()
            inodes[name] = path.stat().st_ino
    return files, inodes
