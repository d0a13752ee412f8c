"""Finds the documents of URLs by the URLs' hashes: the store `DOCUMENTS_BY_URL`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycrawl.state.database import Database
from pycrawl.state.runs.entries import U32, U64
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.stores import DOCUMENTS_BY_URL


def enter(database: Database, pairs: Sequence[tuple[int, int]]) -> None:
    """Let the hashes of URLs lead to documents: pairs (url_hash as SQLite holds it, id)."""
    by_url = IdRuns(database, DOCUMENTS_BY_URL, with_filters=False)
    by_url.insert(*_columns(pairs))
    by_url.flush()


def leave(database: Database, pairs: Sequence[tuple[int, int]]) -> None:
    """Undo `enter`."""
    IdRuns(database, DOCUMENTS_BY_URL, with_filters=False).remove(*_columns(pairs))


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[U64, U32]:
    hashes = np.array([url_hash for url_hash, _ in pairs], np.int64).astype(np.uint64)
    return hashes, np.array([document_id for _, document_id in pairs], np.uint32)


def ids_by_url(database: Database, hashes: Sequence[int]) -> list[tuple[int, int]]:
    """Returns pairs (place in `hashes`, document) of all documents of URLs, given their hashes as SQLite holds them."""
    keys, _ = _columns([(one, 0) for one in hashes])
    places, ids = IdRuns(database, DOCUMENTS_BY_URL).find(keys)
    return list(zip(places.tolist(), ids.tolist(), strict=True))


def digests_by_url(database: Database, hashes: Sequence[int]) -> dict[int, set[bytes]]:
    """Returns hash → the digests of all documents of that URL, given the hashes of URLs as SQLite holds them."""
    pairs = ids_by_url(database, hashes)
    rows = database.query_each("SELECT id, digest FROM documents WHERE id IN ({})", {one for _, one in pairs})
    digests: dict[int, bytes] = dict(rows)
    found: dict[int, set[bytes]] = {}
    for place, document_id in pairs:
        found.setdefault(hashes[place], set()).add(digests[document_id])
    return found
