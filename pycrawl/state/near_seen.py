"""Content nearly seen?: keeps the fingerprints of stored pages, and which pages were joined as near-duplicates.

Near-duplicates are decided when a group is closed, for all its documents at once (`near_join.py`), and committed with
the group: never before its documents. On disk are the fingerprints, one row a document (`page_prints`), the joins
(`near`), and a copy of the index in memory (`near_sorted`), written now and then, so that a start reads it instead of
sorting. The copy may be older than the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from pycrawl.fingerprint.packed import Prints, unpack
from pycrawl.state.band_index import U32
from pycrawl.state.database import Database
from pycrawl.state.near_join import Join, NearJoiner, SamePage, banding

_ROWS_AT_ONCE = 4_096  # rows that a start has in memory at once


class NearSeen:
    """The session adds each stored page; `close_group` decides about them, `flush` writes in the
    group's transaction."""

    def __init__(self, database: Database, threshold: float, same_page: SamePage = lambda one, other: False) -> None:
        self._database = database
        self._banding = banding(threshold)
        self._joiner = NearJoiner(threshold, self._read, same_page)
        self._open: list[tuple[int, bytes]] = []
        self._closed: list[tuple[int, bytes]] = []
        self._joins: list[Join] = []
        self._indexed_to = 0  # the newest document that was taken into the index
        self._saved_to = 0  # the newest document in the copy on disk
        self._is_loaded = False  # the index is read at the first `add`: a session that stores nothing does not need it

    def add(self, document_id: int, prints: bytes) -> None:
        """Add a stored page that has words. Ids must be ascending."""
        if not self._is_loaded:
            self._load()
        self._open.append((document_id, prints))

    def close_group(self) -> list[Join]:
        """Decide about the documents added since the last call. Returns the joins."""
        self._closed, self._open = self._open, []
        if self._closed:
            ids = np.array([document_id for document_id, _ in self._closed], np.uint32)
            self._joins = self._joiner.join(ids, unpack(prints for _, prints in self._closed))
            self._indexed_to = int(ids[-1])
        return self._joins

    def flush(self) -> None:
        self._database.write_many("INSERT INTO page_prints VALUES (?, ?)", self._closed)
        self._database.write_many(
            "INSERT INTO near VALUES (?, ?, ?)",
            ((one.document_id, one.near_id, one.resemblance) for one in self._joins),
        )
        self._closed, self._joins = [], []

    def save_sorted(self, least: int) -> None:
        """Write a copy of the index, if at least `least` documents are not in the one on disk. It does nothing between
        `close_group` and `flush`: the copy must not be ahead of the documents."""
        if not self._closed and self._indexed_to - self._saved_to >= least:
            self._database.write_many(
                "INSERT OR REPLACE INTO near_sorted VALUES (?, ?, ?, ?, ?)",
                (
                    (partition, self._indexed_to, *self._banding, entries.tobytes())
                    for partition, entries in enumerate(self._joiner.index.partitions())
                ),
            )
            self._saved_to = self._indexed_to

    def _read(self, ids: U32) -> Prints:
        return prints_of(self._database, ids)

    def _load(self) -> None:
        self._is_loaded = True
        index = self._joiner.index
        kept = "SELECT partition, newest_id, entries FROM near_sorted WHERE bands = ? AND rows = ?"
        for partition, newest_id, entries in self._database.query(kept, self._banding):
            index.restore(partition, np.frombuffer(entries, np.uint64))
            self._saved_to = newest_id
        self._indexed_to = self._saved_to
        # A page with the words of an older one is not in the index. It is told by a resemblance of exactly 1.
        newer = self._database.query(
            "SELECT document_id, prints FROM page_prints WHERE document_id > ? AND NOT EXISTS (SELECT 1 FROM near"
            " WHERE near.document_id = page_prints.document_id AND resemblance = 1) ORDER BY document_id",
            (self._saved_to,),
        )
        while rows := newer.fetchmany(_ROWS_AT_ONCE):
            ids, prints = _columns(rows)
            self._joiner.enter(ids, prints)
            self._indexed_to = int(ids[-1])
        joins = self._database.query("SELECT document_id, near_id FROM near")
        while pairs := joins.fetchmany(_ROWS_AT_ONCE):
            documents, near = np.array(pairs, np.uint32).T
            self._joiner.clusters.join(documents, near)


