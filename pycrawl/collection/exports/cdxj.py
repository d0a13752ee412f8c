"""The index of WARC files, as pywb and others read it (CDXJ): sorted lines of key, time and JSON.

Lines are sorted in portions that fit into memory, and merged at the end.
"""

from __future__ import annotations

import heapq
import json
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import IO

from pycrawl.urls.parts import host_key, path_and_query

_LINES_AT_ONCE = 100_000


def surt(url: str) -> str:
    """Returns a normalised URL in the order in which indexes are sorted: "com,example)/path"."""
    key = host_key(url)
    if key.startswith("["):
        host = key.replace("[", "").replace("]", "")
    else:
        name, colon, port = key.partition(":")
        host = ",".join(reversed(_without_www(name).split("."))) + colon + port
    path, question, query = path_and_query(url).lower().partition("?")
    while "//" in path:
        path = path.replace("//", "/")
    if len(path) > 1:
        path = path.rstrip("/") or "/"
    query = "&".join(sorted(query.split("&"))) if query else ""
    return f"{host}){path}{question if query else ''}{query}"


def _without_www(host: str) -> str:
    label, dot, rest = host.partition(".")
    return rest if dot and label.startswith("www") and (label[3:].isdecimal() or label == "www") else host


def cdx_time(timestamp: float) -> str:
    """Returns a time as indexes have it: "20261118072240"."""
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y%m%d%H%M%S")


class CdxjIndex:
    """Takes lines in any order, and gives them back sorted."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._sorted: list[IO[str]] = []  # portions

    def add(self, key: str, fields: Mapping[str, str], file_name: str, offset: int, length: int) -> None:
        place = {**fields, "length": str(length), "offset": str(offset), "filename": file_name}
        self._lines.append(f"{key} {json.dumps(place)}\n")
        if len(self._lines) >= _LINES_AT_ONCE:
            self._put_away()

    def _put_away(self) -> None:
        portion = tempfile.TemporaryFile("w+", encoding="ascii", newline="\n")  # noqa: SIM115  # closed by `lines`
        portion.writelines(sorted(self._lines))
        portion.seek(0)
        self._sorted.append(portion)
        self._lines = []

    def lines(self) -> Iterator[str]:
        """Yields all lines in their order. To be called once."""
        try:
            yield from heapq.merge(*self._sorted, sorted(self._lines))
        finally:
            for portion in self._sorted:
                portion.close()
