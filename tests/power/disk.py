"""The disk that a recorded program writes to, as a power cut at some moment could leave it.

What POSIX promises, and nothing more: an fsync of a file makes durable what was written to it before; an fsync of a
folder makes durable which names it has. Of what was not synced, any part may be there: each write whole, dropped, or
torn at the sectors of the disk; the end of a file extended with zeros; a new name, a removed one, or a renamed one as
before or as after. A name that was renamed has one of the two names.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.power.recording import Event, Op, Recording

SECTOR = 512  # bytes that a disk writes whole or not at all


class Change(NamedTuple):
    """A change to a file's content that was not synced yet."""

    at: int  # which event
    offset: int  # of a write; of a truncation: the new length
    data: bytes | None  # None: a truncation


class Renaming(NamedTuple):
    """A change to names that was not synced yet."""

    at: int
    op: Op
    name: str
    other: str  # the new name of a rename or link
    node: Node | None  # of a new name
    unsynced: set[str]  # folders that have to be synced before it is durable


@dataclass(eq=False, slots=True)
class Node:
    """A file or a folder, whatever its names."""

    is_folder: bool = False
    durable: bytearray = field(default_factory=bytearray)
    cached: bytearray = field(default_factory=bytearray)  # what programs read
    pending: list[Change] = field(default_factory=list)

    def change(self, change: Change) -> None:
        self.pending.append(change)
        _write(self.cached, [change])


Names = dict[str, Node]


class Disk:
    """Takes events one after the other. `image` may be asked for at any time."""

    def __init__(self, recording: Recording) -> None:
        self._by_inode: dict[int, Node] = {}
        self._names: Names = {}  # durable
        self._pending: list[Renaming] = []
        self._syncs: dict[tuple[int, int], int] = {}  # (process, number of an fsync that runs) → when it began
        self.count = 0
        self.marks: list[tuple[int, dict[str, Any]]] = []  # when, what
        for name, content in recording.files.items():
            node = Node(content is None, bytearray(content or b""), bytearray(content or b""))
            self._names[name] = self._by_inode[recording.inodes[name]] = node

    def take(self, event: Event) -> None:
        """The next event."""
        self.count += 1
        now = self.count
        match event.op:
            case Op.MARK:
                self.marks.append((now, json.loads(event.data)))
            case Op.CREATE | Op.MKDIR:
                node = self._by_inode[event.inode] = Node(event.op == Op.MKDIR)
                self._rename(event, node)
            case Op.RENAME | Op.LINK:
                self._rename(event, self._by_inode[event.inode])
            case Op.UNLINK | Op.RMDIR:
                self._rename(event, None)
            case Op.WRITE:
                self._by_inode[event.inode].change(Change(now, event.number, event.data))
            case Op.TRUNCATE:
                self._by_inode[event.inode].change(Change(now, event.number, None))
            case Op.SYNC_BEGIN:
                self._syncs[event.pid, event.number] = now
            case Op.SYNC_END:
                self._sync(event, self._syncs.pop((event.pid, event.number)))
            case Op.SYNC_FAILED:
                self._lose(event, self._syncs.pop((event.pid, event.number)))

    def _rename(self, event: Event, node: Node | None) -> None:
        names = {event.path, event.other} - {""} - ({event.path} if event.op == Op.LINK else set())
        folders = {name.rpartition("/")[0] for name in names}
        self._pending.append(Renaming(self.count, event.op, event.path, event.other, node, folders))

    def _sync(self, event: Event, begun: int) -> None:
        node = self._by_inode.get(event.inode)
        if node is None or node.is_folder:  # the recorded folder itself has no node
            folder = event.path if node is not None else ""
            for one in self._pending:
                if one.at < begun:
                    one.unsynced.discard(folder)
            _rename(self._names, (one for one in self._pending if not one.unsynced))
            self._pending = [one for one in self._pending if one.unsynced]
        else:
            _write(node.durable, (change for change in node.pending if change.at < begun))
            node.pending = [change for change in node.pending if change.at >= begun]

    def _lose(self, event: Event, begun: int) -> None:
        """After an fsync that failed, the kernel may take what it could not write for written: no later fsync writes
        it. The program still reads it, until the power goes."""
        node = self._by_inode.get(event.inode)
        if node is not None:
            node.pending = [change for change in node.pending if change.at >= begun]

    def image(self, cut: Cut) -> dict[str, bytes | None]:
        """Returns a disk after a power cut now: name → content; None is a folder."""
        names = dict(self._names)
        _rename(names, cut.choose_names(self._pending))
        return {
            name: None if node.is_folder else bytes(cut.content(node))
            for name, node in names.items()
            if all(_is_folder(names, parent) for parent in _parents(name))
        }


