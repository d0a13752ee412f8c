from __future__ import annotations

import random
import time

from hypothesis import given
from hypothesis import strategies as st

from pycrawl.collection.word_diff import Kind, Part, diff
from tests.near_texts import edited, make_text

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def distance(one: list[str], other: list[str]) -> int:
    """The fewest words to remove and add, by a table."""
    row = list(range(len(other) + 1))
    for word in one:
        above, row = row, [row[0] + 1]
        for place, wanted in enumerate(other):
            row.append(above[place] if word == wanted else 1 + min(above[place + 1], row[-1]))
    return row[-1]


@given(WORDS, WORDS)
def test_fewest_words(before: list[str], after: list[str]) -> None:
    parts = diff(" ".join(before), " ".join(after))
    assert " ".join(part.text for part in parts if part.kind != Kind.ADDED).split() == before
    assert " ".join(part.text for part in parts if part.kind != Kind.REMOVED).split() == after
    assert sum(len(part.text.split()) for part in parts if part.kind != Kind.SAME) == distance(before, after)
    assert all(part.text for part in parts)


def test_parts() -> None:
    assert diff("the quick brown fox", "the slow brown fox jumps") == [
        Part(Kind.SAME, "the"),
        Part(Kind.REMOVED, "quick"),
        Part(Kind.ADDED, "slow"),
        Part(Kind.SAME, "brown fox"),
        Part(Kind.ADDED, "jumps"),
    ]
    assert diff("", "") == []


def test_huge_texts_take_bounded_time() -> None:
    dice = random.Random(1)
    text = make_text(dice, 60_000)
    cases = [
        (text, make_text(dice, 60_000)),
        (text, edited(dice, text, 0.9)),
        ("a " * 60_000, "a b " * 30_000),
        ("a\n" * 60_000, "b\n" * 60_000),
        ("a " * 60_000, "a " * 59_000 + "b"),
    ]
    for before, after in cases:
        begun = time.process_time()
        parts = diff(before, after)
        assert time.process_time() - begun < 30
        assert " ".join(part.text for part in parts if part.kind != Kind.ADDED).split() == before.split()
