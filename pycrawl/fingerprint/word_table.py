"""What a word is: a run of letters, marks and digits; everything else stands between words. Scripts written without
spaces have no such runs, so each of their characters is a word by itself.

This does not import numpy, which takes a tenth of a second to load: with the compiled module fetchers do without it.
"""

from __future__ import annotations

import functools
import unicodedata
from array import array

from pycrawl.native import compiled

_ALSO_IN_WORDS = ("Mn", "Mc", "Me", "Cs")  # beside letters and digits: marks, and the halves of a surrogate pair
_WITHOUT_SPACES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark, zero
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x9FFF),  # Han
    (0xD800, 0xDFFF),  # everything above U+FFFF in UTF-16, be it Han, pictures or scripts of old
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # Katakana of half width
)

FIRST_ALONE = _WITHOUT_SPACES[0][0]


def hashed(text: str | bytes) -> tuple[bytes, bytes]:
    """Returns the hashes of a text's words, eight bytes each, and for each word a byte: 1 if it begins with a digit.
    The compiled module must be there."""
    found: tuple[bytes, bytes]
    if text.isascii():
        found = compiled.words(text)
    else:
        try:
            found = compiled.words(text, *tables())
        except UnicodeEncodeError:  # half a surrogate pair in a str; no decoder leaves one, but a caller may
            assert isinstance(text, str)
            found = compiled.words(text.encode("utf-8", "surrogatepass"), *tables())
    return found


@functools.cache
def tables() -> tuple[array[int], bytes]:
    """Returns two tables by unit of UTF-16: its form without case (uint16), or 0 if it stands between words; and a
    byte, 1 if it is a word, or half of one, by itself. They are made at the first text that is not ASCII, in some
    15 ms."""
    characters = list(map(chr, range(0x10000)))
    # Most characters are letters without case: those that are not are looked at one by one.
    plain = zip(characters, map(str.isalnum, characters), map(str.casefold, characters), strict=True)
    fold = array(
        "H",
        [ord(one) if is_alnum and folded == one else _folded_code(one) for one, is_alnum, folded in plain],
    )
    alone = bytearray(len(fold))
    for first, last in _WITHOUT_SPACES:
        for code in range(first, last + 1):
            alone[code] = fold[code] != 0
    return fold, bytes(alone)


def _folded_code(character: str) -> int:
    if not character.isalnum() and unicodedata.category(character) not in _ALSO_IN_WORDS:
        return 0
    # Case folding joins the two small sigmas; but of the sharp s it makes two letters, which one unit cannot hold.
    return next(ord(folded) for folded in (character.casefold(), character.lower(), character) if len(folded) == 1)
