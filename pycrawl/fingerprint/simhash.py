"""Simhash: one number for a text, each bit of which its words have voted on. Texts with nearly the same words differ in
few bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Hashes = NDArray[np.uint64]

BITS = 64

_COUNTER_MOST = 255  # the highest number that a counter of one byte holds
_WORDS_AT_ONCE = 16 * _COUNTER_MOST  # words whose bits are spread out at once, into a quarter of a megabyte


def simhash(words: _Hashes, weights: ArrayLike | None = None, bits: int = BITS) -> int:
    """Returns the simhash: a bit is 1 where its sum of votes is above zero. Without words it is 0."""
    votes = simhash_vector(words, weights, bits) > 0
    return int.from_bytes(np.packbits(votes).tobytes(), "big") >> (-bits % 8)


def simhash_vector(words: _Hashes, weights: ArrayLike | None = None, bits: int = BITS) -> NDArray[np.int64]:
    """Returns the sum of votes for each bit, the highest bit first: a word adds its weight where its hash has a 1, and
    subtracts it where it has a 0. Without `weights` each occurrence of a word weighs 1."""
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
    """Returns for each bit, the highest first, in how many words it is 1.

    Each bit becomes a byte, and eight bytes are added at once as one number: 255 times, before a byte could overflow.
    """
    blocks = -(-len(words) // _COUNTER_MOST)
    filled = np.zeros(blocks * _COUNTER_MOST, ">u8")
    filled[: len(words)] = words
    bits = np.unpackbits(filled.view(np.uint8)).view(np.uint64).reshape(_COUNTER_MOST, blocks * 8)
    sums = np.add.reduce(bits, axis=0).view(np.uint8).reshape(blocks, BITS)
    ones: NDArray[np.int64] = np.add.reduce(sums, axis=0, dtype=np.int64)
    return ones


def distances(one: int | np.uint64, many: _Hashes) -> NDArray[np.uint8]:
    """Returns in how many bits `one` differs from each of `many`."""
    bits: NDArray[np.uint8] = np.bitwise_count(many ^ np.uint64(one))
    return bits
