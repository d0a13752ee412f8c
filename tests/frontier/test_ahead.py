"""URLs that are leased before it is their turn, where their host needs no pause."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from pycrawl.config import Config
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.frontier.discovered import Discovered
from pycrawl.urls.parts import host_key
from tests.frontier.crawl_state import CrawlState, pack

NOW = 1_000.0
ADDRESS = "192.0.2.1"


@pytest.fixture
def state(tmp_path: Path) -> Iterator[CrawlState]:
    made = CrawlState(tmp_path / "state.db", Config(), random.Random(1), create=True)
    made.frontier.open_queues(1, 10, NOW)
    yield made
    made.close()


def fill(state: CrawlState, *urls: str) -> None:
    batch = Discovered()
    batch.add_links(1, 1, pack(urls))
    state.frontier.add(batch, NOW)
    for key in {host_key(url) for url in urls}:
        state.hosts.get(state.hosts.id_of(key)).address = ADDRESS
    state.frontier.fill(False)


def numbered(host: str, count: int) -> list[str]:
    return [f"http://{host}/{number}" for number in range(count)]


def lease_all(state: CrawlState) -> list[tuple[BackQueue, Entry]]:
    return list(iter(lambda: state.frontier.lease(0, NOW), None))


def lease_first(state: CrawlState, ahead: int) -> BackQueue:
    """Of the first host one fetch has ended, and so many may be sent ahead from now on."""
    queue, _ = state.frontier.lease(0, NOW) or pytest.fail("nothing to lease")
    queue.ahead = ahead
    state.frontier.release(queue, NOW)
    return queue


def urls_of(leased: list[tuple[BackQueue, Entry]]) -> list[str]:
    return [entry.url for _, entry in leased]


def test_so_many_and_in_their_order(state: CrawlState) -> None:
    urls = numbered("a", 10)
    fill(state, *urls)
    lease_first(state, 2)
    leased = lease_all(state)
    assert urls_of(leased) == urls[1:4]
    state.frontier.release(leased[0][0], NOW)
    assert urls_of(lease_all(state)) == urls[4:5]


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 4, 0, 3, 1)])
def test_what_goes_back_stands_as_before(state: CrawlState, order: tuple[int, ...]) -> None:
    urls = numbered("a", 6)
    fill(state, *urls)
    queue = lease_first(state, 4)
    leased = lease_all(state)
    queue.ahead = 0
    for place in order:
        state.frontier.put_back(*leased[place])
        state.frontier.release(queue, NOW)
    queue.ahead = 4
    assert urls_of(lease_all(state)) == urls[1:6]


def test_nothing_is_sent_ahead_of_an_answer_that_matters(state: CrawlState) -> None:
    fill(state, *numbered("a", 10))
    queue = lease_first(state, 5)
    queue.holds_up = True
    assert len(lease_all(state)) == 1


def test_others_at_the_address_get_their_turn(state: CrawlState) -> None:
    """A host that is sent ahead must not keep the address to itself."""
    fill(state, *numbered("a", 30), *numbered("b", 3))
    first = lease_first(state, 3)
    hosts = []
    flying: list[tuple[BackQueue, Entry]] = []
    for _ in range(20):
        flying += lease_all(state)
        assert len({queue.host.id for queue, _ in flying}) == 1, "never two hosts of an address at once"
        hosts.append(flying[0][0].host.key)
        queue, _ = flying.pop(0)
        queue.ahead = 3 if queue is first else 0
        state.frontier.release(queue, NOW)
    assert hosts.count("b") == 3
    assert hosts.index("b") <= 5
