"""Simhash: one number whose bits are votes of the words; texts with nearly the same words differ in few of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Hashes = NDArray[np.uint64]

BITS = 64

_SHIFTS = np.arange(8, dtype=np.uint64)[:, np.newaxis]
_LOWEST_BITS = np.uint64(0x0101_0101_0101_0101)
_COUNTER_MOST = 255  # what a counter of one byte holds
_WORDS_AT_ONCE = 16 * _COUNTER_MOST  # a quarter of a megabyte of counters


def simhash(words: _Hashes, weights: ArrayLike | None = None, bits: int = BITS) -> int:
    """A bit is set where the sum of votes is above zero; no words: 0."""
    votes = simhash_vector(words, weights, bits) > 0
    return int.from_bytes(np.packbits(votes).tobytes(), "big") >> (-bits % 8)


def simhash_vector(words: _Hashes, weights: ArrayLike | None = None, bits: int = BITS) -> NDArray[np.int64]:
    """The sums of votes, the highest bit first: a word adds its weight where its hash has a 1, and takes it away where
    it has a 0. Without weights each occurrence weighs 1, so that a word weighs as much as it is frequent."""
    if not 0 < bits <= BITS:
        raise ValueError(f"expected 1 to {BITS} bits, found {bits}")
    if weights is None:
        return 2 * _ones(words)[-bits:] - len(words)
    places = np.arange(bits - 1, -1, -1, dtype=np.uint64)
    is_one = (words[:, np.newaxis] >> places) & np.uint64(1)
    return np.asarray(weights, dtype=np.int64) @ (2 * is_one.astype(np.int64) - 1)


def _ones(words: _Hashes) -> NDArray[np.int64]:
    """In how many words is each bit set, the highest first.

    Shifted by j and masked, a word is eight counters of one byte, for the bits j, j + 8 …; 255 words are added before
    one could overflow.
    """
    counted = np.zeros((8, 8), dtype=np.int64)
    for begin in range(0, len(words), _WORDS_AT_ONCE):
        counters = words[begin : begin + _WORDS_AT_ONCE] >> _SHIFTS
        counters &= _LOWEST_BITS
        sums = np.add.reduceat(counters, np.arange(0, counters.shape[1], _COUNTER_MOST), axis=1)
        counted += sums.astype("<u8", copy=False).view(np.uint8).reshape(8, -1, 8).sum(axis=1, dtype=np.int64)
    ones: NDArray[np.int64] = counted.T.ravel()[::-1]
    return ones


def distances(one: int | np.uint64, many: _Hashes) -> NDArray[np.uint8]:
    """In how many bits `one` differs from each of `many`."""
    bits: NDArray[np.uint8] = np.bitwise_count(many ^ np.uint64(one))
    return bits
