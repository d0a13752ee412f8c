"""The tables of documents, visits and compound files: what was fetched, and where its records lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from pycrawl.model import Outcome
from pycrawl.state.database import Database
from pycrawl.state.runs.one_key import ids_of
from pycrawl.state.short_columns import long_date, long_type, short_date, short_type
from pycrawl.state.visit_ids import visit_ids

_SIGN = 1 << 63
_WRAP = 1 << 64
DOCUMENTS_BY_URL = 2  # the number of the store (`stores.py`)


class Document(NamedTuple):
    """One stored answer of one URL at one time: a row of `documents`."""

    id: int
    url_id: int
    url_hash: int  # as SQLite holds it: `signed`
    fetched_at: float
    file_id: int  # the compound file with the record
    offset: int  # of the record in that file, bytes
    length: int  # of the record in that file, bytes
    number: int  # of the record in that file, from 1
    body_length: int  # bytes of the body as served
    digest: bytes
    content_type: str
    charset: str  # the charset that the text was read with; empty if it is ASCII, or no text
    declared_charset: str
    escapes: bytes
    truncated: int  # 1: the body was longer than is kept
    duplicate_of: int  # the document whose record this one shares; 0: it has its own
    language: str = ""  # a tag in lower case: "en", "pt-br"; empty: not known


class Visit(NamedTuple):
    """The last visit of a URL: a row of `visits`."""

    url_id: int
    outcome: str
    status: int
    visited_at: float
    tries: int
    detail: str = ""
    etag: str = ""
    last_modified: str = ""
    digest: bytes = b""  # of the body that was found
    document_id: int = 0  # the newest document; 0: none was ever stored
    unkept: str = ""  # the `Change` from that document to what was found, if it was not stored


_TYPE_PLACE = Document._fields.index("content_type")
# The columns of `visits` as `_as_visit` wants them. A digest of 1 is that of the document (`save_visits`).
_VISIT = (
    "url_id, outcome, status, visited_at, tries, detail, etag, last_modified, iif(visits.digest = 1, coalesce("
    "(SELECT documents.digest FROM documents WHERE documents.id = visits.document_id), x''), visits.digest),"
    " document_id, unkept"
)
_MODIFIED_PLACE = Visit._fields.index("last_modified")
# Since when all visits of a URL have ended like the last one: 1 is stored for the time of the visit itself.
SINCE = "iif(visits.since = 1, visits.visited_at, visits.since)"


def as_document(row: Sequence[Any]) -> Document:
    """Returns a row of `documents`."""
    return Document._make((*row[:_TYPE_PLACE], long_type(row[_TYPE_PLACE]), *row[_TYPE_PLACE + 1 :]))


def _as_visit(row: Sequence[Any]) -> Visit:
    return Visit._make((*row[:_MODIFIED_PLACE], long_date(row[_MODIFIED_PLACE]), *row[_MODIFIED_PLACE + 1 :]))


def signed(url_hash: int) -> int:
    """Returns an unsigned 64-bit hash as the signed integer that SQLite can hold."""
    return url_hash - _WRAP if url_hash >= _SIGN else url_hash


def language_counter(tag: str) -> str:
    """Returns the name of the counter of documents in a language, whatever its region."""
    return f"language:{tag.partition('-')[0] or 'unknown'}"


def count_languages(database: Database, document_ids: Iterable[int]) -> dict[str, int]:
    """Returns how many of these documents there are of each `language_counter`."""
    rows = database.query_each("SELECT language FROM documents WHERE id IN ({})", document_ids)
    return Counter(language_counter(tag) for (tag,) in rows)


def next_document_id(database: Database) -> int:
    return 1 + int(database.query("SELECT coalesce(max(id), 0) FROM documents").fetchone()[0])


def save_documents(database: Database, documents: Sequence[Document]) -> None:
    """Write documents, and enter them under the hashes of their URLs."""
    database.write_many(
        f"INSERT INTO documents VALUES ({', '.join('?' * len(Document._fields))})",
        ((*one[:_TYPE_PLACE], short_type(one.content_type), *one[_TYPE_PLACE + 1 :]) for one in documents),
    )
    _by_url().enter(database, [(one.url_hash, one.id) for one in documents])


def _by_url() -> ModuleType:
    """Returns the module that finds documents by URL. It needs numpy, which takes long to load; so it is loaded here,
    and only by those who write."""
    from pycrawl.state import documents_by_url

    return documents_by_url


def save_visits(database: Database, visits: Iterable[Visit], documents: Iterable[Document] = ()) -> None:
    """Write visits; each replaces the URL's last one. `since` stays if both ended with the same outcome and status.
    `documents` are some that the visits may have, whose digests need not be looked up."""
    ids = visit_ids(database)
    rows = list(visits)
    known = ids.find([visit.url_id for visit in rows])
    new: dict[int, int] = {}
    next_id = 1 + int(database.query("SELECT coalesce(max(id), 0) FROM visits").fetchone()[0])
    for visit in rows:
        if visit.url_id not in known and visit.url_id not in new:
            new[visit.url_id] = next_id + len(new)
    known |= new
    digests = {one.id: one.digest for one in documents}
    database.write_many(
        "INSERT INTO visits (url_id, outcome, status, visited_at, tries, detail, etag, last_modified, digest,"
        " document_id, unkept, id, requeued, since) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
        " iif(?9 = 1 OR ?9 = (SELECT digest FROM documents WHERE id = ?10), 1, ?9), ?10, ?11, ?12, 0, 1)"
        " ON CONFLICT (id) DO UPDATE SET outcome = excluded.outcome, status = excluded.status,"
        " visited_at = excluded.visited_at, tries = excluded.tries, detail = excluded.detail, etag = excluded.etag,"
        " last_modified = excluded.last_modified, digest = excluded.digest, document_id = excluded.document_id,"
        " unkept = excluded.unkept, requeued = 0,"
        f" since = iif(outcome = excluded.outcome AND status = excluded.status, {SINCE}, excluded.since)",
        (
            (
                *one[:_MODIFIED_PLACE],
                short_date(one.last_modified),
                1 if digests.get(one.document_id) == one.digest else one.digest,
                one.document_id,
                one.unkept,
                known[one.url_id],
            )
            for one in rows
        ),
    )
    ids.enter(list(new.items()))


def visit_of(database: Database, url_id: int) -> Visit | None:
    row = database.query(
        f"SELECT {_VISIT} FROM visits WHERE id = visit_id(?)",
        (url_id,),
    ).fetchone()
    return _as_visit(row) if row else None


def visits_after(database: Database, after: int, most: int) -> list[tuple[int, int, int, str, float, str, int, int]]:
    """Returns (id, URL id, host id, URL, time, outcome, status, document) of the last visits of URLs, for visits with
    ids above `after`, in ascending order, at most `most`; without those of sitemaps and feeds."""
    return database.query(
        "SELECT visits.id, url_id, urls.host_id, url, visited_at, outcome, status, document_id FROM visits"
        " JOIN urls ON urls.id = url_id WHERE visits.id > ? AND url_id NOT IN (SELECT url_id FROM sources)"
        " ORDER BY visits.id LIMIT ?",
        (after, most),
    ).fetchall()


def not_queued_again(database: Database, url_ids: Sequence[int]) -> dict[int, int]:
    """Returns URL id → host id for those of the URLs that were visited, and do not wait to be visited again."""
    return dict(
        database.query_each(
            "SELECT url_id, urls.host_id FROM visits JOIN urls ON urls.id = url_id"
            " WHERE requeued = 0 AND aside = 0 AND visits.id IN ({})",
            visit_ids(database).find(url_ids).values(),
        )
    )


def set_requeued(database: Database, url_ids: Iterable[int], requeued: bool) -> None:
    """Note of visited URLs that they wait to be visited again, or no longer do; to be committed by the caller."""
    database.write_many(
        f"UPDATE visits SET requeued = {int(requeued)} WHERE id = visit_id(?)", [(url_id,) for url_id in url_ids]
    )


def document(database: Database, document_id: int) -> Document:
    return as_document(database.query("SELECT * FROM documents WHERE id = ?", (document_id,)).fetchone())


def newest_document(database: Database, url_hash: int, at: float | None = None) -> Document | None:
    """Returns the newest document of a URL, or if `at` is given the one that was the newest at that time; None if there
    is none."""
    until = at if at is not None else float("inf")
    return next((one for one in reversed(versions(database, url_hash)) if one.fetched_at <= until), None)


def is_older_stored(database: Database, document_id: int, since: float) -> bool:
    """True if another document of the same URL was fetched before `since`."""
    row = database.query("SELECT url_hash FROM documents WHERE id = ?", (document_id,)).fetchone()
    return row is not None and any(one.fetched_at < since for one in versions(database, row[0] % _WRAP))


def are_versions(database: Database, one: int, other: int) -> bool:
    """True if two documents are of one URL."""
    rows = database.query("SELECT DISTINCT url_id FROM documents WHERE id IN (?, ?)", (one, other))
    return len(rows.fetchall()) == 1


def versions(database: Database, url_hash: int) -> list[Document]:
    """Returns all documents of a URL, the oldest first."""
    with database.one_view():
        ids = ids_of(database, DOCUMENTS_BY_URL, url_hash)
        rows = database.query_each("SELECT * FROM documents WHERE id IN ({})", ids)
        found = [as_document(row) for row in rows]
    return sorted(found, key=lambda one: (one.fetched_at, one.id))


def documents_in_order(database: Database) -> Iterator[Document]:
    """Yields all documents that have a record of their own, in the order in which the records lie in the files."""
    rows = database.query("SELECT * FROM documents WHERE duplicate_of = 0 ORDER BY id")
    return (as_document(row) for row in rows)


def copies(database: Database) -> Iterator[tuple[int, int]]:
    """Yields (id of a document without a record of its own, id of the document whose record it shares)."""
    return iter(database.query("SELECT id, duplicate_of FROM documents WHERE duplicate_of != 0 ORDER BY id"))


def url_and_time(database: Database, document_id: int) -> tuple[str, float]:
    """Returns the URL of a document, and when it was fetched."""
    url, fetched_at = database.query(
        "SELECT url, fetched_at FROM documents JOIN urls ON urls.id = url_id WHERE documents.id = ?", (document_id,)
    ).fetchone()
    return url, fetched_at


def url_of(database: Database, document_id: int) -> str | None:
    """Returns the URL of a document; None if the database does not know it, as it is damaged."""
    row = database.query(
        "SELECT url FROM documents JOIN urls ON urls.id = url_id WHERE documents.id = ?", (document_id,)
    ).fetchone()
    return row[0] if row else None


def count_documents(database: Database) -> int:
    return int(database.query("SELECT count(*) FROM documents").fetchone()[0])


def hand_over(database: Database, document_id: int, heir_id: int) -> None:
    """Give the document that has the record to the heir's URL, and remove the heir's own. So the id stays, and with it
    the fingerprints and the copies that point to it."""
    heir = document(database, heir_id)
    _by_url().leave(database, [(document(database, document_id).url_hash, document_id), (heir.url_hash, heir_id)])
    _by_url().enter(database, [(heir.url_hash, document_id)])
    database.write(
        "UPDATE documents SET url_id = ?, url_hash = ?, fetched_at = ? WHERE id = ?",
        (heir.url_id, heir.url_hash, heir.fetched_at, document_id),
    )
    database.write(
        "UPDATE visits SET document_id = ? WHERE id = visit_id(?) AND document_id = ?",
        (document_id, heir.url_id, heir_id),
    )
    database.write("DELETE FROM documents WHERE id = ?", (heir_id,))


def drop_documents(database: Database, document_ids: Iterable[int]) -> None:
    ids = list(document_ids)
    _by_url().leave(database, list(database.query_each("SELECT url_hash, id FROM documents WHERE id IN ({})", ids)))
    database.write_many("DELETE FROM documents WHERE id = ?", [(one,) for one in ids])


def records_of_file(database: Database, file_id: int, ids: tuple[int, int]) -> list[Document]:
    """Returns the documents with records in a compound file, in the order of the records. `ids`: the first and the
    last of them."""
    rows = database.query(
        "SELECT * FROM documents WHERE id BETWEEN ? AND ? AND duplicate_of = 0 AND file_id = ? ORDER BY id",
        (*ids, file_id),
    )
    return [as_document(row) for row in rows]


def move_records(database: Database, places: Iterable[tuple[int, int, int]]) -> None:
    """Set (offset, length, id of the document) of records that lie elsewhere in their file now."""
    database.write_many("UPDATE documents SET offset = ?, length = ? WHERE id = ?", places)


def replace_file(database: Database, file_id: int, name: str, length: int, records: int) -> None:
    """Let a file that was written anew take the place of a compound file. No record is added to it any more."""
    database.write(
        "UPDATE files SET name = ?, length = ?, records = ?, closed = 1 WHERE id = ?", (name, length, records, file_id)
    )


def rename_file(database: Database, file_id: int, name: str) -> None:
    database.write("UPDATE files SET name = ? WHERE id = ?", (name, file_id))


def file_length(database: Database, file_id: int) -> int:
    return int(database.query("SELECT length FROM files WHERE id = ?", (file_id,)).fetchone()[0])


def count_stored_bytes(database: Database) -> None:
    """Set the counter of stored bytes to what the compound files hold."""
    database.write(
        "UPDATE counters SET value = (SELECT coalesce(sum(length), 0) FROM files) WHERE name = 'bytes_stored'"
    )


def bytes_and_records_by_file(database: Database) -> dict[int, tuple[int, int]]:
    """Returns, by compound file, the bytes and the number of the records that documents have in it."""
    rows = database.query(
        "SELECT file_id, sum(length), count(*) FROM documents WHERE duplicate_of = 0 GROUP BY file_id"
    )
    return {file_id: (length, count) for file_id, length, count in rows}


def count_records(database: Database) -> int:
    """Returns how many documents have a record of their own."""
    return int(database.query("SELECT count(*) FROM documents WHERE duplicate_of = 0").fetchone()[0])


def save_files(database: Database, files: Iterable[tuple[int, str, int, int]]) -> None:
    database.write_many(
        "INSERT INTO files (id, name, length, records) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET length = excluded.length, records = excluded.records",
        files,
    )


def files(database: Database) -> list[tuple[int, str, int, int]]:
    """Returns (id, name, committed length in bytes, number of records) of every compound file."""
    return database.query("SELECT id, name, length, records FROM files ORDER BY id").fetchall()


def is_closed(database: Database, file_id: int) -> bool:
    """True if records were removed from the compound file; no record is added to such a file any more."""
    return bool(database.query("SELECT closed FROM files WHERE id = ?", (file_id,)).fetchone()[0])


def file_name(database: Database, file_id: int) -> str:
    return str(database.query("SELECT name FROM files WHERE id = ?", (file_id,)).fetchone()[0])


def last_visits(database: Database, outcomes: list[str], most: int) -> list[tuple[str, Visit]]:
    """Returns the newest visits that ended in one of `outcomes`, at most `most`, with their URLs."""
    rows = database.query(
        f"SELECT urls.url, {_VISIT} FROM visits JOIN urls ON urls.id = visits.url_id"
        f" WHERE outcome IN ({', '.join('?' * len(outcomes))})"
        " ORDER BY visited_at DESC LIMIT ?",
        (*outcomes, most),
    )
    return [(row[0], _as_visit(row[1:])) for row in rows]


def visits_without_change(database: Database, ids: Iterable[int]) -> dict[int, Visit]:
    """Returns document → the last visit of its URL, for those of the documents that were found unchanged then."""
    rows = database.query_each(
        f"SELECT {_VISIT} FROM visits WHERE outcome = '{Outcome.NOT_MODIFIED}' AND unkept = ''"
        " AND id IN (SELECT visit_id(url_id) FROM documents WHERE id IN ({}))",
        ids,
    )
    return {visit.document_id: visit for visit in (_as_visit(row) for row in rows)}
