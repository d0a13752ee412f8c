"""Batches of documents into pieces of the output: in this process, or in a worker (`workers.py`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pycrawl.collection.document import Document
from pycrawl.collection.exports.formats import IndexEntry, Options, Piece, Reference, Revisit, Task, new_format
from pycrawl.collection.link_view import Linked
from pycrawl.collection.pages import Pages
from pycrawl.collection.selection import Selection
from pycrawl.config import Config
from pycrawl.errors import PycrawlError
from pycrawl.state.document_rows import DocumentRow


class Item(NamedTuple):
    """A document to be written, with what the state says of it."""

    row: DocumentRow
    prints: bytes = b""
    cluster: str = ""
    in_links: tuple[Linked, ...] = ()
    reference: Reference | None = None
    revisit: Revisit | None = None


Batch = tuple[Item, ...]


class Rendered(NamedTuple):
    """What became of a batch."""

    pieces: list[Piece]
    written: int  # documents
    faults: list[str]  # one line for each document that could not be read


class _Given:
    """The facts that came with the item."""

    def __init__(self, item: Item) -> None:
        self._item = item

    def prints(self, row: DocumentRow) -> bytes:
        return self._item.prints

    def cluster(self, row: DocumentRow) -> str:
        return self._item.cluster

    def in_links(self, row: DocumentRow) -> list[Linked]:
        return list(self._item.in_links)


class Renderer:
    def __init__(self, docs: Path, config: Config, options: Options) -> None:
        self.format = new_format(options, config)
        self._pages = Pages(docs, config)
        self._selection = Selection(status=options.status, language=options.language)

    def render(self, batch: Batch) -> Rendered:
        faults: list[str] = []
        tasks = []
        for item in batch:
            document = Document(item.row, self._pages, _Given(item))
            try:
                if self._selection.accepts(document):
                    tasks.append(Task(document, item.reference, item.revisit))
            except PycrawlError as error:
                faults.append(f"{document.docno} {error}")
        wanted = len(tasks)
        before = len(faults)
        pieces = self.format.pieces(tasks, faults.append)
        return Rendered(pieces, wanted - (len(faults) - before), faults)

    def close(self) -> None:
        self._pages.close()


# Between two processes. What a worker sends is plain: it has read foreign bytes, and may be in anybody's hands.


def pack(rendered: Rendered) -> list[bytes]:
    """Returns a description in JSON, and the data."""
    told: dict[str, Any] = {
        "lengths": [len(piece.data) for piece in rendered.pieces],
        "entries": [[(*entry[:3], dict(entry.fields)) for entry in piece.entries] for piece in rendered.pieces],
        "written": rendered.written,
        "faults": rendered.faults,
    }
    return [json.dumps(told).encode(), b"".join(piece.data for piece in rendered.pieces)]


def unpack(description: bytes, data: bytes) -> Rendered:
    """Raises ValueError, KeyError or TypeError for what `pack` does not make."""
    told = json.loads(description)
    pieces = []
    at = 0
    for length, entries in zip(told["lengths"], told["entries"], strict=True):
        pieces.append(Piece(data[at : at + int(length)], [_entry(entry) for entry in entries]))
        at += int(length)
    return Rendered(pieces, int(told["written"]), [str(fault) for fault in told["faults"]])


def _entry(values: Sequence[Any]) -> IndexEntry:
    offset, length, key, fields = values
    return IndexEntry(int(offset), int(length), str(key), {str(name): str(value) for name, value in fields.items()})
