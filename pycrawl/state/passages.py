"""An inverted index, selected fingerprint → documents: it finds the documents that share a passage.

A key is 31 bits of a fingerprint. The index is the store `PASSAGES` of sorted runs; memory holds only the documents of
the open group and the closed one.

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
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.runs.merging import DEFAULT_SIZES, MergeSizes
from pycrawl.state.stores import PASSAGES

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]

_ZERO_BITS = np.uint64(ONE_IN.bit_length() - 1)  # the lowest bits, which are 0 in all selected fingerprints
_KEY = np.uint64((1 << 31) - 1)


class Passages:
    """The session adds each stored page; `flush` writes those of the closed group, in its transaction."""

    def __init__(self, database: Database, sizes: MergeSizes = DEFAULT_SIZES) -> None:
        self._runs = IdRuns(database, PASSAGES, sizes)
        self._open: list[tuple[int, bytes]] = []
        self._closed: list[tuple[int, bytes]] = []

    def add(self, document_id: int, passages: bytes) -> None:
        """Add a stored page, with the fingerprints selected from its text (little-endian uint64, at least one)."""
        self._open.append((document_id, passages))

    def close_group(self) -> None:
        self._closed, self._open = self._open, []

    def flush(self) -> None:
        if self._closed:
            prints = unpack_passages(b"".join(passages for _, passages in self._closed))
            sizes = [len(passages) // prints.itemsize for _, passages in self._closed]
            ids = np.repeat(np.array([document_id for document_id, _ in self._closed], np.uint32), sizes)
            self._runs.insert(_keys(prints), ids)
            self._runs.flush()
            self._closed = []

    def bytes_held(self) -> int:
        return self._runs.bytes_held()


def _keys(prints: U64) -> U64:
    """Returns the 31 bits of each fingerprint by which it is found: low ones, because of a long text only the smallest
    fingerprints are kept, and these have equal high bits."""
    return (prints >> _ZERO_BITS) & _KEY


# For readers


@dataclass(frozen=True, slots=True)
class Shared:
    """The documents that share fingerprints with a text, in the order of their ids."""

    ids: U32
    counts: I64  # how many fingerprints each of them shares


def sharing(database: Database, prints: U64, most: int) -> Shared:
    """Returns the documents that have some of the fingerprints. A fingerprint of more than `most` documents says
    nothing about a text, and is left out."""
    keys = np.unique(_keys(prints))
    with database.one_view():
        places, found = IdRuns(database, PASSAGES).find(keys, most + 1)
    is_rare = np.bincount(places, minlength=len(keys)) <= most
    ids, counts = np.unique(found[is_rare[places]], return_counts=True)
    return Shared(ids, counts)


# For proofs


def faults(database: Database) -> Iterator[str]:
    """Yields what is wrong with the index, in words: it leads only to documents that have fingerprints."""
    known = np.array([row[0] for row in database.query("SELECT document_id FROM page_prints ORDER BY 1")], np.uint32)
    for portion in IdRuns(database, PASSAGES).portions():
        ids = np.unique(portion.ids)
        strange = ids[~np.isin(ids, known)]
        yield from (f"passages lead to document {one}, which has no fingerprints" for one in strange.tolist())


def count_entries(database: Database) -> int:
    return sum(map(len, IdRuns(database, PASSAGES).portions()))
