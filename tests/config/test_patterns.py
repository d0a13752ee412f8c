from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.config.patterns import check, searcher

MOST_SECONDS = 20.0  # of CPU time; `re` would take years

ATOMS = st.sampled_from(["a", "b", "/", ".", r"\.", r"\d", "[ab]", "[^/]", r"\w", r"\b", "^", "$", r"\Z", "(?i:A)"])
REPEATS = st.sampled_from(["", "", "*", "+", "?", "{2}", "{,2}", "{1,}", "*?"])
PATTERNS = st.recursive(
    st.tuples(ATOMS, REPEATS).map(lambda parts: f"(?:{parts[0]}){parts[1]}"),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(inner, inner).map(lambda two: f"({two[0]}|{two[1]})"),
    ),
    max_leaves=6,
)


@given(st.lists(PATTERNS, min_size=1, max_size=3), st.text("abA1/.?", max_size=12))
def test_patterns_mean_what_they_mean_in_python(patterns: list[str], rest: str) -> None:
    for pattern in patterns:
        check(pattern)
    url = f"http://h/{rest}"
    assert searcher(patterns)(url) is any(re.search(pattern, url) for pattern in patterns)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)+$", "(.*a){20}$", "(a*)*b", r"^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    check(pattern)
    begun = time.process_time()
    assert not searcher([pattern])("http://h/" + "a" * 60_000 + "!")
    assert time.process_time() - begun < MOST_SECONDS


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(", "is not a regular expression"),
        (r"(?!x)y", "look-ahead"),
        (r"(?<=x)y", "look-behind"),
        (r"(a)\1", "references back"),
        ("a{5000}", "repeats"),
        ("[a-z]{1,900}" * 20, "too large"),
        ("a" * 10_001, "at most 10,000 characters"),
        ("(" * 4_000 + "a" + ")" * 4_000, "'((("),
    ],
)
def test_what_cannot_be_used_is_said(pattern: str, said: str) -> None:
    with pytest.raises(ValueError) as raised:
        check(pattern)
    assert said in str(raised.value)


def test_many_patterns() -> None:
    patterns = [f"/section-{number}/" for number in range(1_000)]
    is_found = searcher(patterns)
    assert is_found("http://h/section-999/x")
    assert not is_found("http://h/section-1000/x")


def test_a_pattern_with_very_many_states_is_searched_for_rightly() -> None:
    """2¹⁵ states do not fit into the memory that RE2 gives itself: it has to forget some on the way."""
    is_found = searcher(["(a|b)*a(a|b){15}c"])
    dice = random.Random(1)
    for _ in range(50):
        text = "".join(dice.choice("ab") for _ in range(2_000))
        assert not is_found(text)
        assert is_found(f"{text}c") == (text[-16] == "a")
