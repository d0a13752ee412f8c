"""Cases by name; any order of them all is in test_frontier_model.py."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pycrawl.config import Config, LimitsSection, PolitenessSection, ScopeSection
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.frontier.discovered import Discovered
from pycrawl.frontier.host_pace import HostPace
from pycrawl.model import RobotsFile
from pycrawl.state.documents import Visit
from pycrawl.state.origin_failures import OriginFailure
from pycrawl.state.url_lookup import inlinks_of
from pycrawl.urls.parts import url_hash
from tests.frontier.crawl_state import SEED, CrawlState, pack

Open = Callable[..., CrawlState]
NOW = 1_000.0


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens the crawl, at first and again: the one before is closed as it is."""
    states: list[CrawlState] = []

    def open_state(config: Config | None = None, fetchers: int = 1, slots: int = 10, now: float = NOW) -> CrawlState:
        if states:
            states[-1].close()
        state = CrawlState(tmp_path / "state.db", config or Config(), random.Random(1), create=not states)
        states.append(state)
        state.frontier.open_queues(fetchers, slots, now)
        return state

    yield open_state
    states[-1].close()


def add_page(state: CrawlState, urls: list[str], depth: int = 1, without_text: tuple[str, ...] = ()) -> int:
    batch = Discovered()
    batch.add_links(1, depth, pack(urls, without_text))
    return state.frontier.add(batch, NOW).new


def add_seeds(batch: Discovered, urls: list[str]) -> None:
    batch.add_seeds(urls, [url_hash(url, SEED) for url in urls])


def lease(state: CrawlState, now: float = NOW, fetcher: int = 0) -> tuple[BackQueue, Entry]:
    leased = state.frontier.lease(fetcher, now)
    assert leased is not None
    return leased


def finish(state: CrawlState, queue: BackQueue, entry: Entry) -> None:
    state.finish(queue, entry, Visit(entry.url_id, "fetched", 200, NOW, entry.tries))


def drain(state: CrawlState, now: float = NOW) -> list[str]:
    urls = []
    while (leased := state.frontier.lease(0, now)) is not None:
        urls.append(leased[1].url)
        finish(state, *leased)
        state.frontier.release(leased[0], 0.0)
    return urls


def numbered(host: str, count: int) -> list[str]:
    return [f"http://{host}/{number}" for number in range(count)]


@pytest.mark.parametrize("count", [1, 63, 64, 65, 128, 129, 1000])
def test_a_long_back_queue_is_read_to_its_end_and_no_further(opened: Open, count: int) -> None:
    state = opened()
    add_page(state, numbered("a", count))
    state.frontier.fill(False)
    state.commit()
    state = opened()
    assert drain(state) == numbered("a", count)
    assert state.frontier.is_finished
    assert state.frontier.sizes().back == count  # until it is committed
    state.commit()
    assert state.frontier.sizes().back == 0


def test_what_was_in_flight_is_at_the_head_of_its_queue_after_a_crash(opened: Open) -> None:
    state = opened()
    add_page(state, numbered("a", 5))
    state.frontier.fill(False)
    for place in range(3):
        queue, entry = lease(state)
        if place < 2:
            finish(state, queue, entry)
            state.frontier.release(queue, NOW)
    state.commit()
    assert drain(opened()) == numbered("a", 5)[2:]


def emptied(state: CrawlState, host: str) -> BackQueue:
    """The queue of a host that had one URL, which is done."""
    add_page(state, [f"http://{host}/"])
    state.frontier.fill(True)
    queue, entry = lease_any(state)
    finish(state, queue, entry)
    state.frontier.release(queue, NOW)
    return queue


def lease_any(state: CrawlState) -> tuple[BackQueue, Entry]:
    leased = state.frontier.lease(0, NOW) or state.frontier.lease(1, NOW)
    assert leased is not None
    return leased


def test_a_host_comes_back_to_its_fetcher_which_has_its_rules(opened: Open) -> None:
    state = opened(fetchers=2)
    queue = emptied(state, "a")
    fetcher = queue.fetcher
    queue.rules.note_sent("http://a", RobotsFile(200, b"", NOW, NOW + 60))
    add_page(state, ["http://b/"])
    state.frontier.fill(True)  # so that the other fetcher would be the less loaded one
    add_page(state, ["http://a/more"])
    state.frontier.fill(True)
    again = next(one for one, _ in (lease_any(state), lease_any(state)) if one.host.key == "a")
    assert again.fetcher == fetcher
    assert again.rules.are_current("http://a", NOW)


