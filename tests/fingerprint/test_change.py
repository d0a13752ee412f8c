from __future__ import annotations

import random

import pytest

from pycrawl.fingerprint.change import change
from pycrawl.fingerprint.page_prints import packed
from pycrawl.model import Change
from tests.near_texts import edited, make_text

DICE = random.Random(3)
TEXT = make_text(DICE, 300)


@pytest.mark.parametrize(
    ("before", "after", "grade"),
    [
        (TEXT, TEXT, Change.COSMETIC),
        (TEXT, TEXT.upper().replace(" ", "\n "), Change.COSMETIC),
        (TEXT, TEXT + " another", Change.EDITED),
        (TEXT, edited(DICE, TEXT, 0.95), Change.EDITED),
        (TEXT, edited(DICE, TEXT, 0.5), Change.EDITED),
        (TEXT, TEXT[len(TEXT) // 3 :], Change.EDITED),
        (TEXT, f"{TEXT} {make_text(DICE, 200)}", Change.EDITED),
        (TEXT, edited(DICE, TEXT, 0.15), Change.REWRITTEN),
        (TEXT, make_text(DICE, 300), Change.REWRITTEN),
        ("two words", "two other", Change.REWRITTEN),
        ("", TEXT, Change.REWRITTEN),
        (TEXT, "", Change.REWRITTEN),
        ("", "", Change.REWRITTEN),
    ],
)
def test_grades(before: str, after: str, grade: Change) -> None:
    assert change(packed(before, 1)[0], packed(after, 1)[0]) is grade
    assert change(packed(after, 1)[0], packed(before, 1)[0]) is grade
