"""Clusters of documents that say the same: exact copies, and near-duplicates as the crawl has joined them; and which
document of each cluster is kept where only one is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from pycrawl.fingerprint.page_prints import RECORD
from pycrawl.state import document_rows, documents
from pycrawl.state.database import Database
from pycrawl.state.document_rows import Chosen
from pycrawl.state.near_seen import joined_to, joins, prints_by_document
from pycrawl.state.url_lookup import inlinks_of

U32 = NDArray[np.uint32]
_AS_LONG = 0.95  # of the longest text of a cluster; texts that reach it count as equally long
_AT_ONCE = 1_000  # documents whose fingerprints are read at once


class Dedup(StrEnum):
    """Which documents count as the same."""

    EXACT = "exact"  # those with the same bytes
    NEAR = "near"  # those, and near-duplicates


class Keep(StrEnum):
    """Which document of a cluster is kept."""

    OLDEST = "oldest"
    BEST = "best"  # the one with the longest text; of those about as long, the one with the most in-links


def roots(database: Database, dedup: Dedup) -> U32:
    """Returns for each document id the oldest document of its cluster, or itself. 4 bytes a document."""
    found = np.arange(document_rows.last_id(database) + 1, dtype=np.uint32)
    if dedup is Dedup.NEAR:
        for document_id, near_id, _ in joins(database):  # always to an older one, whose root is known by now
            found[document_id] = found[near_id]
    for copy_id, original_id in documents.copies(database):
        found[copy_id] = found[original_id]
    return found


def root_of(database: Database, ids: Iterable[int]) -> dict[int, int]:
    """Returns document → the oldest document of its cluster, for documents with records of their own."""
    found = {document_id: document_id for document_id in ids}
    steps = joined_to(database, found)
    while steps:
        found.update({one: steps[root] for one, root in found.items() if root in steps})
        steps = joined_to(database, set(found.values()))
    return found


def kept(database: Database, chosen: Chosen, dedup: Dedup, keep: Keep) -> NDArray[np.bool_]:
    """Returns for each document id whether it is the one of its cluster that is kept, among the chosen ones."""
    root = roots(database, dedup)
    result = np.zeros(len(root), np.bool_)
    seen = np.zeros(len(root), np.bool_)
    crowded: dict[int, list[int]] = {}  # root → its chosen documents, of clusters with several
    for row in document_rows.rows(database, chosen):
        document_id = row.document.id
        if document_id >= len(root):
            break  # committed meanwhile
        one = int(root[document_id])
        if not seen[one]:
            seen[one] = result[document_id] = True
        if keep is Keep.BEST and (one != document_id or one in crowded):
            crowded.setdefault(one, []).append(document_id)
    if keep is Keep.BEST:
        _keep_best(database, crowded, root, result)
    return result


def _keep_best(database: Database, crowded: dict[int, list[int]], root: U32, result: NDArray[np.bool_]) -> None:
    for one, others in crowded.items():
        first = [one] if result[one] and one not in others else []
        members = first + others
        best = _best(database, members)
        result[members] = False
        result[best] = True


def _best(database: Database, members: list[int]) -> int:
    rows = {row.document.id: row for row in document_rows.rows_of(database, members)}
    words = _words(database, [row.document.duplicate_of or document_id for document_id, row in rows.items()])
    length = {one: words.get(row.document.duplicate_of or one, 0) for one, row in rows.items()}
    least = max(length.values()) * _AS_LONG
    long_enough = [one for one in members if length.get(one, -1) >= least]
    return max(long_enough, key=lambda one: (inlinks_of(database, rows[one].document.url_id), -one))


def _words(database: Database, ids: list[int]) -> dict[int, int]:
    return {one: RECORD.unpack(prints)[2] for one, prints in prints_by_document(database, ids).items()}


def members(database: Database, dedup: Dedup = Dedup.NEAR) -> Iterator[list[int]]:
    """Yields the ids of the documents of each cluster with two or more of them, the oldest document and the cluster
    with the oldest one first."""
    root = roots(database, dedup)
    joined = np.flatnonzero(root != np.arange(len(root), dtype=np.uint32))
    order = np.argsort(root[joined], kind="stable")
    joined = joined[order]
    whose = root[joined]
    for group in np.split(joined, np.flatnonzero(np.diff(whose)) + 1) if len(joined) else ():
        yield [int(root[group[0]]), *group.tolist()]