def test_a_replaced_fetcher_has_no_rules_of_hosts_that_may_come_back(opened: Open) -> None:
    state = opened(fetchers=2)
    queue = emptied(state, "a")
    queue.rules.note_sent("http://a", RobotsFile(200, b"", NOW, NOW + 60))
    state.frontier.fetcher_replaced(queue.fetcher)
    add_page(state, ["http://a/more"])
    state.frontier.fill(True)
    assert not lease_any(state)[0].rules.are_current("http://a", NOW)


def test_two_connections_do_not_shorten_the_pause(opened: Open) -> None:
    state = opened(Config(politeness=PolitenessSection(connections_per_host=2)))
    add_page(state, numbered("192.0.2.1", 3))
    state.frontier.fill(False)
    queue, entry = lease(state)
    finish(state, queue, entry)
    state.frontier.release(queue, NOW + 10)
    assert state.frontier.lease(0, NOW) is None
    assert state.frontier.next_ready_at(lambda _: True) == NOW + 10
    lease(state, NOW + 10)
    lease(state, NOW + 10)


def test_hosts_of_one_address_share_its_connection_and_its_pause(opened: Open) -> None:
    state = opened()
    add_page(state, [*numbered("192.0.2.1:81", 2), *numbered("192.0.2.1:82", 2), "http://192.0.2.2/"])
    state.frontier.fill(False)
    first, entry = lease(state)
    other, _ = lease(state)
    assert (first.host.key, other.host.key) == ("192.0.2.1:81", "192.0.2.2")
    assert state.frontier.lease(0, NOW) is None
    finish(state, first, entry)
    state.frontier.release(first, NOW + 1)
    assert state.frontier.lease(0, NOW) is None
    assert lease(state, NOW + 1)[0].host.key == "192.0.2.1:82"
    assert state.frontier.lease(0, NOW + 1) is None


def test_a_host_at_its_limit_is_parked_and_the_crawl_ends(opened: Open) -> None:
    state = opened(Config(limits=LimitsSection(max_pages_per_host=2)))
    add_page(state, numbered("a", 5))
    state.frontier.fill(False)
    for _ in range(2):
        queue, entry = lease(state)
        queue.host.pages += 1
        finish(state, queue, entry)
        state.frontier.release(queue, NOW)
    assert state.frontier.is_finished
    assert [host.key for host in state.frontier.parked_hosts()] == ["a"]
    state.commit()
    state = opened(Config(limits=LimitsSection(max_pages_per_host=2)))
    assert state.frontier.is_finished
    assert drain(opened(Config(limits=LimitsSection(max_pages_per_host=3)))) == numbered("a", 5)[2:]


def test_a_page_in_flight_does_not_park_its_host_for_good(opened: Open) -> None:
    state = opened(
        Config(politeness=PolitenessSection(connections_per_host=2), limits=LimitsSection(max_pages_per_host=1))
    )
    add_page(state, numbered("192.0.2.1", 2))
    state.frontier.fill(False)
    queue, entry = lease(state)
    finish(state, queue, entry)  # robots.txt forbade it: no page was fetched
    state.frontier.release(queue, 0.0)
    assert not state.frontier.is_finished
    assert drain(state) == ["http://192.0.2.1/1"]


def test_a_failing_host_does_not_keep_this_run_or_the_next_one_from_ending(opened: Open) -> None:
    state = opened()
    add_page(state, numbered("a", 2))
    state.frontier.fill(False)
    queue, entry = lease(state)
    queue.host.failures = 5
    state.frontier.put_back(queue, entry)
    state.frontier.park(queue)
    state.frontier.release(queue, NOW + 600)
    assert state.frontier.is_finished
    state.commit()
    assert opened(now=NOW + 599).frontier.is_finished
    state = opened(now=NOW + 600)
    assert not state.frontier.is_finished
    assert drain(state, NOW + 600) == numbered("a", 2)


def test_a_failing_host_whose_queue_ran_empty_stays_parked(opened: Open) -> None:
    state = opened()
    add_page(state, numbered("a", 1))
    state.frontier.fill(False)
    queue, entry = lease(state)
    queue.host.failures = 5
    finish(state, queue, entry)
    state.frontier.park(queue)
    state.frontier.release(queue, NOW + 600)
    assert state.frontier.sizes().parked == 0
    add_page(state, ["http://a/more"])
    state.frontier.fill(False)
    assert state.frontier.sizes().parked == 1
    assert state.frontier.is_finished


@pytest.mark.parametrize("empty_first", [True, False])
def test_a_batch_without_seeds_leaves_no_trace(opened: Open, empty_first: bool) -> None:
    state = opened()
    batch = Discovered()
    if empty_first:
        batch.add_seeds([], [])
    batch.add_links(1, 1, pack(["http://a/1", "http://b/1"]))
    batch.add_seeds([], [])
    batch.add_redirect(1, 1, 1, "http://c/1", url_hash("http://c/1", SEED))
    assert batch.count == 3
    assert state.frontier.add(batch, NOW).new == 3
    again = Discovered()
    add_seeds(again, ["http://a/1", "http://b/1", "http://c/1"])
    assert state.frontier.add(again, NOW).new == 0