def _prints_of(database: Database, ids: list[int]) -> Iterator[bytes]:
    """Yields the packed fingerprints of documents, in the order asked for."""
    rows = database.query_each("SELECT document_id, prints FROM page_prints WHERE document_id IN ({})", ids)
    known: dict[int, bytes] = dict(rows)
    return (known[document_id] for document_id in ids)


def _columns(rows: list[tuple[int, bytes]]) -> tuple[U32, Prints]:
    return np.array([row[0] for row in rows], np.uint32), unpack(row[1] for row in rows)


# For readers


@dataclass(frozen=True, slots=True)
class Nearness:
    """What a document was joined to."""

    near_id: int  # the older document that it was joined to
    resemblance: float  # of the two
    representative_id: int  # the oldest document of their cluster


def all_prints(database: Database, at_once: int = _ROWS_AT_ONCE) -> Iterator[tuple[U32, Prints]]:
    """Yields the ids and fingerprints of all documents with words, in the order of their ids, in portions."""
    rows = database.query("SELECT document_id, prints FROM page_prints ORDER BY document_id")
    while portion := rows.fetchmany(at_once):
        yield _columns(portion)


def prints_of(database: Database, ids: U32) -> Prints:
    """Returns the fingerprints of documents with words, in the order asked for."""
    return unpack(_prints_of(database, ids.tolist()))


def packed_prints(database: Database, document_id: int) -> bytes:
    """Returns the packed fingerprints of a document, those of a copy too; empty if it has no words."""
    row = database.query(
        "SELECT prints FROM documents JOIN page_prints"
        " ON page_prints.document_id = iif(duplicate_of, duplicate_of, documents.id) WHERE documents.id = ?",
        (document_id,),
    ).fetchone()
    return row[0] if row else b""


def count_prints(database: Database) -> int:
    return int(database.query("SELECT count(*) FROM page_prints").fetchone()[0])


def nearness_of(database: Database, document_id: int) -> Nearness | None:
    """Returns what a document was joined to; None if it was joined to none, though others may be joined to it."""
    row = _join_of(database, document_id)
    if row is None:
        return None
    near_id, resemblance = row
    representative = near_id
    while (step := _join_of(database, representative)) is not None:
        representative = step[0]
    return Nearness(near_id, resemblance, representative)


def _join_of(database: Database, document_id: int) -> tuple[int, float] | None:
    row: tuple[int, float] | None = database.query(
        "SELECT near_id, resemblance FROM near WHERE document_id = ?", (document_id,)
    ).fetchone()
    return row


def prints_by_document(database: Database, ids: Iterable[int]) -> dict[int, bytes]:
    """Returns document → packed fingerprints (`fingerprint/page_prints.py`), for those of the documents that have a
    record of their own and words."""
    return dict(database.query_each("SELECT document_id, prints FROM page_prints WHERE document_id IN ({})", ids))


def joins(database: Database) -> Iterator[tuple[int, int, float]]:
    """Yields (near-duplicate, the older document that it was joined to, resemblance), in the order of the first."""
    return iter(database.query("SELECT document_id, near_id, resemblance FROM near ORDER BY document_id"))


def joined_to(database: Database, ids: Iterable[int]) -> dict[int, int]:
    """Returns document → the older one that it was joined to, for those of the documents that were."""
    return dict(database.query_each("SELECT document_id, near_id FROM near WHERE document_id IN ({})", ids))
