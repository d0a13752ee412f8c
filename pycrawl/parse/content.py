"""A page's main content: its text without menus, sidebars, link lists, comments, notices and what else frames it.

Two methods, compared by `bench/content.py`, work on the same blocks (`text.py`):

- "slope" takes the flattest part of the document slope curve (`slope.py`);
- "dom" gives each block a worth, its words if it reads like prose and less than nothing if it reads like a list of
  links, leaves out boxes whose names tell of a frame, and takes the box whose blocks are worth most together.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from pycrawl.parse.slope import flattest, low_slopes
from pycrawl.parse.text import Block, Outline, outline, word_count

AUTO = "dom"  # the better one, by measurement

FEWEST_WORDS = 25  # with less, the content found is not what the page is there for

_MANY_LINKS = 0.5  # of a block's characters
_SOME_LINKS = 0.2  # the same, in lists and tables
_SHORT = 10  # words
_LINK_LIST = 5.0  # what a block of links costs beside its words
_SHORT_PROSE = 0.3  # worth of a word in short paragraphs, items, cells
_LITTER = -1.0  # worth of a short block elsewhere, or with links
_FLOOR = -25.0  # what a box costs the one around it, at most: among much prose a list of links may stand

_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
_ITEMS = frozenset("li td th dd".split())
_PROSE = frozenset("p li td th dd dt pre blockquote".split())

# A box named like a frame is one if it holds less than this share of the page's worth; else it is around everything.
_SHARES = (0.0, 0.25, 0.65)  # by how much its name tells: nothing, maybe, surely
_LONGEST_NAME = 100  # characters that are read of class, and of id
_SURE_TAGS = frozenset("nav footer aside menu dialog figure figcaption".split())
_MAYBE_TAGS = frozenset(("header", "form", "address"))
_CONTENT_TAGS = frozenset(("article", "main", "body"))
_SURE_WORDS = frozenset(
    "nav navbar navigation menu submenu breadcrumb breadcrumbs footer sidebar aside ad ads cookie cookies consent gdpr "
    "popup modal overlay lightbox comment comments commentlist respond replies popular trending share sharing sharebar "
    "social sociable newsletter signup login register widget widgets pagination pager toolbar hidden screenreader sr "
    "visuallyhidden noprint masthead copyright disclaimer taboola outbrain linklist teaser teasers".split()
)
_SURE_STARTS = ("advert", "sponsor", "promo", "disqus", "related", "recommend", "recirc", "subscri")
_MAYBE_WORDS = frozenset(
    "side foot banner reply more most also follow tag tags tagcloud paging skip caption credit credits byline author "
    "bio meta metadata timestamp dateline legal carousel slideshow gallery link links rating ratings poll prev "
    "previous next tooltip topic topics search header button btn cta tool tools utility category categories rail right "
    "notice alert".split()
)
_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")  # also in camelCase


def page_text(tree: Any, method: str = "auto") -> str:
    """The main content of an `HTMLTree`; all its text if that is too short, or the method is "off"."""
    page = outline(tree)
    if method != "off":
        text = _content(page, method)
        if word_count(text) + text.count("\n") >= FEWEST_WORDS:
            return text
    return page.text()


def main_content(tree: Any, method: str = "auto") -> str:
    """The main content of an `HTMLTree`, a line for each block; methods are "auto", "dom" and "slope"."""
    return _content(outline(tree), method)


def _content(page: Outline, method: str) -> str:
    kept = _by_slope(page) if (AUTO if method == "auto" else method) == "slope" else _by_boxes(page)
    return "\n".join([block[0] for block in kept])


def _by_slope(page: Outline) -> list[Block]:
    tags = [block[2] for block in page.blocks]
    words = [word_count(block[0]) for block in page.blocks]
    first, behind = flattest(tags, words)
    flat = low_slopes(tags, words)
    return [page.blocks[position] for position in range(first, behind) if flat[position]]


def _by_boxes(page: Outline) -> list[Block]:
    worths = [_worth(page.boxes[box][0], text, link_length) for text, link_length, _, box in page.blocks]
    framed = _framed(page, worths)
    judged = [(block, worth) for block, worth in zip(page.blocks, worths, strict=True) if not framed[block[3]]]
    best = _best_box(page, judged)
    end = _end_of(page, best)
    inside = [(block, worth) for block, worth in judged if best <= block[3] < end]
    good = [worth > 0 for _, worth in inside]
    return [
        block
        for position, (block, _) in enumerate(inside)
        if good[position] or _is_kept(block, page.boxes[block[3]][0], good, position)
    ]


def _worth(tag: str, text: str, link_length: int) -> float:
    words = word_count(text)
    if link_length:
        share = link_length / len(text)
        if share > _MANY_LINKS:
            return -_LINK_LIST - words
        if share > _SOME_LINKS and tag in _ITEMS:
            return _LITTER
        words -= int(words * share)
    if tag in _HEADINGS:
        return 0.0
    if words >= _SHORT:
        return words
    return _SHORT_PROSE * words if tag in _PROSE and not link_length else _LITTER


def _framed(page: Outline, worths: list[float]) -> list[bool]:
    """For each box, whether it or one around it belongs to the page's frame."""
    sums = [0.0] * len(page.boxes)
    for block, worth in zip(page.blocks, worths, strict=True):
        if worth > 0:
            sums[block[3]] += worth
    _add_up(sums, page, 0.0)
    most = [share * sums[0] for share in _SHARES]
    framed: list[bool] = []
    for (tag, class_name, identifier, parent), worth in zip(page.boxes, sums, strict=True):
        suspicion = _suspicion(tag, class_name[:_LONGEST_NAME], identifier[:_LONGEST_NAME])
        framed.append((parent >= 0 and framed[parent]) or worth < most[suspicion])
    return framed


