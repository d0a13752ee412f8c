"""A host that may be a maze: its newest URLs come first, and none is lost or leased twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pycrawl.config import Config
from pycrawl.frontier.discovered import Discovered
from pycrawl.model import UrlOrder
from tests.frontier.crawl_state import CrawlState, pack

HOST = "http://maze.example"


def discover(state: CrawlState, numbers: range) -> None:
    batch = Discovered()
    batch.add_links(1, 1, pack([f"{HOST}/{number}" for number in numbers]))
    state.frontier.add(batch, 0.0)
    state.frontier.fill(False)


def lease_all(state: CrawlState, newest: range = range(0)) -> list[int]:
    """What is leased until nothing is left; after the first one, it is said that the newest go first."""
    leased = []
    while (found := state.frontier.lease(0, 0.0)) is not None:
        queue, entry = found
        leased.append(int(entry.url.rpartition("/")[2]))
        if len(leased) == 1 and newest:
            queue.order = UrlOrder.NEWEST_FIRST
            discover(state, newest)
        state.frontier.finish(queue, entry)
        state.frontier.release(queue, 0.0)
    return leased


@pytest.mark.parametrize("known", [3, 64, 200])
def test_newest_first(tmp_path: Path, known: int) -> None:
    """With queues that are in memory, just so, and not."""
    state = CrawlState(tmp_path / "state.db", Config(), random.Random(1), create=True)
    state.frontier.open_queues(1, 1)
    discover(state, range(known))
    newest = range(1_000, 1_100)
    assert lease_all(state, newest) == [0, *reversed(newest), *range(1, known)]
    assert state.frontier.is_finished
    assert not len(state.frontier._back)
    state.close()


@pytest.mark.parametrize("known", [3, 200])
def test_after_a_restart_nothing_is_lost_or_leased_twice(tmp_path: Path, known: int) -> None:
    state = CrawlState(tmp_path / "state.db", Config(), random.Random(1), create=True)
    state.frontier.open_queues(1, 1)
    discover(state, range(known))
    found = state.frontier.lease(0, 0.0)
    assert found is not None
    found[0].order = UrlOrder.NEWEST_FIRST
    discover(state, range(1_000, 1_100))
    state.commit()
    state.close()
    state = CrawlState(tmp_path / "state.db", Config(), random.Random(1))
    state.frontier.open_queues(1, 1)
    assert lease_all(state, range(2_000, 2_010)) == [
        1_099,
        *range(2_009, 1_999, -1),
        *range(1_098, 999, -1),
        *range(known),
    ]
    state.close()
