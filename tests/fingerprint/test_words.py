from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.fingerprint.words import text_digest, tokens

LETTERS = "abcXYZ019éÉßЖжΩω"
BETWEEN = " \n\t.,-_'’“\0\xa0…€"


def agree(one: str, two: str) -> bool:
    return np.array_equal(tokens(one), tokens(two)) and text_digest(one) == text_digest(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Tropical fish", "tropical FISH"),
        ("tropical fish", "  <tropical>\n\t fish.  "),
        ("a_b", "a b"),
        ("don't", "don’t"),
        ("plain words", "“plain” – words…"),
        ("ÄRGER im Straßenverkehr", "ärger IM straßenverkehr"),
        ("ΟΔΟΣ", "οδος"),
        ("МОСКВА", "москва"),
        ("東京", "東 京"),
        ("東京tower日本", "東 京 TOWER 日 本"),
        ("ภาษา", "ภ า ษ า"),
        ("𠀋𠀋 word", "𠀋 𠀋word"),
        ("", " .\n"),
        ("", "…"),
    ],
)
def test_the_same_words(one: str, two: str) -> None:
    assert agree(one, two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("tropical fish", "fish tropical"),
        ("tropical fish", "tropicalfish"),
        ("ab c", "a bc"),
        ("fish", "fish fish"),
        ("fish", "fis"),
        ("eightlet", "eightlets"),
        ("naïve", "naive"),
        ("word", ""),
        ("हिन्दी", "हनद"),
        ("𠀋", "𠀌"),
        ("\ud800", "\udfff"),
        ("x" * 100, "x" * 101),
        ("x" * 33, "x" * 32 + "y"),
        ("x" * 16 + " y", "x" * 15 + " xy"),
    ],
)
def test_other_words(one: str, two: str) -> None:
    assert not agree(one, two)
    assert text_digest(one) != text_digest(two)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("a", 1),
        (" a b ", 2),
        ("x1 2y 3.14", 4),
        ("हिन्दी भाषा", 2),
        ("한국어 텍스트", 2),
        ("日本語テキスト", 7),
        ("😀😀", 2),
        ("\uffff", 0),
        ("lone \ud800 surrogate", 3),
    ],
)
def test_how_many_words(text: str, count: int) -> None:
    assert len(tokens(text)) == count


def test_a_seed_changes_the_digest() -> None:
    assert text_digest("fish", seed=1) != text_digest("fish", seed=2)
    assert len(text_digest("fish")) == 16


def test_stored_values_stay_what_they_are() -> None:
    """Digests and hashes are in databases: a change here needs a migration there."""
    assert tokens("Tropical fish environments").tolist() == [
        11296653491867701462,
        3356782548646674565,
        15544207382142930099,
    ]
    assert text_digest("Tropical fish").hex() == "d3e70e3842042fea4c7c95a2ddd4db2f"


@pytest.mark.parametrize("length", [1, 8, 9, 15, 16, 17, 24, 32, 33, 50])
def test_every_letter_of_a_long_word_counts(length: int) -> None:
    words = ["x" * length, *("x" * place + "y" + "x" * (length - place - 1) for place in range(length))]
    assert len(set(tokens(" ".join(words)).tolist())) == length + 1
    assert len({text_digest(word) for word in words}) == length + 1
    assert text_digest("x" * length) != text_digest("x" * (length + 1))


def split_slowly(text: str) -> list[str]:
    return re.findall(f"[{LETTERS.lower()}]+", text.lower())


@given(st.text(LETTERS + BETWEEN, max_size=300))
def test_splits_as_a_regular_expression_does(text: str) -> None:
    words = split_slowly(text)
    hashes = tokens(text).tolist()
    assert len(hashes) == len(words)
    assert hashes == [int(tokens(word)[0]) for word in words]
    assert len(set(hashes)) == len(set(words))


@given(st.text(max_size=100))
def test_takes_any_text(text: str) -> None:
    assert np.array_equal(tokens(text + " "), tokens(" " + text))
    assert len(text_digest(text)) == 16


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=80), max_size=30))
def test_words_of_any_length(words: list[str]) -> None:
    hashes = tokens(" ".join(words)).tolist()
    assert len(set(hashes)) == len(set(words))
    assert hashes == [int(tokens(word)[0]) for word in words]


@given(st.text("ab \u2019", max_size=40), st.text("ab \u2019", max_size=40))
def test_digest_and_words_say_the_same(one: str, two: str) -> None:
    assert (text_digest(one) == text_digest(two)) == np.array_equal(tokens(one), tokens(two))
