"""Near-duplicates in a collection: those of one text (search), and all of them (discovery).

A search also finds what shares passages with the text without resembling it as a whole, by an index of passages, and
what has its words in another order, by simhash.

Only reads, so it works beside a crawl. Discovery takes all documents through the rule by which the crawl joins them
(`state/near_join.py`): at the crawl's own threshold it finds what the crawl has found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pycrawl.fingerprint.packed import PACKED, Prints
from pycrawl.fingerprint.page import of_words
from pycrawl.fingerprint.page_prints import MOST_PASSAGES, ONE_IN
from pycrawl.fingerprint.passages import selected
from pycrawl.fingerprint.shingle import shingles
from pycrawl.fingerprint.simhash import distances
from pycrawl.fingerprint.sketch import resemblances, unpack_sketch
from pycrawl.fingerprint.words import split, tokens
from pycrawl.parse.parsers import Body, Parsers, Wanted
from pycrawl.plugins.guard import PluginFailed
from pycrawl.record import trec_web
from pycrawl.state import documents
from pycrawl.state.band_index import U32, U64
from pycrawl.state.database import Database
from pycrawl.state.documents import Document
from pycrawl.state.near_join import MARGIN, NearJoiner
from pycrawl.state.near_seen import all_prints, count_prints, prints_of
from pycrawl.state.passages import sharing
from pycrawl.store.reader import RecordReader

_MOST_READ = 200  # documents whose texts a search reads to say how alike they truly are
_MOST_ASKED = 4_096  # fingerprints of passages that are looked up, the smallest: all of some 65,000 words
_LEAST_SHARED = 3  # fingerprints of passages
_MOST_RANKED = 2_000  # documents that share the most of them
_FEW_BITS = 3  # by which simhashes of nearly the same words differ

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
OnProgress = Callable[[int, int], None]  # documents done, of how many


@dataclass(frozen=True, slots=True)
class Listed:
    """A document of the collection, as a search lists it."""

    document_id: int
    url: str
    fetched_at: float
    copy_of: int  # the document whose bytes it has; 0: it has its own


@dataclass(frozen=True, slots=True)
class Found(Listed):
    """It resembles the text asked for."""

    estimate: float
    true: float | None  # Jaccard coefficient of the 4-word shingles; None: further down than texts were read
    simhash_distance: int  # bits, of 64


@dataclass(frozen=True, slots=True)
class Sharing(Listed):
    """It shares passages with the text asked for."""

    shared: int  # 4-word shingles that both have
    of_asked: float  # as a share of those of the text asked for
    of_it: float  # and of its own


@dataclass(frozen=True, slots=True)
class Reordered(Listed):
    """It has nearly the same words, in another order."""

    simhash_distance: int  # bits, of 64
    words: float  # which share of all words of both texts both have


_Listed = TypeVar("_Listed", bound=Listed)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a collection has in common with a text."""

    near: list[Found] = field(default_factory=list)
    sharing: list[Sharing] = field(default_factory=list)
    unread: int = 0  # further documents that may share passages, whose texts were not read
    reordered: list[Reordered] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Member:
    document_id: int
    url: str
    fetched_at: float
    resemblance: float  # to the representative: 1 if the words are the same; else estimated
    is_exact: bool  # a copy of a stored page, byte for byte


@dataclass(frozen=True, slots=True)
class Cluster:
    """The oldest document represents it and stands first."""

    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Discovery:
    clusters: tuple[Cluster, ...]  # the largest first
    documents: int  # in the collection, copies included
    compared: int  # of them: those with a record of their own, and with words
    exact: int  # documents with the bytes of another
    near: int  # documents that resemble an older one; with the exact ones, all that are not needed


# Texts


@dataclass(frozen=True, slots=True)
class TextReader:
    """Reads what documents are compared by: their main content, or all of the text where none is told apart."""

    parsers: Parsers
    main_content: str  # the method, as in content.main_content

    def text_of(self, body: bytes, content_type: str) -> str:
        """Empty if nobody reads the type, or its plugin fails."""
        try:
            parsed = self.parsers.parse(Body("", content_type, body), Wanted(main_content=self.main_content))
        except PluginFailed:
            return ""
        return parsed.content


def stored_text(database: Database, reader: RecordReader, document: Document, texts: TextReader) -> str:
    name = documents.file_name(database, document.file_id)
    record = reader.read(name, document.offset, document.length)
    body = trec_web.decode(record, document.escapes, document.body_length).body
    return texts.text_of(body, document.content_type)


def jaccard(one: str, other: str) -> float:
    """How many of all 4-word shingles two texts share; two texts without words are equal."""
    return _jaccard(shingles(tokens(one)), shingles(tokens(other)))


def _jaccard(ours: U64, theirs: U64) -> float:
    shared = _count_shared(ours, theirs)
    return shared / (len(ours) + len(theirs) - shared) if len(ours) or len(theirs) else 1.0


def _count_shared(ours: U64, theirs: U64) -> int:
    return len(np.intersect1d(ours, theirs, assume_unique=True))


# Search


