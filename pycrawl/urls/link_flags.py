"""What the store of links keeps of each link beside its target and text: bits, and the bounds of texts."""

from __future__ import annotations

import re

# Set by who reads a page. The compiled reader has the same values (`native/scan.h`).
FRAME = 1  # it does not stand in the page's main content
NOFOLLOW = 2  # rel=nofollow
SPONSORED = 4  # rel=sponsored
UGC = 8  # rel=ugc: written by users
# Set by who keeps links.
WITHHELD = 16  # link, page or server ask that it not be followed: depths are not handed on along it
LEAD = 32  # named by a redirect, a sitemap or a feed: the target is as deep as what names it

BITS = 6
OF_PAGES = FRAME | NOFOLLOW | SPONSORED | UGC

MOST_ANCHORS = 100_000  # links of one page that are kept with their texts; further ones are kept without
LONGEST_ANCHOR = 200  # bytes of a text, in UTF-8

_RELS = {"nofollow": NOFOLLOW, "sponsored": SPONSORED, "ugc": UGC}
_SPACE = re.compile("[ \t\n\f\r]+")  # of HTML


def rel_flags(rel: str) -> int:
    """Returns the bits of the words in an attribute "rel"."""
    return sum({_RELS.get(word.lower(), 0) for word in _SPACE.split(rel)}) if rel else 0


def rel_words(flags: int) -> list[str]:
    """Returns the words of "rel" that the bits stand for."""
    return [word for word, bit in _RELS.items() if flags & bit]


def cut_anchor(text: str) -> bytes:
    """Returns a text, whose white space is single spaces, in UTF-8 and no longer than texts of links are kept."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= LONGEST_ANCHOR:
        return encoded
    return encoded[:LONGEST_ANCHOR].decode("utf-8", "ignore").rstrip(" \t\n\f\r").encode()
