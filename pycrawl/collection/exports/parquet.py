"""Parquet: the fields as columns, or the links as a table. Workers make batches of Arrow, the exporting process writes
them in row groups of bounded size."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pycrawl.collection.exports.formats import Options, Piece, Task, readable
from pycrawl.collection.exports.rows import LINK_COLUMNS
from pycrawl.collection.fields import Needs, chosen_fields
from pycrawl.collection.pages import Link
from pycrawl.errors import UsageError

_GROUP_BYTES = 32_000_000  # of Arrow, in one row group


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError("parquet needs a package that is not installed: pip install 'pycrawl[parquet]'") from None
    return pyarrow


def _types() -> dict[str, Any]:
    """Returns field → its type, where that is not text."""
    arrow = _arrow()
    texts = [(name, arrow.string()) for name in ("url", "anchor", "place")]
    both = [*texts, ("nofollow", arrow.bool_()), ("rel", arrow.list_(arrow.string()))]
    return {
        "time": arrow.timestamp("us", "UTC"),
        "status": arrow.int32(),
        "length": arrow.int64(),
        "words": arrow.int64(),
        "truncated": arrow.bool_(),
        "copy": arrow.bool_(),
        "body": arrow.binary(),
        "headers": arrow.list_(arrow.list_(arrow.string())),
        "links": arrow.list_(arrow.struct([*both, ("href", arrow.string())])),
        "in_links": arrow.list_(arrow.struct([*both, ("via", arrow.string())])),
        "nofollow": arrow.bool_(),
    }


class ParquetFormat:
    extension = ".parquet"

    def __init__(self, options: Options) -> None:
        arrow = _arrow()
        self._is_links = options.format == "links"
        self._fields = () if self._is_links else chosen_fields(options.fields)
        self.needs = Needs.ANCHORS if self._is_links else max(field.needs for field in self._fields)
        names = LINK_COLUMNS if self._is_links else [field.name for field in self._fields]
        types = _types()
        self.schema = arrow.schema([(name, types.get(name, arrow.string())) for name in names])

    def head(self, file_name: str) -> bytes:
        return b""

    def pieces(self, tasks: Sequence[Task], on_fault: Callable[[str], None]) -> list[Piece]:
        arrow = _arrow()
        made = readable(tasks, self._links if self._is_links else self._row, on_fault)
        rows = [row for rows in made for row in rows] if self._is_links else made
        batch = arrow.RecordBatch.from_pylist(rows, self.schema)
        sink = arrow.BufferOutputStream()
        with arrow.ipc.new_stream(sink, self.schema) as stream:
            stream.write_batch(batch)
        return [Piece(sink.getvalue().to_pybytes())] if rows else []

    def _row(self, task: Task) -> dict[str, Any]:
        document = task.document
        exact: dict[str, Any] = {
            "time": lambda: document.time,
            "body": lambda: document.body,
            "json_ld": lambda: json.dumps(document.json_ld, ensure_ascii=False),
        }
        return {field.name: exact.get(field.name, lambda f=field: f.of(document))() for field in self._fields}

    def _links(self, task: Task) -> list[dict[str, Any]]:
        document = task.document
        return [
            dict(zip(LINK_COLUMNS, _link_values(document.url, link), strict=True))
            for link in document.links
            if link.url is not None
        ]


def _link_values(source: str, link: Link) -> tuple[str | bool | None, ...]:
    return source, link.url, link.anchor, link.nofollow, " ".join(link.rel), link.place


class ParquetFile:
    """A parquet file that is being written: batches are gathered into row groups."""

    def __init__(self, path: Path, schema: Any) -> None:
        self._arrow = _arrow()
        self._schema = schema
        self._writer = self._arrow.parquet.ParquetWriter(path, schema, compression="zstd")
        self._batches: list[Any] = []
        self._bytes = 0

    def write(self, data: bytes) -> None:
        with self._arrow.ipc.open_stream(data) as stream:
            for batch in stream:
                self._batches.append(batch)
                self._bytes += batch.nbytes
        if self._bytes >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._batches:
            self._writer.write_table(self._arrow.Table.from_batches(self._batches, self._schema))
        self._batches, self._bytes = [], 0

    def close(self) -> None:
        self._flush()
        self._writer.close()
