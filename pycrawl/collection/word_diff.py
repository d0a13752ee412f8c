"""The difference of two texts, word by word, in bounded time however long and however different they are.

Myers' greedy algorithm finds the fewest words to remove and add. It is given up where there are too many of them; then
whole lines are compared in the same way, and where these differ too much as well, all between the first and the last
difference counts as replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

_MOST_EDITS = 1_000  # words removed or added; memory and time grow with its square
_MOST_STEPS = 5_000_000  # comparisons of two words: some seconds


class Kind(StrEnum):
    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


class Part(NamedTuple):
    kind: Kind
    text: str  # words with one space between them, or lines


def diff(before: str, after: str) -> list[Part]:
    """Returns the parts of both texts in their order: what is in both, what was removed, what was added."""
    words = _edits(before.split(), after.split())
    if words is not None:
        return _joined(words, " ")
    lines = _edits(before.splitlines(), after.splitlines())
    if lines is not None:
        return _joined(lines, "\n")
    return _joined(_replaced(before.split(), after.split()), " ")


_Edit = tuple[Kind, str]


def _joined(edits: list[_Edit], between: str) -> list[Part]:
    return [Part(kind, between.join(item for _, item in run)) for kind, run in groupby(edits, key=lambda edit: edit[0])]


def _replaced(before: Sequence[str], after: Sequence[str]) -> list[_Edit]:
    start, end = _common_ends(before, after)
    middle = [(Kind.REMOVED, item) for item in before[start : len(before) - end]]
    middle += [(Kind.ADDED, item) for item in after[start : len(after) - end]]
    return _around(before, start, end, middle)


def _edits(before: Sequence[str], after: Sequence[str]) -> list[_Edit] | None:
    """Returns all items in their order, each with what became of it; None if the two differ too much."""
    start, end = _common_ends(before, after)
    middle = _shortest(before[start : len(before) - end], after[start : len(after) - end])
    return None if middle is None else _around(before, start, end, middle)


def _around(before: Sequence[str], start: int, end: int, middle: list[_Edit]) -> list[_Edit]:
    first = [(Kind.SAME, item) for item in before[:start]]
    return first + middle + [(Kind.SAME, item) for item in before[len(before) - end :]]


def _common_ends(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Returns how many items the two have in common at their start, and at their end behind that."""
    most = min(len(before), len(after))
    start = 0
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return start, end


def _shortest(before: Sequence[str], after: Sequence[str]) -> list[_Edit] | None:
    """Myers, "An O(ND) Difference Algorithm and Its Variations" (1986). Returns None where the bounds are reached.

    `reached[k]` is how far in `before` the edits so far lead on diagonal k (place in `before` less place in `after`).
    """
    reached = {1: 0}
    trace: list[dict[int, int]] = []
    steps = 0
    for count in range(min(len(before) + len(after), _MOST_EDITS) + 1):
        trace.append(reached.copy())
        for k in range(-count, count + 1, 2):
            down = k == -count or (k != count and reached[k - 1] < reached[k + 1])
            x = begin = reached[k + 1] if down else reached[k - 1] + 1
            while x < len(before) and x - k < len(after) and before[x] == after[x - k]:
                x += 1
            reached[k] = x
            steps += 1 + x - begin
            if x >= len(before) and x - k >= len(after):
                return _backward(before, after, trace)
        if steps > _MOST_STEPS:
            return None
    return None


def _backward(before: Sequence[str], after: Sequence[str], trace: list[dict[int, int]]) -> list[_Edit]:
    """Returns the edits, by going back from the end of both through what was reached with ever fewer of them."""
    edits: list[_Edit] = []
    x, y = len(before), len(after)
    for count in range(len(trace) - 1, -1, -1):
        reached, k = trace[count], x - y
        down = k == -count or (k != count and reached[k - 1] < reached[k + 1])
        came_from = k + 1 if down else k - 1
        old_x = reached[came_from]
        old_y = old_x - came_from
        begin_x = (old_x if down else old_x + 1) if count else 0  # where the items in common begin, behind the edit
        while x > begin_x:
            edits.append((Kind.SAME, before[x - 1]))
            x, y = x - 1, y - 1
        if count:
            edits.append((Kind.ADDED, after[y - 1]) if down else (Kind.REMOVED, before[x - 1]))
            x, y = old_x, old_y
    edits.reverse()
    return edits
