"""Words of a PDF that pdfium has glued together. It takes a piece of text whose letters are all moved apart for letters
that are spaced out; Ghostscript writes the end of a word of groff's and the beginning of the next as such a piece
("newobject")."""

from __future__ import annotations

import re
from itertools import pairwise

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from pycrawl.convert.pdf_accents import loose_box

_WORD = re.compile(r"\S{2,}")
_MOST_KNOWN = 100_000  # words
_WORD_GAP = 0.15  # of the height of a line: letters that are farther from each other are of two words


class GluedWords:
    """Finds the glued words of one document. A word that was whole where it came first is not looked at again."""

    def __init__(self) -> None:
        self._whole: set[str] = set()

    def cut(self, letters: list[str], text: str, text_page: pdfium.PdfTextPage) -> None:
        """Put a space behind each letter that ends a word. `letters` are those of `text`, each in its place."""
        for match in _WORD.finditer(text):
            if match[0] in self._whole:
                continue
            ends = _ends(match.start(), match.end(), text_page)
            for end in ends:
                letters[end] += " "
            if not ends and len(self._whole) < _MOST_KNOWN:
                self._whole.add(match[0])


def _ends(begin: int, end: int, text_page: pdfium.PdfTextPage) -> list[int]:
    """Returns the places of letters that have a gap behind them on their line."""
    boxes = [
        loose_box(text_page, raw.FPDFText_GetCharIndexFromTextIndex(text_page, place)) for place in range(begin, end)
    ]
    return [
        begin + number
        for number, (left, right) in enumerate(pairwise(boxes))
        if right.left - left.right > _WORD_GAP * (left.top - left.bottom)
        and right.bottom < left.top
        and left.bottom < right.top
    ]
