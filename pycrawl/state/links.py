"""The store of links: for each page that was read, what it links to, with texts, rel and places; and for each URL, the
pages that link to it.

`LINKS` has a row for each page, of its newest version (`link_rows.py`); a new version replaces it. `INLINKS` has a pair
(target, page) for each link. It may also have pairs of links that a newer version of the page has no more: whoever
reads it looks into the row of the page. `tidy` drops them.

When a shorter way to a page is found, its new depth is handed on along the links.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pycrawl.state import anchor_texts
from pycrawl.state.anchor_texts import AnchorTexts
from pycrawl.state.database import Database
from pycrawl.state.link_rows import EMPTY, FIRST_WIDE, HAS_ANCHORS, NARROW_BYTES, WIDE, WIDE_BYTES, link_bytes
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.runs.value_runs import ValueRuns
from pycrawl.state.stores import INLINKS, LINKS
from pycrawl.urls.link_flags import BITS, LEAD, WITHHELD

U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]

_ID_BITS = np.uint64(32)
_BITS = np.uint32(BITS)
_MASK = np.uint32((1 << BITS) - 1)
_LINKS_AT_ONCE = 200_000  # that are turned round in one go


class Columns(NamedTuple):
    """Links of many pages, those of one page in a row."""

    pages: U32
    targets: U32
    texts: U32  # ids; 0: none
    flags: U8

    def sorted(self) -> Columns:
        """Returns the links by page; those of one page stay in their order."""
        order = self.pages.argsort(kind="stable")
        return Columns(self.pages[order], self.targets[order], self.texts[order], self.flags[order])


class Links:
    """The links of all pages. What was put is found at once, and written by `flush`."""

    def __init__(self, database: Database) -> None:
        self._rows = ValueRuns(database, LINKS)
        self._inlinks = IdRuns(database, INLINKS)
        self.texts = AnchorTexts(database)

    def put(self, links: Columns, read: Mapping[int, bool], continued: Iterable[int] = ()) -> None:
        """Take in the links of pages. They replace what a page had before; those of `continued` are added to it.

        `read` names the pages that were read, those without links too, and whether texts were wanted.
        """
        links = links.sorted()
        rows = packed_rows(links, read)
        for page in continued:
            before = self._rows.get([page]).get(page)
            if before is not None and page in rows:
                rows[page] = joined_rows(before, rows[page])
        for page, wanted in read.items():
            if page not in rows:
                rows[page] = EMPTY if wanted else bytes(1)
        self._rows.put(rows)
        self._inlinks.insert(links.targets.astype(np.uint64), links.pages)

    def targets_of(self, ids: Iterable[int]) -> Iterator[tuple[int, U32, U32]]:
        """Yields (id, ids that it links to, ids that it leads to) of those pages that were fetched and have links.
        Links that ask not to be followed do not count. What a page leads to, as a redirect does, is as deep as it."""
        for page, row in self._rows.get(ids).items():
            targets, _, flags = unpacked(row)
            kinds = flags & (LEAD | WITHHELD)
            yield page, targets[kinds == 0], targets[kinds == LEAD]

    def flush(self) -> None:
        """Write what was put; to be committed by the caller."""
        self._rows.flush()
        self._inlinks.flush()
        self.texts.flush()

    def bytes_held(self) -> int:
        return self._rows.bytes_held() + self._inlinks.bytes_held() + self.texts.bytes_held()


# Rows


def packed_rows(links: Columns, read: Mapping[int, bool]) -> dict[int, bytes]:
    """Returns page → its row. The links must be sorted."""
    is_wide = bool(len(links.targets)) and int(links.targets.max()) >= FIRST_WIDE
    size = WIDE_BYTES if is_wide else NARROW_BYTES
    table = np.empty((len(links.pages), size), np.uint8)
    table[:, : size - 4] = links.targets.astype("<u4").view(np.uint8).reshape(-1, 4)[:, : size - 4]
    words = (links.texts << _BITS) | links.flags
    table[:, size - 4 :] = words.astype("<u4").view(np.uint8).reshape(-1, 4)
    data = table.tobytes()
    pages, starts = np.unique(links.pages, return_index=True)
    ends = np.append(starts, len(links.pages))[1:].tolist()
    plain, anchored = bytes([WIDE * is_wide]), bytes([WIDE * is_wide | HAS_ANCHORS])
    return {
        page: (anchored if read.get(page) else plain) + data[size * start : size * end]
        for page, start, end in zip(pages.tolist(), starts.tolist(), ends, strict=True)
    }


def unpacked(row: bytes) -> tuple[U32, U32, U8]:
    """Returns the targets of a row, the ids of their texts, and their flags."""
    size = link_bytes(row)
    table = np.frombuffer(row, np.uint8, offset=1).reshape(-1, size)
    wide = np.zeros((len(table), 4), np.uint8)
    wide[:, : size - 4] = table[:, : size - 4]
    words = np.ascontiguousarray(table[:, size - 4 :]).view("<u4").reshape(-1)
    return wide.view("<u4").reshape(-1), words >> _BITS, (words & _MASK).astype(np.uint8)


def joined_rows(one: bytes, other: bytes) -> bytes:
    """Returns the links of two rows as one row, each once."""
    whole = _columns([(1, one), (1, other)])
    _, first = np.unique(np.stack(whole[1:], axis=1, dtype=np.uint32), axis=0, return_index=True)
    kept = np.sort(first)
    links = Columns(whole.pages[kept], whole.targets[kept], whole.texts[kept], whole.flags[kept])
    return packed_rows(links, {1: bool(other[0] & HAS_ANCHORS)}).get(1, other)


# Care


def portions(database: Database) -> Iterator[Columns]:
    """Yields the links of all pages, by page, many pages at a time."""
    parts: list[tuple[int, bytes]] = []
    size = 0
    for page, row in ValueRuns(database, LINKS, with_filters=False).items():
        parts.append((page, row))
        size += len(row) // NARROW_BYTES
        if size >= _LINKS_AT_ONCE:
            yield _columns(parts)
            parts, size = [], 0
    if parts:
        yield _columns(parts)


def _columns(rows: list[tuple[int, bytes]]) -> Columns:
    found = [unpacked(row) for _, row in rows]
    pages = np.repeat(np.array([page for page, _ in rows], np.uint32), [len(one[0]) for one in found])
    targets, texts, flags = (np.concatenate(column) for column in zip(*found, strict=True))
    return Columns(pages, targets, texts, flags)


def remove(database: Database, ids: Iterable[int]) -> None:
    """Remove the links of pages, and texts that no other page has; to be committed by the caller."""
    gone = np.array(list(ids), np.uint32)
    ValueRuns(database, LINKS).remove(gone.tolist())
    IdRuns(database, INLINKS).remove_ids(gone)
    _drop_unused_texts(database)


def tidy(database: Database) -> None:
    """Drop what only superseded versions of pages have linked to or said; to be committed by the caller. Writes nothing
    where there is nothing of that."""
    inlinks = IdRuns(database, INLINKS)
    if len(inlinks) != sum(len(pairs) for pairs in _pairs(database)):
        inlinks.clear()
        for pairs in _pairs(database):
            inlinks.insert(pairs >> _ID_BITS, pairs.astype(np.uint32))
            inlinks.flush()
    _drop_unused_texts(database)


def _pairs(database: Database) -> Iterator[U64]:
    """Yields (target, page) of all links, each pair once, many pages at a time."""
    for links in portions(database):
        yield np.unique((links.targets.astype(np.uint64) << _ID_BITS) | links.pages)


def _drop_unused_texts(database: Database) -> None:
    known = anchor_texts.all_ids(database)
    is_used = np.zeros(int(known.max(initial=0)) + 1, np.bool_)
    for links in portions(database):
        is_used[links.texts[links.texts < len(is_used)]] = True
    anchor_texts.remove(database, known[~is_used[known]])


# Proof


def faults(database: Database, urls: int) -> Iterator[str]:
    """Yields what contradicts that every id exists, and that links out and in agree. `urls`: how many there are."""
    known = anchor_texts.all_ids(database)
    is_known = np.zeros(int(known.max(initial=0)) + 1, np.bool_)
    is_known[known] = True
    is_known[0] = True
    inlinks = IdRuns(database, INLINKS, with_filters=False)
    for links in portions(database):
        for ids in (links.pages, links.targets):
            for url_id in ids[(ids == 0) | (ids > urls)].tolist():
                yield f"a link from or to the URL with id {url_id}, which is not there"
        lost = links.texts[~is_known[np.minimum(links.texts, len(is_known) - 1)] | (links.texts >= len(is_known))]
        for text_id in lost.tolist():
            yield f"a link has the text with id {text_id}, which is not there"
        pairs = (links.targets.astype(np.uint64) << _ID_BITS) | links.pages
        targets = np.unique(links.targets).astype(np.uint64)
        places, sources = inlinks.find(targets)
        found = (targets[places] << _ID_BITS) | sources
        for pair in np.setdiff1d(pairs, found).tolist():
            yield f"the link from URL {pair & 0xFFFF_FFFF} to URL {pair >> 32} is not among its in-links"
