"""A page's links resolved, normalised, filtered and hashed, packed for the coordinator."""

from __future__ import annotations

import re
import struct
from array import array
from collections import Counter

from pycrawl.model import NO_LINKS, PackedLinks
from pycrawl.parse.html import ParsedPage
from pycrawl.url_filter import Reason, UrlFilter
from pycrawl.urls import MAX_LENGTH, UrlRules, normalise, normalise_behind, origin, url_hash

SENT_SLOTS = 1 << 20  # 8 bytes each
MEMO_ENTRIES = 1 << 15
MEMO_KEY_LENGTH = 512  # characters; with the above, bounds the memo's memory
KNOWN_ORIGINS = 1 << 12

_SCHEMES = ("http://", "https://")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")

# What a link comes to: the normalised URL and its hash, or why it is not followed.
_Found = tuple[str, int] | Reason


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
        self._memo: dict[str, _Found] = {}
        self._origins: set[str] = set()  # of normalised URLs

    def pack(self, page: ParsedPage, url: str, depth: int, follow: bool = True) -> tuple[PackedLinks, dict[str, int]]:
        """The distinct links of the page at `url` that are wanted, and how many were turned away, by reason.

        `follow` is False when page or server asks that none of its links be followed.
        """
        filtered: Counter[str] = Counter()
        if not follow:
            filtered[Reason.NOFOLLOW] = len(page.hrefs) + len(page.nofollow_hrefs)
            return NO_LINKS, dict(+filtered)
        hrefs = page.hrefs
        if self._obey_rel:
            filtered[Reason.NOFOLLOW] = len(page.nofollow_hrefs)
        else:
            hrefs = [*hrefs, *page.nofollow_hrefs]
        if self._filter.is_too_deep(depth + 1):
            filtered[Reason.TOO_DEEP] = len(hrefs)
            return NO_LINKS, dict(+filtered)
        filtered[Reason.TOO_MANY_LINKS] = max(0, len(hrefs) - self._max_links)
        links = self._links(hrefs, page.base_href, url, filtered)
        links.pop(url_hash(url, self._seed), None)
        return self._packed(links), dict(+filtered)

    def _links(self, hrefs: list[str], base_href: str, url: str, filtered: Counter[str]) -> dict[int, str]:
        """hash → URL, in the document's order; only the first `max_links` hrefs are looked at."""
        base = (normalise(base_href, self._rules, url) if base_href else url) or url
        home = origin(base)
        folder = base.partition("?")[0].rpartition("/")[0] + "/"
        links: dict[int, str] = {}
        memo = self._memo
        for href in hrefs[: self._max_links]:
            absolute = _absolute(href, home, folder)
            found = memo.get(absolute)
            if found is None:
                found = self._find(href, absolute, base)
            if isinstance(found, tuple):
                links[found[1]] = found[0]
            else:
                filtered[found] += 1
        return links

    def _find(self, href: str, absolute: str, base: str) -> _Found:
        if not absolute:
            return self._judge(normalise(href, self._rules, base), href)
        found = self._judge(self._normalise(absolute), absolute)
        if len(absolute) <= MEMO_KEY_LENGTH:
            if len(self._memo) >= MEMO_ENTRIES:
                self._memo.clear()
            self._memo[absolute] = found
        return found

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

    def _judge(self, url: str | None, href: str) -> _Found:
        if url is None:
            return _why_not_a_url(href)
        return self._filter.scope_verdict(url) or (url, url_hash(url, self._seed))

    def _packed(self, links: dict[int, str]) -> PackedLinks:
        sent, mask = self._sent, SENT_SLOTS - 1
        known = []
        fresh = []
        texts = []
        for link_hash, text in links.items():
            if sent[link_hash & mask] == link_hash:
                known.append(link_hash)
            else:
                sent[link_hash & mask] = link_hash
                fresh.append(link_hash)
                texts.append(text)
        hashes = struct.pack(f"<{len(links)}Q", *fresh, *known)
        return PackedLinks(hashes, "\n".join(texts).encode(), len(texts))


def _absolute(href: str, home: str, folder: str) -> str:
    """The link with all it takes from its page written out, where that needs no parser; else empty.

    Such a text means the same on every page, so what became of it can be remembered.
    """
    if href.startswith(_SCHEMES):
        return href
    first = href[:1]
    if first == "/":
        # "//host/path", which may also be written "/\host/path", is not on this host.
        return home + href if href[1:2] not in ("/", "\\", "\t", "\n", "\r") else ""
    if first <= " " or first in "?#\\" or ":" in href:
        return ""
    return folder + href


def _why_not_a_url(href: str) -> Reason:
    if len(href) > MAX_LENGTH:
        return Reason.NOT_HTTP if _names_another_scheme(href[:64]) else Reason.TOO_LONG
    return Reason.NOT_HTTP if _names_another_scheme(href) else Reason.NOT_A_URL


def _names_another_scheme(href: str) -> bool:
    match = _SCHEME.match(href.lstrip())
    return match is not None and match[0].lower() not in ("http:", "https:")
