"""Articles with planted pairs: the bands find the pairs, and next to nothing else."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from pycrawl.fingerprint.page import of_text
from pycrawl.fingerprint.shingle import shingles
from pycrawl.fingerprint.simhash_index import SimhashIndex
from pycrawl.fingerprint.sketch import bands, resemblance, unpack_sketch
from pycrawl.fingerprint.words import tokens
from tests.fingerprint.reference import jaccard

ARTICLES = Path(__file__).parents[3] / "shared/data/near-duplicates"
THRESHOLD = 0.9

Pair = tuple[str, str]


@pytest.fixture(params=[100, 1_000])
def articles(request: pytest.FixtureRequest) -> tuple[dict[str, str], set[Pair]]:
    """The texts by name, and the planted pairs."""
    path = ARTICLES / f"articles_{request.param}.train"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    lines = path.read_text("utf-8").splitlines()
    texts = {name: text for name, _, text in (line.partition(" ") for line in lines)}
    pairs = [line.split() for line in path.with_suffix(".truth").read_text("utf-8").splitlines()]
    return texts, {ordered(one, two) for one, two in pairs}


def ordered(one: str, two: str) -> Pair:
    return (one, two) if one < two else (two, one)


def test_bands_and_verification_find_the_planted_pairs(articles: tuple[dict[str, str], set[Pair]]) -> None:
    texts, planted = articles
    sketches = {name: unpack_sketch(of_text(text).sketch) for name, text in texts.items()}
    buckets: defaultdict[int, list[str]] = defaultdict(list)
    for name, values in sketches.items():
        for key in bands(values).tolist():
            buckets[key].append(name)
    candidates = {ordered(*pair) for names in buckets.values() for pair in combinations(names, 2)}
    assert len(candidates) <= 1.2 * len(planted)
    found = {pair for pair in candidates if resemblance(sketches[pair[0]], sketches[pair[1]]) >= THRESHOLD}
    assert found == planted
    for one, two in found:
        true = jaccard(shingles(tokens(texts[one])), shingles(tokens(texts[two])))
        assert resemblance(sketches[one], sketches[two]) == pytest.approx(true, abs=0.05)


def test_the_simhash_index_finds_them_too(articles: tuple[dict[str, str], set[Pair]]) -> None:
    texts, planted = articles
    names = list(texts)
    simhashes = np.array([of_text(text).simhash for text in texts.values()], dtype=np.uint64)
    index = SimhashIndex()
    index.extend(np.arange(len(names)), simhashes)
    places, ids = index.find_many(simhashes)
    found = {ordered(names[one], names[two]) for one, two in zip(places, ids, strict=True) if one < two}
    assert planted <= found
    assert len(found) <= 0.001 * len(names) ** 2  # words say less than their order: simhash only proposes
