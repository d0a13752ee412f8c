"""An inverted index on disk, selected fingerprint → documents: it finds the documents that share a passage.

An entry is one integer of eight bytes: 31 bits of a fingerprint above the 32 of a document's id. Entries lie sorted in
runs (`passage_runs`), and a run in blocks that fill a page of the database (`passage_blocks`), each found by its first
entry. So a look-up mostly reads one block for each fingerprint and run.

A group of documents is written as a run of its own, in the group's transaction; `passages_merge.py` makes few large
runs of many small ones. Memory holds only the documents of the open group and the closed one.

31 bits are enough: in an index of 100 million entries a fingerprint leads to a wrong document one time in 20, and three
of them hardly ever lead to the same one. Callers must compare the texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pycrawl.fingerprint.page_prints import ONE_IN
from pycrawl.fingerprint.passages import unpack_passages
from pycrawl.state.database import Database
from pycrawl.state.passages_merge import DEFAULT_SIZES, ENTRY, Entries, MergeSizes, append_blocks, merge_runs

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]

_ZERO_BITS = np.uint64(ONE_IN.bit_length() - 1)  # the lowest bits, which are 0 in all selected fingerprints
_KEY = np.uint64((1 << 31) - 1)
_ID_BITS = 32
_ID = (1 << _ID_BITS) - 1


class Passages:
    """The session adds each stored page; `flush` writes those of the closed group, in its transaction."""

    def __init__(self, database: Database, sizes: MergeSizes = DEFAULT_SIZES) -> None:
        self._database = database
        self._sizes = sizes
        self._open: list[tuple[int, bytes]] = []
        self._closed: list[tuple[int, bytes]] = []

    def add(self, document_id: int, passages: bytes) -> None:
        """Add a stored page, with the fingerprints selected from its text (little-endian uint64, at least one)."""
        self._open.append((document_id, passages))

    def close_group(self) -> None:
        self._closed, self._open = self._open, []

    def flush(self) -> None:
        if not self._closed:
            return
        entries = _entries(self._closed)
        self._closed = []
        cursor = self._database.write("INSERT INTO passage_runs (level, goes_into) VALUES (0, 0)")
        assert cursor.lastrowid is not None
        append_blocks(self._database, cursor.lastrowid, entries, self._sizes.block)
        merge_runs(self._database, len(entries), self._sizes)


def _entries(documents: list[tuple[int, bytes]]) -> Entries:
    """Returns the entries of documents, sorted and distinct: two fingerprints of a document may have the same key."""
    prints = unpack_passages(b"".join(passages for _, passages in documents))
    sizes = [len(passages) // prints.itemsize for _, passages in documents]
    ids = np.repeat(np.array([document_id for document_id, _ in documents], ENTRY), sizes)
    entries = (_keys(prints) << _ID_BITS) | ids
    entries.sort()  # in a sixth of the time that np.unique takes
    is_first = np.ones(len(entries), np.bool_)
    np.not_equal(entries[1:], entries[:-1], out=is_first[1:])
    return entries[is_first]


def _keys(prints: U64) -> I64:
    """Returns the 31 bits of each fingerprint by which it is found: low ones, because of a long text only the smallest
    fingerprints are kept, and these have equal high bits."""
    return ((prints >> _ZERO_BITS) & _KEY).astype(ENTRY)


def documents_of(entries: Entries) -> Entries:
    """Returns the document id of each entry."""
    return entries & _ID


# For readers


@dataclass(frozen=True, slots=True)
class Shared:
    """The documents that share fingerprints with a text, in the order of their ids."""

    ids: U32
    counts: I64  # how many fingerprints each of them shares


def sharing(database: Database, prints: U64, most: int) -> Shared:
    """Returns the documents that have some of the fingerprints. A fingerprint of more than `most` documents says
    nothing about a text, and is left out."""
    keys = np.unique(_keys(prints)).tolist()
    found: dict[int, list[Entries]] = {key: [] for key in keys}
    for (run_id,) in database.query("SELECT id FROM passage_runs").fetchall():
        for key, entries in _in_run(database, run_id, keys, most):
            found[key].append(entries)
    rare = [entries for parts in found.values() if sum(map(len, parts)) <= most for entries in parts]
    ids, counts = np.unique(np.concatenate([np.empty(0, ENTRY), *rare]) & _ID, return_counts=True)
    return Shared(ids.astype(np.uint32), counts)


def _in_run(database: Database, run_id: int, keys: list[int], most: int) -> Iterator[tuple[int, Entries]]:
    """Yields (key, entries) for ascending keys: what one run has of them. It stops reading a key after the block with
    which there are more than `most` entries."""
    block = np.empty(0, ENTRY)
    for key in keys:
        first = key << _ID_BITS
        last = first | _ID
        if len(block) and last <= block[-1]:  # in small runs, the next key is in the same block
            yield key, _between(block, first, last)
            continue
        count = 0
        for block in _blocks(database, run_id, first, last):
            entries = _between(block, first, last)
            yield key, entries
            count += len(entries)
            if count > most:
                break


def _between(block: Entries, first: int, last: int) -> Entries:
    return block[block.searchsorted(first) : block.searchsorted(last, "right")]


def _blocks(database: Database, run_id: int, first: int, last: int) -> Iterator[Entries]:
    """Yields the blocks of a run that may hold entries from `first` to `last`: mostly one."""
    rows = database.query(
        "SELECT entries FROM passage_blocks WHERE run_id = ? AND first <= ? AND first >= coalesce("
        "(SELECT max(first) FROM passage_blocks WHERE run_id = ? AND first <= ?), 0) ORDER BY first",
        (run_id, last, run_id, first),
    )
    return (np.frombuffer(entries, ENTRY) for (entries,) in rows)


# For proofs


def faults(database: Database) -> Iterator[str]:
    """Yields what is wrong with the index, in words: its runs must be sorted, and lead only to documents that have
    fingerprints."""
    known = np.array([row[0] for row in database.query("SELECT document_id FROM page_prints ORDER BY 1")], ENTRY)
    last: tuple[int, int] = (0, -1)  # the run, and its entry before
    for run_id, first, blob in database.query("SELECT run_id, first, entries FROM passage_blocks ORDER BY 1, 2"):
        entries = np.frombuffer(blob, ENTRY)
        before = last[1] if last[0] == run_id else -1
        if not len(entries) or int(entries[0]) != first or first <= before or np.any(entries[1:] <= entries[:-1]):
            yield f"the passages of run {run_id} are out of order at {first}"
            continue
        last = (run_id, int(entries[-1]))
        ids = np.unique(entries & _ID)
        strange = ids[~np.isin(ids, known)]
        yield from (f"passages lead to document {one}, which has no fingerprints" for one in strange.tolist())


def count_entries(database: Database) -> int:
    return int(database.query("SELECT coalesce(sum(length(entries)), 0) FROM passage_blocks").fetchone()[0]) // 8