class Asked:
    """The text asked for, split once."""

    def __init__(self, text: str) -> None:
        words = split(text)
        self.words = words.hashes
        self.prints = of_words(words)
        self.shingles = shingles(words.hashes)


@dataclass(frozen=True, slots=True)
class SearchBounds:
    """How far a search goes, in documents."""

    common: int = 1_000  # a passage that more documents have belongs to a frame, and says nothing
    compared: int = 50  # of those that share passages, so many are read and compared
    reordered: int = 20  # listed as having the same words in another order


DEFAULT_BOUNDS = SearchBounds()


class Searcher:
    """Looks one text up. Every sketch is compared, as this costs less than to build an index for one question."""

    def __init__(
        self,
        database: Database,
        reader: RecordReader,
        texts: TextReader,
        threshold: float,
        least_share: float,
        bounds: SearchBounds = DEFAULT_BOUNDS,
    ) -> None:
        """`threshold`: of resemblance; `least_share`: of one of two texts, that the other must contain."""
        self._database = database
        self._reader = reader
        self._least = threshold - MARGIN
        self._least_share = least_share
        self._texts = texts
        self._bounds = bounds

    def find(self, text: str, apart_from: int = 0) -> SearchResult:
        """What the collection has in common with a text. A document stands in one list, beside those with its bytes.
        `apart_from`: a document whose page is left out, with all its versions."""
        asked = Asked(text)
        if not len(asked.words):
            return SearchResult()
        ids, estimates, bits = self._scan(asked)
        is_near = estimates >= self._least
        near = self._near(asked, ids[is_near], estimates[is_near], bits[is_near])
        listed = {apart_from, *ids[is_near].tolist()}
        passages, unread = self._sharing(asked, listed)
        listed.update(one.document_id for one in passages)
        reordered = self._reordered(asked, ids[~is_near], bits[~is_near], listed)
        copies = self._copies({one.document_id for one in (*near, *passages, *reordered)})
        own = documents.url_and_time(self._database, apart_from)[0] if apart_from else ""
        near = self._of_others(near, copies, own)
        near.sort(key=lambda one: (-(one.true if one.true is not None else -1.0), one.document_id))
        passages, reordered = (self._of_others(passages, copies, own), self._of_others(reordered, copies, own))
        return SearchResult(near, passages, unread, reordered)

    def _of_others(self, found: list[_Listed], copies: dict[int, list[int]], own: str) -> list[_Listed]:
        """Returns what was found, with copies, apart from all versions of the page `own`."""
        return [one for one in self._with_copies(found, copies) if one.url != own]

    def text(self, document: Document) -> str:
        return stored_text(self._database, self._reader, document, self._texts)

    def _words(self, document_id: int) -> U64:
        return tokens(self.text(documents.document(self._database, document_id)))

    def _scan(self, asked: Asked) -> tuple[U32, F64, U8]:
        """Ids, estimates and distances of simhashes of all documents that are alike by one of the two."""
        parts = [(np.empty(0, np.uint32), np.empty(0), np.empty(0, np.uint8))]
        sketch = unpack_sketch(asked.prints.sketch)
        for ids, prints in all_prints(self._database):
            estimates = resemblances(sketch, prints["sketch"])
            bits = distances(asked.prints.simhash, prints["simhash"])
            alike = (estimates >= self._least) | (bits <= _FEW_BITS)
            parts.append((ids[alike], estimates[alike], bits[alike]))
        ids, estimates, bits = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return ids, estimates, bits

    def _near(self, asked: Asked, ids: U32, estimates: F64, bits: U8) -> list[Found]:
        found: list[Found] = []
        for rank, place in enumerate(np.lexsort((ids, -estimates)).tolist()):
            one = int(ids[place])
            true = _jaccard(asked.shingles, shingles(self._words(one))) if rank < _MOST_READ else None
            found.append(Found(*self._whose(one), float(estimates[place]), true, int(bits[place])))
        return found

    def _sharing(self, asked: Asked, listed: set[int]) -> tuple[list[Sharing], int]:
        """Those that truly share enough, the most first; and how many more may, whose texts were not read."""
        prints = selected(asked.words)[:_MOST_ASKED]
        found = sharing(self._database, prints, self._bounds.common)
        chosen = (found.counts >= min(_LEAST_SHARED, len(prints))) & ~np.isin(found.ids, list(listed))
        ids, counts = found.ids[chosen], found.counts[chosen]
        most = np.argsort(-counts, kind="stable")[:_MOST_RANKED]
        promise = _promise(counts[most], prints_of(self._database, ids[most])["words"], len(asked.words))
        ranked = ids[most][np.argsort(-promise, kind="stable")][: self._bounds.compared].tolist()
        truly = [self._shared_with(asked, document_id) for document_id in ranked]
        enough = [one for one in truly if max(one.of_asked, one.of_it) >= self._least_share]
        enough.sort(key=lambda one: (-max(one.of_asked, one.of_it), -one.shared, one.document_id))
        return enough, len(ids) - len(ranked)

    def _shared_with(self, asked: Asked, document_id: int) -> Sharing:
        theirs = shingles(self._words(document_id))
        shared = _count_shared(asked.shingles, theirs)
        return Sharing(*self._whose(document_id), shared, shared / len(asked.shingles), shared / max(1, len(theirs)))

    def _reordered(self, asked: Asked, ids: U32, bits: U8, listed: set[int]) -> list[Reordered]:
        """The nearest first."""
        order = [place for place in np.lexsort((ids, bits)).tolist() if int(ids[place]) not in listed]
        found: list[Reordered] = []
        for place in order[: self._bounds.reordered]:
            one = int(ids[place])
            common = _words_in_common(asked.words, self._words(one))
            found.append(Reordered(*self._whose(one), int(bits[place]), common))
        return found

    def _whose(self, document_id: int) -> tuple[int, str, float, int]:
        """The facts of `Listed`."""
        return document_id, *documents.url_and_time(self._database, document_id), 0

    def _with_copies(self, found: list[_Listed], copies: dict[int, list[int]]) -> list[_Listed]:
        everything = []
        for one in found:
            everything.append(one)
            for copy_id in copies[one.document_id]:
                url, fetched_at = documents.url_and_time(self._database, copy_id)
                everything.append(
                    replace(one, document_id=copy_id, url=url, fetched_at=fetched_at, copy_of=one.document_id)
                )
        return everything

    def _copies(self, originals: set[int]) -> dict[int, list[int]]:
        copies = defaultdict(list)
        for document_id, original_id in documents.copies(self._database):
            if original_id in originals:
                copies[original_id].append(document_id)
        return copies