class TestStayingOnTheSeedsHosts:
    config = Config(scope=ScopeSection(follow_external=False))

    def test_links_to_other_hosts_are_turned_away(self, opened: Open) -> None:
        state = opened(self.config)
        batch = Discovered()
        add_seeds(batch, ["http://a/"])
        batch.add_links(1, 1, pack(["http://a/1", "http://b/1"]))
        added = state.frontier.add(batch, NOW)
        assert (added.new, added.queued, dict(added.asides)) == (3, 2, {"external": 1})

    def test_a_seed_that_was_linked_to_in_the_same_batch_is_a_seed(self, opened: Open) -> None:
        state = opened(self.config)
        batch = Discovered()
        batch.add_links(1, 7, pack(["http://b/1", "http://b/2"]))
        add_seeds(batch, ["http://b/2"])
        assert state.frontier.add(batch, NOW).new == 2
        assert state.database.query("SELECT url, depth, via FROM urls").fetchall() == [
            ("http://b/2", 0, 0),
            ("http://b/1", 7, 1),
        ]

    def test_a_known_url_named_as_a_seed_opens_its_host(self, opened: Open) -> None:
        state = opened()
        add_page(state, ["http://b/1"])
        state.commit()
        state = opened(self.config)
        batch = Discovered()
        add_seeds(batch, ["http://b/1"])
        assert state.frontier.add(batch, NOW).new == 0
        assert add_page(state, ["http://b/2"]) == 1


def test_seeds_keep_their_order(opened: Open) -> None:
    state = opened()
    batch = Discovered()
    add_seeds(batch, ["http://a/1", "http://a/2"])
    add_seeds(batch, ["http://a/3", "http://a/1"])
    state.frontier.add(batch, NOW)
    state.frontier.fill(False)
    assert drain(state) == ["http://a/1", "http://a/2", "http://a/3"]


def test_a_url_that_many_pages_link_to_rises(opened: Open) -> None:
    state = opened()
    add_page(state, numbered("a", 600), depth=9)
    assert state.frontier.front_lengths() == [0, 600, 0, 0, 0, 0, 0, 0]
    for _ in range(15):
        add_page(state, [], depth=9, without_text=("http://a/599", "http://never.seen/"))
    assert state.frontier.front_lengths() == [0, 599, 0, 1, 0, 0, 0, 0]
    add_page(state, [], depth=0, without_text=("http://a/598",))
    assert state.frontier.front_lengths() == [0, 598, 0, 1, 0, 0, 0, 1], "a shorter way was found"
    state.seen.flush_inlinks()
    state.commit()
    assert inlinks_of(state.database, 600) == 16
    state.frontier.fill(False)
    assert drain(state)[0] in ("http://a/0", "http://a/598", "http://a/599")


def test_counters_of_a_commit_agree_with_the_tables(opened: Open) -> None:
    state = opened()
    add_page(state, numbered("a", 100), depth=3)
    state.frontier.fill(False)
    add_page(state, numbered("b", 50), depth=1)
    state.commit()
    totals = dict(state.database.query("SELECT name, value FROM counters"))
    assert (totals["urls"], totals["back"], totals.get("front:5", 0), totals["front:7"]) == (150, 100, 0, 50)


def test_recrawl_puts_visited_urls_back_once(opened: Open) -> None:
    state = opened()
    add_page(state, numbered("a", 3))
    state.frontier.fill(False)
    assert len(drain(state)) == 3
    state.commit()
    assert state.frontier.requeue_visits("visited_at <= ?", (NOW - 1,)) == 0
    assert state.frontier.requeue_visits("outcome = ?", ("http-4xx",)) == 0
    assert state.frontier.requeue_visits("outcome = ?", ("fetched",)) == 3
    assert state.frontier.requeue_visits("outcome = ?", ("fetched",)) == 0
    state.frontier.fill(False)
    queue, entry = lease(state)
    assert entry.revisit
    state.frontier.put_back(queue, entry)
    state.frontier.release(queue, 0.0)
    assert drain(state) == numbered("a", 3)


def test_hosts_are_spread_over_the_fetchers_and_stay_there(opened: Open) -> None:
    state = opened(fetchers=2)
    add_page(state, [f"http://h{number}/" for number in range(10)])
    state.frontier.fill(False)
    served: list[set[str]] = [set(), set()]
    for fetcher in (0, 1):
        for _ in range(5):
            served[fetcher].add(lease(state, fetcher=fetcher)[0].host.key)
    assert len(served[0] | served[1]) == 10


