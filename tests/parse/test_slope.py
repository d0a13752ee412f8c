from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from resiliparse.parse.html import HTMLTree

from pycrawl.parse.content import main_content
from pycrawl.parse.slope import flattest, low_slopes
from pycrawl.parse.text import outline

Runs = list[tuple[int, int]]  # tags and words


def split(runs: Runs) -> tuple[list[int], list[int]]:
    return [tags for tags, _ in runs], [words for _, words in runs]


def bits(runs: Runs) -> list[int]:
    return [bit for tags, words in runs for bit in [1] * tags + [0] * words]


def objective(tokens: list[int], start: int, end: int) -> int:
    """Tags outside plus words inside, as the lectures state it."""
    return sum(tokens[:start]) + sum(1 - bit for bit in tokens[start:end]) + sum(tokens[end:])


def chosen(runs: Runs) -> int:
    """The objective for what `flattest` chooses: from the first word of its first run to the last word of its last."""
    first, behind = flattest(*split(runs))
    start = len(bits(runs[:first])) + (runs[first][0] if first < behind else 0)
    return objective(bits(runs), start, max(start, len(bits(runs[:behind]))))


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([], (0, 0)),
        ([(5, 0), (3, 0)], (0, 0)),
        ([(0, 1)], (0, 1)),
        ([(9, 1), (2, 50), (2, 40), (9, 1)], (1, 3)),
        ([(2, 1), (4, 30), (20, 25), (3, 2)], (1, 3)),  # what comes behind the tags is worth more than they cost
        ([(2, 1), (4, 30), (30, 25), (3, 2)], (1, 2)),
        ([(1, 5), (5, 9)], (1, 2)),  # of equals, the shorter
    ],
)
def test_flattest(runs: Runs, expected: tuple[int, int]) -> None:
    assert flattest(*split(runs)) == expected


@settings(deadline=None)  # the machine may be busy
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=8))
def test_no_other_choice_of_tokens_is_better(runs: Runs) -> None:
    tokens = bits(runs)
    ends = range(len(tokens) + 1)
    assert chosen(runs) == max(objective(tokens, start, end) for start in ends for end in ends if start <= end)


@settings(deadline=None)  # the machine may be busy
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12),
    st.integers(1, 12),
    st.sampled_from([0.25, 0.5, 1.0]),
)
def test_low_slopes_are_those_that_counting_finds(runs: Runs, half: int, low: float) -> None:
    tokens = bits(runs)
    flat = low_slopes(*split(runs), window=2 * half, low=low)
    assert len(flat) == len(runs)
    if 0 not in tokens:
        assert not any(flat)
        return
    end = 0
    for (tags, words), is_flat in zip(runs, flat, strict=True):
        end += tags + words
        if words % 2 == 0:  # else the window begins in the middle of a token
            middle = end - words // 2
            window = tokens[max(0, middle - half) : middle + half]
            assert is_flat == (sum(window) <= low * sum(tokens) / len(tokens) * 2 * half)


def test_low_slopes_leave_out_a_menu_between_texts() -> None:
    runs = [(2, 200), *[(2, 1)] * 60, (2, 200), *[(2, 1)] * 20]
    assert low_slopes(*split(runs)) == [True, *[False] * 60, True, *[False] * 20]


def test_time_grows_with_the_runs_only() -> None:
    tags, words = [1, 3] * 100_000, [5, 1] * 100_000
    started = time.process_time()
    flattest(tags, words)
    low_slopes(tags, words)
    assert time.process_time() - started < 3


MENU = (
    "<ul>"
    + "".join(f"<li><a href=/{name}>{name}</a></li>" for name in "home news sport weather about".split())
    + "</ul>"
)
TEXT = " ".join(f"word{number}" for number in range(150))


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (f"{MENU}<p>{TEXT}</p>{MENU}", TEXT),
        (f"<div>{MENU}</div><p>{TEXT}</p><p><b>{TEXT}</b></p>{MENU}{MENU}", f"{TEXT}\n{TEXT}"),
        (f"<script>{TEXT}</script>{MENU}<p>{TEXT}", TEXT),
        (TEXT, TEXT),
        ("", ""),
        ("<br>" * 100, ""),
    ],
)
def test_pages(markup: str, expected: str) -> None:
    assert main_content(outline(HTMLTree.parse(markup)), "slope") == expected
