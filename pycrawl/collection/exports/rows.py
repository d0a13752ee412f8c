"""jsonl: one JSON object a line; links: one link a line, as tab-separated values."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from pycrawl.collection.exports.formats import Options, Piece, Task, compressed, readable
from pycrawl.collection.fields import Needs, as_json, chosen_fields
from pycrawl.collection.pages import Link
from pycrawl.foreign.visible import visible_json

LINK_COLUMNS = ("source", "target", "anchor", "nofollow", "rel", "place")
_UNSAFE = str.maketrans(dict.fromkeys("\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))


class JsonlFormat:
    extension = ".jsonl"

    def __init__(self, options: Options) -> None:
        self._fields = chosen_fields(options.fields)
        self.needs = max(field.needs for field in self._fields)
        self._compression = options.compression
        self._ascii_only = options.ascii_only

    def head(self, file_name: str) -> bytes:
        return b""

    def pieces(self, tasks: Sequence[Task], on_fault: Callable[[str], None]) -> list[Piece]:
        lines = readable(tasks, self._line, on_fault)
        return [Piece(compressed(b"".join(lines), self._compression))] if lines else []

    def _line(self, task: Task) -> bytes:
        values = as_json(task.document, self._fields)
        text = visible_json(json.dumps(values)) if self._ascii_only else json.dumps(values, ensure_ascii=False)
        return text.encode("utf-8", "replace") + b"\n"


class LinksFormat:
    """Columns: source and target URL, anchor text, 1 if the link asks not to be followed, its rel, and where it stands
    ("content" or "frame"). White space in an anchor is written as spaces. Links to what is no http or https URL are
    left out."""

    extension = ".tsv"
    needs = Needs.ANCHORS

    def __init__(self, options: Options) -> None:
        self._compression = options.compression

    def head(self, file_name: str) -> bytes:
        return compressed(("\t".join(LINK_COLUMNS) + "\n").encode(), self._compression)

    def pieces(self, tasks: Sequence[Task], on_fault: Callable[[str], None]) -> list[Piece]:
        lines = readable(tasks, _link_lines, on_fault)
        return [Piece(compressed(b"".join(lines), self._compression))] if lines else []


def _link_lines(task: Task) -> bytes:
    lines = [_link_line(task.document.url, link) for link in task.document.links if link.url is not None]
    return "".join(lines).encode("utf-8", "replace")


def _link_line(source: str, link: Link) -> str:
    anchor = link.anchor.translate(_UNSAFE)
    return f"{source}\t{link.url}\t{anchor}\t{int(link.nofollow)}\t{' '.join(link.rel)}\t{link.place}\n"
