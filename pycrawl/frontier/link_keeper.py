"""The links of a batch of found URLs into the store of links."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pycrawl.frontier.discovered import Discovered, PageLinks, Source
from pycrawl.model import Via
from pycrawl.state.arrays import lines_at
from pycrawl.state.links import Columns, Links
from pycrawl.urls import asks
from pycrawl.urls.link_flags import LEAD, WITHHELD

U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

_LEADS = (Via.REDIRECT, Via.SITEMAP, Via.FEED)  # what is named so is as deep as what names it
_ID_BITS = np.uint64(32)


class LinkKeeper:
    def __init__(self, links: Links) -> None:
        self._links = links

    def keep(self, batch: Discovered, ids: U32, sources: list[Source], source_of: I64) -> None:
        """Keep what each page, sitemap or feed of the batch names or redirects to, and the texts of its links. `ids`
        are those of the batch's URLs, `source_of` says for each which source it has."""
        links = _joined(self._with_texts(batch.page_links(), ids), _without_texts(batch, ids, sources, source_of))
        continued = {source.parent_id for source in sources if source.continues}
        self._links.put(links, batch.pages_read, continued)

    def _with_texts(self, found: PageLinks, ids: U32) -> Columns:
        """Returns the links of the pages that were read with texts."""
        targets = ids[found.at]
        known = np.flatnonzero(targets)
        text_ids = self._links.texts.ids_of(
            found.text_hashes[known], lambda wanted: lines_at(found.texts, known[wanted])
        )
        return Columns(found.pages[known], targets[known], text_ids, found.flags[known])


def _joined(one: Columns, other: Columns) -> Columns:
    if not len(other.pages):
        return one
    return Columns(
        np.concatenate((one.pages, other.pages)),
        np.concatenate((one.targets, other.targets)),
        np.concatenate((one.texts, other.texts)),
        np.concatenate((one.flags, other.flags)),
    )


def _without_texts(batch: Discovered, ids: U32, sources: list[Source], source_of: I64) -> Columns:
    """Returns all other links of the batch, each once, by page and target, with flags as far as the source tells them.
    A link that one of several does not ask to leave alone is followed."""
    pages = np.array([_page_of(source, batch) for source in sources], np.uint64)
    places = np.flatnonzero((pages > 0)[source_of] & (ids > 0)) if pages.any() else np.empty(0, np.int64)
    told = np.array([_flags_of(source) for source in sources], np.uint8)[source_of[places]]
    pairs = (pages[source_of[places]] << _ID_BITS) | ids[places]
    order = pairs.argsort()
    pairs, told = pairs[order], told[order]
    starts = np.flatnonzero(np.diff(pairs, prepend=np.uint64(0)))  # no pair is 0
    pairs, told = pairs[starts], np.minimum.reduceat(told, starts) if len(starts) else told
    no_texts = np.zeros(len(pairs), np.uint32)
    return Columns((pairs >> _ID_BITS).astype(np.uint32), pairs.astype(np.uint32), no_texts, told)


def _page_of(source: Source, batch: Discovered) -> int:
    """Returns the id of what names the URLs of a source; 0 if their links are not kept, or by `page_links`."""
    if source.via is Via.ROBOTS or source.superseded or (source.via is Via.LINK and batch.has_texts(source.parent_id)):
        return 0
    return source.parent_id


def _flags_of(source: Source) -> int:
    withheld = WITHHELD if source.ask & ~asks.KINDS else 0
    return withheld | (LEAD if source.via in _LEADS else 0)
