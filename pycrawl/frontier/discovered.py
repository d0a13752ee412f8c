"""URLs that were found and not yet looked up in URL-seen, in columns: so a batch costs a few array operations, and not
an object for each link.

A fetcher sends a URL's text once, and its hash from then on. So every text that came with a link must be kept here: it
does not come again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pycrawl.model import Kind, Named, PackedAnchors, PackedLinks, Via
from pycrawl.urls import asks
from pycrawl.urls.link_flags import WITHHELD

_HASH_BYTES = 8
_NUMBERS = 4  # of a stretch of links


class Source(NamedTuple):
    """Where some of the URLs of a batch come from: a page, a redirect, a sitemap, a feed, a robots.txt or a person."""

    parent_id: int  # the id of what names them; 0: a person named them as seeds
    depth: int  # of these URLs, not of the page
    hops: int  # redirects in a row that led to these URLs
    via: Via
    ask: int = 0  # bits of `urls/asks.py`: what asks that these URLs not be followed; 0: nothing does
    kind: Kind = Kind.PAGE  # what they are named as: SITEMAP and FEED make them sources (`state/sources.py`)
    rise: int = 0  # how many front queues higher than others of their depth they wait
    level: int = 0  # of sitemaps: index files that led to them
    voucher: str = ""  # the host whose robots.txt names these sitemaps
    hints: bytes = b""  # a record of `urls/hints.py` for each URL; empty: nothing is said of them
    continues: bool = False  # the parent has named others before, in an earlier part of the same answer
    superseded: bool = False  # a newer version of the parent is known: its links are kept, and not these


class PageLinks(NamedTuple):
    """The links of pages that were read with the texts of links, as columns; those of one page in a row."""

    pages: NDArray[np.uint32]  # ids of the pages that they stand on
    at: NDArray[np.int64]  # the place in the batch of the URL that they lead to
    text_hashes: NDArray[np.uint64]
    texts: bytes  # joined by "\n"
    flags: NDArray[np.uint8]


MOST_RISE = 8  # front queues: to the highest one, from any


class Discovered:
    """One batch of found URLs. The coordinator fills it from results and seeds; `Session.sieve` hands it to
    `Frontier.add` and begins a new one."""

    def __init__(self) -> None:
        self._with_text: list[tuple[Source, bytes, bytes, bytes]] = []  # source, hashes, texts, verdicts
        self._seed_chunks = 0  # how many items of `_with_text` are seeds; they stand first
        self._known: list[tuple[Source, bytes]] = []  # source, hashes of URLs whose text came before
        self.seeds = 0  # seeds among the URLs with text; they stand first
        self.count = 0  # URLs with and without text, repetitions included
        self.from_pages = False  # True if some URL was found on a page, so that in-links have to be counted
        self.has_sources = False  # True if some URL is named as a sitemap or feed, or comes with hints
        self._anchors: dict[int, PackedAnchors | None] = {}  # page that was read → its links with texts, if wanted
        # Page with such → where its links stand in the batch, in their order. Each stretch of them has four numbers:
        # 1 if it is counted from the first link with text and 0 if from the first without, its first link, how many
        # it has, and the bits of `urls/link_flags.py` that all of them have.
        self._stretches: dict[int, list[int]] = {}
        self._texts = 0  # URLs with text that are no seeds
        self._hashes = 0  # URLs without text

    @property
    def is_empty(self) -> bool:
        return not self.count and not self._anchors

    def add_links(
        self, parent_id: int, depth: int, links: PackedLinks, ask: int = 0, kind: Kind = Kind.PAGE,
        superseded: bool = False,
    ) -> None:  # fmt: skip
        """Add links of one page. `depth` is that of the links; `ask`, `kind` and `superseded` are as in `Source`."""
        self.from_pages = True
        rise = 0
        if kind is not Kind.PAGE:
            self.has_sources = True
            rise = MOST_RISE
        stretches = self._stretches.get(parent_id)
        if stretches is not None and not superseded:
            flags = WITHHELD if ask & ~asks.KINDS else 0
            rest = len(links.hashes) // _HASH_BYTES - links.texts_count
            stretches += (1, self._texts, links.texts_count, flags, 0, self._hashes, rest, flags)
        self._add(Source(parent_id, depth, 0, Via.LINK, ask, kind, rise, superseded=superseded), links)

    def add_page(self, page_id: int, anchors: PackedAnchors | None) -> None:
        """Note that a page was read, so that its links replace those that it had before, even if it has none now. They
        are added next, in the order in which `anchors` counts them."""
        self._anchors[page_id] = anchors
        if anchors is not None:
            self._stretches[page_id] = []
        else:
            self._stretches.pop(page_id, None)

    @property
    def pages_read(self) -> dict[int, bool]:
        """Returns the ids of the pages that were read, and for each whether texts of links were wanted."""
        return {page: anchors is not None for page, anchors in self._anchors.items()}

    def has_texts(self, page_id: int) -> bool:
        """True if `page_links` has the links of the page."""
        return page_id in self._stretches

    def page_links(self) -> PageLinks:
        """Returns the links of all pages that were read with texts."""
        found = [(page, self._anchors[page] or PackedAnchors()) for page in self._stretches]
        at, flags, starts, counts = self._links_by_page()
        rows = np.array([len(anchors.flags) for _, anchors in found], np.int64)
        places = np.frombuffer(b"".join([anchors.places for _, anchors in found]), np.uint32)
        # A place that is none would be a fault of the fetcher: such a row names the last link of its page.
        numbers = np.repeat(starts, rows) + np.minimum(places, np.repeat(np.maximum(counts - 1, 0), rows))
        return PageLinks(
            np.repeat(np.array([page for page, _ in found], np.uint32), rows),
            at[numbers],
            np.frombuffer(b"".join([anchors.text_hashes for _, anchors in found]), np.uint64),
            b"\n".join([anchors.texts for _, anchors in found if anchors.flags]),
            np.frombuffer(b"".join([anchors.flags for _, anchors in found]), np.uint8) | flags[numbers],
        )

    def _links_by_page(self) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
        """Returns four arrays: for each link of each page with texts, in their order, its place in the batch and the
        flags of its stretch; for each page, where its links begin in these, and how many it has."""
        of_page = list(self._stretches.values())
        has_text, firsts, lengths, flags = np.array([*chain.from_iterable(of_page)], np.int64).reshape(-1, _NUMBERS).T
        begins = np.where(has_text > 0, self.seeds, self.seeds + self._texts) + firsts
        ends = np.cumsum(lengths)
        at = np.arange(int(lengths.sum())) + np.repeat(begins - (ends - lengths), lengths)
        behind = np.append(0, ends)[np.cumsum([len(some) // _NUMBERS for some in of_page], dtype=np.int64)]
        starts = np.append(0, behind)[:-1]
        return at, np.repeat(flags, lengths).astype(np.uint8), starts, behind - starts

    def add_robots_sitemaps(self, parent_id: int, depth: int, links: PackedLinks, ask: int, voucher: str) -> None:
        """Add the sitemaps that the robots.txt of the host `voucher` names."""
        self.has_sources = True
        self._add(Source(parent_id, depth, 0, Via.ROBOTS, ask, Kind.SITEMAP, MOST_RISE, 0, voucher), links)

    def add_named(self, parent_id: int, depth: int, via: Via, named: Named, level: int, continues: bool) -> None:
        """Add URLs that a sitemap or feed names; `level` is that of sitemaps among them."""
        self.has_sources |= named.kind is not Kind.PAGE or bool(named.hints)
        source = Source(
            parent_id, depth, 0, via, named.ask, named.kind, named.rise, level, "", named.hints, continues
        )  # fmt: skip
        self._add(source, named.links)

    def _add(self, source: Source, links: PackedLinks) -> None:
        cut = links.texts_count * _HASH_BYTES
        if cut:
            self._with_text.append((source, links.hashes[:cut], links.texts, links.verdicts))
            self._texts += links.texts_count
        if cut < len(links.hashes):
            self._known.append((source, links.hashes[cut:]))
            self._hashes += (len(links.hashes) - cut) // _HASH_BYTES
        self.count += len(links.hashes) // _HASH_BYTES

    def add_redirect(
        self, parent_id: int, depth: int, hops: int, url: str, url_hash: int, verdict: int = 0,
        ask: int = 0, kind: Kind = Kind.PAGE, level: int = 0,
    ) -> None:  # fmt: skip
        """Add the target of a redirect; `ask`, `kind` and `level` are as in `Source`."""
        self.has_sources |= kind is not Kind.PAGE
        source = Source(parent_id, depth, hops, Via.REDIRECT, ask, kind, 0, level)
        self._with_text.append((source, _packed_hashes([url_hash]), url.encode(), bytes([verdict])))
        self._texts += 1
        self.count += 1

    def add_seeds(
        self, urls: Sequence[str], hashes: Sequence[int], verdicts: bytes = b"", kind: Kind = Kind.PAGE
    ) -> None:
        """Add seeds, ahead of all links: a URL that is a seed and a link is entered as its first source says."""
        self.has_sources |= kind is not Kind.PAGE
        if urls:  # without URLs, one empty text would be joined in, and all texts behind it would miss their hashes
            chunk = (Source(0, 0, 0, Via.SEED, 0, kind), _packed_hashes(hashes), "\n".join(urls).encode(), verdicts)
            self._with_text.insert(self._seed_chunks, chunk)
            self._seed_chunks += 1
            self.seeds += len(urls)
            self.count += len(urls)

    def hashes(self) -> NDArray[np.uint64]:
        """Returns all hashes, repetitions included: first those of the URLs with text, in the order of `texts`."""
        chunks = [hashes for _, hashes, _, _ in self._with_text] + [hashes for _, hashes in self._known]
        return np.frombuffer(b"".join(chunks), np.uint64)

    def texts(self) -> list[bytes]:
        """Returns the texts, UTF-8, in the order of the first hashes."""
        return b"\n".join([texts for _, _, texts, _ in self._with_text]).split(b"\n") if self._with_text else []

    def verdicts(self) -> bytes:
        """Returns one byte for each URL with text: the code of the reason for which the scope turns it away, or 0."""
        return b"".join([verdicts or bytes(len(hashes) // _HASH_BYTES) for _, hashes, _, verdicts in self._with_text])

    def sources(self) -> tuple[list[Source], NDArray[np.int64]]:
        """Returns the sources, and for each URL, in the order of `hashes`, the index of its source."""
        chunks = [(source, hashes) for source, hashes, _, _ in self._with_text] + self._known
        lengths = [len(hashes) // _HASH_BYTES for _, hashes in chunks]
        return [source for source, _ in chunks], np.repeat(np.arange(len(chunks)), lengths)


def _packed_hashes(hashes: Sequence[int]) -> bytes:
    return np.array(hashes, np.uint64).tobytes()
