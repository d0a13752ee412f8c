"""A page's links resolved, normalised, filtered and hashed, packed for the coordinator."""

from __future__ import annotations

import re
import struct
from array import array
from typing import Any, NamedTuple

from pycrawl.model import NO_LINKS, PackedAnchors, PackedLinks
from pycrawl.native import compiled
from pycrawl.parse.link_cache import FIRST_HASH, LinkCache, absolute, without_fragment
from pycrawl.parse.parsed import Parsed
from pycrawl.urls import asks
from pycrawl.urls.normal_form import MAX_LENGTH, UrlRules, normalise, normalise_behind
from pycrawl.urls.parts import likely_origin, origin, url_hash
from pycrawl.urls.reasons import Reason
from pycrawl.urls.scope import Scope

SENT_SLOTS = 1 << 20  # 8 bytes each
CACHE_ENTRIES = 1 << 19  # 16 bytes each
PYTHON_CACHE_ENTRIES = 1 << 17  # some 200 bytes each
KNOWN_ORIGINS = 1 << 12
LONGEST_ORIGIN = 512  # characters; with the above, bounds the memory they take

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_REASONS = tuple(Reason)
_CODES = {reason: code for code, reason in enumerate(_REASONS, 1)}  # as the cache of links has them

# What a link comes to: the hash of a URL that the coordinator knows, a URL that it has to be told of, with its hash,
# or why the link is not followed.
_Found = int | tuple[str, int] | Reason


class _Place(NamedTuple):
    """What the links of a page are resolved against, and how many are taken."""

    base: str
    home: str  # its origin
    folder: str  # up to the last slash of its path
    own_hash: int  # of the page's URL
    is_own: bool  # the base is the page's own URL
    max_links: int
    resolved: dict[str, int]  # filled with what links came to that the cache did not know: text without fragment → hash

    @classmethod
    def of(cls, base: str, own_hash: int, is_own: bool, max_links: int) -> _Place:
        folder = base.partition("?")[0].rpartition("/")[0] + "/"
        return cls(base, origin(base), folder, own_hash, is_own, max_links, {})


class Packed(NamedTuple):
    """The links of a page as they are sent."""

    links: PackedLinks
    withheld: tuple[tuple[int, PackedLinks], ...]  # what asks that they not be followed, and these links
    filtered: dict[str, int]  # reason → links without a usable form
    anchors: PackedAnchors | None = None  # None: they were not asked for


