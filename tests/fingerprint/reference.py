"""The same things done slowly: what the arrays of `pycrawl.fingerprint` must agree with."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import ArrayLike, NDArray

Hashes = NDArray[np.uint64]

PRIME = np.uint64((1 << 31) - 1)  # products with it fit into 64 bits
PERMUTATIONS = 200


def jaccard(a: Hashes, b: Hashes) -> float:
    shared = len(np.intersect1d(a, b))
    return shared / (len(np.unique(a)) + len(np.unique(b)) - shared)


def permutations(source: np.random.Generator) -> tuple[Hashes, Hashes]:
    """The a and b of each linear permutation, one a row."""
    factors = source.integers(1, PRIME, (PERMUTATIONS, 1), dtype=np.uint64)
    return factors, source.integers(0, PRIME, (PERMUTATIONS, 1), dtype=np.uint64)


def signature(shingles: Hashes, permuted: tuple[Hashes, Hashes]) -> Hashes:
    """The smallest value of a·x + b mod 2^31 - 1 over the set, for each permutation."""
    a, b = permuted
    smallest: Hashes = ((a * (shingles % PRIME) + b) % PRIME).min(axis=1)
    return smallest


def agreement(one: ArrayLike, two: ArrayLike) -> float:
    return float(np.equal(one, two).mean())


def random_hashes(source: np.random.Generator, count: int) -> Hashes:
    return source.integers(0, 2**64, count, dtype=np.uint64)


def sets_with_jaccard(source: np.random.Generator, union: int, similarity: float) -> tuple[Hashes, Hashes]:
    """Two sets of fingerprints with `union` members in all, of which the share `similarity` is in both."""
    members = random_hashes(source, union)
    shared = round(similarity * union)
    middle = (shared + union) // 2
    return members[:middle], np.concatenate((members[:shared], members[middle:]))


def edited_texts(dice: random.Random, words: int, similarity: float) -> tuple[str, str]:
    """Two texts whose 4-word shingles have about this Jaccard coefficient: words here and there are replaced."""
    kept = 2 * similarity / (1 + similarity)  # of the shingles of one text
    replaced = 1 - kept**0.25
    one = [f"w{number}" for number in dice.choices(range(20_000), k=words)]
    two = [f"x{dice.randrange(20_000)}" if dice.random() < replaced else word for word in one]
    return " ".join(one), " ".join(two)
