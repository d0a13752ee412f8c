from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.fingerprint.page_prints import SKETCH_SIZE
from pycrawl.fingerprint.shingle import shingles
from pycrawl.fingerprint.sketch import bands, resemblance, resemblances, sketch
from pycrawl.fingerprint.words import tokens
from tests.fingerprint.reference import (
    agreement,
    edited_texts,
    jaccard,
    permutations,
    random_hashes,
    sets_with_jaccard,
    signature,
)

# Rows: the permutations of seven rows; columns: four sets; the lectures' example of signatures.
MEMBERS = [{0, 1, 5, 6}, {2, 3, 4}, {0, 5, 6}, {1, 2, 3, 4}]
ORDERS = [[2, 3, 7, 6, 1, 5, 4], [4, 2, 1, 3, 6, 7, 5], [3, 4, 7, 2, 6, 1, 5]]
SIGNATURES = [[2, 1, 2, 1], [2, 1, 4, 1], [1, 2, 1, 2]]


def signatures() -> list[list[int]]:
    return [[min(order[row] for row in members) for members in MEMBERS] for order in ORDERS]


def test_signatures_of_the_small_matrix() -> None:
    assert signatures() == SIGNATURES


@pytest.mark.parametrize(
    ("one", "two", "true", "estimated"), [(0, 2, 0.75, 2 / 3), (1, 3, 0.75, 1.0), (0, 1, 0, 0), (2, 3, 0, 0)]
)
def test_agreement_in_the_small_matrix(one: int, two: int, true: float, estimated: float) -> None:
    columns = list(zip(*SIGNATURES, strict=True))
    assert agreement(columns[one], columns[two]) == pytest.approx(estimated)
    sets = [np.array(sorted(members), dtype=np.uint64) for members in MEMBERS]
    assert jaccard(sets[one], sets[two]) == true


@pytest.mark.parametrize("count", [1, 2, 5, 20, 100, 1_000])
def test_equal_sets_agree(count: int) -> None:
    prints = random_hashes(np.random.default_rng(count), count)
    one = sketch(prints)
    two = sketch(np.repeat(prints[::-1], 3))
    assert one.dtype == np.uint8
    assert one.shape == (SKETCH_SIZE,)
    assert np.array_equal(one, two)
    assert resemblance(one, two) == 1.0


def test_sets_without_members() -> None:
    nothing = sketch(tokens(""))
    assert resemblance(nothing, nothing) == 1.0
    for text in ("one", "one two three four five", " ".join(map(str, range(2_000)))):
        something = sketch(shingles(tokens(text)))
        assert resemblance(nothing, something) == resemblance(something, nothing) == 0.0


def test_other_short_texts_do_not_resemble() -> None:
    one, two = sketch(shingles(tokens("page not found"))), sketch(shingles(tokens("access denied")))
    assert resemblance(one, two) == 0.0
    assert not (bands(one) == bands(two)).any()


def test_short_texts_are_told_apart_by_what_they_borrow() -> None:
    """Each fills one bin, with 7 bits; among so many, some 500 pairs have the same bin and bits. What the other bins
    borrow has 15 bits of it, which two or three of these pairs have in common."""
    texts = np.array([sketch(tokens(str(number))) for number in range(5_000)])
    filled = np.argwhere(texts < 0x80)
    keys = filled[:, 1] * 128 + texts[filled[:, 0], filled[:, 1]]
    order = keys.argsort(kind="stable")
    same = np.flatnonzero(np.diff(keys[order]) == 0)
    assert len(same) > 300
    alike = [at for at in same.tolist() if resemblance(texts[order[at]], texts[order[at + 1]])]
    assert len(alike) < 8


def test_sketches_of_two_sizes_are_refused() -> None:
    prints = tokens("a b c")
    with pytest.raises(ValueError, match="of one size, found 200 and 100"):
        resemblance(sketch(prints), sketch(prints, 100))
    with pytest.raises(ValueError, match="at most 200 rows"):
        bands(sketch(prints), 21, 10)


def test_one_with_many() -> None:
    source = np.random.default_rng(3)
    many = np.array([sketch(random_hashes(source, count)) for count in (1, 10, 100, 1_000)])
    for one in many:
        assert resemblances(one, many).tolist() == [resemblance(one, other) for other in many]
    assert bands(many).tolist() == [bands(one).tolist() for one in many]


@given(st.lists(st.integers(0, 500), max_size=60), st.lists(st.integers(0, 500), max_size=60))
def test_symmetric_and_within_bounds(one: list[int], two: list[int]) -> None:
    a, b = (sketch(tokens(" ".join(map(str, numbers)))) for numbers in (one, two))
    assert resemblance(a, b) == resemblance(b, a)
    assert 0.0 <= resemblance(a, b) <= 1.0
    assert resemblance(a, a) == 1.0


@pytest.mark.parametrize("words", [100, 200, 500, 1_000, 2_000, 5_000])
def test_error_over_a_range_of_similarities(words: int) -> None:
    dice = random.Random(words)
    errors = []
    for similarity in (0.05, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95):
        for _ in range(12):
            one, two = (shingles(tokens(text)) for text in edited_texts(dice, words, similarity))
            errors.append(resemblance(sketch(one), sketch(two)) - jaccard(one, two))
    assert np.abs(errors).mean() <= 0.03
    assert abs(np.mean(errors)) <= 0.01  # to neither side


@pytest.mark.parametrize("words", [100, 400])
def test_no_worse_than_200_permutations(words: int) -> None:
    dice = random.Random(words)
    permuted = permutations(np.random.default_rng(words))
    ours, reference = [], []
    for similarity in (0.3, 0.5, 0.7, 0.9) * 60:
        one, two = (shingles(tokens(text)) for text in edited_texts(dice, words, similarity))
        true = jaccard(one, two)
        ours.append(resemblance(sketch(one), sketch(two)) - true)
        reference.append(agreement(signature(one, permuted), signature(two, permuted)) - true)
    assert np.square(ours).mean() <= 1.1 * np.square(reference).mean()
    assert np.abs(np.subtract(ours, reference)).mean() <= 0.05


@pytest.mark.parametrize("union", [20, 60, 200, 1_000])
def test_bands_follow_their_curve(union: int) -> None:
    """Also where most bins are borrowed: 20 shingles fill 20 of 200."""
    source = np.random.default_rng(union)

    def candidates(similarity: float, pairs: int) -> float:
        sketches = [[sketch(one) for one in sets_with_jaccard(source, union, similarity)] for _ in range(pairs)]
        keys = bands(np.array(sketches))
        return float((keys[:, 0] == keys[:, 1]).any(axis=-1).mean())

    assert candidates(0.9, 400) >= 0.98  # 0.995 in the mean
    assert candidates(0.6, 200) <= 0.1  # 0.034
    assert candidates(0.3, 200) == 0.0


def test_stored_values_stay_what_they_are() -> None:
    """Sketches and the keys of bands are in databases: a change here needs a migration there."""
    values = sketch(shingles(tokens("a rose is a rose is a rose")))
    assert values[:4].tolist() == [128, 137, 254, 131]
    assert bands(values)[:2].tolist() == [5997881757852535996, 10139330208358507442]
