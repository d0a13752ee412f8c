"""Removes what the state knows of the texts of forgotten documents: digests, passages, near-duplicates.

All functions belong into the transaction that begins to forget (`forgetting.begin`). `removed` are ids of documents.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from pycrawl.state.content_seen import keys_of
from pycrawl.state.counters import count
from pycrawl.state.database import Database
from pycrawl.state.documents import are_versions
from pycrawl.state.near_join import Clusters, Join, NearJoiner, index_entries
from pycrawl.state.near_seen import StoredIndex, bands_of_index, prints_of
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.stores import BANDS, CONTENT, PASSAGES

_JOINED_AT_ONCE = 4_096  # documents compared in one batch


def drop_digests(database: Database, removed: set[int]) -> None:
    """Remove documents from content-seen. Other records with the same bytes stay there."""
    rows = list(database.query_each("SELECT digest, id FROM documents WHERE id IN ({})", removed))
    ids = np.array([document_id for _, document_id in rows], np.uint32)
    IdRuns(database, CONTENT).remove(keys_of([digest for digest, _ in rows]), ids)


def drop_passages(database: Database, removed: set[int]) -> None:
    """Remove the entries of documents from the index of passages, in one pass over all its blocks."""
    IdRuns(database, PASSAGES).remove_ids(np.array(sorted(removed), np.uint32))


def near_documents(database: Database, removed: set[int]) -> set[int]:
    """Returns the documents that stay, of all clusters of near-duplicates that have a removed document."""
    clusters, joined = _clusters(database)
    affected = {clusters.root(one) for one in removed}
    members = {one for one in joined if clusters.root(one) in affected}
    return (members | affected) - removed


def drop_near(database: Database, removed: set[int], threshold: float) -> None:
    """Remove documents from the near-duplicates. The rest of their clusters is compared anew, as if the removed ones
    had never been there. What stands for itself from now on is entered into the index."""
    stay = near_documents(database, removed)
    before = _count_near(database)
    repeated = _repetitions(database, stay)
    rows = [(one,) for one in removed | stay]
    database.write_many("DELETE FROM near WHERE document_id = ?", rows)
    database.write_many("DELETE FROM page_prints WHERE document_id = ?", [(one,) for one in removed])
    database.write_many(
        "INSERT INTO near VALUES (?, ?, ?)",
        ((one.document_id, one.near_id, one.resemblance) for one in _join_again(database, stay, threshold)),
    )
    index = IdRuns(database, BANDS)
    index.remove_ids(np.array(sorted(removed), np.uint32))
    made_for = bands_of_index(database)
    if made_for is not None:
        ids = np.array(sorted(repeated - _repetitions(database, stay)), np.uint32)
        stored = StoredIndex(database)
        stored.insert(*index_entries(ids, prints_of(database, ids), made_for))
        stored.flush()
    count(database, "duplicates_near", _count_near(database) - before)


def _repetitions(database: Database, documents: set[int]) -> set[int]:
    """Returns those of the documents that have the very words of an older one; they are not in the index."""
    rows = database.query_each("SELECT document_id FROM near WHERE resemblance = 1 AND document_id IN ({})", documents)
    return {document_id for (document_id,) in rows}


def _clusters(database: Database) -> tuple[Clusters, list[int]]:
    """Returns all clusters, and the documents that are joined to another one."""
    pairs = np.array(database.query("SELECT document_id, near_id FROM near").fetchall(), np.uint32).reshape(-1, 2)
    clusters = Clusters()
    clusters.join(pairs[:, 0], pairs[:, 1])
    return clusters, pairs[:, 0].tolist()


def _join_again(database: Database, documents: set[int], threshold: float) -> list[Join]:
    """Returns the joins among these documents alone."""
    with_prints = database.query_each("SELECT document_id FROM page_prints WHERE document_id IN ({})", documents)
    ids = np.array(sorted(row[0] for row in with_prints), np.uint32)
    joiner = NearJoiner(
        threshold, lambda wanted: prints_of(database, wanted), lambda one, other: are_versions(database, one, other)
    )
    joins: list[Join] = []
    for begin in range(0, len(ids), _JOINED_AT_ONCE):
        part = ids[begin : begin + _JOINED_AT_ONCE]
        joins += joiner.join(part, prints_of(database, part))
    return joins


def _count_near(database: Database) -> int:
    return int(database.query("SELECT count(*) FROM near").fetchone()[0])


def copies_by_original(database: Database) -> dict[int, list[int]]:
    """Returns, for each document whose record others share, the ids of those others, the oldest first."""
    copies: dict[int, list[int]] = defaultdict(list)
    rows = database.query("SELECT id, duplicate_of FROM documents WHERE duplicate_of != 0 ORDER BY fetched_at, id")
    for document_id, original_id in rows:
        copies[original_id].append(document_id)
    return copies
