"""The links of a batch of found URLs into the store of links."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pycrawl.frontier.discovered import Anchors, Discovered, Source
from pycrawl.model import Via
from pycrawl.state.arrays import lines_at, places_in
from pycrawl.state.links import Columns, Links
from pycrawl.state.url_seen import Looked
from pycrawl.urls import asks
from pycrawl.urls.link_flags import FRAME, LEAD, WITHHELD

U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]

_KINDS = asks.SITEMAP | asks.FEED  # bits that say what a URL is, and not that it is not to be followed
_LEADS = (Via.REDIRECT, Via.SITEMAP, Via.FEED)  # what is named so is as deep as what names it
_ID_BITS = np.uint64(32)


class LinkKeeper:
    def __init__(self, links: Links) -> None:
        self._links = links

    def keep(self, batch: Discovered, looked: Looked, ids: U32, sources: list[Source], source_of: I64) -> None:
        """Keep what each page, sitemap or feed of the batch names or redirects to, and the texts of its links. `ids`
        are those of the batch's URLs, `source_of` says for each which source it has."""
        read = batch.pages_read
        pairs, flags = _pairs(ids, sources, source_of)
        anchors = batch.anchors()
        places, is_named = _places(anchors, looked, pairs)
        named = np.flatnonzero(is_named)
        text_ids = self._links.texts.ids_of(
            anchors.text_hashes[named], lambda wanted: lines_at(anchors.texts, named[wanted])
        )
        # What has no place in the text of its page, as <link>, stands behind what has.
        others = np.ones(len(pairs), np.bool_)
        others[places] = False
        flags_of_others = flags[others]
        with_texts = np.array([page for page, wanted in read.items() if wanted], np.uint64)
        flags_of_others[np.isin(pairs[others] >> _ID_BITS, with_texts)] |= FRAME
        whole = np.concatenate((pairs[places], pairs[others]))
        links = Columns(
            (whole >> _ID_BITS).astype(np.uint32),
            whole.astype(np.uint32),
            np.concatenate((text_ids, np.zeros(len(flags_of_others), np.uint32))),
            np.concatenate((anchors.flags[is_named] | flags[places], flags_of_others)),
        )
        continued = {source.parent_id for source in sources if source.continues}
        self._links.put(links, read, continued)


def _pairs(ids: U32, sources: list[Source], source_of: I64) -> tuple[U64, U8]:
    """Returns each link of the batch once, as the id of its page and that of its target in one number, ascending; and
    its flags, as far as the source tells them. A link that one of several does not ask to leave alone is followed."""
    pages = np.array(
        [0 if source.via is Via.ROBOTS or source.superseded else source.parent_id for source in sources], np.uint64
    )
    told = np.array([_flags_of(source) for source in sources], np.uint8)
    pairs = (pages[source_of] << _ID_BITS) | ids
    is_kept = (pages[source_of] > 0) & (ids > 0)
    pairs, flags = pairs[is_kept], told[source_of][is_kept]
    order = pairs.argsort()
    pairs, flags = pairs[order], flags[order]
    starts = np.flatnonzero(np.diff(pairs, prepend=np.uint64(0)))  # no pair is 0
    return pairs[starts], np.minimum.reduceat(flags, starts) if len(starts) else flags


def _flags_of(source: Source) -> int:
    withheld = WITHHELD if source.ask & ~_KINDS else 0
    return withheld | (LEAD if source.via in _LEADS else 0)


def _places(anchors: Anchors, looked: Looked, pairs: U64) -> tuple[I64, NDArray[np.bool_]]:
    """Returns the places in `pairs` of those anchors that are links of their pages, and which anchors these are."""
    if not len(anchors.urls) or not len(pairs):
        return np.empty(0, np.int64), np.zeros(len(anchors.urls), np.bool_)
    at = np.minimum(places_in(looked.hashes, anchors.urls), len(looked.hashes) - 1)
    wanted = (anchors.pages << _ID_BITS) | looked.ids[at]
    places = np.minimum(places_in(pairs, wanted), len(pairs) - 1)
    is_named = (looked.hashes[at] == anchors.urls) & (pairs[places] == wanted)
    return places[is_named], is_named
