"""One export: chooses documents, has them rendered, and writes them; what cannot be read is named, and left out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pycrawl.collection import clusters
from pycrawl.collection.document import docno_of_row
from pycrawl.collection.exports.cdxj import CdxjIndex
from pycrawl.collection.exports.formats import COMPRESSIONS, Options, Reference, Revisit, new_format
from pycrawl.collection.exports.output import STANDARD_OUTPUT, FileOutput, StreamOutput, check_free
from pycrawl.collection.exports.rendering import Batch, Item, Rendered, Renderer
from pycrawl.collection.exports.workers import Workers
from pycrawl.collection.fields import USUAL, Needs
from pycrawl.errors import UsageError
from pycrawl.state import document_rows
from pycrawl.state.document_rows import DocumentRow
from pycrawl.state.documents import visits_without_change
from pycrawl.state.near_seen import prints_by_document
from pycrawl.store.compound import docno_of

if TYPE_CHECKING:
    from pycrawl.collection.collection import Collection
    from pycrawl.collection.selection import Selection

_BATCH_DOCUMENTS = 64
_BATCH_BYTES = 4_000_000  # of bodies; one larger document is a batch of its own
_FEW = 64  # documents that are rendered in this process, as workers take a third of a second to start
_PRINTS = {"simhash", "words", "sketch"}
_ENDINGS = {".gz": "gzip", ".zst": "zstd"}

OnProgress = Callable[[int], None]
OnFault = Callable[[str], None]


class Exported(NamedTuple):
    """What an export has written."""

    documents: int
    faults: int  # documents that could not be read, and are missing
    files: list[Path]


class Request(NamedTuple):
    """What is asked of an export, beside the selection."""

    options: Options
    path: str | Path  # "-" is standard output
    split: int | None = None  # bytes of a file
    overwrite: bool = False
    cdxj: bool = False
    workers: int | None = None  # processes; None: one for each core


def compression_of(path: str | Path, format_name: str, asked: str | None) -> str:
    """Returns how the output is compressed: as asked for, or else as its name says; a WARC is, unless it is named
    ".warc"."""
    if asked is not None:
        if asked not in COMPRESSIONS:
            raise UsageError(f"compress: expected one of {', '.join(COMPRESSIONS)}; found {asked!r}")
        return asked
    ending = Path(path).suffix
    by_default = "gzip" if format_name == "warc" and ending != ".warc" else "none"
    return _ENDINGS.get(ending, by_default)


def export(
    collection: Collection, selection: Selection, request: Request, on_progress: OnProgress, on_fault: OnFault
) -> Exported:
    """Write the selected documents. `on_progress` is called with how many are written so far, `on_fault` with a line
    for each document that could not be read."""
    options = request.options._replace(
        status=selection.status, language=selection.language, ascii_only=_goes_to_a_terminal(request)
    )
    format_ = new_format(options, collection.config)
    _check(request, options)
    if hasattr(format_, "schema"):
        output: Any = _ParquetOutput(request, format_.schema)
    elif str(request.path) == STANDARD_OUTPUT:
        output = StreamOutput(format_.head)
    else:
        output = FileOutput(Path(request.path), request.split, request.overwrite, format_.head)
    index = CdxjIndex() if request.cdxj else None
    written = faults = 0
    try:
        for rendered in _rendered(collection, selection, options, request.workers):
            for piece in rendered.pieces:
                name, offset = output.write(piece.data)
                for entry in piece.entries if index is not None else ():
                    index.add(entry.key, entry.fields, name, offset + entry.offset, entry.length)  # type: ignore[union-attr]
            written += rendered.written
            faults += len(rendered.faults)
            for fault in rendered.faults:
                on_fault(fault)
            on_progress(written)
        if index is not None:
            file = output.partial_file(_index_path(request))
            for line in index.lines():
                file.write(line.encode("ascii"))
        return Exported(written, faults, output.commit())
    except BaseException:  # Ctrl-C too
        output.abort()
        raise


def _check(request: Request, options: Options) -> None:
    to_stdout = str(request.path) == STANDARD_OUTPUT
    is_table = options.format == "parquet" or options.as_parquet
    if request.split is not None and (to_stdout or is_table):
        raise UsageError("--split: only files can be split, and parquet has row groups instead")
    if request.cdxj and (to_stdout or options.format != "warc"):
        raise UsageError("--cdxj: only WARC files have such an index")
    if request.cdxj:
        check_free(_index_path(request), request.overwrite)
    if (options.utf8 or options.dochdr) and options.format != "trec":
        raise UsageError(f"--utf8 and --dochdr: only trec is written anew, found {options.format}")
    if options.fields != USUAL and options.format not in ("jsonl", "parquet"):
        raise UsageError(f"--fields: only jsonl and parquet have fields, found {options.format}")
    if options.compression == "zstd" and options.format in ("trec", "warc"):
        raise UsageError(f"{options.format} is compressed with gzip or not at all, found zstd")
    if is_table and options.compression != "none":
        raise UsageError("parquet compresses by itself; name a file that ends in .parquet")
    if _goes_to_a_terminal(request) and (options.format != "jsonl" or options.compression != "none"):
        raise UsageError(f"a terminal cannot show {options.format}: name a file with -o, or let a program read it")


def _goes_to_a_terminal(request: Request) -> bool:
    return str(request.path) == STANDARD_OUTPUT and sys.stdout.isatty()


def _index_path(request: Request) -> Path:
    path = Path(request.path)
    return path.with_name(path.name.partition(".")[0] + ".cdxj")


class _ParquetOutput:
    """A parquet file on its way, in the manner of `FileOutput`."""

    def __init__(self, request: Request, schema: Any) -> None:
        from pycrawl.collection.exports.parquet import ParquetFile

        if str(request.path) == STANDARD_OUTPUT:
            raise UsageError("parquet cannot be written to standard output; name a file with -o")
        self._output = FileOutput(Path(request.path), None, request.overwrite, lambda name: b"")
        self._partial = self._output.partial_file(Path(request.path))
        self._file = ParquetFile(self._partial.partial, schema)

    def write(self, data: bytes) -> tuple[str, int]:
        with self._partial.explained():
            self._file.write(data)
        return "", 0

    def commit(self) -> list[Path]:
        with self._partial.explained():
            self._file.close()
        return self._output.commit()

    def abort(self) -> None:
        with suppress(OSError, ValueError):
            self._file.close()
        self._output.abort()


# Documents


def _rendered(
    collection: Collection, selection: Selection, options: Options, workers: int | None
) -> Iterator[Rendered]:
    items = _items(collection, selection, options)
    docs, config = collection.directory.docs, collection.config
    first = list(islice(items, _FEW + 1))
    with ExitStack() as stack:
        if len(first) <= _FEW and workers is None:
            renderer = Renderer(docs, config, options)
            stack.callback(renderer.close)
            for batch in _batches(first):
                yield renderer.render(batch)
            return
        pool = stack.enter_context(Workers(docs, config, options, workers))
        yield from pool.map(_batches(chain(first, items)))


def _batches(items: Iterable[Item]) -> Iterator[Batch]:
    batch: list[Item] = []
    size = 0
    for item in items:
        length = item.row.document.body_length
        if batch and (len(batch) >= _BATCH_DOCUMENTS or size + length > _BATCH_BYTES):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(item)
        size += length
    if batch:
        yield tuple(batch)


def _items(collection: Collection, selection: Selection, options: Options) -> Iterator[Item]:
    rows = collection.selected_rows(selection)
    has_prints = options.format in ("warc",) or bool(_PRINTS & set(options.fields))
    has_cluster = options.format in ("warc",) or "cluster" in options.fields
    has_in_links = "in_links" in options.fields and options.format in ("jsonl", "parquet")
    references = _References(collection) if options.format == "warc" and selection.needs is Needs.ROW else None
    if options.format not in ("trec", "warc", "jsonl", "parquet", "links"):
        has_prints = has_cluster = has_in_links = True  # a plugin may ask for anything
    while portion := list(islice(rows, _BATCH_DOCUMENTS)):
        owners = {row.document.duplicate_of or row.document.id for row in portion}
        prints = prints_by_document(collection.database, owners) if has_prints else {}
        cluster = _clusters(collection, portion) if has_cluster else {}
        revisits = _revisits(collection, portion) if options.format == "warc" else {}
        for row in portion:
            owner = row.document.duplicate_of or row.document.id
            yield Item(
                row,
                prints.get(owner, b""),
                cluster.get(owner, ""),
                tuple(collection.in_links(row)) if has_in_links else (),
                references.of(row) if references is not None else None,
                revisits.get(row.document.id),
            )


def _clusters(collection: Collection, rows: list[DocumentRow]) -> dict[int, str]:
    """Returns document with a record → the DOCNO of the oldest document of its cluster."""
    docnos = {
        row.document.duplicate_of or row.document.id: docno_of(row.document.file_id, row.document.number)
        for row in rows
    }
    roots = clusters.root_of(collection.database, docnos)
    others = {root for one, root in roots.items() if root != one and root not in docnos}
    for row in document_rows.rows_of(collection.database, others):
        docnos[row.document.id] = docno_of(row.document.file_id, row.document.number)
    return {one: docnos.get(root, docnos[one]) for one, root in roots.items()}


def _revisits(collection: Collection, rows: list[DocumentRow]) -> dict[int, Revisit]:
    visits = visits_without_change(collection.database, [row.document.id for row in rows])
    return {
        document_id: Revisit(visit.status, visit.visited_at, visit.etag, visit.last_modified)
        for document_id, visit in visits.items()
    }


class _References:
    """Which record of the output has the body of a document: one bit a document, and what copies were written before
    their originals."""

    def __init__(self, collection: Collection) -> None:
        self._written = bytearray(document_rows.last_id(collection.database) // 8 + 1)
        self._others: dict[int, Reference] = {}  # document with a record → the copy that was written in its place
        self._collection = collection

    def of(self, row: DocumentRow) -> Reference | None:
        """Returns the record that a document can refer to; None if it is the first with its body."""
        own = row.document
        owner = own.duplicate_of or own.id
        byte, bit = owner >> 3, 1 << (owner & 7)
        if byte >= len(self._written):
            return None  # committed meanwhile
        if not self._written[byte] & bit:
            self._written[byte] |= bit
            if own.duplicate_of:
                self._others[owner] = Reference(row.url, own.fetched_at, docno_of_row(row))
            return None
        if owner in self._others:
            return self._others[owner]
        original = next(document_rows.rows_of(self._collection.database, [owner]), None)
        return Reference(original.url, original.document.fetched_at, docno_of_row(original)) if original else None
