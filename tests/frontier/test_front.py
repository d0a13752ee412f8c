from __future__ import annotations

import random
from pathlib import Path

import pytest

from pycrawl.frontier.front import FrontQueues
from pycrawl.policy.priority import FRONT_QUEUES, priority
from pycrawl.state.counters import Counters
from pycrawl.state.database import Database


def filled(path: Path, lengths: list[int], chance: random.Random) -> tuple[FrontQueues, dict[int, int]]:
    """Front queues of these lengths, and the priority of each URL id."""
    database = Database.create(path / "state.db")
    places = [number + 1 for number, length in enumerate(lengths) for _ in range(length)]
    chance.shuffle(places)
    by_id = dict(enumerate(places, start=1))
    database.write_many(
        "INSERT INTO urls VALUES (?, ?, 1, 0, 0, 1, 0, 0, 0, 0)", [(url_id, f"http://a/{url_id}") for url_id in by_id]
    )
    front = FrontQueues(database, Counters(database), chance)
    front.add([(number, url_id, 1, 0) for url_id, number in by_id.items()])
    return front, by_id


def test_each_priority_is_emptied_in_the_order_of_discovery(tmp_path: Path) -> None:
    front, by_id = filled(tmp_path, [600, 0, 3, 700, 1, 0, 10, 1500], random.Random(1))
    last = dict.fromkeys(range(1, FRONT_QUEUES + 1), 0)
    pulled = 0
    while (waiting := front.pull()) is not None:
        assert waiting.url_id > last[by_id[waiting.url_id]]
        last[by_id[waiting.url_id]] = waiting.url_id
        pulled += 1
        if pulled % 400 == 0:
            front.flush()
    assert pulled == len(by_id)
    assert front.lengths() == [0] * FRONT_QUEUES


def test_the_choice_is_biased_to_the_higher_priorities(tmp_path: Path) -> None:
    """Each queue is chosen twice as often as the one below: chi-square, 7 degrees of freedom, p = 0.001."""
    draws = 4_000
    front, by_id = filled(tmp_path, [draws] * FRONT_QUEUES, random.Random(7))
    seen = [0] * FRONT_QUEUES
    for _ in range(draws):
        waiting = front.pull()
        assert waiting is not None
        seen[by_id[waiting.url_id] - 1] += 1
    expected = [draws * 2**number / (2**FRONT_QUEUES - 1) for number in range(FRONT_QUEUES)]
    assert sum((a - b) ** 2 / b for a, b in zip(seen, expected, strict=True)) < 24.3
    assert all(seen), "the lowest priority must not starve"


def test_the_bias_is_among_the_queues_that_have_something(tmp_path: Path) -> None:
    draws = 2_000
    front, by_id = filled(tmp_path, [draws, 0, draws, 0, 0, 0, 0, 0], random.Random(3))
    high = 0
    for _ in range(draws):
        waiting = front.pull()
        assert waiting is not None
        high += by_id[waiting.url_id] == 3
    assert abs(high - draws * 4 / 5) < 4 * (draws * 4 / 25) ** 0.5


@pytest.mark.parametrize(
    ("depth", "inlinks", "expected"),
    [
        (0, 0, 8),
        (0, 100, 8),  # never above the highest
        (1, 1, 7),
        (1, 3, 7),
        (1, 4, 8),
        (2, 1, 6),
        (3, 16, 7),
        (5, 1, 4),
        (8, 64, 6),
        (15, 1, 2),
        (16, 1, 1),
        (1_000_000, 0, 1),  # never below the lowest
        (1_000_000, 255, 4),
    ],
)
def test_priority(depth: int, inlinks: int, expected: int) -> None:
    assert priority(depth, inlinks) == expected


def test_a_deeper_or_less_linked_url_never_comes_first() -> None:
    for depth in range(20):
        for inlinks in range(130):
            assert 1 <= priority(depth + 1, inlinks) <= priority(depth, inlinks) <= priority(depth, inlinks + 1) <= 8
