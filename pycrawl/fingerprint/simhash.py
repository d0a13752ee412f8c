"""Simhash: one number whose bits are votes of the words; texts with nearly the same words differ in few of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Hashes = NDArray[np.uint64]

BITS = 64

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
        ones = _ones(words[:_WORDS_AT_ONCE])
        for begin in range(_WORDS_AT_ONCE, len(words), _WORDS_AT_ONCE):
            ones += _ones(words[begin : begin + _WORDS_AT_ONCE])
        return 2 * ones[-bits:] - len(words)
    places = np.arange(bits - 1, -1, -1, dtype=np.uint64)
    is_one = (words[:, np.newaxis] >> places) & np.uint64(1)
    return np.asarray(weights, dtype=np.int64) @ (2 * is_one.astype(np.int64) - 1)


def _ones(words: _Hashes) -> NDArray[np.int64]:
    """In how many words is each bit set, the highest first.

    Each bit becomes a byte, and eight bytes at a time are added, 255 times before one of them could overflow.
    """
    blocks = -(-len(words) // _COUNTER_MOST)
    filled = np.zeros(blocks * _COUNTER_MOST, ">u8")
    filled[: len(words)] = words
    bits = np.unpackbits(filled.view(np.uint8)).view(np.uint64).reshape(_COUNTER_MOST, blocks * 8)
    sums = np.add.reduce(bits, axis=0).view(np.uint8).reshape(blocks, BITS)
    ones: NDArray[np.int64] = np.add.reduce(sums, axis=0, dtype=np.int64)
    return ones


def distances(one: int | np.uint64, many: _Hashes) -> NDArray[np.uint8]:
    """In how many bits `one` differs from each of `many`."""
    bits: NDArray[np.uint8] = np.bitwise_count(many ^ np.uint64(one))
    return bits
