"""docs/questions.md: ten questions of somebody new, each answered by one command, as it really answers."""

from __future__ import annotations

import re

import pytest

from tests.cli.questions import QUESTIONS, answers

TEN = 10

# What is different each time: times, durations, rates, sizes and processes.
_CHANGING = re.compile(
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[+-]\d\d:\d\d)?|\d+(?:\.\d+)? (?:s|min|h|B|KB|MB)\b|[\d,.]+/s|process \d+"
)


def masked(text: str) -> str:
    return _CHANGING.sub("…", text)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[re.Match[str], str]]:
    return list(answers(QUESTIONS.read_text("utf-8"), tmp_path_factory.mktemp("questions") / "crawl"))


def test_ten_questions_have_one_answer_each(outputs: list[tuple[re.Match[str], str]]) -> None:
    text = QUESTIONS.read_text("utf-8")
    assert len(re.findall("^## ", text, re.MULTILINE)) == len(outputs) == TEN


@pytest.mark.parametrize("number", range(TEN))
def test_an_answer_is_as_it_is_written(outputs: list[tuple[re.Match[str], str]], number: int) -> None:
    block, output = outputs[number]
    assert masked(output) == masked(block["output"]), "run `python -m tests.cli.questions`"


def test_the_mask_hides_what_changes_only() -> None:
    assert masked("not before 2026-11-18 02:41:06+01:00, 1.5 s, 12 pages") == "not before …, …, 12 pages"
