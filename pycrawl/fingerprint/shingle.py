"""Fingerprints of n words in a row, and the few of them that an inverted index keeps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Hashes = NDArray[np.uint64]

SHINGLE_WORDS = 4

_STEP = 0xD6E8FEB86659FD93  # odd, so that multiplying by it loses nothing, and without pattern


def windows(words: _Hashes, n: int = SHINGLE_WORDS) -> _Hashes:
    """Returns the fingerprint of each window of `n` words, in the order of the text; a text with fewer words is one
    window.

    A fingerprint is a polynomial in the words' hashes, and as evenly spread as these. Two windows are joined to one of
    twice the width, so that four words take two steps.
    """
    if n < 1:
        raise ValueError(f"expected windows of at least one word, found {n}")
    size = min(n, len(words))
    prints, width = words, 1
    for bit in f"{size:b}"[1:]:
        prints = _joined(prints, prints, width, width)
        width *= 2
        if bit == "1":
            prints = _joined(prints, words, width, 1)
            width += 1
    return prints


def _joined(left: _Hashes, right: _Hashes, left_width: int, right_width: int) -> _Hashes:
    """Returns wider windows: each window of `left` joined with the one of `right` that begins where it ends."""
    step = pow(_STEP, right_width, 1 << 64)
    count = len(right) - left_width
    prints = left[:count] * np.uint64(step)
    prints += right[left_width:]
    return prints


def shingles(words: _Hashes, n: int = SHINGLE_WORDS) -> _Hashes:
    """Returns the distinct fingerprints of all windows of `n` words, in ascending order."""
    return np.unique(windows(words, n))


def select_mod(fingerprints: _Hashes, p: int) -> _Hashes:
    """Returns the fingerprints that are 0 mod p: about one in p, and the same ones in each text that has them."""
    if p < 1:
        raise ValueError(f"expected to select one in 1 or more, found {p}")
    selected: _Hashes = fingerprints[fingerprints % np.uint64(p) == 0]
    return selected
