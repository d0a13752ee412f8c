"""A text as its words: without case, split, and hashed, all over arrays.

A word is a run of letters, marks and digits; everything else stands between words. Scripts written without spaces have
no such runs, so each of their characters is a word by itself. ASCII text is folded by arithmetic on its bytes, any
other text by a table of 65,536 units of UTF-16, and both agree: a curly quote ends a word as a straight one does.

A word is read eight bytes at a time: column 0 holds the first eight bytes of each word, column 1 the last eight of the
words that are longer, and the next ones what is between, for the few that are longer still. With the lengths, the
columns are the words, exactly; digest and hashes are both made from them.
"""

from __future__ import annotations

import functools
import unicodedata
from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

_Hashes = NDArray[np.uint64]
_Places = NDArray[np.int64]
_Units = NDArray[np.uint16]
_Bytes = NDArray[np.uint8]
_Flags = NDArray[np.bool_]

_COLUMN = 8  # bytes
_COLUMNS = 4  # what is behind them, in words of more than 32 bytes, is one hash
_ALSO_IN_WORDS = ("Mn", "Mc", "Me", "Cs")  # beside letters and digits: marks, and the halves of the rarer characters
_WITHOUT_SPACES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark, zero
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x9FFF),  # Han
    (0xD800, 0xDFFF),  # in UTF-16: everything above U+FFFF, be it Han, pictures or scripts of old
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # Katakana of half width
)

_SURROGATE, _HIGH_SURROGATE, _LOW_SURROGATE = np.uint16(0xFC00), np.uint16(0xD800), np.uint16(0xDC00)

# Odd numbers without pattern: those of the SplitMix64 and xxHash finalisers.
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_NEXT = [np.uint64(pow(0x9E3779B185EBCA87, place, 1 << 64)) for place in range(1, _COLUMNS + 2)]
_LAST = np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)
_THIRD = np.uint64(29)

