"""Reads documents with their URLs, for everybody who reads a collection: one by its URL, or many in some order.

In the order of the crawl, rows are read in portions and nothing stays open between two of them, so that a crawl beside
it can go on writing its database into place. In other orders SQLite sorts the ids first, in a temporary file if they
are many.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from pycrawl.state.database import Database
from pycrawl.state.documents import Document, as_document
from pycrawl.state.runs.one_key import KeyReader
from pycrawl.state.unwanted import FORGOTTEN

_AT_ONCE = 500  # rows of a portion

_COLUMNS = ", ".join(f"documents.{column}" for column in Document._fields) + ", urls.url, files.name"
_WIDTH = len(Document._fields)
# SQLite never reorders a CROSS JOIN: `documents` is the outer loop, and its order that of the rows.
_TABLES = "documents CROSS JOIN urls ON urls.id = documents.url_id CROSS JOIN files ON files.id = documents.file_id"
_KEPT = f"substr(urls.url, 1, {len(FORGOTTEN)}) != '{FORGOTTEN}'"


class Order(StrEnum):
    """In which order documents come. Those that are alike in it come in the order of the crawl."""

    CRAWL = "crawl"
    HOST = "host"
    TIME = "time"


_SORTED = {
    Order.HOST: (f"{_TABLES} CROSS JOIN hosts ON hosts.id = urls.host_id", "hosts.key, documents.id"),
    Order.TIME: (_TABLES, "documents.fetched_at, documents.id"),
}


class DocumentRow(NamedTuple):
    """A document, its URL, and the name of the compound file with its record."""

    document: Document
    url: str
    file_name: str


class Chosen(NamedTuple):
    """Which documents are wanted: those that meet all conditions which are given."""

    host_ids: tuple[int, ...] | None = None
    since: float | None = None  # fetched at this time or later, seconds since the epoch
    until: float | None = None  # fetched before this time
    newest: bool = False  # only the newest document of each URL
    own_record: bool = False  # only documents that are no exact copy of another

    def condition(self) -> tuple[str, list[object]]:
        """Returns the SQL condition and its values, for all but `newest`."""
        parts, values = [_KEPT], list[object]()
        if self.host_ids is not None:
            parts.append("urls.host_id IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(self.host_ids))
        if self.since is not None:
            parts.append("documents.fetched_at >= ?")
            values.append(self.since)
        if self.until is not None:
            parts.append("documents.fetched_at < ?")
            values.append(self.until)
        if self.own_record:
            parts.append("documents.duplicate_of = 0")
        return " AND ".join(parts), values


EVERYTHING = Chosen()


def rows(database: Database, chosen: Chosen = EVERYTHING, order: Order = Order.CRAWL) -> Iterator[DocumentRow]:
    """Yields the chosen documents. What a crawl commits meanwhile is among them, if they come in its order."""
    if order is Order.CRAWL:
        return _in_crawl_order(database, chosen)
    return _sorted(database, chosen, order)


def _in_crawl_order(database: Database, chosen: Chosen) -> Iterator[DocumentRow]:
    condition, values = chosen.condition()
    sql = f"SELECT {_COLUMNS} FROM {_TABLES} WHERE documents.id > ? AND {condition} ORDER BY documents.id LIMIT ?"
    last = 0
    while portion := [_row(row) for row in database.query(sql, (last, *values, _AT_ONCE)).fetchall()]:
        yield from _without_older(database, portion) if chosen.newest else portion
        last = portion[-1].document.id


def _sorted(database: Database, chosen: Chosen, order: Order) -> Iterator[DocumentRow]:
    condition, values = chosen.condition()
    tables, key = _SORTED[order]
    ids = database.query(f"SELECT documents.id FROM {tables} WHERE {condition} ORDER BY {key}", values)
    while portion := ids.fetchmany(_AT_ONCE):
        wanted = list(rows_of(database, [document_id for (document_id,) in portion]))
        yield from _without_older(database, wanted) if chosen.newest else wanted


def _without_older(database: Database, portion: list[DocumentRow]) -> list[DocumentRow]:
    """Returns those of the documents that are the newest of their URLs."""
    with database.one_view():
        from pycrawl.state.documents_by_url import ids_by_url  # needs numpy, which takes long to load

        pairs = ids_by_url(database, [row.document.url_hash for row in portion])
        others = {one for at, one in pairs if one != portion[at].document.id}
        times = database.query_each("SELECT id, fetched_at, url_hash FROM documents WHERE id IN ({})", others)
        newest: dict[int, tuple[float, int]] = {}
        for document_id, fetched_at, url_hash in times:
            newest[url_hash] = max((fetched_at, document_id), newest.get(url_hash, (fetched_at, document_id)))
    return [
        row
        for row in portion
        if (row.document.fetched_at, row.document.id)
        >= newest.get(row.document.url_hash, (row.document.fetched_at, row.document.id))
    ]


def rows_of(database: Database, ids: Iterable[int]) -> Iterator[DocumentRow]:
    """Yields the documents with these ids, in the order asked for. Those that are not there any more are left out."""
    wanted = list(ids)
    found = database.query_each(f"SELECT {_COLUMNS} FROM {_TABLES} WHERE {_KEPT} AND documents.id IN ({{}})", wanted)
    by_id = {row[0]: _row(row) for row in found}
    return (by_id[one] for one in wanted if one in by_id)


def rows_of_url(
    database: Database, by_url: KeyReader, url: str, url_hash: int, at: float | None = None
) -> list[DocumentRow]:
    """Returns the documents of a URL, the newest first; those from after the time `at`, if that is given, excluded.
    `by_url` reads the store `DOCUMENTS_BY_URL`."""
    until = float("inf") if at is None else at
    with database.one_view():
        found = list(rows_of(database, by_url.ids_of(url_hash)))
    wanted = [row for row in found if row.url == url and row.document.fetched_at <= until]
    return sorted(wanted, key=lambda row: (row.document.fetched_at, row.document.id), reverse=True)


def row_of_number(database: Database, file_id: int, number: int) -> DocumentRow | None:
    """Returns the document whose record has this number in a compound file; None if there is none.

    Records lie in the files in the order of their documents' ids, so it is found by halving; copies, which have no
    record of their own, are passed over.
    """
    first, end = 1, last_id(database) + 1
    while first < end:
        middle = (first + end) // 2
        found = database.query(
            "SELECT id, file_id, number FROM documents WHERE id >= ? AND id < ? AND duplicate_of = 0"
            " ORDER BY id LIMIT 1",
            (middle, end),
        ).fetchone()
        if found is None or found[1:] > (file_id, number):
            end = middle
        elif found[1:] == (file_id, number):
            return next(rows_of(database, [found[0]]), None)
        else:
            first = found[0] + 1
    return None


def _row(row: tuple[object, ...]) -> DocumentRow:
    return DocumentRow(as_document(row[:_WIDTH]), row[_WIDTH], row[_WIDTH + 1])  # type: ignore[arg-type]  # as selected


def count(database: Database, chosen: Chosen = EVERYTHING) -> int:
    """Returns how many documents are chosen."""
    if chosen.newest:
        return sum(1 for _ in rows(database, chosen))
    condition, values = chosen.condition()
    return int(database.query(f"SELECT count(*) FROM {_TABLES} WHERE {condition}", values).fetchone()[0])


def last_id(database: Database) -> int:
    return int(database.query("SELECT coalesce(max(id), 0) FROM documents").fetchone()[0])
