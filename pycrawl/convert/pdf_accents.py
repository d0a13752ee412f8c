"""Accents of a PDF that were drawn by themselves, as older documents of TeX do: they are put on the letters that stand
below or above them, wherever pdfium has them in the text ("fur die ¨ Dokumentation")."""

from __future__ import annotations

import ctypes
import re
from typing import NamedTuple
from unicodedata import normalize

import pypdfium2 as pdfium
import pypdfium2.raw as raw

# Accents, and what they are as combining characters.
_ABOVE = dict(zip("`\xa8\xb4ˆ˜˘˙˚˝ˇ", "\u0300\u0308\u0301\u0302\u0303\u0306\u0307\u030a\u030b\u030c", strict=True))
_BELOW = dict(zip("˛\xb8", "\u0328\u0327", strict=True))
_ACCENTS = _ABOVE | _BELOW
_ACCENT = re.compile(f"[{''.join(_ACCENTS)}]")
_MOST_SEARCHED = 5_000_000  # accents of a page × its characters: above this, they stay where they are
# Shares of the height of a line of text:
_TO_LETTER = 0.3  # from an accent to the middle of its letter
_TOLERANCE = 0.05
_WORD_GAP = 0.1  # letters that are closer are of one word


class Box(NamedTuple):
    left: float
    right: float
    bottom: float
    top: float


def put_accents(letters: list[str], text: str, text_page: pdfium.PdfTextPage) -> None:
    """Put the accents of a page on their letters. `letters` are those of `text`, each in its place; what is moved or
    removed leaves an empty one behind."""
    places = [match.start() for match in _ACCENT.finditer(text)]
    if len(places) * len(text) <= _MOST_SEARCHED:
        for place in places:
            _put_on_letter(place, letters, text_page)


def has_accents(text: str) -> bool:
    return _ACCENT.search(text) is not None


def _put_on_letter(place: int, letters: list[str], text_page: pdfium.PdfTextPage) -> None:
    accent = letters[place]
    index = raw.FPDFText_GetCharIndexFromTextIndex(text_page, place)
    box, height = _box(text_page, index), _height(text_page, index)
    y = box.bottom - _TO_LETTER * height if accent in _ABOVE else box.top + _TO_LETTER * height
    margin = _TOLERANCE * height
    found = raw.FPDFText_GetCharIndexAtPos(text_page, (box.left + box.right) / 2, y, margin, margin)
    target = raw.FPDFText_GetTextIndexFromCharIndex(text_page, found) if found >= 0 else -1
    if not 0 <= target < len(letters):
        return
    letter = normalize("NFC", letters[target].replace("ı", "i") + _ACCENTS[accent])
    if len(letter) == 1:
        letters[target], letters[place] = letter, ""
        _close_gap(place, letters, text_page, _WORD_GAP * height)


def _close_gap(place: int, letters: list[str], text_page: pdfium.PdfTextPage, most: float) -> None:
    """Remove the spaces that pdfium has put around an accent in the middle of a word."""
    before, after = place - 1, place + 1
    while before > 0 and letters[before] in ("", " "):
        before -= 1
    while after < len(letters) - 1 and letters[after] in ("", " "):
        after += 1
    if before < 0 or after >= len(letters) or after - before == 2:
        return
    indexes = [raw.FPDFText_GetCharIndexFromTextIndex(text_page, where) for where in (before, after)]
    left, right = (_box(text_page, index) for index in indexes)
    gap = loose_box(text_page, indexes[1]).left - loose_box(text_page, indexes[0]).right
    if abs(gap) < most and right.bottom < left.top and left.bottom < right.top:
        letters[before + 1 : after] = [""] * (after - before - 1)


def _box(text_page: pdfium.PdfTextPage, index: int) -> Box:
    """Returns where the ink of a letter is."""
    sides = [ctypes.c_double() for _ in range(4)]
    raw.FPDFText_GetCharBox(text_page, index, *sides)
    return Box(*[side.value for side in sides])


def loose_box(text_page: pdfium.PdfTextPage, index: int) -> Box:
    """Returns the room that a letter takes: as wide as its advance, as high as its line."""
    rect = raw.FS_RECTF()
    raw.FPDFText_GetLooseCharBox(text_page, index, rect)
    return Box(rect.left, rect.right, rect.bottom, rect.top)


def _height(text_page: pdfium.PdfTextPage, index: int) -> float:
    box = loose_box(text_page, index)
    return box.top - box.bottom
