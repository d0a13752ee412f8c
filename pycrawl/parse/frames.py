"""What blocks of text are worth, and how much of a page a frame may hold: the rules that all readers share.

The compiled reader is given these constants (`html.py` does it) and has none of its own.
"""

from __future__ import annotations

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

# A box named like a frame is one if it holds less than this share of the page's worth, by how much its name tells
# (`frame_names.py`); else it is around everything. A HARD one is a frame also if it holds less than that of the words:
# in a page of links, its footer may be all the prose there is.
SHARES = (0.0, 0.25, 0.35, 0.8, 0.8)
# Where the names leave less of the page's worth than LITTLE, they mislead: only these shares count then.
SHARES_AGAIN = (0.0, 0.0, 0.0, 0.05, 0.8)
LITTLE = 0.12  # of the page's worth
PROSE_WORDS = 25  # worth of a block that keeps a box of a WEAK name from being a frame
# With less than SMALL_PART of all words, the page is a list; with few words and less than FAIR_PART, a note is all
# that was found. All that is not framed counts then: pages that share a short note are no near-duplicates.
SMALL_PART = 0.03
FEW_WORDS = 60
FAIR_PART = 0.3


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