@lru_cache(16_384)
def _suspicion(tag: str, class_name: str, identifier: str) -> int:
    """How much the names of a box tell that it belongs to the frame: an index of `_SHARES`."""
    if tag in _CONTENT_TAGS:
        return 0
    words = [word.lower() for word in _NAME_WORD.findall(f"{class_name} {identifier}")]
    if tag in _SURE_TAGS or not _SURE_WORDS.isdisjoint(words) or any(word.startswith(_SURE_STARTS) for word in words):
        return 2
    return 1 if tag in _MAYBE_TAGS or not _MAYBE_WORDS.isdisjoint(words) else 0


def _best_box(page: Outline, judged: list[tuple[Block, float]]) -> int:
    """The box worth most; of several, the innermost."""
    sums = [0.0] * len(page.boxes)
    for block, worth in judged:
        sums[block[3]] += worth
    _add_up(sums, page, _FLOOR)
    sums.reverse()
    return len(sums) - 1 - sums.index(max(sums))


def _add_up(sums: list[float], page: Outline, floor: float) -> None:
    """Adds to each box what the boxes inside have, but nothing below the floor."""
    for box in range(len(sums) - 1, 0, -1):
        if sums[box]:
            sums[page.boxes[box][3]] += max(sums[box], floor)


def _end_of(page: Outline, outer: int) -> int:
    """The first box behind those inside `outer`."""
    for box in range(outer + 1, len(page.boxes)):
        if page.boxes[box][3] < outer:
            return box
    return len(page.boxes)


def _is_kept(block: Block, tag: str, good: list[bool], position: int) -> bool:
    """Whether a block of the best box that is worth nothing by itself belongs to the content by what is around it."""
    if tag == "h1":  # the title, which is kept elsewhere
        return False
    follows = any(good[position + 1 : position + 3])
    if tag in _HEADINGS:
        return follows
    if block[1] > _MANY_LINKS * len(block[0]):
        return False
    return tag == "p" or (follows and any(good[max(0, position - 2) : position]))
