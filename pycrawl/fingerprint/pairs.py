"""The smallest pairs of words of a text, where there is no compiled module to find them."""

from __future__ import annotations

import numpy as np

from pycrawl.fingerprint.shingle import windows
from pycrawl.fingerprint.words import split_by_numpy

_PAIR = 2


def hashed_by_numpy(text: str) -> tuple[bytes, bytes]:
    """The hashes of a text's words, and for each whether it begins with a digit."""
    words = split_by_numpy(text)
    return words.hashes.tobytes(), words.numerals.tobytes()


def pairs(hashes: bytes, numerals: bytes, dropped: bytearray, most: int) -> bytes:
    """Up to `most`, distinct and ascending; words that begin with a digit or are marked as dropped are left out."""
    words = np.frombuffer(hashes, np.uint64)
    is_dropped = np.frombuffer(dropped, np.bool_)[words % np.uint64(len(dropped))]
    found = windows(words[~(is_dropped | np.frombuffer(numerals, np.bool_))], _PAIR)
    return np.unique(found)[:most].tobytes()
