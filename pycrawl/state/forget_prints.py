"""Removes what the state knows of the texts of forgotten documents: digests, passages, near-duplicates.

All functions belong into the transaction that begins to forget (`forgetting.begin`). `removed` are ids of documents.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from pycrawl.state.counters import count
from pycrawl.state.database import Database
from pycrawl.state.documents import are_versions
from pycrawl.state.near_join import Clusters, Join, NearJoiner
from pycrawl.state.near_seen import prints_of
from pycrawl.state.passages import documents_of
from pycrawl.state.passages_merge import ENTRY

_JOINED_AT_ONCE = 4_096  # documents compared in one batch


def drop_digests(database: Database, removed: set[int]) -> None:
    """Remove documents from the table `fingerprints`. Where another record holds the same bytes, its document takes the
    place."""
    digests = {row[0] for row in database.query_each("SELECT digest FROM documents WHERE id IN ({})", removed)}
    heirs: dict[bytes, int] = {}
    for document_id, digest in database.query("SELECT id, digest FROM documents WHERE duplicate_of = 0 ORDER BY id"):
        if digest in digests and document_id not in removed:
            heirs.setdefault(digest, document_id)
    gone = [(digest,) for digest in digests if digest not in heirs]
    database.write_many("DELETE FROM fingerprints WHERE digest = ?", gone)
    database.write_many(
        "UPDATE fingerprints SET document_id = ? WHERE digest = ?",
        ((document_id, digest) for digest, document_id in heirs.items()),
    )


def drop_passages(database: Database, removed: set[int]) -> None:
    """Remove the entries of documents from the index of passages, in one pass over all its blocks."""
    ids = np.array(sorted(removed), ENTRY)
    last_block = 0
    while rows := database.query(
        "SELECT id, entries FROM passage_blocks WHERE id > ? ORDER BY id LIMIT 1000", (last_block,)
    ).fetchall():
        for block_id, blob in rows:
            entries = np.frombuffer(blob, ENTRY)
            kept = entries[~np.isin(documents_of(entries), ids)]
            if not len(kept):
                database.write("DELETE FROM passage_blocks WHERE id = ?", (block_id,))
            elif len(kept) < len(entries):
                database.write(
                    "UPDATE passage_blocks SET first = ?, entries = ? WHERE id = ?",
                    (int(kept[0]), kept.tobytes(), block_id),
                )
        last_block = rows[-1][0]
    _drop_empty_runs(database)


def _drop_empty_runs(database: Database) -> None:
    """Remove runs without entries. Runs that were being merged into such a run wait to be merged into another."""
    empty = "(SELECT id FROM passage_runs AS run WHERE NOT EXISTS (SELECT 1 FROM passage_blocks WHERE run_id = run.id))"
    database.write(f"UPDATE passage_runs SET goes_into = 0 WHERE goes_into IN {empty}")
    database.write(f"DELETE FROM passage_runs WHERE id IN {empty}")


def near_documents(database: Database, removed: set[int]) -> set[int]:
    """Returns the documents that stay, of all clusters of near-duplicates that have a removed document."""
    clusters, joined = _clusters(database)
    affected = {clusters.root(one) for one in removed}
    members = {one for one in joined if clusters.root(one) in affected}
    return (members | affected) - removed


def drop_near(database: Database, removed: set[int], threshold: float) -> None:
    """Remove documents from the near-duplicates. The rest of their clusters is compared anew, as if the removed ones
    had never been there. The copy of the index is deleted; the next start makes the index from the fingerprints."""
    stay = near_documents(database, removed)
    before = _count_near(database)
    rows = [(one,) for one in removed | stay]
    database.write_many("DELETE FROM near WHERE document_id = ?", rows)
    database.write_many("DELETE FROM page_prints WHERE document_id = ?", [(one,) for one in removed])
    database.write_many(
        "INSERT INTO near VALUES (?, ?, ?)",
        ((one.document_id, one.near_id, one.resemblance) for one in _join_again(database, stay, threshold)),
    )
    database.write("DELETE FROM near_sorted")
    count(database, "duplicates_near", _count_near(database) - before)


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
