from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.fingerprint.simhash import distances, simhash, simhash_vector
from pycrawl.fingerprint.words import tokens

# The lectures' words of the tropical fish with their weights and 8-bit hashes.
TROPICAL_FISH = {
    "tropical": (2, 0b01100001),
    "fish": (2, 0b10101011),
    "include": (1, 0b11100110),
    "found": (1, 0b00011110),
    "environments": (1, 0b00101101),
    "around": (1, 0b10001011),
    "world": (1, 0b00101010),
    "including": (1, 0b11000000),
    "both": (1, 0b10101110),
    "freshwater": (1, 0b00111111),
    "salt": (1, 0b10110101),
    "water": (1, 0b00100101),
    "species": (1, 0b11101110),
}
VECTOR = [1, -5, 9, -9, 3, 1, 3, 3]
BITS = 0b10101111


def test_tropical_fish() -> None:
    weights, hashes = zip(*TROPICAL_FISH.values(), strict=True)
    words = np.array(hashes, dtype=np.uint64)
    assert simhash_vector(words, weights, bits=8).tolist() == VECTOR
    assert simhash(words, weights, bits=8) == BITS


def test_tropical_fish_with_a_word_for_each_occurrence() -> None:
    hashes = [value for weight, value in TROPICAL_FISH.values() for _ in range(weight)]
    words = np.array(hashes, dtype=np.uint64)
    assert simhash_vector(words, bits=8).tolist() == VECTOR
    assert simhash(words, bits=8) == BITS


def test_bits_that_fill_no_byte() -> None:
    assert simhash(np.array([0b1_0000_0001], dtype=np.uint64), bits=9) == 0b1_0000_0001
    assert simhash(np.array([0b101], dtype=np.uint64), [3], bits=3) == 0b101
    for bits in (0, 65):
        with pytest.raises(ValueError, match="1 to 64 bits"):
            simhash(tokens("a"), bits=bits)


def test_few_words() -> None:
    assert simhash(tokens("")) == 0
    assert simhash(tokens("word")) == int(tokens("word")[0])
    assert simhash_vector(tokens("")).tolist() == [0] * 64


@given(st.lists(st.integers(0, 2**64 - 1), max_size=600))
def test_counts_as_bit_by_bit(numbers: list[int]) -> None:
    words = np.array(numbers, dtype=np.uint64)
    expected = [sum(1 if number >> bit & 1 else -1 for number in numbers) for bit in range(63, -1, -1)]
    assert simhash_vector(words).tolist() == expected
    assert simhash_vector(words, np.ones(len(words))).tolist() == expected
    assert simhash(words) == int("".join("01"[votes > 0] for votes in expected), 2)


def test_more_words_than_are_counted_at_once() -> None:
    numbers = np.random.default_rng(1).integers(0, 2**64, 20_000, dtype=np.uint64)
    assert simhash_vector(numbers).tolist() == simhash_vector(numbers, np.ones(len(numbers))).tolist()


@given(st.lists(st.sampled_from("abcdefgh"), max_size=60), st.randoms(use_true_random=False))
def test_the_order_of_words_does_not_matter(words: list[str], dice: random.Random) -> None:
    before = simhash(tokens(" ".join(words)))
    dice.shuffle(words)
    assert simhash(tokens(" ".join(words))) == before


def test_near_texts_are_near() -> None:
    dice = random.Random(8)
    words = [f"w{dice.randrange(2_000)}" for _ in range(2_000)]
    one = simhash(tokens(" ".join(words)))
    for place in dice.sample(range(2_000), 10):
        words[place] = "changed"
    near = simhash(tokens(" ".join(words)))
    other = simhash(tokens(" ".join(f"v{dice.randrange(2_000)}" for _ in range(2_000))))
    to_itself, to_near, to_other = distances(one, np.array([one, near, other], dtype=np.uint64)).tolist()
    assert to_itself == 0
    assert to_near <= 6
    assert to_other >= 16