_CASE = np.uint8(0x20)  # the bit by which small letters differ from capital ones in ASCII
_LETTER_A, _LETTERS = np.uint8(ord("a")), np.uint8(26)
_DIGIT_0, _DIGITS = np.uint8(ord("0")), np.uint8(10)
_KEEP_BYTES = np.array([(1 << 8 * length) - 1 for length in range(_COLUMN + 1)], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text: the length of each in bytes, and their columns with the words that reach into them."""

    lengths: _Places
    columns: tuple[_Hashes, ...]
    rows: tuple[_Places, ...]  # rows[i]: the words in columns[i + 1]; all words are in columns[0]
    hashes: _Hashes  # one for each word; words of up to eight bytes never share one: up to there it is a bijection

    def digest(self, seed: int) -> bytes:
        """128 bits of all words: lengths first, so that no two texts spell the same bytes."""
        digest = xxhash.xxh3_128(self.lengths.data, seed)
        for column in self.columns:
            digest.update(column.data)
        return digest.digest()


def tokens(text: str) -> _Hashes:
    """The hash of each word, in the order of the text."""
    return split(text).hashes


def text_digest(text: str, seed: int = 0) -> bytes:
    """16 bytes that two texts share if their words are the same, whatever stands between the words."""
    return split(text).digest(seed)


def split(text: str) -> Words:
    if text.isascii():
        folded, is_letter = _fold_ascii(text)
    else:
        folded = _fold(text)
        is_letter = folded != 0
    changes = (is_letter[1:] != is_letter[:-1]).nonzero()[0]
    starts, ends = changes[::2], changes[1::2]
    lengths = ends - starts
    # Eight bytes from each place behind the first: a view without alignment, which costs less than to shift words.
    eights = np.ndarray((len(folded) - _COLUMN,), dtype="<u8", buffer=folded, offset=1, strides=(1,))
    columns = [eights[starts] & _KEEP_BYTES.take(lengths, mode="clip")]
    all_rows = []
    rows = (lengths > _COLUMN).nonzero()[0]
    if rows.size:
        columns.append(eights[ends[rows] - _COLUMN])
        all_rows.append(rows)
        rows = rows[lengths[rows] > 2 * _COLUMN]
    read = _COLUMN
    while rows.size and read < _COLUMN * _COLUMNS:
        rest = lengths[rows] - read
        columns.append(eights[starts[rows] + read] & _KEEP_BYTES.take(rest, mode="clip"))
        all_rows.append(rows)
        rows = rows[rest > _COLUMN]
        read += _COLUMN
    if rows.size:
        columns.append(_tails(folded[1:].tobytes(), starts[rows], lengths[rows]))
        all_rows.append(rows)
    return Words(lengths, tuple(columns), tuple(all_rows), _hashes(columns, all_rows))


def _hashes(columns: list[_Hashes], all_rows: list[_Places]) -> _Hashes:
    hashes = columns[0] * _FIRST
    hashes ^= hashes >> _HALF
    for rows, column, step in zip(all_rows, columns[1:], _NEXT, strict=False):
        hashes[rows] += column * step  # no word stands twice in the rows
    hashes *= _LAST
    hashes ^= hashes >> _THIRD
    return hashes


def _fold_ascii(text: str) -> tuple[_Bytes, _Flags]:
    """The text without case, a separator in front, eight behind, to be read with the last word; and where in it the
    letters and digits are."""
    codes = np.frombuffer(f" {text}        ".encode("ascii"), np.uint8)
    folded = codes | _CASE  # digits have this bit anyway
    is_letter = (folded - _LETTER_A) < _LETTERS
    is_letter |= (codes - _DIGIT_0) < _DIGITS
    return folded, is_letter


def _tails(folded: bytes, starts: _Places, lengths: _Places) -> _Hashes:
    """Words this long are rare in texts, and few where they are not: one by one is quick enough."""
    begins = starts + _COLUMN * _COLUMNS
    ends = starts + lengths
    hashed = [
        xxhash.xxh3_64_intdigest(folded[begin:end]) for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
    ]
    return np.array(hashed, dtype=np.uint64)


def _fold(text: str) -> _Bytes:
    """UTF-8 of the words of any text, with NUL bytes between them, in front, and eight behind."""
    fold, is_alone = _unicode_tables()
    units = np.frombuffer(f" {text}        ".encode("utf-16-le", "surrogatepass"), "<u2")
    words = fold.take(units)
    highest = int(words.max())
    if highest < 128:  # English with curly quotes: no need to encode it
        return words.astype(np.uint8)
    if highest >= _WITHOUT_SPACES[0][0]:
        words = _set_apart(words, is_alone.take(units))
    decoded = words.tobytes().decode("utf-16-le", "surrogatepass")
    return np.frombuffer(decoded.encode("utf-8", "surrogatepass"), np.uint8)


def _set_apart(units: _Units, alone: _Flags) -> _Units:
    """The same, with a separator before and behind each character that is a word by itself."""
    before = alone & ((units & _SURROGATE) != _LOW_SURROGATE)
    behind = alone & ((units & _SURROGATE) != _HIGH_SURROGATE)
    shifts = np.cumsum(before) + np.cumsum(behind)
    apart = np.zeros(len(units) + int(shifts[-1]), dtype="<u2")
    apart[np.arange(len(units)) + shifts - behind] = units
    return apart


@functools.cache
def _unicode_tables() -> tuple[_Units, _Flags]:
    """For each unit of UTF-16: its form without case, or 0 if it stands between words; and whether it is a word, or
    half of one, by itself. Made at the first text that is not ASCII, in some 30 ms."""
    fold = np.array([_folded_code(chr(code)) for code in range(0x10000)], dtype="<u2")
    alone = np.zeros(len(fold), dtype=np.bool_)
    for first, last in _WITHOUT_SPACES:
        alone[first : last + 1] = fold[first : last + 1] != 0
    return fold, alone


def _folded_code(character: str) -> int:
    if not character.isalnum() and unicodedata.category(character) not in _ALSO_IN_WORDS:
        return 0
    # Without case, the two small sigmas are one letter; but the sharp s would be two, and stays as it is.
    return next(ord(folded) for folded in (character.casefold(), character.lower(), character) if len(folded) == 1)
