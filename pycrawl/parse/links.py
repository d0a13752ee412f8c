"""A page's links resolved, normalised, filtered and hashed, packed for the coordinator."""

from __future__ import annotations

import re
import struct
from array import array
from typing import NamedTuple

from pycrawl.model import NO_LINKS, PackedLinks
from pycrawl.parse.html import ParsedPage
from pycrawl.url_filter import Reason, UrlFilter
from pycrawl.urls import MAX_LENGTH, UrlRules, normalise, normalise_behind, origin, url_hash

SENT_SLOTS = 1 << 20  # 8 bytes each
MEMO_ENTRIES = 1 << 17  # some 200 bytes each
MEMO_KEY_LENGTH = 512  # characters; with the above, bounds the memo's memory
KNOWN_ORIGINS = 1 << 12

_SCHEMES = ("http://", "https://")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")

# What a link comes to: the hash of a URL that the coordinator knows, a URL that it has to be told of, with its hash,
# or why the link is not followed.
_Found = int | tuple[str, int] | Reason
_Memo = dict[str, int | Reason]
_NOTHING: _Memo = {}


class _Place(NamedTuple):
    """What the links of a page are resolved against."""

    base: str
    home: str  # its origin
    folder: str  # up to the last slash of its path
    own_hash: int  # of the page's URL

    @classmethod
    def of(cls, base: str, own_hash: int) -> _Place:
        return cls(base, origin(base), base.partition("?")[0].rpartition("/")[0] + "/", own_hash)


class LinkPacker:
    """Packs page after page of one fetcher; a URL whose text it sent before travels as a hash."""

    def __init__(
        self, rules: UrlRules, url_filter: UrlFilter, seed: int, max_links: int, obey_rel: bool = True
    ) -> None:
        """`obey_rel`: anchors with rel=nofollow are not followed."""
        self._obey_rel = obey_rel
        self._rules = rules
        self._filter = url_filter
        self._seed = seed
        self._max_links = max_links
        # Hashes of URLs whose text was sent: one slot for each residue, the newest stays. Forgets, never invents:
        # slot 0 starts with a hash that belongs elsewhere, so that not even the hash 0 is taken for sent.
        self._sent = array("Q", bytes(8 * SENT_SLOTS))
        self._sent[0] = 1
        # What links came to that mean the same on every page, as they stand; together up to MEMO_ENTRIES …
        self._anywhere: _Memo = {}
        self._at_home: dict[str, _Memo] = {}  # … and on every page of an origin
        self._memo_entries = 0
        self._origins: set[str] = set()  # of normalised URLs

    def pack(self, page: ParsedPage, url: str, depth: int, follow: bool = True) -> tuple[PackedLinks, dict[str, int]]:
        """The distinct links of the page at `url` that are wanted, and how many were turned away, by reason.

        `follow` is False when page or server asks that none of its links be followed.
        """
        filtered: dict[str, int] = {}
        if not follow:
            _count(filtered, Reason.NOFOLLOW, len(page.hrefs) + len(page.nofollow_hrefs))
            return NO_LINKS, filtered
        hrefs = page.hrefs
        if self._obey_rel:
            _count(filtered, Reason.NOFOLLOW, len(page.nofollow_hrefs))
        else:
            hrefs = [*hrefs, *page.nofollow_hrefs]
        if self._filter.is_too_deep(depth + 1):
            _count(filtered, Reason.TOO_DEEP, len(hrefs))
            return NO_LINKS, filtered
        hrefs = _without_fragments(hrefs)
        if len(hrefs) > self._max_links:
            _count(filtered, Reason.TOO_MANY_LINKS, len(hrefs) - self._max_links)
            hrefs = hrefs[: self._max_links]
        base = (normalise(page.base_href, self._rules, url) if page.base_href else url) or url
        return self._links(hrefs, _Place.of(base, url_hash(url, self._seed)), filtered), filtered

    def _links(self, hrefs: list[str], place: _Place, filtered: dict[str, int]) -> PackedLinks:
        """Those with text and those without, each in the document's order."""
        fresh: dict[int, str] = {}
        known: dict[int, None] = {}
        at_home = self._at_home.get(place.home, _NOTHING).get
        anywhere = self._anywhere.get
        for href in hrefs:
            found = at_home(href) or anywhere(href) or self._find(href or place.base, place)
            if isinstance(found, int):
                known[found] = None
            elif isinstance(found, tuple):
                fresh[found[1]] = found[0]
            else:
                _count(filtered, found, 1)
        known.pop(place.own_hash, None)
        for link_hash in fresh:  # also met in another spelling, when it had just become known
            known.pop(link_hash, None)
        hashes = struct.pack(f"<{len(fresh) + len(known)}Q", *fresh, *known)
        return PackedLinks(hashes, "\n".join(fresh.values()).encode(), len(fresh))

    def _find(self, href: str, place: _Place) -> _Found:
        absolute = _absolute(href, place.home, place.folder)
        if not absolute:
            return self._once_told(self._judge(normalise(href, self._rules, place.base), href), place.own_hash)
        # A link that starts at its page's folder is remembered written out: its memory is only reached here.
        is_at_home = href[0] == "/"
        if absolute is not href and not is_at_home and (remembered := self._anywhere.get(absolute)):
            return remembered
        found = self._once_told(self._judge(self._normalise(absolute), absolute), place.own_hash)
        if len(absolute) <= MEMO_KEY_LENGTH:
            if self._memo_entries >= MEMO_ENTRIES:
                self._forget()
            memo = self._at_home.setdefault(place.home, {}) if is_at_home else self._anywhere
            memo[href if is_at_home else absolute] = found[1] if isinstance(found, tuple) else found
            self._memo_entries += 1
        return found

    def _forget(self) -> None:
        self._anywhere.clear()
        for memo in self._at_home.values():
            memo.clear()  # the page at hand may hold one of them
        self._at_home.clear()
        self._memo_entries = 0

    def _normalise(self, absolute: str) -> str | None:
        start = absolute[: absolute.find("/", 8)]
        if start in self._origins:
            return normalise_behind(start, absolute, self._rules)
        url = normalise(absolute, self._rules)
        if url is not None and len(start) <= MEMO_KEY_LENGTH and url.startswith(start + "/"):
            if len(self._origins) >= KNOWN_ORIGINS:
                self._origins.clear()
            self._origins.add(start)
        return url

    def _judge(self, url: str | None, href: str) -> tuple[str, int] | Reason:
        if url is None:
            return _why_not_a_url(href)
        return self._filter.scope_verdict(url) or (url, url_hash(url, self._seed))

    def _once_told(self, found: tuple[str, int] | Reason, own_hash: int) -> _Found:
        """A URL takes its text along unless that was sent before: the caller has to send it now.

        A page's own URL came from the coordinator, which so knows it.
        """
        if isinstance(found, Reason):
            return found
        link_hash = found[1]
        slot = link_hash & SENT_SLOTS - 1
        is_known = link_hash in (own_hash, self._sent[slot])
        self._sent[slot] = link_hash
        return link_hash if is_known else found


