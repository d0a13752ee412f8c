"""A page's main content from its markup, without a tree: the rules of `frames.py`, at a fraction of the time.

The markup is cut at the tags of boxes (`<div>`, `</ul>` …), and what stands between two of them, a piece, at those of
blocks (`<p>`, `<li>` …). What is in boxes whose names tell of a frame is looked at only where it could be the content
after all. Markup is not parsed here, only read: where tags are not closed as they should be, or written in capital
letters, the tree knows better, and less may be found. Each expression takes time in proportion to the markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from itertools import accumulate

from pycrawl.parse.frames import FLOOR, LONGEST_NAME, MANY_LINKS, SHARES, is_kept, suspicion, worth_of

# A block: its tag, its text, its worth, whether it is mostly links, and how much its own names tell of a frame.
_Block = tuple[str, str, float, bool, int]

_BOXES = (
    "div dl dialog details section article aside address main menu nav header footer form figure figcaption fieldset "
    "ul ol table td th body center"
)
_CELLS = ("td", "th")  # the next one ends them
_BLOCKS = "p|li|h[1-6]|dd|dt|pre|blockquote"
_UNSEEN = "script style noscript svg template iframe select button textarea object video audio canvas math title"


def _by_first_letter(names: list[str]) -> str:
    """An expression for any of the names that tries few of them at a place."""
    rests: dict[str, list[str]] = {}
    for name in names:
        rests.setdefault(name[0], []).append(name[1:])
    return "|".join(f"{letter}(?:{'|'.join(those)})" for letter, those in rests.items())


_UNSEEN_ELEMENT = "|".join(rf"{name}\b[^<]*+(?:<(?!/{name})[^<]*+)*+(?:</{name}[^<>]*+>?)?" for name in _UNSEEN.split())
_COMMENT = r"!--[^-]*+(?:-(?!->)[^-]*+)*+(?:-->)?"
_BOX_TAG = re.compile(
    rf"<(?:(/?(?:{_by_first_letter(_BOXES.split())}))(?=[\s/>])([^<>]*+)>?|{_UNSEEN_ELEMENT}|{_COMMENT})"
)
# With the end tags before it, so that most pieces are text and nothing else.
_BLOCK_TAG = re.compile(rf"<(?:/(?:{_BLOCKS}|a|span|b|strong|em|i)>\s*+<){{0,4}}+({_BLOCKS})(?=[\s/>])([^<>]*+)>?")
_ANY_TAG = re.compile(r"<[^<>]*+>?")
_LINK = re.compile(r"<a\b[^<>]*+>([^<]*+(?:<(?!/a)[^<]*+)*+)")
_NAMES = re.compile(r"""\b(class|id)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]++))""")
_CAPITALS = re.compile("<(?:HTML|HEAD|TITLE|META|BODY|TABLE|DIV|P)[ >]")

_BEGINNING = 2_000  # characters, in which capital letters are looked for
_LONGEST_ATTRIBUTES = 300  # characters that are read of a tag
_MOST_UP = 64  # boxes left open inside the one that ends
_SURE = len(SHARES) - 1  # the highest suspicion
_LETTERS = 6  # of a word, with the space behind it
_LETTERS_WITHOUT_SPACES = 2  # the same in scripts that have none
_LONG_WORD = 12  # letters; no other script's average word is so long
_TAG_LENGTH = 40  # characters, about
# A list of links is known by their number: no need to read each.
_LEAST_LIST = 200  # characters
_LEAST_LINKS = 3
_LINK_LENGTH = 250  # characters of markup, at most
_LINK_WORTH = -8.0


class _Page:
    """Pieces of markup with the tags they stand in, and boxes in the order in which they begin, each with the pieces
    from its first up to, not including, its end."""

    __slots__ = ("begins", "ends", "parents", "pieces", "suspicions", "tags", "tags_of_boxes")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.tags: list[str] = []
        self.tags_of_boxes: list[str] = []
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.parents: list[int] = []  # -1: none
        self.suspicions: list[int] = []

    def open(self, tag: str, attributes: str, box: int) -> int:
        """A new box inside `box`; its number."""
        if tag in _CELLS and box >= 0 and self.tags_of_boxes[box] == tag:
            box = self.close(tag, box)
        self.parents.append(box)
        self.tags_of_boxes.append(tag)
        self.begins.append(len(self.pieces))
        self.ends.append(-1)
        self.suspicions.append(_suspicion_of(tag, attributes[:_LONGEST_ATTRIBUTES]))
        return len(self.parents) - 1

    def close(self, tag: str, box: int) -> int:
        """The box around the innermost one with this tag; those inside it end too. Without one, `box`."""
        parents, tags = self.parents, self.tags_of_boxes
        closed = box
        for _ in range(_MOST_UP):
            if closed < 0:
                return box
            if tags[closed] == tag:
                return self.close_up_to(parents[closed], box)
            closed = parents[closed]
        return box

    def close_up_to(self, outer: int, box: int) -> int:
        while box != outer:
            self.ends[box] = len(self.pieces)
            box = self.parents[box]
        return outer


def quick_content(markup: str) -> str:
    """The main content, a line for each block; "" if the markup is not of a kind that can be read like this."""
    if _CAPITALS.search(markup, 0, _BEGINNING):
        return ""
    page = _read(markup)
    found = _blocks(page)
    first = [0, *accumulate(map(len, found))]  # by piece: the number of its first block
    blocks = [block for piece in found for block in piece]
    begins = [first[piece] for piece in page.begins]
    ends = [first[piece] for piece in page.ends]
    worths = _without_frames(page, blocks, begins, ends)
    best = _best_stretch(page, worths, begins, ends)
    text = "\n".join(_kept([(blocks[place], worths[place]) for place in best]))
    return unescape(text) if "&" in text else text


def _read(markup: str) -> _Page:
    page = _Page()
    box, tag = -1, ""
    parts = iter(_BOX_TAG.split(markup))
    next(parts)  # what stands before the first of them is no content
    for name, attributes, piece in zip(parts, parts, parts, strict=True):
        if name is not None:  # else it is something unseen
            box = page.close(name[1:], box) if name[0] == "/" else page.open(name, attributes, box)
            tag = page.tags_of_boxes[box] if box >= 0 else ""
        if piece and not piece.isspace():
            page.pieces.append(piece)
            page.tags.append(tag)
    page.close_up_to(-1, box)
    return page


def _blocks(page: _Page) -> list[list[_Block]]:
    """The blocks of each piece; none where it surely belongs to the frame."""
    found: list[list[_Block]] = [[] for _ in page.pieces]
    pieces = list(zip(page.tags, page.pieces, strict=True))
    suspects = list(_suspects(page))
    behind = 0
    for begin, end in [*suspects, (len(pieces), len(pieces))]:
        for place in range(behind, begin):
            found[place] = _blocks_of(*pieces[place])
        behind = end
    content = sum([block[2] for blocks in found for block in blocks if block[2] > 0])
    for begin, end in suspects:
        letters = sum([len(piece) - _TAG_LENGTH * piece.count("<") for piece in page.pieces[begin:end]])
        if not content or letters / _LETTERS >= SHARES[_SURE] * content:
            found[begin:end] = [_blocks_of(tag, piece) for tag, piece in pieces[begin:end]]
    return found


def _suspects(page: _Page) -> Iterator[tuple[int, int]]:
    """The outermost boxes that surely are frames by their names: their pieces, from and up to."""
    behind = 0
    for begin, end, suspected in zip(page.begins, page.ends, page.suspicions, strict=True):
        if suspected == _SURE and behind <= begin < end:
            yield begin, end
            behind = end


@lru_cache(8_192)
def _suspicion_of(tag: str, attributes: str) -> int:
    names = {name: one or two or three for name, one, two, three in _NAMES.findall(attributes)} if attributes else {}
    return suspicion(tag, names.get("class", "")[:LONGEST_NAME], names.get("id", "")[:LONGEST_NAME])


def _blocks_of(tag: str, piece: str) -> list[_Block]:
    if len(piece) > _LEAST_LIST and "<" in piece:
        links = piece.count("<a ")
        if links >= _LEAST_LINKS and len(piece) < links * _LINK_LENGTH and piece.count("<li") >= links - 1:
            return [("li", "", links * _LINK_WORTH, True, 0)]
    parts = iter(_BLOCK_TAG.split(piece))
    found = [_block(tag, "", next(parts))]
    found += [_block(*part) for part in zip(parts, parts, parts, strict=True)]
    return [block for block in found if block]


def _block(tag: str, attributes: str, markup: str) -> _Block | None:
    """None if it is blank."""
    link_length = 0
    text = markup
    if "<" in markup:
        if "<a" in markup:
            links = "".join(_LINK.findall(markup))
            link_length = len(_ANY_TAG.sub("", links).strip() if "<" in links else links)
        text = _ANY_TAG.sub("", markup)
    text = text.strip()
    if not text:
        return None
    if "\n" in text:
        text = " ".join(text.split())
    share = min(link_length / len(text), 1.0)
    worth = worth_of(tag, _words(text), share)
    suspected = _suspicion_of(tag, attributes[:_LONGEST_ATTRIBUTES]) if attributes else 0
    return tag, text, worth, share > MANY_LINKS, suspected


def _words(text: str) -> int:
    """About how many; to count them would take longer than all the rest."""
    length = len(text)
    if not text.isascii() and text.count(" ") * _LONG_WORD < length:
        return length // _LETTERS_WITHOUT_SPACES
    return length // _LETTERS + 1


def _without_frames(page: _Page, blocks: list[_Block], begins: list[int], ends: list[int]) -> list[float | None]:
    """What each block is worth; None if it or a box around it belongs to the frame."""
    worths: list[float | None] = [block[2] for block in blocks]
    sums = [0.0, *accumulate([block[2] if block[2] > 0 else 0.0 for block in blocks])]
    limits = [share * sums[-1] for share in SHARES]
    for place, block in enumerate(blocks):
        if block[4] and block[2] < limits[block[4]]:
            worths[place] = None
    behind = 0
    for begin, end, suspected in zip(begins, ends, page.suspicions, strict=True):
        if suspected and begin >= behind and sums[end] - sums[begin] < limits[suspected]:
            worths[begin:end] = [None] * (end - begin)
            behind = end
    return worths


def _best_stretch(page: _Page, worths: list[float | None], begins: list[int], ends: list[int]) -> range:
    """The blocks of the box worth most, of several the innermost; or all of them."""
    sums = [0.0, *accumulate([worth or 0.0 for worth in worths])]
    spared = [0.0] * (len(begins) + 1)  # what boxes inside cost less as there is a floor; the last is for the page
    best, most = range(len(worths)), -1.0
    for box in range(len(begins) - 1, -1, -1):
        worth = sums[ends[box]] - sums[begins[box]] + spared[box]
        if worth > most:
            best, most = range(begins[box], ends[box]), worth
        spared[page.parents[box]] += spared[box] + max(FLOOR - worth, 0.0)
    return best if most >= sums[-1] + spared[-1] else range(len(worths))


def _kept(inside: list[tuple[_Block, float | None]]) -> list[str]:
    rest = [(block, worth) for block, worth in inside if worth is not None]
    good = [worth > 0 for _, worth in rest]
    return [
        text
        for place, ((tag, text, _, is_links, _), _) in enumerate(rest)
        if good[place] or is_kept(tag, is_links, good, place)
    ]
