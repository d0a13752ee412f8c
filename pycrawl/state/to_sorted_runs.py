"""Moves what older releases kept in tables with random keys into sorted runs: a step of the schema.

All of it happens in one transaction, so that a process that is killed meanwhile leaves the tables as they were.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np

from pycrawl.state.content_seen import keys_of
from pycrawl.state.database import Database, Row
from pycrawl.state.runs.id_runs import IdRuns, IdStore
from pycrawl.state.runs.value_runs import ValueRuns
from pycrawl.state.stores import CONTENT, DOCUMENTS_BY_URL, OUTLINKS, PASSAGES

log = logging.getLogger(__name__)

_ROWS_AT_ONCE = 50_000  # rows that are moved as one run
_ID_BITS = np.uint64(32)  # of an entry of `passage_blocks`, the lowest: the document's id
_BLOCKS_AT_ONCE = 500  # blocks of passages that are moved as one run


def move(database: Database) -> None:
    """Fill the stores from the tables that the step removes afterwards. The index of near-duplicates is made when the
    first page is stored, from the fingerprints."""
    if not database.query("SELECT EXISTS (SELECT 1 FROM urls)").fetchone()[0]:
        return
    log.warning("%s: is brought up to date; with millions of pages this takes minutes", database.path)
    content = IdRuns(database, CONTENT)
    for rows in _portions(database, "SELECT digest, document_id FROM fingerprints"):
        content.insert(keys_of([row[0] for row in rows]), np.array([row[1] for row in rows], np.uint32))
        content.flush()
    _move_hashes(database, DOCUMENTS_BY_URL, "SELECT url_hash, id FROM documents")
    passages = IdRuns(database, PASSAGES)
    for rows in _portions(database, "SELECT entries FROM passage_blocks", _BLOCKS_AT_ONCE):
        entries = np.frombuffer(b"".join(row[0] for row in rows), "<u8")
        passages.insert(entries >> _ID_BITS, entries.astype(np.uint32))
        passages.flush()
    outlinks = ValueRuns(database, OUTLINKS)
    for rows in _portions(database, "SELECT url_id, targets FROM outlinks"):
        outlinks.put(dict(rows))
        outlinks.flush()


def _move_hashes(database: Database, store: IdStore, sql: str) -> None:
    runs = IdRuns(database, store)
    for rows in _portions(database, sql):
        hashes = np.array([row[0] for row in rows], np.int64).astype(np.uint64)
        runs.insert(hashes, np.array([row[1] for row in rows], np.uint32))
        runs.flush()


def _portions(database: Database, sql: str, at_once: int = _ROWS_AT_ONCE) -> Iterator[list[Row]]:
    rows = database.query(sql)
    done = 0
    while portion := rows.fetchmany(at_once):
        yield portion
        done += len(portion)
        log.info("%s: %d rows", sql, done)
