"""Decides which documents are near-duplicates: one rule, used by the crawl and by commands that look at a collection.

Documents are taken in the order of their ids. One that has the words of an older one, in the same order, is joined to
it. Any other is compared with older ones that share a band of its sketch, those that share the most bands first, and is
joined to all that it resembles by at least the threshold less `MARGIN`. Joined documents form a cluster, and the oldest
of them represents it. Versions of one page are never joined to each other.

The result depends on the documents and their order alone, not on how they were cut into batches. An estimate near the
threshold is not checked any further, so that the crawl and a later look at the collection decide alike.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pycrawl.fingerprint.packed import Prints
from pycrawl.fingerprint.page_prints import SKETCH_SIZE
from pycrawl.fingerprint.sketch import Sketch, bands, resemblance, resemblances
from pycrawl.state.band_index import I64, U32, U64, BandIndex

MARGIN = 0.04  # two standard deviations of an estimate at 0.9, so that few pairs above the threshold are missed
LEAST_THRESHOLD = 0.5  # the lowest resemblance that may be set as the threshold
_CANDIDATE_CHANCE = 0.99  # the probability with which a pair just at the threshold is compared at all
_MOST_OF_A_BAND = 64  # documents, the oldest, that are looked at for one key
_MOST_COMPARED = 16  # older documents that one document is compared with
_PAIRS_AT_ONCE = 8_192  # pairs whose sketches are compared in one go, about 3 MB on each side

SamePage = Callable[[int, int], bool]  # True if two documents are versions of one page, which are never joined
Read = Callable[[U32], Prints]  # returns the fingerprints of documents of earlier batches, in the order asked for


@dataclass(frozen=True, slots=True)
class Join:
    """A document that was joined to an older one, and so represents no cluster any more."""

    document_id: int
    near_id: int  # the older one
    resemblance: float  # of the two: 1 if the words are the same, else estimated


@functools.cache
def banding(threshold: float) -> tuple[int, int]:
    """Returns (bands, rows of each): the longest bands, which bring the fewest false candidates, that still miss few
    pairs at the threshold."""
    for rows in range(SKETCH_SIZE, 1, -1):
        count = SKETCH_SIZE // rows
        if 1 - (1 - threshold**rows) ** count >= _CANDIDATE_CHANCE:
            return count, rows
    raise ValueError(f"expected a threshold of at least {LEAST_THRESHOLD}, found {threshold}")


class Clusters:
    """The clusters as trees: each document points to an older one, and the root is the oldest of its cluster."""

    def __init__(self) -> None:
        self._parents = np.zeros(1_024, np.uint32)  # by document id; 0: it is a root

    def root(self, document_id: int) -> int:
        """Returns the document that represents the cluster of this one: itself if it was joined to none."""
        parents = self._parents
        if document_id >= len(parents):
            return document_id
        root = document_id
        while parent := int(parents[root]):
            root = parent
        while document_id != root:  # path compression: the next call finds the root in one step
            parent = int(parents[document_id])
            parents[document_id] = root
            document_id = parent
        return root

    def join(self, document_ids: U32, near_ids: U32) -> None:
        """Join each of `document_ids`, which must be roots, to the older document at the same place of `near_ids`."""
        if len(document_ids):
            highest = int(document_ids.max())
            if highest >= len(self._parents):
                grown = np.zeros(max(highest + 1, len(self._parents) * 5 // 4), np.uint32)
                grown[: len(self._parents)] = self._parents
                self._parents = grown
            self._parents[document_ids] = near_ids


class Index(Protocol):
    """Finds the documents that share a key. Different keys may be taken for equal."""

    def insert(self, keys: U64, ids: U64) -> None:
        """From now on `keys[i]` leads to `ids[i]`. Ids ascend, and are not below any that was inserted before."""

    def find(self, keys: U64, below: U64, most: int) -> tuple[I64, U32]:
        """Returns pairs (place in `keys`, document): documents with ids below `below[i]`, at most the `most` oldest."""


class Trees(Protocol):
    """Which cluster a document belongs to, as in `Clusters`."""

    def root(self, document_id: int) -> int: ...

    def join(self, document_ids: U32, near_ids: U32) -> None: ...


class NearJoiner:
    """Joins documents batch by batch. Without an index and clusters from elsewhere, both are in memory: 140 bytes a
    document at the default threshold."""

    def __init__(
        self,
        threshold: float,
        read: Read,
        same_page: SamePage = lambda one, other: False,
        index: Index | None = None,
        clusters: Trees | None = None,
    ) -> None:
        self._bands, self._rows = banding(threshold)
        self._least = threshold - MARGIN
        self._read = read
        self._same_page = same_page
        self.index = BandIndex() if index is None else index
        self.clusters = Clusters() if clusters is None else clusters

    def join(self, ids: U32, prints: Prints) -> list[Join]:
        """Take in a batch of documents, with ascending ids above all before. Returns the joins found."""
        texts = _text_keys(prints)
        joins, is_new = self._same_texts(ids, prints, texts)
        # A version with the words of an older one of its page is joined to none. It must be found when that one goes.
        is_entered = ~np.isin(ids, np.array([one.document_id for one in joins], np.uint32))
        self.enter(ids[is_entered], prints[is_entered])
        sketches = functools.partial(self._sketches, ids=ids[is_entered], prints=prints[is_entered])
        asked, near, alike = self._compare(ids[is_new], prints[is_new], sketches)
        self.clusters.join(
            np.array([one.document_id for one in joins], np.uint32), np.array([one.near_id for one in joins], np.uint32)
        )
        if len(asked):
            joins += self._join_pairs(asked, near, alike, sketches)
        return joins

    def enter(self, ids: U32, prints: Prints) -> None:
        """Enter documents into the index without comparing them: at a start, those that were compared in
        earlier runs."""
        self.index.insert(*index_entries(ids, prints, (self._bands, self._rows)))

    def _same_texts(self, ids: U32, prints: Prints, texts: U64) -> tuple[list[Join], NDArray[np.bool_]]:
        """Returns the joins of documents that repeat the words of an older one, and a flag for each document: True if
        it repeats none. Only the latter go into the index; the older one stands there for its repetitions."""
        _, first, which = np.unique(texts, return_index=True, return_inverse=True)
        originals = ids[first]  # by distinct text
        places, found = self.index.find(texts[first], ids[first].astype(np.uint64), 1)
        same = np.all(self._read(found)["text_digest"] == prints["text_digest"][first[places]], axis=1)
        originals[places[same]] = found[same]
        near = originals[which]
        is_new = near == ids
        joins = [
            Join(one, other, 1.0)
            for one, other in zip(ids[~is_new].tolist(), near[~is_new].tolist(), strict=True)
            if not self._same_page(one, other)
        ]
        return joins, is_new

    def _compare(
        self, ids: U32, prints: Prints, sketches: Callable[[U32], Sketch]
    ) -> tuple[U32, U32, NDArray[np.float64]]:
        """Returns pairs (document, older one, estimated resemblance) of near-duplicates, as three arrays, by document,
        the most alike first."""
        keys = bands(prints["sketch"], self._bands, self._rows)
        below = np.repeat(ids.astype(np.uint64), self._bands)
        places, found = self.index.find(keys.ravel(), below, _MOST_OF_A_BAND)
        asked, near = _most_shared(places // self._bands, found)
        estimates = np.empty(len(asked))
        for begin in range(0, len(asked), _PAIRS_AT_ONCE):
            part = slice(begin, begin + _PAIRS_AT_ONCE)
            estimates[part] = resemblances(prints["sketch"][asked[part]], sketches(near[part]))
        alike = np.flatnonzero(estimates >= self._least)
        alike = alike[np.lexsort((near[alike], -estimates[alike], asked[alike]))]
        return ids[asked[alike]], near[alike], estimates[alike]

    def _sketches(self, wanted: U32, ids: U32, prints: Prints) -> Sketch:
        """Returns the sketches of documents. Those of the present batch (`ids`, `prints`) are not stored yet, so they
        are taken from there."""
        sketches = np.empty((len(wanted), SKETCH_SIZE), np.uint8)
        is_here = wanted >= ids[0]
        sketches[is_here] = prints["sketch"][ids.searchsorted(wanted[is_here])]
        distinct, which = np.unique(wanted[~is_here], return_inverse=True)
        sketches[~is_here] = self._read(distinct)["sketch"][which]
        return sketches

    def _join_pairs(
        self, asked: U32, near: U32, alike: NDArray[np.float64], sketches: Callable[[U32], Sketch]
    ) -> list[Join]:
        joins = []
        for one, other, estimate in zip(asked.tolist(), near.tolist(), alike.tolist(), strict=True):
            root, other_root = self.clusters.root(one), self.clusters.root(other)
            if root == other_root or self._same_page(one, other) or self._same_page(root, other_root):
                continue
            if root == one:
                joins.append(Join(one, other, estimate))
                self._link(one, other)
            else:  # the document is in a cluster already: the two clusters become one, by their roots
                younger, older = max(root, other_root), min(root, other_root)
                joins.append(Join(younger, older, resemblance(*sketches(np.array([younger, older], np.uint32)))))
                self._link(younger, older)
        return joins

    def _link(self, younger: int, older: int) -> None:
        self.clusters.join(np.array([younger], np.uint32), np.array([older], np.uint32))


def index_entries(ids: U32, prints: Prints, bands_and_rows: tuple[int, int]) -> tuple[U64, U64]:
    """Returns the keys of documents in the index, and beside each the document's id."""
    keys = np.column_stack((bands(prints["sketch"], *bands_and_rows), _text_keys(prints)))
    return keys.ravel(), np.repeat(ids, keys.shape[1]).astype(np.uint64)


def _text_keys(prints: Prints) -> U64:
    return prints["text_digest"][:, 0]


def _most_shared(asked: I64, found: U32) -> tuple[I64, U32]:
    """Returns the distinct pairs of `asked` and `found`; for each of `asked` at most `_MOST_COMPARED`: those that occur
    most often, which share the most bands, and of these the oldest."""
    pairs, shared = np.unique((asked.astype(np.uint64) << np.uint64(32)) | found, return_counts=True)
    asked, found = (pairs >> np.uint64(32)).astype(np.int64), pairs.astype(np.uint32)
    starts = np.searchsorted(asked, asked)
    if not len(asked) or int(np.max(np.arange(len(asked)) - starts)) < _MOST_COMPARED:
        return asked, found
    order = np.lexsort((found, -shared, asked))  # `starts` stays true: documents keep their stretches
    kept = order[np.arange(len(asked)) - starts < _MOST_COMPARED]
    return asked[kept], found[kept]
