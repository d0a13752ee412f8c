"""URLs that were found and not yet looked up in URL-seen, in columns: so a batch costs a few array operations, and not
an object for each link.

A fetcher sends a URL's text once, and its hash from then on. So every text that came with a link must be kept here: it
does not come again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pycrawl.model import Kind, Named, PackedAnchors, PackedLinks, Via

_HASH_BYTES = 8


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


class Anchors(NamedTuple):
    """Links with texts, as columns."""

    pages: NDArray[np.uint64]  # ids of the pages that they stand on
    urls: NDArray[np.uint64]  # hashes
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
        self._add(Source(parent_id, depth, 0, Via.LINK, ask, kind, rise, superseded=superseded), links)

    def add_page(self, page_id: int, anchors: PackedAnchors | None) -> None:
        """Note that a page was read, so that its links replace those that it had before, even if it has none now."""
        self._anchors[page_id] = anchors

    @property
    def pages_read(self) -> dict[int, bool]:
        """Returns the ids of the pages that were read, and for each whether texts of links were wanted."""
        return {page: anchors is not None for page, anchors in self._anchors.items()}

    def anchors(self) -> Anchors:
        """Returns the links of all pages that were read with texts."""
        found = [(page, anchors) for page, anchors in self._anchors.items() if anchors is not None and anchors.flags]
        pages = np.array([page for page, _ in found], np.uint64)
        return Anchors(
            np.repeat(pages, [len(anchors.flags) for _, anchors in found]),
            np.frombuffer(b"".join([anchors.urls for _, anchors in found]), np.uint64),
            np.frombuffer(b"".join([anchors.text_hashes for _, anchors in found]), np.uint64),
            b"\n".join([anchors.texts for _, anchors in found]),
            np.frombuffer(b"".join([anchors.flags for _, anchors in found]), np.uint8),
        )

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
        if cut < len(links.hashes):
            self._known.append((source, links.hashes[cut:]))
        self.count += len(links.hashes) // _HASH_BYTES

    def add_redirect(
        self, parent_id: int, depth: int, hops: int, url: str, url_hash: int, verdict: int = 0,
        ask: int = 0, kind: Kind = Kind.PAGE, level: int = 0,
    ) -> None:  # fmt: skip
        """Add the target of a redirect; `ask`, `kind` and `level` are as in `Source`."""
        self.has_sources |= kind is not Kind.PAGE
        source = Source(parent_id, depth, hops, Via.REDIRECT, ask, kind, 0, level)
        self._with_text.append((source, _packed_hashes([url_hash]), url.encode(), bytes([verdict])))
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