def _promise(counts: I64, words: U32, asked: int) -> F64:
    """Which share of the shorter text is in the longer one, by the fingerprints that they share: of long texts, not all
    are kept."""
    kept = np.minimum(1.0, ONE_IN * np.minimum(MOST_PASSAGES / words, _MOST_ASKED / asked))
    promise: F64 = np.minimum(1.0, counts * ONE_IN / kept / np.minimum(words, asked))
    return promise


def _words_in_common(one: U64, other: U64) -> float:
    """Which share of all words of two texts both have, in whatever order; each as often as it stands there."""
    (ours, our_counts), (theirs, their_counts) = (np.unique(words, return_counts=True) for words in (one, other))
    _, our_places, their_places = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    shared = int(np.minimum(our_counts[our_places], their_counts[their_places]).sum())
    return shared / max(1, len(one) + len(other) - shared)


# Discovery


def discover(database: Database, threshold: float, on_progress: OnProgress) -> Discovery:
    """All clusters of two documents or more. The database must not change meanwhile: use a snapshot."""
    ids, prints, joiner, near = _join_all(database, threshold, on_progress)
    copies = list(documents.copies(database))
    members: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by root: documents and whose words they have
    others = (
        pair for pair in copies if not documents.are_versions(database, *pair)
    )  # a page that went back is no copy
    for document_id, compared_id in chain(zip(near, near, strict=True), others):
        members[joiner.clusters.root(compared_id)].append((document_id, compared_id))
    clusters = [_cluster(database, root, sorted(found), ids, prints) for root, found in members.items()]
    clusters.sort(key=lambda cluster: (-len(cluster.members), cluster.members[0].document_id))
    return Discovery(tuple(clusters), documents.count_documents(database), len(ids), len(copies), len(near))


def _join_all(
    database: Database, threshold: float, on_progress: OnProgress
) -> tuple[U32, Prints, NearJoiner, list[int]]:
    """All documents with words, their fingerprints, the clusters, and who is no representative."""
    total = count_prints(database)
    all_ids = np.full(total, np.iinfo(np.uint32).max, np.uint32)  # ascending also where it is not filled yet
    prints = np.empty(total, PACKED)
    joiner = NearJoiner(
        threshold,
        lambda wanted: prints[all_ids.searchsorted(wanted)],
        lambda one, other: documents.are_versions(database, one, other),
    )
    near: list[int] = []
    done = 0
    for ids, portion in all_prints(database):
        place = slice(done, done + len(ids))
        all_ids[place], prints[place] = ids, portion
        near += [join.document_id for join in joiner.join(ids, portion)]
        done = place.stop
        on_progress(done, total)
    return all_ids, prints, joiner, near


def _cluster(database: Database, root: int, found: list[tuple[int, int]], ids: U32, prints: Prints) -> Cluster:
    others = np.unique([compared_id for _, compared_id in found if compared_id != root]).astype(np.uint32)
    alike = {root: 1.0}
    if len(others):
        places = ids.searchsorted(others)
        sketch = prints["sketch"][ids.searchsorted(root)]
        alike.update(zip(others.tolist(), resemblances(sketch, prints["sketch"][places]).tolist(), strict=True))
    members = [Member(root, *documents.url_and_time(database, root), 1.0, False)]
    for document_id, compared_id in found:
        url, fetched_at = documents.url_and_time(database, document_id)
        members.append(Member(document_id, url, fetched_at, alike[compared_id], document_id != compared_id))
    return Cluster(tuple(members))
