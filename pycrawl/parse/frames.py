"""What blocks of text are worth, and which boxes frame a page: the rules that all ways of finding content share.

The compiled reader is given these constants (`html.py` does it) and has none of its own.
"""

from __future__ import annotations

import re
from functools import lru_cache

MANY_LINKS = 0.5  # of a block's letters: its characters but spaces
SOME_LINKS = 0.2  # the same, in lists and tables
SHORT_WORDS = 10  # a block with fewer is short
LINK_LIST = 5.0  # what a block of links costs beside its words
SHORT_PROSE = 0.3  # worth of a word in short paragraphs, items, cells
LITTER = -1.0  # worth of a short block elsewhere, or with links
FEWEST_WORDS = 25  # with less, the content found is not what the page is there for
FLOOR = -25.0  # what a box costs the one around it, at most: among much prose a list of links may stand

HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
ITEMS = frozenset("li td th dd".split())
PROSE = frozenset("p li td th dd dt pre blockquote".split())

# A box named like a frame is one if it holds less than this share of the page's worth; else it is around everything.
SHARES = (0.0, 0.25, 0.65)  # by how much its name tells: nothing, maybe, surely
LONGEST_NAME = 100  # characters that are read of class, and of id
SURE_TAGS = frozenset("nav footer aside menu dialog figure figcaption".split())
MAYBE_TAGS = frozenset(("header", "form", "address"))
CONTENT_TAGS = frozenset(("article", "main", "body"))
SURE_WORDS = frozenset(
    "nav navbar navigation menu submenu breadcrumb breadcrumbs footer sidebar aside ad ads cookie cookies consent gdpr "
    "popup modal overlay lightbox comment comments commentlist respond replies popular trending share sharing sharebar "
    "social sociable newsletter signup login register widget widgets pagination pager toolbar hidden screenreader sr "
    "visuallyhidden noprint masthead copyright disclaimer taboola outbrain linklist teaser teasers".split()
)
SURE_STARTS = ("advert", "sponsor", "promo", "disqus", "related", "recommend", "recirc", "subscri")
MAYBE_WORDS = frozenset(
    "side foot banner reply more most also follow tag tags tagcloud paging skip caption credit credits byline author "
    "bio meta metadata timestamp dateline legal carousel slideshow gallery link links rating ratings poll prev "
    "previous next tooltip topic topics search header button btn cta tool tools utility category categories rail right "
    "notice alert".split()
)
_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")  # also in camelCase


def worth_of(tag: str, words: int, link_share: float) -> float:
    """Of a block with so many words, this share of its letters in links: its words if it reads like prose, and less
    than nothing if it reads like a list of links."""
    if link_share:
        if link_share > MANY_LINKS:
            return -LINK_LIST - words
        if link_share > SOME_LINKS and tag in ITEMS:
            return LITTER
        words -= int(words * link_share)
    if tag in HEADINGS:
        return 0.0
    if words >= SHORT_WORDS:
        return words
    return SHORT_PROSE * words if tag in PROSE and not link_share else LITTER


def is_kept(tag: str, is_links: bool, good: list[bool], position: int) -> bool:
    """Whether a block of the best box that is worth nothing by itself belongs to the content by what is around it."""
    if tag == "h1":  # the title, which is kept elsewhere
        return False
    follows = any(good[position + 1 : position + 3])
    if tag in HEADINGS:
        return follows
    if is_links:
        return False
    return tag == "p" or (follows and any(good[max(0, position - 2) : position]))


@lru_cache(16_384)
def suspicion(tag: str, class_name: str, identifier: str) -> int:
    """How much the names of a box tell that it belongs to the frame: an index of `SHARES`."""
    if tag in CONTENT_TAGS:
        return 0
    words = [word.lower() for word in _NAME_WORD.findall(f"{class_name} {identifier}")]
    if tag in SURE_TAGS or not SURE_WORDS.isdisjoint(words) or any(word.startswith(SURE_STARTS) for word in words):
        return 2
    return 1 if tag in MAYBE_TAGS or not MAYBE_WORDS.isdisjoint(words) else 0
