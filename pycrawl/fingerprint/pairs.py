"""A sample of a text: the smallest hashes of its pairs of words. For use where there is no compiled module."""

from __future__ import annotations

import numpy as np

from pycrawl.fingerprint.shingle import windows
from pycrawl.fingerprint.words import split_by_numpy

_PAIR = 2


def hashed_by_numpy(text: str) -> tuple[bytes, bytes]:
    """Returns the hashes of a text's words, eight bytes each, and for each word a byte: 1 if it begins with a digit."""
    words = split_by_numpy(text)
    return words.hashes.tobytes(), words.numerals.tobytes()


def pairs(hashes: bytes, numerals: bytes, dropped: bytearray, most: int) -> bytes:
    """Returns up to `most` hashes of pairs of words, the smallest, distinct and ascending (uint64).

    A pair is two words in a row after some words were left out: those that begin with a digit (`numerals`), and those
    that are marked in `dropped`, a table of flags by hash modulo its length.
    """
    words = np.frombuffer(hashes, np.uint64)
    is_dropped = np.frombuffer(dropped, np.bool_)[words % np.uint64(len(dropped))]
    found = windows(words[~(is_dropped | np.frombuffer(numerals, np.bool_))], _PAIR)
    return np.unique(found)[:most].tobytes()