class Cut:
    """What one power cut does to what was not synced. This one: nothing was cut, as after kill -9."""

    def choose_names(self, pending: list[Renaming]) -> list[Renaming]:
        return pending

    def content(self, node: Node) -> bytearray:
        return node.cached


class RandomCut(Cut):
    """A cut by chance. `kind` says what it was, for people."""

    NAMES = ("synced", "all", "first", "some")
    CONTENTS = ("synced", "all", "first", "some", "zeros")

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._names = chance.choice(self.NAMES)
        self._contents = chance.choice((*self.CONTENTS, "mixed", "mixed"))
        self.kind = f"names: {self._names}, contents: {self._contents}"

    def choose_names(self, pending: list[Renaming]) -> list[Renaming]:
        match self._names:
            case "synced":
                return []
            case "first":
                return pending[: self._chance.randint(0, len(pending))]
            case "some":
                return [one for one in pending if self._chance.random() < 0.5]
        return pending

    def content(self, node: Node) -> bytearray:
        contents = self._chance.choice(self.CONTENTS) if self._contents == "mixed" else self._contents
        content = bytearray(node.durable)
        match contents:
            case "all":
                _write(content, node.pending)
            case "first":
                count = self._chance.randint(0, len(node.pending))
                _write(content, node.pending[:count])
                for change in node.pending[count : count + 1]:
                    _write(content, self._torn(change))
            case "some":
                for change in node.pending:
                    kept = self._chance.choice((change, None, *([...] if change.data else [])))
                    _write(content, self._torn(change) if kept is ... else [kept] if kept else [])
            case "zeros":
                whole = bytearray(content)
                _write(whole, node.pending)
                content += bytes(max(0, len(whole) - len(content)))
        return content

    def _torn(self, change: Change) -> list[Change]:
        """The sectors of a write that made it to the disk."""
        if change.data is None:
            return []
        parts = []
        begin, end = change.offset, change.offset + len(change.data)
        while begin < end:
            after = min(end, (begin // SECTOR + 1) * SECTOR)
            if self._chance.random() < 0.5:
                parts.append(Change(change.at, begin, change.data[begin - change.offset : after - change.offset]))
            begin = after
        return parts


def write_image(image: dict[str, bytes | None], root: Path) -> None:
    """Write the files into a new folder."""
    root.mkdir(parents=True)
    for name in sorted(image):
        content = image[name]
        if content is None:
            (root / name).mkdir()
        else:
            (root / name).write_bytes(content)


def _write(content: bytearray, changes: Iterable[Change]) -> None:
    for change in changes:
        if change.data is None:
            del content[change.offset :]
            content += bytes(change.offset - len(content))
        else:
            content += bytes(max(0, change.offset - len(content)))
            content[change.offset : change.offset + len(change.data)] = change.data


def _rename(names: Names, changes: Iterable[Renaming]) -> None:
    """Change the names. A change whose file is not there, as an earlier change was lost, is lost too."""
    for change in changes:
        match change.op:
            case Op.CREATE | Op.MKDIR:
                assert change.node is not None
                names[change.name] = change.node
            case Op.UNLINK | Op.RMDIR:
                names.pop(change.name, None)
            case Op.RENAME:
                if change.node is not None and names.get(change.name) is change.node:
                    del names[change.name]
                    names[change.other] = change.node
            case Op.LINK:
                if change.node is not None and names.get(change.name) is change.node:
                    names[change.other] = change.node


def _parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _is_folder(names: Names, name: str) -> bool:
    return name in names and names[name].is_folder
