"""URLs on their way to URL-seen, in columns: a batch costs a few array operations, not one object a link."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pycrawl.model import PackedLinks, Via

_HASH_BYTES = 8


class Discovered:
    """Filled by the coordinator from results and seeds; emptied by `Frontier.add`."""

    def __init__(self) -> None:
        self._hashes: list[bytes] = []  # of URLs that came with their text …
        self._texts: list[bytes] = []
        self._known: list[bytes] = []  # … and of those that came without
        self._sources: list[tuple[int, int, int, int]] = []  # parent, depth, hops, via
        self._lengths: list[int] = []  # URLs with text that each source brought
        self.seeds = 0  # how many of the URLs with text are seeds: they stand first
        self.count = 0  # links, with and without text
        self.from_pages = False  # whether any of it was found on a page, so that it counts as an in-link

    def add_links(self, parent_id: int, depth: int, links: PackedLinks) -> None:
        """The links of one page; `depth` is that of the links."""
        self.from_pages = True
        cut = links.texts_count * _HASH_BYTES
        if cut:
            self._hashes.append(links.hashes[:cut])
            self._texts.append(links.texts)
            self._sources.append((parent_id, depth, 0, Via.LINK))
            self._lengths.append(links.texts_count)
        if cut < len(links.hashes):
            self._known.append(links.hashes[cut:])
        self.count += len(links.hashes) // _HASH_BYTES

    def add_redirect(self, parent_id: int, depth: int, hops: int, url: str, url_hash: int) -> None:
        self._insert(len(self._sources), (parent_id, depth, hops, Via.REDIRECT), [url], [url_hash])

    def add_seeds(self, urls: Sequence[str], hashes: Sequence[int]) -> None:
        """Ahead of all links, so that a seed which a page also links to counts as a seed."""
        if urls:  # a source without URLs would leave an empty text, and each text behind it at the wrong hash
            place = sum(1 for source in self._sources if source[3] == Via.SEED)
            self._insert(place, (0, 0, 0, Via.SEED), urls, hashes)
            self.seeds += len(urls)

    def _insert(
        self, place: int, source: tuple[int, int, int, int], urls: Sequence[str], hashes: Sequence[int]
    ) -> None:
        self._hashes.insert(place, np.array(hashes, np.uint64).tobytes())
        self._texts.insert(place, "\n".join(urls).encode())
        self._sources.insert(place, source)
        self._lengths.insert(place, len(urls))
        self.count += len(urls)

    def hashes(self) -> NDArray[np.uint64]:
        """All hashes, those with text first."""
        return np.frombuffer(b"".join(self._hashes + self._known), np.uint64)

    def texts(self) -> list[bytes]:
        return b"\n".join(self._texts).split(b"\n") if self._texts else []

    def sources(self) -> tuple[list[tuple[int, int, int, int]], NDArray[np.int64]]:
        """The sources, and for each URL with text the index of its source."""
        return self._sources, np.repeat(np.arange(len(self._sources)), self._lengths)
