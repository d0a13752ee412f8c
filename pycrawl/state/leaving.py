"""Documents that leave the collection while their URLs stay known: superseded versions, and lost ones.

`begin_superseded` and `begin_lost` enter them into the table `leaving`, and remove what the state knows of their texts.
Once that is committed it is final: whoever opens the crawl for writing carries it on (`crawl/dropping.py`), file by
file, until `end`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from pycrawl.state import documents, forget_prints, later, links
from pycrawl.state.counters import count
from pycrawl.state.database import Database

_PENDING = "leaving"  # the key in `meta` that is there from a `begin…` to `end`
_LEAVING = "(SELECT document_id FROM leaving)"
_WRAP = 1 << 64  # SQLite's integers are signed, hashes are not


class Why(StrEnum):
    """Why a document leaves. The value is the word by which its page counts as not kept."""

    SUPERSEDED = "superseded"
    LOST = "lost"


class Version(NamedTuple):
    """One of the documents of a URL that has several."""

    id: int
    url_id: int
    digest: bytes
    length: int  # of its record, bytes
    duplicate_of: int  # the document whose record it shares; 0: it has its own


def versions_by_url(database: Database) -> Iterator[list[Version]]:
    """Yields the documents of each URL that has more than one, the oldest first."""
    rows = database.query(
        "SELECT id, url_id, digest, length, duplicate_of FROM documents WHERE url_hash IN"
        " (SELECT url_hash FROM documents GROUP BY url_hash HAVING count(*) > 1) ORDER BY url_hash, fetched_at, id"
    )
    versions: list[Version] = []
    for row in rows:
        version = Version(*row)
        if versions and versions[-1].url_id != version.url_id:
            yield versions
            versions = []
        versions.append(version)
    if versions:
        yield versions


def unused_bytes(database: Database) -> dict[int, int]:
    """Returns, by compound file, the bytes that count and that no document points to, where there are any."""
    used = documents.bytes_and_records_by_file(database)
    unused = {file_id: length - used.get(file_id, (0, 0))[0] for file_id, _, length, _ in documents.files(database)}
    return {file_id: length for file_id, length in unused.items() if length}


# Beginning. Each function belongs into one transaction, which the caller commits.


def begin_superseded(database: Database, superseded: Mapping[int, int], threshold: float) -> None:
    """Let documents leave, if any, and all bytes that no document points to. `superseded`: document → the version that
    takes its place where a visit points to it."""
    database.write_many(
        "INSERT OR IGNORE INTO leaving VALUES (?, ?)", ((one, Why.SUPERSEDED.value) for one in superseded)
    )
    database.write_many(
        "UPDATE visits SET document_id = ? WHERE document_id = ?", ((stays, one) for one, stays in superseded.items())
    )
    _drop_texts(database, threshold)
    links.tidy(database)
    _set_pending(database)


def begin_lost(database: Database, lost: Iterable[int], threshold: float, level: str) -> tuple[int, int]:
    """Let documents leave whose records cannot be read, and those that share these records. A URL whose newest document
    leaves is queued, to be fetched whole; `level` is an SQL expression over `urls` for its priority.

    Returns how many URLs are queued, and how many are not, as they stand aside.
    """
    database.write_many("INSERT OR IGNORE INTO leaving VALUES (?, ?)", ((one, Why.LOST.value) for one in lost))
    database.write(
        f"INSERT OR IGNORE INTO leaving SELECT id, ? FROM documents WHERE duplicate_of IN {_LEAVING}", (Why.LOST.value,)
    )
    _join_neighbours(database)
    _drop_texts(database, threshold)
    _set_pending(database)
    urls = database.query(
        "SELECT visits.url_id, url_hash FROM visits JOIN documents ON documents.id = document_id"
        f" WHERE document_id IN {_LEAVING}"
    ).fetchall()
    going = {document_id for (document_id,) in database.query("SELECT document_id FROM leaving")}
    for url_id, url_hash in urls:
        left = [one.id for one in documents.versions(database, url_hash % _WRAP) if one.id not in going]
        database.write(
            "UPDATE visits SET digest = x'', etag = '', last_modified = '', unkept = '', document_id = ?"
            " WHERE id = visit_id(?)",
            (left[-1] if left else 0, url_id),
        )
    return _queue_again(database, json.dumps([url_id for url_id, _ in urls]), level)


def _queue_again(database: Database, url_ids: str, level: str) -> tuple[int, int]:
    """Queue visited URLs, given as a JSON list; those that stand aside when they do so no more. Returns how many are
    queued now, and how many stand aside."""
    visited = "FROM visits JOIN urls ON urls.id = url_id WHERE url_id IN (SELECT value FROM json_each(?))"
    standing_aside, all_of_them = database.query(
        f"SELECT count(nullif(aside, 0)), count(*) {visited}", (url_ids,)
    ).fetchone()
    later.note(database, "url_id IN (SELECT value FROM json_each(?))", (url_ids,))
    due = f"{visited} AND requeued = 0 AND aside = 0"
    for number, amount in database.query(f"SELECT {level}, count(*) {due} GROUP BY 1", (url_ids,)).fetchall():
        count(database, f"front:{number}", amount)
    database.write(f"INSERT INTO front SELECT {level}, urls.id, urls.host_id, 1 {due}", (url_ids,))
    database.write(f"UPDATE visits SET requeued = 1 WHERE url_id IN (SELECT url_id {due})", (url_ids,))
    return all_of_them - standing_aside, standing_aside


def _join_neighbours(database: Database) -> None:
    """Let a version leave whose page had the same bytes in the version before, once what was between them leaves."""
    rows = database.query(
        f"SELECT id, url_id, digest FROM documents WHERE id NOT IN {_LEAVING} AND url_hash IN"
        f" (SELECT url_hash FROM documents WHERE id IN {_LEAVING}) ORDER BY url_hash, fetched_at, id"
    ).fetchall()
    again = [one[0] for before, one in pairwise(rows) if before[1:] == one[1:]]
    database.write_many("INSERT INTO leaving VALUES (?, ?)", ((one, Why.SUPERSEDED.value) for one in again))


def _drop_texts(database: Database, threshold: float) -> None:
    """Remove the fingerprints of the documents whose records go. Those that have heirs stay."""
    rows = database.query(
        f"SELECT id FROM documents WHERE duplicate_of = 0 AND id IN {_LEAVING} AND id NOT IN (SELECT duplicate_of"
        f" FROM documents WHERE duplicate_of != 0 AND id NOT IN {_LEAVING})"
    )
    going = {document_id for (document_id,) in rows}
    forget_prints.drop_digests(database, going)
    forget_prints.drop_near(database, going, threshold)
    forget_prints.drop_passages(database, going)


def _set_pending(database: Database) -> None:
    database.write("INSERT OR REPLACE INTO meta VALUES (?, 1)", (_PENDING,))


# Afterwards


def doomed(database: Database) -> dict[int, dict[int, tuple[int, str]]]:
    """Returns, by compound file, the documents that are still to leave: each with the document whose record it shares
    (0: it has its own), and the reason."""
    files: dict[int, dict[int, tuple[int, str]]] = {}
    rows = database.query(
        "SELECT file_id, id, duplicate_of, reason FROM leaving JOIN documents ON id = document_id ORDER BY file_id, id"
    )
    for file_id, document_id, duplicate_of, reason in rows:
        files.setdefault(file_id, {})[document_id] = (duplicate_of, reason)
    return files


def is_pending(database: Database) -> bool:
    """True if documents began to leave, and that is not done yet."""
    return database.query("SELECT 1 FROM meta WHERE key = ?", (_PENDING,)).fetchone() is not None


def have_left(database: Database, document_ids: Iterable[int]) -> None:
    """Note that these documents have left, or were handed over. To be called in the transaction that removes them."""
    database.write_many("DELETE FROM leaving WHERE document_id = ?", [(one,) for one in document_ids])


def end(database: Database) -> None:
    """Note that all documents that were to leave have left. The caller commits."""
    database.write("DELETE FROM leaving")
    database.write("DELETE FROM meta WHERE key = ?", (_PENDING,))
