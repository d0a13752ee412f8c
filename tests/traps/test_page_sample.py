"""Samples of texts, and how alike they are."""

from __future__ import annotations

import numpy as np
import pytest

from pycrawl.traps.novelty import are_alike
from pycrawl.traps.page_sample import SAMPLE_PAIRS, copy_keys, sample
from tests.e2e.trapweb import prose


def pairs_of(text: str, path: str = "/page") -> np.typing.NDArray[np.uint64]:
    return np.frombuffer(sample(text, "http://example.com" + path), np.uint64)


def test_numbers_dates_and_the_urls_own_words_do_not_count() -> None:
    may = pairs_of(f"May 2031, Monday 5: nothing to see. {prose('a', 40)}")
    june = pairs_of(f"June 1999, Tuesday 17: nothing to see. {prose('a', 40)}")
    assert may.tolist() == june.tolist()
    one = pairs_of(f"Sorry, qwertz cannot be found. {prose('a', 40)}", "/qwertz")
    other = pairs_of(f"Sorry, asdfg cannot be found. {prose('a', 40)}", "/asdfg")
    assert one.tolist() == other.tolist()


def test_texts_that_share_nearly_all_are_alike() -> None:
    text = prose("a", 300)
    assert are_alike(pairs_of(text), pairs_of(text + " and two words"))
    assert not are_alike(pairs_of(text), pairs_of(text + prose("b", 100)))
    assert not are_alike(pairs_of(text), pairs_of(""))
    assert are_alike(pairs_of(""), pairs_of(""))


@pytest.mark.parametrize("words", [3, 20, 300, 3_000])
def test_a_copy_keeps_its_keys(words: int) -> None:
    keys = [copy_keys(pairs_of(prose(name, words)).tolist(), 1) for name in ("a", "a", "b")]
    assert keys[0] == keys[1]
    assert not set(keys[0]) & set(keys[2])
    assert not set(keys[0]) & set(copy_keys(pairs_of(prose("a", words)).tolist(), 2)), "another host"


def test_a_few_words_change_few_keys() -> None:
    same = []
    for number in range(50):
        text = prose(number, 300)
        before, after = (copy_keys(pairs_of(one).tolist(), 1) for one in (text, f"{text} {prose(-number - 1, 2)}"))
        same.append(len(set(before) & set(after)))
    assert np.mean(np.array(same) >= 3) > 0.6


def test_long_texts_are_sampled_all_over() -> None:
    text = prose("a", 5_000)
    changed = text[: len(text) // 2 - 1_000] + prose("b", 400) + text[len(text) // 2 + 1_000 :]
    assert not are_alike(pairs_of(text), pairs_of(changed))


def test_a_sample_is_small() -> None:
    assert len(pairs_of(prose("a", 3_000))) == SAMPLE_PAIRS