def _count(filtered: dict[str, int], reason: Reason, number: int) -> None:
    if number:
        filtered[reason] = filtered.get(reason, 0) + number


def _without_fragments(hrefs: list[str]) -> list[str]:
    """Distinct; a link within its page is the empty one."""
    if "#" not in "".join(hrefs):
        return hrefs
    return [*dict.fromkeys([_without_fragment(href) if "#" in href else href for href in hrefs])]


def _without_fragment(href: str) -> str:
    kept = href[: href.index("#")]
    return kept if kept[-1:] > " " or not kept else href  # control characters at the end of a URL mean nothing


def _absolute(href: str, home: str, folder: str) -> str:
    """The link with all it takes from its page written out, where that needs no parser; else empty.

    Such a text means the same on every page, so what became of it can be remembered.
    """
    if href.startswith("../"):
        return _from_above(href, home, folder)
    if href.startswith(_SCHEMES):
        return href
    first = href[:1]
    if first == "/":
        # "//host/path", which may also be written "/\host/path", is not on this host.
        return home + href if href[1:2] not in ("/", "\\", "\t", "\n", "\r") else ""
    if first <= " " or first in "?#\\" or ":" in href:
        return ""
    return folder + href


def _from_above(href: str, home: str, folder: str) -> str:
    root = len(home) + 1
    while href.startswith("../"):
        href = href[3:]
        if len(folder) > root:
            folder = folder[: folder.rindex("/", 0, -1) + 1]
    return folder + href


def _why_not_a_url(href: str) -> Reason:
    if len(href) > MAX_LENGTH:
        return Reason.NOT_HTTP if _names_another_scheme(href[:64]) else Reason.TOO_LONG
    return Reason.NOT_HTTP if _names_another_scheme(href) else Reason.NOT_A_URL


def _names_another_scheme(href: str) -> bool:
    match = _SCHEME.match(href.lstrip())
    return match is not None and match[0].lower() not in ("http:", "https:")
