"""Which fingerprints of a text go into the index of passages."""

from __future__ import annotations

import random

import numpy as np

from pycrawl.fingerprint.page_prints import MOST_PASSAGES, ONE_IN, packed
from pycrawl.fingerprint.passages import selected, unpack_passages
from pycrawl.fingerprint.shingle import shingles
from pycrawl.fingerprint.words import tokens
from tests.near_texts import make_text


def passages(text: str) -> set[int]:
    return set(unpack_passages(packed(text, 0)[1]).tolist())


def test_about_one_shingle_in_so_many_is_selected() -> None:
    text = make_text(random.Random(1), 1_600)
    chosen = passages(text)
    assert chosen < set(shingles(tokens(text)).tolist())
    assert all(one % ONE_IN == 0 for one in chosen)
    assert 0.7 < len(chosen) * ONE_IN / 1_600 < 1.3


def test_a_passage_brings_the_same_ones_into_every_text() -> None:
    dice = random.Random(2)
    passage = make_text(dice, 300)
    article = f"{make_text(dice, 400)} {passage} {make_text(dice, 400)}"
    assert len(passages(passage)) > 10
    assert passages(passage) < passages(article)


def test_a_long_text_keeps_the_smallest() -> None:
    text = make_text(random.Random(3), 40_000)
    everything = selected(tokens(text))
    assert len(everything) > 2 * MOST_PASSAGES
    assert np.array_equal(unpack_passages(packed(text, 0)[1]), everything[:MOST_PASSAGES])


def test_a_text_without_words_has_none() -> None:
    assert packed("", 0) == packed("… – !", 0) == (b"", b"")