class LinkPacker:
    """Packs page after page of one fetcher; a URL whose text it sent before travels as a hash."""

    def __init__(
        self,
        rules: UrlRules,
        scope: Scope,
        seed: int,
        sent_slots: int = SENT_SLOTS,
        cache_entries: int = CACHE_ENTRIES if compiled is not None else PYTHON_CACHE_ENTRIES,
    ) -> None:
        """`sent_slots`: a power of two."""
        self._rules = rules
        self._scope = scope
        self._seed = seed
        # Hashes of URLs whose text was sent: one slot for each residue, the newest stays. Forgets, never invents:
        # slot 0 starts with a hash that belongs elsewhere, so that not even the hash 0 is taken for sent.
        self._sent = array("Q", bytes(8 * sent_slots))
        self._sent[0] = 1
        self._last_slot = sent_slots - 1
        self._cache_entries = cache_entries
        self._cache = _new_cache(seed, cache_entries)
        self._origins: set[str] = set()  # of normalised URLs

    def pack(self, page: Parsed, url: str, ask: int = 0) -> Packed:
        """The distinct links of the page at `url`.

        `ask`: what asks that none of them be followed (`urls/asks.py`).
        """
        filtered: dict[str, int] = {}
        place = self._place(page, url)
        withheld: list[tuple[int, PackedLinks]] = []
        links = NO_LINKS
        if ask:
            self._withhold(withheld, ask, [*page.hrefs, *page.nofollow_hrefs], place, filtered)
        else:
            links = self._pack(page.hrefs, place, filtered)
        # Feeds stand before what is not to be followed: the first place of a URL counts for its links with texts.
        if page.feed_hrefs:
            self._withhold(withheld, ask | asks.FEED, page.feed_hrefs, place, filtered)
        if page.nofollow_hrefs and not ask:
            self._withhold(withheld, asks.REL, page.nofollow_hrefs, place, filtered)
        return Packed(links, tuple(withheld), filtered, self._pack_anchors(page, place, links, withheld))

    def _pack_anchors(
        self, page: Parsed, place: _Place, links: PackedLinks, withheld: list[tuple[int, PackedLinks]]
    ) -> PackedAnchors | None:
        if page.anchors is None:
            return None
        sent = b"".join([links.hashes, *(some.hashes for _, some in withheld)]) if withheld else links.hashes
        return PackedAnchors(
            *self._cache.anchors(*page.anchors, place.home, place.folder, place.is_own, place.resolved, sent)
        )

    def forget_sent(self) -> None:
        """What was packed last did not reach the coordinator: all texts are sent again from now on."""
        self._sent = array("Q", bytes(8 * len(self._sent)))
        self._sent[0] = 1
        self._cache = _new_cache(self._seed, self._cache_entries)  # what it knows counts as sent too

    def _place(self, page: Parsed, url: str) -> _Place:
        base = (normalise(page.base_href, self._rules, url) if page.base_href else url) or url
        max_links = self._scope.settings.of_url(url).limits.max_links_per_page
        return _Place.of(base, url_hash(url, self._seed), base == url, max_links)

    def _withhold(
        self,
        withheld: list[tuple[int, PackedLinks]],
        ask: int,
        hrefs: list[str],
        place: _Place,
        filtered: dict[str, int],
    ) -> None:
        links = self._pack(hrefs, place, filtered)
        if links.hashes:
            withheld.append((ask, links))

    def _pack(self, hrefs: list[str], place: _Place, filtered: dict[str, int]) -> PackedLinks:
        if len(hrefs) > place.max_links:
            hrefs = _without_fragments(hrefs)
            _count(filtered, Reason.TOO_MANY_LINKS, max(0, len(hrefs) - place.max_links))
            hrefs = hrefs[: place.max_links]
        hashes, reasons, unknown = self._cache.look(hrefs, place.home, place.folder, place.is_own, place.own_hash)
        for code in reasons:
            _count(filtered, _REASONS[code - 1], 1)
        if not unknown:
            return PackedLinks(hashes)
        return self._links(hashes, unknown, place, filtered)

    def _links(self, hashes: bytes, unknown: list[str], place: _Place, filtered: dict[str, int]) -> PackedLinks:
        """Those with text, and behind them those without."""
        fresh: dict[int, str] = {}
        known = dict.fromkeys(array("Q", hashes))
        for href in unknown:
            found = self._find(href or place.base, place)
            if isinstance(found, int):
                known[found] = None
                place.resolved[href] = found
            elif isinstance(found, tuple):
                fresh[found[1]] = found[0]
                place.resolved[href] = found[1]
            else:
                _count(filtered, found, 1)
        known.pop(place.own_hash, None)
        for link_hash in fresh:  # also met in another spelling, when it had just become known
            known.pop(link_hash, None)
        packed = struct.pack(f"<{len(fresh) + len(known)}Q", *fresh, *known)
        verdicts = bytes([self._scope.code_of(url) for url in fresh.values()])
        return PackedLinks(packed, "\n".join(fresh.values()).encode(), len(fresh), verdicts)

    def _find(self, href: str, place: _Place) -> _Found:
        text = absolute(href, place.home, place.folder)
        url = self._normalise(text) if text else normalise(href, self._rules, place.base)
        if url is None or self._scope.is_too_long(url):
            reason = Reason.TOO_LONG if url is not None else _why_not_a_url(text or href)
            if text:
                self._cache.add(text, _CODES[reason])
            return reason
        link_hash = url_hash(url, self._seed)
        if text and link_hash >= FIRST_HASH:
            self._cache.add(text, link_hash)
        return link_hash if self._note_told(link_hash, place.own_hash) else (url, link_hash)

    def _normalise(self, absolute: str) -> str | None:
        start = likely_origin(absolute)
        if start in self._origins:
            return normalise_behind(start, absolute, self._rules)
        url = normalise(absolute, self._rules)
        if url is not None and len(start) <= LONGEST_ORIGIN and url.startswith(start + "/"):
            if len(self._origins) >= KNOWN_ORIGINS:
                self._origins.clear()
            self._origins.add(start)
        return url

    def _note_told(self, link_hash: int, own_hash: int) -> bool:
        """Note that the coordinator is told of a URL. Returns whether it knew that before: a URL's text is sent the
        first time, its hash afterwards, and the receiver must keep every text.

        A page's own URL came from the coordinator, which so knows it.
        """
        slot = link_hash & self._last_slot
        is_known = link_hash in (own_hash, self._sent[slot])
        self._sent[slot] = link_hash
        return is_known


def _new_cache(seed: int, entries: int) -> Any:
    kind = LinkCache if compiled is None else compiled.LinkCache
    return kind(entries, url_hash("first", seed), url_hash("second", seed))


def _count(filtered: dict[str, int], reason: Reason, number: int) -> None:
    if number:
        filtered[reason] = filtered.get(reason, 0) + number


def _without_fragments(hrefs: list[str]) -> list[str]:
    """Distinct; a link within its page is the empty one."""
    return [*dict.fromkeys([without_fragment(href) for href in hrefs])]


def _why_not_a_url(href: str) -> Reason:
    if len(href) > MAX_LENGTH:
        return Reason.NOT_HTTP if _names_another_scheme(href[:64]) else Reason.TOO_LONG
    return Reason.NOT_HTTP if _names_another_scheme(href) else Reason.NOT_A_URL


def _names_another_scheme(href: str) -> bool:
    match = _SCHEME.match(href.lstrip())
    return match is not None and match[0].lower() not in ("http:", "https:")
