"""Near-duplicates in a collection: those of one text (search), and all of them (discovery).

Only reads, so it works beside a crawl. Discovery takes all documents through the rule by which the crawl joins them
(`state/near_join.py`): at the crawl's own threshold it finds what the crawl has found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pycrawl import trecweb
from pycrawl.answer import is_html, plain_text_of
from pycrawl.fingerprint import of_text, resemblances, shingles, tokens, unpack_sketch
from pycrawl.fingerprint.packed import PACKED, Prints
from pycrawl.fingerprint.simhash import distances
from pycrawl.parse.html import parse_html
from pycrawl.state import documents
from pycrawl.state.band_index import U32
from pycrawl.state.database import Database
from pycrawl.state.documents import Document
from pycrawl.state.near_join import MARGIN, NearJoiner
from pycrawl.state.near_seen import all_prints, count_prints
from pycrawl.store.reader import RecordReader

_MOST_READ = 200  # documents whose texts a search reads to say how alike they truly are

OnProgress = Callable[[int, int], None]  # documents done, of how many


@dataclass(frozen=True, slots=True)
class Found:
    """A document that resembles the one asked for."""

    document_id: int
    url: str
    fetched_at: float
    estimate: float
    true: float | None  # Jaccard coefficient of the 4-word shingles; None: further down than texts were read
    simhash_distance: int  # bits, of 64
    copy_of: int  # the document whose bytes it has; 0: it has its own


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


def text_of(body: bytes, content_type: str, main_content: str) -> str:
    """What a document is compared by: the main content of HTML, and all of a plain text."""
    if is_html(content_type, body):
        return parse_html(body, content_type, main_content=main_content).content
    return plain_text_of(body, content_type)[0]


def stored_text(database: Database, reader: RecordReader, document: Document, main_content: str) -> str:
    name = documents.file_name(database, document.file_id)
    record = reader.read(name, document.offset, document.length)
    body = trecweb.decode(record, document.escapes, document.body_length).body
    return text_of(body, document.content_type, main_content)


def jaccard(one: str, other: str) -> float:
    """How many of all 4-word shingles two texts share; two texts without words are equal."""
    ours, theirs = shingles(tokens(one)), shingles(tokens(other))
    shared = len(np.intersect1d(ours, theirs, assume_unique=True))
    return shared / (len(ours) + len(theirs) - shared) if len(ours) or len(theirs) else 1.0


# Search


class Searcher:
    """Looks one text up. Every sketch is compared, as this costs less than to build an index for one question."""

    def __init__(self, database: Database, reader: RecordReader, threshold: float, main_content: str) -> None:
        self._database = database
        self._reader = reader
        self._least = threshold - MARGIN
        self._main_content = main_content

    def find(self, text: str, apart_from: int = 0) -> list[Found]:
        """All documents that resemble the text by the threshold or nearly so, the most alike first."""
        asked = of_text(text)
        if not asked.words:
            return []
        ids, estimates, bits = self._alike(unpack_sketch(asked.sketch), asked.simhash)
        order = np.lexsort((ids, -estimates))
        copies = self._copies(set(ids.tolist()))
        found: list[Found] = []
        for rank, place in enumerate(order.tolist()):
            document_id = int(ids[place])
            true = jaccard(text, self._text(document_id)) if rank < _MOST_READ else None
            for one in (document_id, *copies[document_id]):
                url, fetched_at = documents.url_and_time(self._database, one)
                copy_of = document_id if one != document_id else 0
                found.append(Found(one, url, fetched_at, float(estimates[place]), true, int(bits[place]), copy_of))
        found.sort(key=lambda one: (-(one.true if one.true is not None else -1.0), one.document_id))
        return [one for one in found if one.document_id != apart_from]

    def text(self, document: Document) -> str:
        return stored_text(self._database, self._reader, document, self._main_content)

    def _text(self, document_id: int) -> str:
        return self.text(documents.document(self._database, document_id))

    def _alike(self, sketch: NDArray[np.uint16], simhash: int) -> tuple[U32, NDArray[np.float64], NDArray[np.uint8]]:
        """Ids, estimates and distances of simhashes of all that are alike."""
        parts = [(np.empty(0, np.uint32), np.empty(0), np.empty(0, np.uint8))]
        for ids, prints in all_prints(self._database):
            estimates = resemblances(sketch, prints["sketch"])
            alike = estimates >= self._least
            parts.append((ids[alike], estimates[alike], distances(simhash, prints["simhash"][alike])))
        ids, estimates, bits = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return ids, estimates, bits

    def _copies(self, originals: set[int]) -> dict[int, list[int]]:
        copies = defaultdict(list)
        for document_id, original_id in documents.copies(self._database):
            if original_id in originals:
                copies[original_id].append(document_id)
        return copies


# Discovery


def discover(database: Database, threshold: float, on_progress: OnProgress) -> Discovery:
    """All clusters of two documents or more. The database must not change meanwhile: use a snapshot."""
    ids, prints, joiner, near = _join_all(database, threshold, on_progress)
    copies = list(documents.copies(database))
    members: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by root: documents and whose words they have
    for document_id, compared_id in chain(zip(near, near, strict=True), copies):
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
    joiner = NearJoiner(threshold, lambda wanted: prints[all_ids.searchsorted(wanted)])
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
