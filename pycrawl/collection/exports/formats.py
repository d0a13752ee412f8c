"""The seam of exports: a format turns one document after the other into bytes.

A package adds a format by an entry point of the group "pycrawl.exports" (docs/extending.md).
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pycrawl.collection.document import Document
from pycrawl.collection.fields import USUAL, Needs
from pycrawl.config import Config
from pycrawl.errors import PycrawlError, UsageError
from pycrawl.plugins import registry
from pycrawl.record import trec_web

BUILT_IN = ("trec", "warc", "jsonl", "parquet", "links")
COMPRESSIONS = ("none", "gzip", "zstd")


class IndexEntry(NamedTuple):
    """Where a record lies in its piece, and what the index of the file says of it."""

    offset: int  # bytes, from the start of the piece
    length: int
    key: str
    fields: Mapping[str, str]


class Piece(NamedTuple):
    """Bytes that stay together in one file of the output."""

    data: bytes
    entries: Sequence[IndexEntry] = ()


class Options(NamedTuple):
    """What was asked for; it goes to the worker processes."""

    format: str
    fields: tuple[str, ...] = USUAL
    utf8: bool = False
    dochdr: str = ""  # "wt10g" or "gov2"; empty: as stored
    compression: str = "none"
    ascii_only: bool = False  # in JSON, write all other characters, and control characters, as escapes
    as_parquet: bool = False  # the table of links
    status: str = ""  # conditions of the selection for which the record has to be read
    language: str = ""

    @property
    def need_language(self) -> bool:
        """True if the language of each document has to be known."""
        return bool(self.language) or (self.format in ("jsonl", "parquet") and "language" in self.fields)


class Reference(NamedTuple):
    """An earlier record of the same output that has the same body."""

    url: str
    timestamp: float
    docno: str


class Revisit(NamedTuple):
    """A later visit that found a document unchanged."""

    status: int
    timestamp: float
    etag: str
    last_modified: str


class Task(NamedTuple):
    """A document to be written, and what is known of its place in the output."""

    document: Document
    reference: Reference | None = None
    revisit: Revisit | None = None


class Format(Protocol):
    """A format. `extension` is what its files' names end in (".jsonl"), without that of the compression."""

    extension: str
    needs: Needs

    def head(self, file_name: str) -> bytes:
        """What each file begins with."""

    def pieces(self, tasks: Sequence[Task], on_fault: Callable[[str], None]) -> list[Piece]:
        """The documents as they are written, compressed. A document that cannot be read is named to `on_fault`."""


def readable(tasks: Sequence[Task], make: Callable[[Task], Any], on_fault: Callable[[str], None]) -> list[Any]:
    """Returns what `make` makes of each task; a document for which it raises is named and left out."""
    made = []
    for task in tasks:
        try:
            made.append(make(task))
        except PycrawlError as error:
            on_fault(f"{task.document.docno} {error}")
        except Exception as error:  # noqa: BLE001  # one document must not end the export of all others
            on_fault(f"{task.document.docno} {task.document.url}: unexpected {type(error).__name__}: {error}")
    return made


def compressed(data: bytes, compression: str) -> bytes:
    """Returns the data as one gzip member or one zstd frame, or as it is."""
    if compression == "gzip":
        return trec_web.pack(data) if data else gzip.compress(b"")
    if compression == "zstd":
        return bytes(_zstd().ZstdCompressor().compress(data))
    return data


def _zstd() -> Any:
    try:
        import zstandard
    except ImportError:
        raise UsageError("zstd needs a package that is not installed: pip install 'pycrawl[zstd]'") from None
    return zstandard


def new_format(options: Options, config: Config) -> Format:
    """Returns the format that the options name. Raises UsageError if there is none, or a package that it needs is
    missing."""
    if options.compression == "zstd":
        _zstd()
    if options.format == "trec":
        from pycrawl.collection.exports.trec import TrecFormat

        return TrecFormat(options)
    if options.format == "warc":
        from pycrawl.collection.exports.warc import WarcFormat

        return WarcFormat(options, config)
    if options.format == "parquet" or (options.format == "links" and options.as_parquet):
        from pycrawl.collection.exports.parquet import ParquetFormat

        return ParquetFormat(options)
    if options.format == "jsonl":
        from pycrawl.collection.exports.rows import JsonlFormat

        return JsonlFormat(options)
    if options.format == "links":
        from pycrawl.collection.exports.rows import LinksFormat

        return LinksFormat(options)
    return PluginFormat(options, config)


def names() -> list[str]:
    """Returns the names of all formats, those of other packages last."""
    return [*BUILT_IN, *(name for name in registry.installed(registry.EXPORTS) if name not in BUILT_IN)]


class PluginFormat:
    """A format of another package: `extension`, `render(document) -> bytes`, and, if it has one,
    `head(file_name) -> bytes`. Its calls are bounded in time; what it fails at is a fault of that document."""

    needs = Needs.ANCHORS

    def __init__(self, options: Options, config: Config) -> None:
        if options.format not in names():
            raise UsageError(f"format: expected one of {', '.join(names())}; found {options.format!r}")
        self._name = options.format
        self._compression = options.compression
        self._plugin = registry.make_or_explain(registry.EXPORTS, options.format, "--format", config.plugins)
        self.extension = str(getattr(self._plugin, "extension", f".{options.format}"))

    def head(self, file_name: str) -> bytes:
        from pycrawl.plugins.guard import guarded

        make = getattr(self._plugin, "head", None)
        data = guarded(self._name, make, file_name) if make is not None else b""
        return compressed(_checked(data), self._compression) if data else b""

    def pieces(self, tasks: Sequence[Task], on_fault: Callable[[str], None]) -> list[Piece]:
        return [Piece(data) for data in readable(tasks, self._one, on_fault)]

    def _one(self, task: Task) -> bytes:
        from pycrawl.plugins.guard import PluginFailed, guarded

        try:
            data = guarded(self._name, lambda: _checked(self._plugin.render(task.document)))
        except PluginFailed as failed:
            raise PycrawlError(f"{task.document.url}: the plugin {failed}") from None
        return compressed(data, self._compression)


def _checked(data: Any) -> bytes:
    if not isinstance(data, bytes):
        raise TypeError(f"expected bytes, found a {type(data).__name__}")
    return data