def test_a_new_fetcher_is_told_the_rules_again(opened: Open) -> None:
    state = opened(fetchers=2)
    add_page(state, ["http://a/", "http://b/"])
    state.frontier.fill(False)
    queues = [lease(state, fetcher=fetcher)[0] for fetcher in (0, 1)]
    for queue in queues:
        queue.rules.note_sent("http://x", RobotsFile(200, b"", NOW, NOW + 60))
    state.frontier.fetcher_replaced(1)
    assert [queue.rules.are_current("http://x", NOW) for queue in queues] == [True, False]


def test_the_pace_is_that_of_hosts_that_can_be_asked(opened: Open) -> None:
    """Those that are parked or fail do not count, and hosts that share an address share its pauses."""
    state = opened()
    assert state.frontier.host_pace() == HostPace(0, 0, 0, 0, 1.0)
    add_page(state, [f"http://{name}/" for name in "abcdef"])
    state.frontier.fill(False)
    queues = [lease(state)[0] for _ in range(5)]
    for queue, delay in zip(queues, (0.0, 4.0, 1000.0), strict=False):
        queue.host.crawl_delay = delay
    queues[0].host.address = queues[1].host.address = "192.0.2.1"
    queues[3].host.failures = 1
    state.frontier.park(queues[4])
    waiting = 1.0  # the pause of the host that was not leased
    expected = HostPace(active=3, waiting=1, failing=1, addresses=3, gap=(1.0 + 4.0 + 60.0 + waiting) / 4)
    assert state.frontier.host_pace() == expected


def test_a_leased_url_lets_the_next_one_of_its_host_go(opened: Open) -> None:
    state = opened(Config(limits=LimitsSection(max_pages_per_host=2)))
    urls = [f"http://127.0.0.1:1/{number}" for number in range(3)]
    add_page(state, urls)
    state.frontier.fill(False)
    queue, first = lease(state)
    second = state.frontier.let_next_go(queue, first)
    assert second is not None
    assert [first.url, second.url] == urls[:2]
    assert state.frontier.sizes().in_flight == queue.in_flight == 1
    assert state.frontier.lease(0, NOW) is None, "the host is being hit"
    finish(state, queue, second)
    state.frontier.release(queue, 0.0)
    queue.host.pages = 1
    queue, third = lease(state)
    assert third.url == urls[2]
    queue.host.pages = 2  # another hit has brought the last page that the host may give
    assert state.frontier.let_next_go(queue, third) is None
    state.frontier.release(queue, 0.0)
    assert state.frontier.is_finished
    state.commit()
    state = opened(Config())
    assert drain(state) == [urls[0], urls[2]]


def test_a_url_that_took_another_ones_place_is_not_read_again_with_a_shut_origin(opened: Open) -> None:
    state = opened()
    urls = [*numbered("127.0.0.1:1", 3), "https://127.0.0.1:1/"]
    add_page(state, urls)
    state.frontier.fill(False)
    queue, first = lease(state)
    failure = OriginFailure("https://127.0.0.1:1", NOW, 1, NOW + 5.0, 0.0, "timeout", "")
    state.frontier.shut(queue.host, failure, NOW)
    second = state.frontier.let_next_go(queue, first)
    assert second is not None
    finish(state, queue, second)  # it stays in the table until the commit
    state.frontier.release(queue, 0.0)
    assert second.url == urls[1]
    assert drain(state, NOW + 10.0) == [urls[2], urls[3], urls[0]]


def test_revisits_of_a_host_at_its_limit_go_on_after_a_crash(opened: Open) -> None:
    config = Config(limits=LimitsSection(max_pages_per_host=1))
    state = opened(config)
    urls = numbered("127.0.0.1:1", 3)
    add_page(state, urls)
    state.frontier.fill(False)
    queue, entry = lease(state)
    queue.host.pages = 1
    finish(state, queue, entry)
    state.frontier.release(queue, 0.0)
    state.commit()
    assert state.frontier.requeue_visits("outcome = ?", ("fetched",)) == 1
    state.frontier.fill(True)
    state.commit()
    state = opened(config)
    assert not state.frontier.is_finished
    assert drain(state) == urls[:1]
    assert state.frontier.is_finished


def test_a_shorter_way_outlives_that_its_host_becomes_one_of_the_seeds(opened: Open) -> None:
    state = opened(Config(scope=ScopeSection(follow_external=False)))
    add_page(state, ["http://127.0.0.1:1/"], depth=9)
    add_page(state, ["http://127.0.0.1:1/"], depth=1)
    batch = Discovered()
    add_seeds(batch, ["http://127.0.0.1:1/seed"])
    state.frontier.add(batch, NOW)
    state.commit()
    assert state.database.query("SELECT depth FROM urls ORDER BY id").fetchall() == [(1,), (0,)]
