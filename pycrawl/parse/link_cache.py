"""What links came to, remembered by their text, where there is no compiled module: `native/links.c` does the same.

What stands on a page is first written out in full, as far as that needs no parser; such a text means the same on every
page. A value is the hash of a URL, or, below `FIRST_HASH`, the code of a reason not to follow the link.
"""

from __future__ import annotations

from array import array

from pycrawl.urls.link_flags import FRAME

FIRST_HASH = 256
LONGEST_TEXT = 512  # bytes; longer ones are not remembered

_SCHEMES = ("http://", "https://")
_WORD = (1 << 64) - 1


class LinkCache:
    """Forgets everything when it is full."""

    def __init__(self, entries: int, first_secret: int, second_secret: int) -> None:
        """The secrets are the key of the hash that texts of links are known by."""
        self._entries = entries
        self._secrets = (first_secret, second_secret)
        self._values: dict[str, int] = {}

    def look(
        self, hrefs: list[str], home: str, folder: str, skips_empty: bool, own: int
    ) -> tuple[bytes, bytes, list[str]]:
        """Of the links of a page: the distinct hashes that are known, without the page's `own`; the codes of reasons;
        and the links that are not known, without their fragments.

        `home` is the origin that they are resolved against, `folder` reaches to the last slash of the path. Links
        within the page are empty without their fragments; `skips_empty` if they are of no use.
        """
        known: dict[int, None] = {}
        reasons = bytearray()
        unknown: dict[str, None] = {}
        seen: set[str] = set()
        for href in hrefs:
            link = without_fragment(href)
            if not link and skips_empty:
                continue
            text = absolute(link, home, folder) or link
            if text in seen:
                continue
            seen.add(text)
            value = self._values.get(text, 0)
            if value >= FIRST_HASH:
                known[value] = None
            elif value:
                reasons.append(value)
            else:
                unknown[link] = None
        known.pop(own, None)
        return array("Q", known).tobytes(), bytes(reasons), [*unknown]

    def anchors(
        self,
        hrefs: list[str],
        texts: bytes,
        flags: bytes,
        home: str,
        folder: str,
        skips_empty: bool,
        resolved: dict[str, int],
        links: bytes,
    ) -> tuple[bytes, bytes, bytes, bytes]:
        """The columns of `PackedAnchors` for a page whose links with their texts are `hrefs`, `texts` and `flags` (see
        `Anchors`). `links` are the hashes of all links that are sent of the page: each row names one of them, and a
        link that is none of them has no row. `resolved` has what those links came to that `look` did not know."""
        places: dict[int, int] = {}
        for place, link_hash in enumerate(array("Q", links)):
            places.setdefault(link_hash, place)
        found: dict[tuple[int, bytes, int], None] = {}
        for href, text, flag in zip(hrefs, texts.split(b"\n"), flags, strict=False):
            link = without_fragment(href)
            if not link and skips_empty:
                continue
            value = self._values.get(absolute(link, home, folder), 0) or resolved.get(link, 0)
            if value in places:
                found[places[value], text, flag] = None
        named = {place for place, _, _ in found}
        found |= dict.fromkeys((place, b"", FRAME) for place in places.values() if place not in named)
        keys = array("Q", [key_of(text, *self._secrets) if text else 0 for _, text, _ in found])
        rows = array("I", [place for place, _, _ in found])
        return rows.tobytes(), keys.tobytes(), b"\n".join([text for _, text, _ in found]), bytes([f for *_, f in found])

    def add(self, text: str, value: int) -> None:
        """Remember what the link with this text, written out, came to."""
        if len(text) <= LONGEST_TEXT:
            if len(self._values) >= self._entries:
                self._values.clear()
            self._values[text] = value


def key_of(text: bytes, first_secret: int, second_secret: int) -> int:
    """Returns 64 bits of a keyed hash, as `native/links.c` does."""
    state = first_secret
    if len(text) >= 16:
        for place in range(0, len(text) - 16, 16):
            low, high = _two_words(text[place : place + 16])
            state = _mixed(low ^ second_secret, high ^ state)
        low, high = _two_words(text[-16:])
    else:
        low, high = _two_words(text.ljust(16, b"\0"))
    state = _mixed(low ^ second_secret, high ^ state)
    return _mixed(state ^ second_secret, len(text) ^ first_secret) or 1


def _two_words(text: bytes) -> tuple[int, int]:
    return int.from_bytes(text[:8], "little"), int.from_bytes(text[8:], "little")


def _mixed(one: int, other: int) -> int:
    product = one * other
    return (product & _WORD) ^ (product >> 64)


def without_fragment(href: str) -> str:
    kept, mark, _ = href.partition("#")
    return kept if mark and (kept[-1:] > " " or not kept) else href  # control characters at the end mean nothing


def absolute(href: str, home: str, folder: str) -> str:
    """The link with all it takes from its page written out, where that needs no parser; else empty."""
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
