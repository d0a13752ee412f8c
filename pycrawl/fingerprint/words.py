"""A text as the hashes of its words, computed over whole arrays: case is folded, the text split, each word hashed.

`word_table.py` says what a word is. ASCII text is folded by arithmetic on its bytes, other text by a table; both give
the same words, so that a curly quote ends a word as a straight one does.

A word is read eight bytes at a time: column 0 holds the first eight bytes of each word, column 1 the last eight bytes
of the words that are longer, and further columns what lies between, for the few that are longer still.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

from pycrawl.fingerprint.word_table import FIRST_ALONE, hashed, tables
from pycrawl.native import compiled

_Hashes = NDArray[np.uint64]
_Places = NDArray[np.int64]
_Units = NDArray[np.uint16]
_Bytes = NDArray[np.uint8]
_Flags = NDArray[np.bool_]

_COLUMN = 8  # bytes
_COLUMNS = 4  # columns of eight bytes; the rest of a word of more than 32 bytes goes in as one hash
_SURROGATE, _HIGH_SURROGATE, _LOW_SURROGATE = np.uint16(0xFC00), np.uint16(0xD800), np.uint16(0xDC00)

# Odd numbers without pattern: those of the SplitMix64 and xxHash finalisers.
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_NEXT = [np.uint64(pow(0x9E3779B185EBCA87, place, 1 << 64)) for place in range(1, _COLUMNS + 2)]
_LAST = np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)
_THIRD = np.uint64(29)
_64_BITS = (1 << 64) - 1

_CASE = np.uint8(0x20)  # the bit by which small letters differ from capital ones in ASCII
_LETTER_A, _LETTERS = np.uint8(ord("a")), np.uint8(26)
_DIGIT_0, _DIGITS = np.uint8(ord("0")), np.uint8(10)
_KEEP_BYTES = np.array([(1 << 8 * length) - 1 for length in range(_COLUMN + 1)], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text, in its order."""

    hashes: _Hashes  # two different words of up to eight bytes never have the same hash: up to there it is a bijection
    numerals: _Flags  # True for words that begin with a digit

    def digest(self, seed: int) -> bytes:
        """Returns a digest of all words in their order, 16 bytes."""
        return xxhash.xxh3_128_digest(self.hashes.data, seed)


def tokens(text: str) -> _Hashes:
    """Returns the hash of each word, in the order of the text."""
    return split(text).hashes


def text_digest(text: str, seed: int = 0) -> bytes:
    """Returns 16 bytes that are equal for two texts with the same words in the same order, whatever stands between."""
    return split(text).digest(seed)


def split(text: str) -> Words:
    """Returns the words of a text."""
    if compiled is None:
        return split_by_numpy(text)
    hashes, numerals = hashed(text)
    return Words(np.frombuffer(hashes, np.uint64), np.frombuffer(numerals, np.bool_))


def split_by_numpy(text: str) -> Words:
    """Returns the same as `split`, where there is no compiled module."""
    if text.isascii():
        folded, is_letter = _fold_ascii(text)
    else:
        folded = _fold(text)
        is_letter = folded != 0
    changes = (is_letter[1:] != is_letter[:-1]).nonzero()[0]
    starts, ends = changes[::2], changes[1::2]
    lengths = ends - starts
    # A view that gives eight bytes from any place, unaligned: cheaper than shifting them together.
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
    first = columns[0].astype(np.uint8)
    return Words(_hashes(lengths, columns, all_rows), (first - _DIGIT_0) < _DIGITS)


def _hashes(lengths: _Places, columns: list[_Hashes], all_rows: list[_Places]) -> _Hashes:
    hashes = columns[0] * _FIRST
    hashes ^= hashes >> _HALF
    if all_rows:
        hashes[all_rows[0]] += lengths[all_rows[0]].view(np.uint64)
    for rows, column, step in zip(all_rows, columns[1:], _NEXT, strict=False):
        hashes[rows] += column * step  # `+=` is safe here: no word occurs twice in `rows`
    hashes *= _LAST
    hashes ^= hashes >> _THIRD
    return hashes


def _fold_ascii(text: str) -> tuple[_Bytes, _Flags]:
    """Returns the text in lower case, with one separator in front and eight behind, so that eight bytes can be read
    from the start of any word; and a flag for each byte, True for letters and digits."""
    codes = np.frombuffer(f" {text}        ".encode("ascii"), np.uint8)
    folded = codes | _CASE  # digits have this bit anyway
    is_letter = (folded - _LETTER_A) < _LETTERS
    is_letter |= (codes - _DIGIT_0) < _DIGITS
    return folded, is_letter


def _tails(folded: bytes, starts: _Places, lengths: _Places) -> _Hashes:
    """Returns a hash of what lies behind the first 32 bytes of each word. Such words are few: one by one is quick
    enough."""
    begins = starts + _COLUMN * _COLUMNS
    ends = starts + lengths
    tails = [_tail(folded[begin:end]) for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
    return np.array(tails, dtype=np.uint64)


def _tail(tail: bytes) -> int:
    eights = -(-len(tail) // _COLUMN)
    hashed = 0
    for eight in struct.unpack(f"<{eights}Q", tail.ljust(eights * _COLUMN, b"\0")):
        hashed = (hashed ^ eight) * int(_LAST) & _64_BITS
        hashed ^= hashed >> int(_THIRD)
    return hashed


def _fold(text: str) -> _Bytes:
    """Returns the words of any text in UTF-8 and without case, with NUL bytes between them, in front, and eight
    behind."""
    fold, is_alone = np.frombuffer(tables()[0], np.uint16), np.frombuffer(tables()[1], np.bool_)
    units = np.frombuffer(f" {text}        ".encode("utf-16-le", "surrogatepass"), "<u2")
    words = fold.take(units)
    highest = int(words.max())
    if highest < 128:  # all words are ASCII, as in English with curly quotes: no need to encode them
        return words.astype(np.uint8)
    if highest >= FIRST_ALONE:
        words = _set_apart(words, is_alone.take(units))
    decoded = words.tobytes().decode("utf-16-le", "surrogatepass")
    return np.frombuffer(decoded.encode("utf-8", "surrogatepass"), np.uint8)


def _set_apart(units: _Units, alone: _Flags) -> _Units:
    """Returns the units with a separator before and behind each character that is a word by itself. The two halves of a
    surrogate pair stay together."""
    before = alone & ((units & _SURROGATE) != _LOW_SURROGATE)
    behind = alone & ((units & _SURROGATE) != _HIGH_SURROGATE)
    shifts = np.cumsum(before) + np.cumsum(behind)
    apart = np.zeros(len(units) + int(shifts[-1]), dtype="<u2")
    apart[np.arange(len(units)) + shifts - behind] = units
    return apart
