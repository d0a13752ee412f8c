"""Fingerprints of n words in a row, and the few of them that an inverted index keeps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Hashes = NDArray[np.uint64]

SHINGLE_WORDS = 4

_STEP = np.uint64(0xD6E8FEB86659FD93)  # odd and without pattern


def windows(words: _Hashes, n: int = SHINGLE_WORDS) -> _Hashes:
    """The fingerprint of each window of `n` words, in the order of the text; a text with fewer words is one window.

    A polynomial in hashes that are mixed already, so that it is as even in all its bits as they are.
    """
    if n < 1:
        raise ValueError(f"expected windows of at least one word, found {n}")
    size = min(n, len(words))
    if size == 0:
        return words[:0]
    count = len(words) - size + 1
    prints = words[:count] * _STEP
    for place in range(1, size):
        prints += words[place : place + count]
        prints *= _STEP
    return prints


def shingles(words: _Hashes, n: int = SHINGLE_WORDS) -> _Hashes:
    """The set of the windows' fingerprints, in ascending order."""
    return np.unique(windows(words, n))


def select_mod(fingerprints: _Hashes, p: int) -> _Hashes:
    """The fingerprints that are 0 mod p: about one in p, and the same ones in each text that has them."""
    if p < 1:
        raise ValueError(f"expected to select one in 1 or more, found {p}")
    selected: _Hashes = fingerprints[fingerprints % np.uint64(p) == 0]
    return selected
