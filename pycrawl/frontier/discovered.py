"""URLs on their way to URL-seen, in columns: a batch costs a few array operations, not one object a link.

It keeps every text that came with a link: a fetcher sends a URL's text once, and its hash from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pycrawl.model import PackedLinks, Via

_HASH_BYTES = 8


class Source(NamedTuple):
    """What brought some URLs."""

    parent_id: int  # 0: a person
    depth: int  # of these URLs
    hops: int  # redirects that led to them
    via: Via
    ask: int = 0  # what asks that they not be followed


class Discovered:
    """Filled by the coordinator from results and seeds; emptied by `Frontier.add`."""

    def __init__(self) -> None:
        self._with_text: list[tuple[Source, bytes, bytes, bytes]] = []  # source, hashes, texts, verdicts
        self._seed_chunks = 0  # how many of these are seeds: they stand first
        self._known: list[tuple[Source, bytes]] = []  # source, hashes of URLs that came without text
        self.seeds = 0  # how many of the URLs with text are seeds
        self.count = 0  # links, with and without text
        self.from_pages = False  # whether any of it was found on a page, so that it counts as an in-link

    def add_links(self, parent_id: int, depth: int, links: PackedLinks, ask: int = 0) -> None:
        """The links of one page; `depth` is that of the links, `ask` what asks that they not be followed."""
        self.from_pages = True
        source = Source(parent_id, depth, 0, Via.LINK, ask)
        cut = links.texts_count * _HASH_BYTES
        if cut:
            self._with_text.append((source, links.hashes[:cut], links.texts, links.verdicts))
        if cut < len(links.hashes):
            self._known.append((source, links.hashes[cut:]))
        self.count += len(links.hashes) // _HASH_BYTES

    def add_redirect(self, parent_id: int, depth: int, hops: int, url: str, url_hash: int, verdict: int = 0) -> None:
        source = Source(parent_id, depth, hops, Via.REDIRECT)
        self._with_text.append((source, _packed_hashes([url_hash]), url.encode(), bytes([verdict])))
        self.count += 1

    def add_seeds(self, urls: Sequence[str], hashes: Sequence[int], verdicts: bytes = b"") -> None:
        """Ahead of all links, so that a seed which a page also links to counts as a seed."""
        if urls:  # a source without URLs would leave an empty text, and each text behind it at the wrong hash
            chunk = (Source(0, 0, 0, Via.SEED), _packed_hashes(hashes), "\n".join(urls).encode(), verdicts)
            self._with_text.insert(self._seed_chunks, chunk)
            self._seed_chunks += 1
            self.seeds += len(urls)
            self.count += len(urls)

    def hashes(self) -> NDArray[np.uint64]:
        """All hashes, those with text first."""
        chunks = [hashes for _, hashes, _, _ in self._with_text] + [hashes for _, hashes in self._known]
        return np.frombuffer(b"".join(chunks), np.uint64)

    def texts(self) -> list[bytes]:
        return b"\n".join([texts for _, _, texts, _ in self._with_text]).split(b"\n") if self._with_text else []

    def verdicts(self) -> bytes:
        """For each URL with text, the number of the reason for which the scope turns it away; 0: it does not."""
        return b"".join([verdicts or bytes(len(hashes) // _HASH_BYTES) for _, hashes, _, verdicts in self._with_text])

    def sources(self) -> tuple[list[Source], NDArray[np.int64]]:
        """The sources, and for each URL, in the order of `hashes`, the index of its source."""
        chunks = [(source, hashes) for source, hashes, _, _ in self._with_text] + self._known
        lengths = [len(hashes) // _HASH_BYTES for _, hashes in chunks]
        return [source for source, _ in chunks], np.repeat(np.arange(len(chunks)), lengths)


def _packed_hashes(hashes: Sequence[int]) -> bytes:
    return np.array(hashes, np.uint64).tobytes()
