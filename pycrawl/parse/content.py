"""A page's main content: its text without menus, sidebars, link lists, comments, notices and what else frames it.

Two methods on the outline of a tree (`text.py`), compared by `bench/content.py`:

- "dom" gives each block of text a worth, its words if it reads like prose and less than nothing if it reads like a list
  of links, leaves out boxes whose names tell of a frame, and takes the box whose blocks are worth most together. Where
  that leaves nearly nothing, names are believed less; where it still does, the page is a list, and all but what is
  surely a frame counts;
- "slope" takes the flattest part of the document slope curve (`slope.py`).

"auto" is what the compiled reader does: "dom" on the markup, without a tree, at a fraction of the cost
(`native/scan.c`, `native/content.c`); where it was not built, "auto" is "dom". Both give the same (`docs/reading.md`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pycrawl.parse import frames
from pycrawl.parse.frame_names import HARD, LONGEST_NAME, SURE, WEAK, suspicion
from pycrawl.parse.frames import FEWEST_WORDS, FLOOR, MANY_LINKS, is_kept, worth_of
from pycrawl.parse.slope import flattest, low_slopes
from pycrawl.parse.text import Block, Outline, letter_count, word_count


def page_text(page: Outline, method: str = "dom") -> str:
    """The main content of a page; all its text if that has too few words."""
    return _joined(content_blocks(page, method))


def content_blocks(page: Outline, method: str) -> list[Block]:
    """The blocks of a page's main content; all of them if those have too few words."""
    kept = _kept_blocks(page, method)
    return kept if _words_of(kept) >= FEWEST_WORDS else page.blocks


def main_content(page: Outline, method: str = "dom") -> str:
    """The main content of a page, a line for each block; methods are "dom" and "slope"."""
    return _joined(_kept_blocks(page, method))


def _kept_blocks(page: Outline, method: str) -> list[Block]:
    return _by_slope(page) if method == "slope" else _by_boxes(page)


def _joined(blocks: list[Block]) -> str:
    return "\n".join([block[0] for block in blocks])


def _words_of(blocks: Sequence[Block]) -> int:
    return sum(word_count(block[0]) for block in blocks)


def _by_slope(page: Outline) -> list[Block]:
    tags = [block[2] for block in page.blocks]
    words = [word_count(block[0]) for block in page.blocks]
    first, behind = flattest(tags, words)
    flat = low_slopes(tags, words)
    return [page.blocks[position] for position in range(first, behind) if flat[position]]


def _by_boxes(page: Outline) -> list[Block]:
    boxes = _Boxes(page)
    kept, worth = boxes.content(frames.SHARES)
    if not boxes.is_enough(kept) or worth < frames.LITTLE * boxes.worth:
        kept, _ = boxes.content(frames.SHARES_AGAIN)
    if not boxes.is_enough(kept) or boxes.is_note(kept):
        unframed = boxes.outside_of_frames()
        return unframed if boxes.is_enough(unframed) else kept
    return kept


class _Boxes:
    """The boxes of a page with what is inside: worth of good blocks, words, whether there is prose."""

    def __init__(self, page: Outline) -> None:
        self._page = page
        self._worths = [
            worth_of(page.boxes[box][0], word_count(text), link_letters / letter_count(text) if link_letters else 0.0)
            for text, link_letters, _, box in page.blocks
        ]
        self._suspicions = [
            suspicion(tag, class_name[:LONGEST_NAME], identifier[:LONGEST_NAME])
            for tag, class_name, identifier, _ in page.boxes
        ]
        count = len(page.boxes)
        self._sums, self._words, self._has_prose = [0.0] * count, [0.0] * count, [False] * count
        for (text, _, _, box), worth in zip(page.blocks, self._worths, strict=True):
            self._words[box] += word_count(text)
            if worth > 0:
                self._sums[box] += worth
                self._has_prose[box] |= worth >= frames.PROSE_WORDS
        _add_up(self._sums, page, 0.0)
        _add_up(self._words, page, 0.0)
        for box in range(count - 1, 0, -1):
            if self._has_prose[box]:
                self._has_prose[page.boxes[box][3]] = True

    @property
    def worth(self) -> float:
        """That of all good blocks of the page."""
        return self._sums[0]

    def is_enough(self, blocks: list[Block]) -> bool:
        words = _words_of(blocks)
        return words >= FEWEST_WORDS and words >= frames.SMALL_PART * self._words[0]

    def is_note(self, blocks: list[Block]) -> bool:
        """True if the blocks are a short note on a page that has much else."""
        words = _words_of(blocks)
        return words < frames.FEW_WORDS and words < frames.FAIR_PART * self._words[0]

    def content(self, shares: Sequence[float]) -> tuple[list[Block], float]:
        """The content and what its good blocks are worth, if names of frames count up to these shares of the page."""
        page = self._page
        framed = self._framed(shares)
        judged = [
            (block, worth) for block, worth in zip(page.blocks, self._worths, strict=True) if not framed[block[3]]
        ]
        best = _best_box(page, judged)
        end = _end_of(page, best)
        inside = [(block, worth) for block, worth in judged if best <= block[3] < end]
        good = [worth > 0 for _, worth in inside]
        kept = [
            block
            for position, (block, _) in enumerate(inside)
            if good[position] or is_kept(page.boxes[block[3]][0], _is_links(block), good, position)
        ]
        return kept, sum(worth for _, worth in inside if worth > 0)

    def _framed(self, shares: Sequence[float]) -> list[bool]:
        """For each box, whether it or one around it belongs to the page's frame."""
        framed: list[bool] = []
        for box, (_, _, _, parent) in enumerate(self._page.boxes):
            level = self._suspicions[box]
            is_frame = self._sums[box] < shares[level] * self._sums[0]
            if level == WEAK:
                is_frame = is_frame and not self._has_prose[box]
            elif level == HARD:
                is_frame = is_frame or self._words[box] < shares[level] * self._words[0]
            framed.append((parent >= 0 and framed[parent]) or is_frame)
        return framed

    def outside_of_frames(self) -> list[Block]:
        """All blocks but those in boxes whose names surely tell of a frame."""
        framed: list[bool] = []
        for level, (_, _, _, parent) in zip(self._suspicions, self._page.boxes, strict=True):
            framed.append((parent >= 0 and framed[parent]) or level >= SURE)
        return [block for block in self._page.blocks if not framed[block[3]]]


def _is_links(block: Block) -> bool:
    return block[1] > MANY_LINKS * letter_count(block[0])


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
