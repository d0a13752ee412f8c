"""Content nearly seen?: keeps the fingerprints of stored pages, and which pages were joined as near-duplicates.

Near-duplicates are decided when a group is closed, for all its documents at once (`near_join.py`), and committed with
the group: never before its documents. On disk are the fingerprints, one row a document (`page_prints`), the joins
(`near`), and the index by which documents with a band in common are found (the store `BANDS`), made for the number of
bands that `meta` has under "bands".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from pycrawl.fingerprint.packed import Prints, unpack
from pycrawl.state.band_index import I64, U32, U64
from pycrawl.state.database import Database
from pycrawl.state.near_join import Join, NearJoiner, SamePage, banding
from pycrawl.state.nearness import join_of
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.stores import BANDS

_ROWS_AT_ONCE = 4_096  # rows that are in memory at once
_UNUSED_BITS = np.uint64(24)  # of a key, the lowest


class NearSeen:
    """The session adds each stored page; `close_group` decides about them, `flush` writes in the
    group's transaction."""

    def __init__(self, database: Database, threshold: float, same_page: SamePage = lambda one, other: False) -> None:
        self._database = database
        self._banding = banding(threshold)
        self._index = StoredIndex(database)
        self._clusters = StoredClusters(database)
        self._joiner = NearJoiner(threshold, self._read, same_page, self._index, self._clusters)
        self._open: list[tuple[int, bytes]] = []
        self._closed: list[tuple[int, bytes]] = []
        self._joins: list[Join] = []
        self._is_checked = False  # that the index was made for the present threshold; this is done at the first `add`

    def add(self, document_id: int, prints: bytes) -> None:
        """Add a stored page that has words. Ids must be ascending."""
        if not self._is_checked:
            if bands_of_index(self._database) != self._banding:
                self._make_index()
            self._is_checked = True
        self._open.append((document_id, prints))

    def close_group(self) -> list[Join]:
        """Decide about the documents added since the last call. Returns the joins."""
        self._closed, self._open = self._open, []
        if self._closed:
            ids = np.array([document_id for document_id, _ in self._closed], np.uint32)
            self._joins = self._joiner.join(ids, unpack(prints for _, prints in self._closed))
        return self._joins

    def flush(self) -> None:
        self._database.write_many("INSERT INTO page_prints VALUES (?, ?)", self._closed)
        self._database.write_many(
            "INSERT INTO near VALUES (?, ?, ?)",
            ((one.document_id, one.near_id, one.resemblance) for one in self._joins),
        )
        self._index.flush()
        self._clusters.forget_pending()
        self._closed, self._joins = [], []

    def bytes_held(self) -> int:
        return self._index.bytes_held()

    def _read(self, ids: U32) -> Prints:
        return prints_of(self._database, ids)

    def _make_index(self) -> None:
        """Make the index anew from the fingerprints of all documents; to be committed by the caller."""
        self._index.clear()
        # A page with the words of an older one is not in the index. It is told by a resemblance of exactly 1.
        rows = self._database.query(
            "SELECT document_id, prints FROM page_prints WHERE NOT EXISTS (SELECT 1 FROM near"
            " WHERE near.document_id = page_prints.document_id AND resemblance = 1) ORDER BY document_id"
        )
        while some := rows.fetchmany(_ROWS_AT_ONCE):
            self._joiner.enter(*_columns(some))
            self._index.flush()
        self._database.write("INSERT OR REPLACE INTO meta VALUES ('bands', ?)", ("{} of {}".format(*self._banding),))


class StoredIndex:
    """The store `BANDS`, as `near_join.Index` wants it. Of each key, 40 bits count."""

    def __init__(self, database: Database) -> None:
        self._runs = IdRuns(database, BANDS)

    def insert(self, keys: U64, ids: U64) -> None:
        self._runs.insert(keys >> _UNUSED_BITS, ids.astype(np.uint32))

    def find(self, keys: U64, below: U64, most: int) -> tuple[I64, U32]:
        places, ids = self._runs.find(keys >> _UNUSED_BITS, most)
        is_older = ids < below[places]
        return places[is_older], ids[is_older]

    def flush(self) -> None:
        """Write what was inserted; to be committed by the caller."""
        self._runs.flush()

    def clear(self) -> None:
        self._runs.clear()

    def bytes_held(self) -> int:
        return self._runs.bytes_held()


class StoredClusters:
    """The clusters as the table `near` has them, and joins that are not written yet."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pending: dict[int, int] = {}

    def root(self, document_id: int) -> int:
        while parent := self._pending.get(document_id) or self._stored(document_id):
            document_id = parent
        return document_id

    def _stored(self, document_id: int) -> int:
        join = join_of(self._database, document_id)
        return join[0] if join else 0

    def join(self, document_ids: U32, near_ids: U32) -> None:
        self._pending.update(zip(document_ids.tolist(), near_ids.tolist(), strict=True))

    def forget_pending(self) -> None:
        """To be called when the joins were written."""
        self._pending.clear()


def bands_of_index(database: Database) -> tuple[int, int] | None:
    """Returns (bands, rows of each) for which the index was made; None if there is none."""
    row = database.query("SELECT value FROM meta WHERE key = 'bands'").fetchone()
    if row is None:
        return None
    count, _, rows = row[0].partition(" of ")
    return int(count), int(rows)


def _prints_of(database: Database, ids: list[int]) -> Iterator[bytes]:
    """Yields the packed fingerprints of documents, in the order asked for."""
    rows = database.query_each("SELECT document_id, prints FROM page_prints WHERE document_id IN ({})", ids)
    known: dict[int, bytes] = dict(rows)
    return (known[document_id] for document_id in ids)


def _columns(rows: list[tuple[int, bytes]]) -> tuple[U32, Prints]:
    return np.array([row[0] for row in rows], np.uint32), unpack(row[1] for row in rows)


# For readers


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
