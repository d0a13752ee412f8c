from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.fingerprint.page import of_text, of_words
from pycrawl.fingerprint.shingle import shingles
from pycrawl.fingerprint.simhash import simhash
from pycrawl.fingerprint.sketch import resemblance, sketch, unpack_sketch
from pycrawl.fingerprint.words import split, text_digest, tokens

TEXTS = ["", "one", "Tropical fish include fish found in tropical environments", "日本語 und Umlaute: ÄÖÜ " * 50]


@pytest.mark.parametrize("text", TEXTS)
def test_everything_is_what_its_function_says(text: str) -> None:
    page = of_text(text, seed=7)
    words = tokens(text)
    assert page.text_digest == text_digest(text, 7)
    assert np.array_equal(unpack_sketch(page.sketch), sketch(shingles(words)))
    assert page.simhash == simhash(words)
    assert page.words == len(words)
    assert of_words(split(text), seed=7) == page


def test_survives_a_pipe_and_is_frozen() -> None:
    page = of_text(TEXTS[2])
    assert pickle.loads(pickle.dumps(page, pickle.HIGHEST_PROTOCOL)) == page
    assert not hasattr(page, "__dict__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        page.words = 0  # type: ignore[misc]  # this is what must not work


@given(st.text(max_size=200))
def test_equal_texts_agree(text: str) -> None:
    one, two = of_text(text), of_text(" " + text + "\n")
    assert one == two
    assert resemblance(unpack_sketch(one.sketch), unpack_sketch(two.sketch)) == 1.0
