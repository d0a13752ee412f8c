"""Texts that resemble each other by known amounts, for tests: words are replaced, and the truth is counted."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import combinations

WINDOW = 4  # words
VOCABULARY = 4_000


@dataclass(frozen=True, slots=True)
class Family:
    """Variants of one text; the first is the text itself."""

    texts: tuple[str, ...]

    def pairs(self) -> list[tuple[int, int, float]]:
        """Two places, and the Jaccard coefficient of the texts there."""
        sets = [shingle_set(text) for text in self.texts]
        return [(one, other, jaccard(sets[one], sets[other])) for one, other in combinations(range(len(sets)), 2)]


def shingle_set(text: str) -> set[tuple[str, ...]]:
    words = text.lower().replace(".", " ").split()
    return {tuple(words[place : place + WINDOW]) for place in range(len(words) - WINDOW + 1)}


def jaccard(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other)


def word(number: int) -> str:
    """Letters only, so that nothing is taken for a date or a number."""
    letters = "bcdfghklmnprstvz"
    return "".join(letters[(number >> shift) % 16] + "aeiou"[(number >> shift) % 5] for shift in (0, 4, 8))


def make_text(dice: random.Random, words: int) -> str:
    return _sentences([word(dice.randrange(VOCABULARY)) for _ in range(words)])


def _sentences(words: list[str]) -> str:
    return " ".join(text if place % 14 else f"{text}." for place, text in enumerate(words, 1))


def edited(dice: random.Random, text: str, similarity: float) -> str:
    """The text with words replaced here and there, so that it resembles it by about `similarity`: two sets of one size
    have the share 2s / (1 + s) in common, and a shingle is four words."""
    words = text.replace(".", "").split()
    count = round(len(words) * (1 - (2 * similarity / (1 + similarity)) ** (1 / WINDOW)))
    for place in dice.sample(range(len(words)), count):
        words[place] = word(VOCABULARY + dice.randrange(VOCABULARY))
    return _sentences(words)


def make_family(dice: random.Random, words: int, similarities: tuple[float, ...]) -> Family:
    base = make_text(dice, words)
    return Family((base, *(edited(dice, base, similarity) for similarity in similarities)))
