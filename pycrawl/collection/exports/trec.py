"""TREC Web: the records as they are stored, or written anew with another first header line or in UTF-8."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pycrawl.collection.document import COPY_MARK, Document
from pycrawl.collection.exports.formats import Options, Piece, Task, compressed, readable
from pycrawl.collection.fields import Needs
from pycrawl.errors import StoreError
from pycrawl.record import trec_web

_ORIGINAL = b"X-Original-Content-Type"


class TrecFormat:
    extension = ".trec"
    needs = Needs.RECORD

    def __init__(self, options: Options) -> None:
        self._compression = options.compression
        self._utf8 = options.utf8
        self._dochdr = options.dochdr

    def head(self, file_name: str) -> bytes:
        return b""

    def pieces(self, tasks: Sequence[Task], on_fault: Callable[[str], None]) -> list[Piece]:
        return [Piece(data) for data in readable(tasks, self._one, on_fault)]

    def _one(self, task: Task) -> bytes:
        document = task.document
        record = document.record  # also proves that it is whole
        if record.docno != document.docno.partition(COPY_MARK)[0]:
            raise StoreError(f"{document.url}: expected the record {document.docno}, found {record.docno}")
        if not (self._utf8 or self._dochdr or document.is_copy):
            stored = document.stored_record
            if document.row.file_name.endswith(".gz"):
                return stored if self._compression == "gzip" else compressed(trec_web.unpack(stored), self._compression)
            return compressed(stored, self._compression)
        return compressed(self._written_anew(document), self._compression)

    def _written_anew(self, document: Document) -> bytes:
        record = document.record
        content_type, headers, body = document.content_type, list(record.headers), record.body
        if self._utf8 and document.has_parser:
            content_type, headers, body = _in_utf8(content_type, headers, body)
        dochdr = self._dochdr or ("wt10g" if record.date else "gov2")
        text, _ = trec_web.encode(
            document.url, record.address, document.timestamp, content_type, record.status_line, headers, body, dochdr
        )
        return trec_web.head(document.docno) + text


def _in_utf8(
    content_type: str, headers: list[tuple[bytes, bytes]], body: bytes
) -> tuple[str, list[tuple[bytes, bytes]], bytes]:
    """Returns type, headers and body of a page in UTF-8. What the server said is in X-Original-Content-Type."""
    from pycrawl.parse.charset import read

    text, _ = read(body, content_type)
    declared = f"{content_type.partition(';')[0].strip() or 'text/html'}; charset=utf-8"
    kept = [(name, value) for name, value in headers if name.lower() != b"content-type"]
    place = next((at for at, (name, _) in enumerate(headers) if name.lower() == b"content-type"), len(kept))
    kept.insert(min(place, len(kept)), (b"Content-Type", declared.encode("latin-1", "replace")))
    kept.append((_ORIGINAL, content_type.encode("latin-1", "replace")))
    return declared, kept, text.encode("utf-8", "replace")
