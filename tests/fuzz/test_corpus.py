"""Every case that is kept, a seed or once a finding, holds what its target promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.case import run
from tests.fuzz.mutation import Mutator
from tests.fuzz.targets import TARGETS
from tests.fuzz.worker import corpus_of

CASES_BY_CHANCE = 60  # of each target
PATIENCE = 20.0  # seconds of CPU for a case: a busy machine must not fail a test that is about what is right


@pytest.mark.parametrize("name", TARGETS)
def test_kept_cases(name: str) -> None:
    paths = corpus_of(name)
    assert paths, f"tests/fuzz/corpus/{name} has no seeds"
    for path in paths:
        run_named(name, path.read_bytes(), str(path))


@pytest.mark.parametrize("name", TARGETS)
def test_some_new_cases(name: str) -> None:
    """The same ones in each run: `make fuzz` goes further."""
    target = TARGETS[name]
    seeds = [path.read_bytes() for path in corpus_of(name)]
    cases = Mutator(1, seeds, target.words, target.max_bytes).cases()
    for number in range(CASES_BY_CHANCE):
        run_named(name, next(cases), f"case {number}")


def run_named(name: str, data: bytes, words: str) -> None:
    try:
        run(TARGETS[name], data, PATIENCE)
    except BaseException as error:
        error.add_note(f"{name}: {words}: {data[:200]!r}")
        raise


def test_every_folder_belongs_to_a_target() -> None:
    folders = {path.name for kind in ("corpus", "found") for path in (Path(__file__).parent / kind).glob("*")}
    assert folders <= TARGETS.keys()
