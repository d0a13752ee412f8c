from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.fingerprint.shingle import select_mod, shingles, windows
from pycrawl.fingerprint.words import tokens

TROPICAL_FISH = (
    "Tropical fish include fish found in tropical environments around the world, including both freshwater and salt"
    " water species."
)
# The lectures' hash values of its 3-grams, in the order of the text.
TROPICAL_HASHES = [938, 664, 463, 822, 492, 798, 78, 969, 143, 236, 913, 908, 694, 553, 870, 779]


def window_of(text: str) -> int:
    words = tokens(text)
    return int(windows(words, len(words))[0])


def test_tropical_fish_in_3_grams() -> None:
    prints = windows(tokens(TROPICAL_FISH), 3).tolist()
    assert len(prints) == len(TROPICAL_HASHES)
    assert prints[0] == window_of("tropical fish include")
    assert prints[1] == window_of("fish include fish")
    assert prints[10] == window_of("world including both")
    assert prints[-1] == window_of("salt water species")


def test_tropical_fish_0_mod_4() -> None:
    assert select_mod(np.array(TROPICAL_HASHES, dtype=np.uint64), 4).tolist() == [664, 492, 236, 908]


def test_a_rose_is_a_rose_is_a_rose() -> None:
    words = tokens("a rose is a rose is a rose")
    expected = {window_of(text) for text in ("a rose is a", "rose is a rose", "is a rose is")}
    assert len(windows(words)) == 5
    assert shingles(words).tolist() == sorted(expected)
    assert len(expected) == 3


@pytest.mark.parametrize(("text", "count"), [("", 0), ("one", 1), ("one two three", 1), ("one two three four", 1)])
def test_a_short_text_is_one_window(text: str, count: int) -> None:
    assert len(windows(tokens(text))) == count


def test_windows_of_one_text_have_one_length() -> None:
    assert window_of("one two three") != window_of("one two three four")
    with pytest.raises(ValueError, match="at least one word"):
        windows(tokens("one"), 0)


def test_select_needs_a_divisor() -> None:
    with pytest.raises(ValueError, match="1 or more"):
        select_mod(tokens("one"), 0)


def test_one_in_p_is_selected() -> None:
    prints = shingles(tokens(" ".join(map(str, range(20_000)))))
    for p in (4, 10, 25):
        assert len(select_mod(prints, p)) == pytest.approx(len(prints) / p, rel=0.15)


@given(st.lists(st.sampled_from("abcd"), min_size=5, max_size=40))
def test_the_order_of_words_matters(words: list[str]) -> None:
    def windows_slowly(of: list[str]) -> set[tuple[str, ...]]:
        return {tuple(of[place : place + 4]) for place in range(len(of) - 3)}

    turned = words[::-1]
    same = windows_slowly(words) == windows_slowly(turned)
    assert np.array_equal(shingles(tokens(" ".join(words))), shingles(tokens(" ".join(turned)))) == same
    assert len(shingles(tokens(" ".join(words)))) == len(windows_slowly(words))
