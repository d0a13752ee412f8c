"""The document slope curve: how many tags a page has up to each of its tokens. Content is where it is flat.

A page is read as a string of bits, a one for each tag, a zero for each word. It comes here as runs: some tags, then
some words, again and again, `tags[k]` ones before `words[k]` zeros. Both methods take time in proportion to the runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

WINDOW = 60  # tokens
LOW = 0.8  # of the whole page's slope


def flattest(tags: Sequence[int], words: Sequence[int]) -> tuple[int, int]:
    """The runs from i up to, not including, j, such that tags outside plus words inside are the most.

    All tags plus, for the tokens inside, words less tags is the same sum; so a running maximum finds it. The tags of
    run i stand before its words and are outside.
    """
    best = gain = 0
    start = 0
    found = (0, 0)
    for run, (ones, zeros) in enumerate(zip(tags, words, strict=True)):
        if gain <= ones:  # what lies before brings no more than it costs to reach over these tags
            gain, start = 0, run
        else:
            gain -= ones
        gain += zeros
        if gain > best:
            best, found = gain, (start, run + 1)
    return found


def low_slopes(tags: Sequence[int], words: Sequence[int], window: int = WINDOW, low: float = LOW) -> list[bool]:
    """For each run, whether the curve is flat there: its slope in the window around the run's middle word is low.

    This finds content in several parts, with menus between them (Pinto et al., QuASM, 2002).
    """
    total_tags, total_words = sum(tags), sum(words)
    if not total_words:
        return [False] * len(tags)
    limit = low * total_tags / (total_tags + total_words)
    ends = list(accumulate(one + zero for one, zero in zip(tags, words, strict=True)))  # in tokens
    tags_before = [0, *accumulate(tags)]
    flat = []
    first = last = 0  # the runs in which the window begins and ends
    for run, zeros in enumerate(words):
        middle = ends[run] - zeros / 2
        while ends[first] < middle - window / 2:
            first += 1
        while last < len(ends) - 1 and ends[last] < middle + window / 2:
            last += 1
        low_end = _tags_up_to(middle - window / 2, first, ends, tags, words, tags_before)
        high_end = _tags_up_to(middle + window / 2, last, ends, tags, words, tags_before)
        flat.append(high_end - low_end <= limit * window)
    return flat


def _tags_up_to(
    token: float, run: int, ends: list[int], tags: Sequence[int], words: Sequence[int], before: list[int]
) -> float:
    """How many tags stand before this token, which is in this run (or before or behind them all)."""
    into_run = token - (ends[run] - words[run] - tags[run])
    return before[run] + min(max(into_run, 0), tags[run])
