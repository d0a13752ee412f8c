"""Tells if a document's record is the one that was stored: for `verify --deep` and `verify --repair`."""

from __future__ import annotations

import xxhash

from pycrawl.errors import StoreError
from pycrawl.record import trec_web
from pycrawl.state.documents import Document
from pycrawl.store.compound import docno_of
from pycrawl.store.reader import RecordReader


def record_fault(reader: RecordReader, name: str, document: Document, seed: int) -> str:
    """Returns what is wrong with a document's record in the compound file `name`; empty if nothing is."""
    try:
        record = trec_web.decode(
            reader.read(name, document.offset, document.length), document.escapes, document.body_length
        )
    except StoreError as error:
        fault = str(error).removeprefix(str(reader.path(name))).lstrip(":, ")  # the caller names the file
        return f"the record is damaged: {fault}"
    if xxhash.xxh3_128_digest(record.body, seed) != document.digest:
        return "the body is not the one that was stored"
    is_its_own = record.docno == docno_of(document.file_id, document.number)
    return "" if is_its_own else f"the record says that it is {record.docno}"
