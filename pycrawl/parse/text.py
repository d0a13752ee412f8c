"""A page's visible text, in blocks, from one walk over its tree. What is done with them is for others to say."""

from __future__ import annotations

from typing import Any

# Bounds the walk to some 0.2 s, whatever the page: the steps into and out of a node count.
MAX_STEPS = 200_000

# A block is text that nothing but inline elements interrupts, its white space single spaces; how many of its characters
# are in links; how many tags stand between the last block's end and this one's; and the innermost box around it.
Block = tuple[str, int, int, int]
# A box is a block element: tag, class, id, and the box around it, which always stands before it.
Box = tuple[str, str, str, int]

_TEXT, _LINK, _INLINE, _BOX, _BREAK, _NO_BREAK, _UNSEEN, _UNSEEN_VOID, _NO_TAG = range(9)
_TAGS_OF = (0, 2, 2, 2, 1, 1, 2, 1, 0)  # how many tags a node has, by its kind
# What a node is by its name; any other is a box.
_KINDS = {
    "#text": _TEXT,
    "a": _LINK,
    "br": _BREAK,
    "wbr": _NO_BREAK,
    **dict.fromkeys(
        "abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span "
        "strike strong sub sup time tt u var".split(),
        _INLINE,
    ),
    **dict.fromkeys(
        "script style noscript template svg math iframe object embed canvas audio video select option textarea button "
        "head title picture map colgroup frameset".split(),
        _UNSEEN,
    ),
    **dict.fromkeys("img input meta link base source track area col param frame".split(), _UNSEEN_VOID),
    **dict.fromkeys(("#comment", "#cdata-section", "#document-fragment"), _NO_TAG),
}
_EVERYTHING = 1 << 60  # characters: more than any text has

# Scripts without spaces between words have about two characters to a word; no other's average word is so long.
_LONG_WORD = 12  # characters
_CHARACTERS_OF_WORD = 2


class Outline:
    """A page as blocks in boxes, both in the document's order; box 0 is the body."""

    __slots__ = ("blocks", "boxes")

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.boxes: list[Box] = [("body", "", "", -1)]

    def text(self) -> str:
        """All visible text, a line for each block."""
        return "\n".join([block[0] for block in self.blocks])

    def add_block(self, text: str, link_length: int, tags: int, box: int) -> int:
        """Adds a text unless it is blank; the number of tags that still wait for the next one."""
        text = text.strip()
        if "\n" in text or "  " in text or "\t" in text or "\xa0" in text:
            text = " ".join(text.split())
        if not text:
            return tags
        self.blocks.append((text, min(link_length, len(text)) if link_length else 0, tags, box))
        return 0


def outline(tree: Any, most_steps: int = MAX_STEPS) -> Outline:
    """The blocks and boxes of an `HTMLTree`."""
    found = Outline()
    if tree.body is not None:
        _walk(tree.body.first_child, found, most_steps)
    return found


def _walk(node: Any, found: Outline, most_steps: int) -> None:
    """Reads the node and all that follow it or its parents; elements that hold no others are read at once."""
    box = tags = link_length = links_open = 0
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
            elif kind == _BOX:
                if parts:
                    tags = add_block("".join(parts), link_length, tags, box)
                    parts, link_length = [], 0
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
                    link_length += len(text)
        elif kind > _BOX:
            tags += _TAGS_OF[kind]
            if kind == _BREAK:
                parts.append("\n")
        else:
            outer = box
            if kind == _BOX:
                if parts:
                    tags = add_block("".join(parts), link_length, tags, box)
                    parts, link_length = [], 0
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
            if kind == _BOX:
                tags = add_block(text, _EVERYTHING if links_open else 0, tags, box)
                box = outer
            else:
                parts.append(text)
                if links_open or kind == _LINK:
                    link_length += len(text)
        node = node.next
    if parts:
        add_block("".join(parts), link_length, tags, box)


def word_count(text: str) -> int:
    """How many words a block's text has; in scripts that do not part words, about as many as its length tells."""
    words = text.count(" ") + 1
    if len(text) > _LONG_WORD * words and not text.isascii():
        return max(words, len(text) // _CHARACTERS_OF_WORD)
    return words
