"""Fingerprints of n words in a row, and the few of them that an inverted index keeps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Hashes = NDArray[np.uint64]

SHINGLE_WORDS = 4

_STEP = 0xD6E8FEB86659FD93  # odd and without pattern


def windows(words: _Hashes, n: int = SHINGLE_WORDS) -> _Hashes:
    """The fingerprint of each window of `n` words, in the order of the text; a text with fewer words is one window.

    A polynomial in hashes that are mixed already, so that it is as even in all its bits as they are. Windows of twice
    the width are made of two each, so that four words take two steps.
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
    """Of windows, each with the one that begins where it ends."""
    step = pow(_STEP, right_width, 1 << 64)
    count = len(right) - left_width
    prints = left[:count] * np.uint64(step)
    prints += right[left_width:]
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
