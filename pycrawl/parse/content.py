"""A page's main content: its text without menus, sidebars, link lists, comments, notices and what else frames it.

Two methods on the outline of a tree (`text.py`), compared by `bench/content.py`:

- "dom" gives each block of text a worth, its words if it reads like prose and less than nothing if it reads like a list
  of links, leaves out boxes whose names tell of a frame, and takes the box whose blocks are worth most together;
- "slope" takes the flattest part of the document slope curve (`slope.py`).

"auto" is what the compiled reader does: "dom" on the markup, without a tree, at a fraction of the cost
(`native/scan.c`, `native/content.c`); where it was not built, "auto" is "dom". Both give the same (`docs/reading.md`).
"""

from __future__ import annotations

from pycrawl.parse.frames import FEWEST_WORDS, FLOOR, LONGEST_NAME, MANY_LINKS, SHARES, is_kept, suspicion, worth_of
from pycrawl.parse.slope import flattest, low_slopes
from pycrawl.parse.text import Block, Outline, letter_count, word_count


def page_text(page: Outline, method: str = "dom") -> str:
    """The main content of a page; all its text if that has too few words."""
    kept = _kept_blocks(page, method)
    is_enough = sum(word_count(block[0]) for block in kept) >= FEWEST_WORDS
    return _joined(kept) if is_enough else page.text()


def main_content(page: Outline, method: str = "dom") -> str:
    """The main content of a page, a line for each block; methods are "dom" and "slope"."""
    return _joined(_kept_blocks(page, method))


def _kept_blocks(page: Outline, method: str) -> list[Block]:
    return _by_slope(page) if method == "slope" else _by_boxes(page)


def _joined(blocks: list[Block]) -> str:
    return "\n".join([block[0] for block in blocks])


def _by_slope(page: Outline) -> list[Block]:
    tags = [block[2] for block in page.blocks]
    words = [word_count(block[0]) for block in page.blocks]
    first, behind = flattest(tags, words)
    flat = low_slopes(tags, words)
    return [page.blocks[position] for position in range(first, behind) if flat[position]]


def _by_boxes(page: Outline) -> list[Block]:
    worths = [
        worth_of(page.boxes[box][0], word_count(text), link_letters / letter_count(text) if link_letters else 0.0)
        for text, link_letters, _, box in page.blocks
    ]
    framed = _framed(page, worths)
    judged = [(block, worth) for block, worth in zip(page.blocks, worths, strict=True) if not framed[block[3]]]
    best = _best_box(page, judged)
    end = _end_of(page, best)
    inside = [(block, worth) for block, worth in judged if best <= block[3] < end]
    good = [worth > 0 for _, worth in inside]
    return [
        block
        for position, (block, _) in enumerate(inside)
        if good[position] or is_kept(page.boxes[block[3]][0], _is_links(block), good, position)
    ]


def _is_links(block: Block) -> bool:
    return block[1] > MANY_LINKS * letter_count(block[0])


def _framed(page: Outline, worths: list[float]) -> list[bool]:
    """For each box, whether it or one around it belongs to the page's frame."""
    sums = [0.0] * len(page.boxes)
    for block, worth in zip(page.blocks, worths, strict=True):
        if worth > 0:
            sums[block[3]] += worth
    _add_up(sums, page, 0.0)
    most = [share * sums[0] for share in SHARES]
    framed: list[bool] = []
    for (tag, class_name, identifier, parent), worth in zip(page.boxes, sums, strict=True):
        share = most[suspicion(tag, class_name[:LONGEST_NAME], identifier[:LONGEST_NAME])]
        framed.append((parent >= 0 and framed[parent]) or worth < share)
    return framed


def _best_box(page: Outline, judged: list[tuple[Block, float]]) -> int:
    """The box worth most; of several, the innermost."""
    sums = [0.0] * len(page.boxes)
    for block, worth in judged:
        sums[block[3]] += worth
    _add_up(sums, page, FLOOR)
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
