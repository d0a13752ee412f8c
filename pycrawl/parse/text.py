"""A page's visible text, in blocks, from one walk over its tree. What is done with them is for others to say."""

from __future__ import annotations

import re
from typing import Any

from pycrawl.urls.link_flags import rel_flags

# Bounds the walk to some 0.2 s, whatever the page: the steps into and out of a node count.
MAX_STEPS = 200_000

# A block is text that nothing but inline elements interrupts, its white space single spaces; how many of its letters
# (characters but spaces) are in links; how many tags stand between the last block's end and this one's; and the
# innermost box around it.
Block = tuple[str, int, int, int]
# A link that is shown: its URL as it stands, the bits of its rel (`urls/link_flags.py`), its text, and the number of
# the block in which it begins.
Anchor = tuple[str, int, str, int]
# A box is a block element: tag, class, id, and the box around it, which always stands before it.
Box = tuple[str, str, str, int]

# What an element is by its name; any other is a box. The compiled reader is given these names (`html.py` does it).
INLINE_TAGS = (
    "a abbr acronym b bdi bdo big cite code colgroup data del dfn em font i ins kbd label map mark nobr optgroup "
    "option picture q rb ruby s samp small span strike strong sub sup time tt u var"
).split()
# These never hold anything.
VOID_TAGS = "area base basefont bgsound col embed frame img input keygen link meta param source track wbr".split()
# Nothing of what these hold is the page's text; readings (rt, rp) would be glued to the words that they explain.
UNSEEN_TAGS = (
    "audio button canvas datalist frameset head iframe math noembed noframes noscript object plaintext rp rt rtc "
    "script select style svg template textarea title video xmp"
).split()

_TEXT, _LINK, _INLINE, _BOX, _BREAK, _UNSEEN, _UNSEEN_VOID, _NO_TAG = range(8)
_TAGS_OF = (0, 2, 2, 2, 1, 2, 1, 0)  # how many tags a node has, by its kind
_KINDS = {
    **dict.fromkeys(INLINE_TAGS, _INLINE),
    **dict.fromkeys(UNSEEN_TAGS, _UNSEEN),
    **dict.fromkeys(VOID_TAGS, _UNSEEN_VOID),
    **dict.fromkeys(("#comment", "#cdata-section", "#document-fragment"), _NO_TAG),
    "#text": _TEXT,
    "a": _LINK,
    "br": _BREAK,
}

_SPACE_OF_HTML = " \t\n\f\r"  # str.strip() takes more
_LINE_BREAKS = {ord(character): None for character in "\t\n\r"}
_SPACE = " \t\n\f\r\xa0"  # parts words; other white space of Unicode is kept as it is
_SOFT_HYPHEN = "\xad"  # says where a word may be broken; no part of it
_UNCLEAN = re.compile(f"[\t\n\f\r\xa0{_SOFT_HYPHEN}]")
_CLEANED = {**dict.fromkeys(map(ord, _SPACE), " "), ord(_SOFT_HYPHEN): None}
_NO_LETTERS = _SPACE + _SOFT_HYPHEN

# Scripts without spaces between words have about two characters to a word; no other's average word is so long.
LONG_WORD = 12  # characters
CHARACTERS_OF_WORD = 2


class Outline:
    """A page as blocks in boxes, both in the document's order; box 0 is the body."""

    __slots__ = ("_found_links", "_goes_on", "_is_link_open", "blocks", "boxes")

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.boxes: list[Box] = [("body", "", "", -1)]
        # URL, bits of rel, the pieces of the text, and the block, of each link.
        self._found_links: list[tuple[str, int, list[str], int]] = []
        self._is_link_open = False
        self._goes_on = False  # the last link is open, or nothing was shown behind it yet

    @property
    def links(self) -> list[Anchor]:
        """The links that are shown, in the document's order."""
        return [(url, flags, clean_text("".join(pieces)), block) for url, flags, pieces, block in self._found_links]

    def text(self) -> str:
        """All visible text, a line for each block."""
        return "\n".join([block[0] for block in self.blocks])

    def add_block(self, text: str, link_letters: int, tags: int, box: int) -> int:
        """Adds a text unless it is blank; the number of tags that still wait for the next one."""
        text = clean_text(text)
        if not text:
            return tags
        self.blocks.append((text, link_letters, tags, box))
        return 0

    def begin_link(self, href: str, rel: str) -> None:
        """A link begins, which ends the one before; without `href` it is none. It goes on with the one before if that
        has the same URL and the same bits, and nothing is shown between the two: a tree has two of one that a paragraph
        cuts."""
        url, flags = clean_url(href), rel_flags(rel)
        self._is_link_open = bool(url)
        if url and not (self._goes_on and self._found_links[-1][:2] == (url, flags)):
            self._found_links.append((url, flags, [], len(self.blocks)))
            self._goes_on = True

    def add_link_text(self, text: str) -> None:
        """A text is shown: that of the link that is open, or what stands behind the last one."""
        if self._is_link_open or (self._goes_on and not clean_text(text)):
            self._found_links[-1][2].append(text)
        else:
            self._goes_on = False

    def end_link(self) -> None:
        self._is_link_open = False


