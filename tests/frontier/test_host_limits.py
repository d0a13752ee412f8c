"""Connections and pages of single hosts, where each has its own numbers."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pycrawl.config import Config, LimitsSection, PolitenessSection
from pycrawl.config.sections import HostEntry
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.frontier.discovered import Discovered
from tests.frontier.crawl_state import CrawlState, pack

NOW = 1_000.0
PAGES = 6  # of each host
CONNECTIONS = {"127.0.0.1:1": 3, "127.0.0.1:2": 1, "127.0.0.1:3": 2, "127.0.0.2:81": 4}
ENTRIES = tuple(HostEntry(key, {"connections_per_host": number}) for key, number in CONNECTIONS.items())


def address_of(key: str) -> str:
    return key.partition(":")[0]


def check_crowds(in_flight: list[tuple[BackQueue, Entry]]) -> None:
    """At each address: no more at once than the strictest of the hosts allows that are being fetched from."""
    keys = [queue.host.key for queue, _ in in_flight]
    for address in {address_of(key) for key in keys}:
        at_address = [key for key in keys if address_of(key) == address]
        assert len(at_address) <= min(CONNECTIONS[key] for key in at_address), at_address


@settings(max_examples=40)
@given(st.randoms(use_true_random=False), st.integers(1, 2))
def test_the_strictest_host_at_an_address_decides(chance: random.Random, fetchers: int) -> None:
    config = Config(politeness=PolitenessSection(delay=0.0), hosts=ENTRIES)
    with tempfile.TemporaryDirectory() as folder:
        state = CrawlState(Path(folder) / "state.db", config, chance, create=True)
        state.frontier.open_queues(fetchers, 20, NOW)
        in_flight: list[tuple[BackQueue, Entry]] = []
        being_read: list[tuple[BackQueue, Entry]] = []
        done: Counter[str] = Counter()
        urls: set[str] = set()
        most: Counter[str] = Counter()
        hosts = list(CONNECTIONS)
        chance.shuffle(hosts)
        while not state.frontier.is_finished or hosts:
            if hosts and chance.random() < 0.3:
                key = hosts.pop()
                batch = Discovered()
                batch.add_links(1, 1, pack([f"http://{key}/{number}" for number in range(PAGES)]))
                state.frontier.add(batch, NOW)
            state.frontier.fill(True)
            leased = [state.frontier.lease(fetcher, NOW) for fetcher in range(fetchers)]
            in_flight += [one for one in leased if one is not None]
            check_crowds(in_flight)
            if in_flight and chance.random() < 0.5:
                queue, entry = in_flight.pop(chance.randrange(len(in_flight)))
                following = entry if queue.is_empty else state.frontier.let_next_go(queue, entry)
                assert following is not None
                in_flight.append((queue, following))
            crowd = Counter(queue.host.key for queue, _ in in_flight)
            most |= crowd
            if in_flight and (chance.random() < 0.4 or not any(leased)):
                queue, entry = in_flight.pop(chance.randrange(len(in_flight)))
                done[queue.host.key] += 1
                assert entry.url not in urls
                urls.add(entry.url)
                if chance.random() < 0.3:
                    state.frontier.begin_reading(queue, NOW, NOW)
                    being_read.append((queue, entry))
                else:
                    state.frontier.finish(queue, entry)
                    state.frontier.release(queue, NOW)
            if being_read and (chance.random() < 0.4 or not in_flight):
                queue, entry = being_read.pop(chance.randrange(len(being_read)))
                state.frontier.finish(queue, entry)
                state.frontier.end_reading(queue)
        assert done == dict.fromkeys(CONNECTIONS, PAGES)
        assert all(most[key] <= number for key, number in CONNECTIONS.items())
        assert not being_read
        state.close()


def test_a_host_gives_no_more_pages_than_it_may_while_documents_are_read() -> None:
    config = Config(politeness=PolitenessSection(delay=0.0), limits=LimitsSection(max_pages_per_host=2))
    with tempfile.TemporaryDirectory() as folder:
        state = CrawlState(Path(folder) / "state.db", config, random.Random(1), create=True)
        state.frontier.open_queues(1, 20, NOW)
        batch = Discovered()
        batch.add_links(1, 1, pack([f"http://127.0.0.2:81/{number}" for number in range(PAGES)]))
        state.frontier.add(batch, NOW)
        state.frontier.fill(True)
        documents = []
        while (leased := state.frontier.lease(0, NOW)) is not None:
            state.frontier.begin_reading(leased[0], NOW, NOW)
            documents.append(leased)
        assert len(documents) == 2
        assert state.frontier.sizes().in_flight == 2
        for queue, entry in documents:
            queue.host.pages += 1
            state.frontier.finish(queue, entry)
            state.frontier.end_reading(queue)
        assert state.frontier.lease(0, NOW) is None
        assert state.frontier.is_finished
        state.close()


def test_a_host_has_all_the_connections_it_allows() -> None:
    config = Config(politeness=PolitenessSection(delay=0.0), hosts=ENTRIES)
    with tempfile.TemporaryDirectory() as folder:
        state = CrawlState(Path(folder) / "state.db", config, random.Random(1), create=True)
        state.frontier.open_queues(1, 20, NOW)
        batch = Discovered()
        batch.add_links(1, 1, pack([f"http://127.0.0.2:81/{number}" for number in range(PAGES)]))
        state.frontier.add(batch, NOW)
        state.frontier.fill(True)
        leased = [state.frontier.lease(0, NOW) for _ in range(PAGES)]
        assert [one is not None for one in leased] == [True] * 4 + [False] * 2
        state.close()