def outline(tree: Any, most_steps: int = MAX_STEPS) -> Outline:
    """The blocks and boxes of an `HTMLTree`."""
    found = Outline()
    if tree.body is not None:
        _walk(tree.body.first_child, found, most_steps)
    return found


def _walk(node: Any, found: Outline, most_steps: int) -> None:
    """Reads the node and all that follow it or its parents; elements that hold no others are read at once."""
    box = tags = link_letters = links_open = 0
    parts: list[str] = []  # of the block that is being read
    stack: list[tuple[Any, int, int]] = []  # open elements, their kinds, and the boxes around them
    boxes, add_block, kind_of = found.boxes, found.add_block, _KINDS.get
    for _ in range(most_steps):
        if node is None:
            if not stack:
                break
            node, kind, outer = stack.pop()
            tags += 1
            if kind == _LINK:
                links_open -= 1
                found.end_link()
            elif kind == _BOX:
                found.add_link_text("\n")
                if parts:
                    tags = add_block("".join(parts), link_letters, tags, box)
                    parts, link_letters = [], 0
                box = outer
            node = node.next
            continue
        tag = node.tag
        kind = kind_of(tag, _BOX)
        if kind == _TEXT:
            text = node.value
            if parts or not text.isspace():
                parts.append(text)
                if links_open:
                    link_letters += letter_count(text)
                found.add_link_text(text)
        elif kind > _BOX:
            tags += _TAGS_OF[kind]
            if kind == _BREAK:
                parts.append("\n")
                found.add_link_text("\n")
        else:
            outer = box
            if kind == _LINK:
                found.begin_link(node.getattr("href") or "", node.getattr("rel") or "")
            elif kind == _BOX:
                found.add_link_text("\n")
                if parts:
                    tags = add_block("".join(parts), link_letters, tags, box)
                    parts, link_letters = [], 0
                box = len(boxes)
                boxes.append((tag, node.class_name, node.id, outer))
            if node.first_element_child is not None:
                tags += 1
                links_open += kind == _LINK
                stack.append((node, kind, outer))
                node = node.first_child
                continue
            tags += 2
            text = node.text
            found.add_link_text(text)
            if kind == _BOX:
                found.add_link_text("\n")
                tags = add_block(text, letter_count(text) if links_open else 0, tags, box)
                box = outer
            else:
                parts.append(text)
                if links_open or kind == _LINK:
                    link_letters += letter_count(text)
                if kind == _LINK:
                    found.end_link()
        node = node.next
    if parts:
        add_block("".join(parts), link_letters, tags, box)


def clean_url(href: str) -> str:
    """An attribute's URL as the URL standard reads it: no white space around it, no line breaks or tabs inside."""
    return href.strip(_SPACE_OF_HTML).translate(_LINE_BREAKS)


def clean_text(text: str) -> str:
    """The text with single spaces, none around it, and without soft hyphens."""
    text = text.strip(_SPACE)
    if "  " in text or _UNCLEAN.search(text):
        text = " ".join(filter(None, text.translate(_CLEANED).split(" ")))
    return text


def letter_count(text: str) -> int:
    """How many characters of a text are neither white space nor soft hyphens."""
    return len(text) - sum(map(text.count, _NO_LETTERS))


def word_count(text: str) -> int:
    """How many words a block's text has; in scripts that do not part words, about as many as its length tells."""
    words = text.count(" ") + 1
    if len(text) > LONG_WORD * words and not text.isascii():
        return max(words, len(text) // CHARACTERS_OF_WORD)
    return words
