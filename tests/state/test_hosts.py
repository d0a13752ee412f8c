from __future__ import annotations

import random

import pytest

from pycrawl.model import RobotsFile
from pycrawl.state.database import Database
from pycrawl.state.hosts import Host, Hosts, find_host, hosts_by_pages
from pycrawl.state.robots import robots_of, save_robots


def test_a_host_has_one_id_for_ever(state: Database) -> None:
    table = Hosts(state)
    assert [table.id_of(key) for key in ("a", "b", "a", "c", "b")] == [1, 2, 1, 3, 2]
    table.close_group()
    table.flush()
    again = Hosts(state)
    assert len(again) == 3
    assert [again.id_of(key) for key in ("c", "d", "a")] == [3, 4, 1]


def test_what_is_touched_is_written(state: Database) -> None:
    table = Hosts(state)
    host = table.get(table.id_of("a"))
    assert host == Host(1, "a")
    host.pages, host.failures, host.ready_at, host.crawl_delay, host.address = 3, 2, 100.5, 4.0, "192.0.2.1"
    table.touch(host)
    table.mark_seeds([1])
    table.close_group()
    table.flush()
    assert find_host(state, "a") == Host(1, "a", True, 3, 2, 100.5, 4.0, "192.0.2.1")
    assert find_host(state, "b") is None


def test_the_busiest_come_first(state: Database) -> None:
    table = Hosts(state)
    for pages, key in enumerate("abc"):
        host = table.get(table.id_of(key))
        host.pages = pages
        table.touch(host)
    table.close_group()
    table.flush()
    assert [host.key for host in hosts_by_pages(state, 2)] == ["c", "b"]


def test_a_host_that_is_held_is_never_doubled(state: Database) -> None:
    table = Hosts(state, cached_hosts=2)
    held = table.get(table.id_of("a"))
    for key in "bcde":
        table.get(table.id_of(key))
    assert table.get(1) is held
    table.mark_seeds([1])
    held.pages = 1
    table.touch(held)
    table.close_group()
    table.flush()
    assert find_host(state, "a") == Host(1, "a", is_seed=True, pages=1)


@pytest.mark.parametrize("seed", range(4))
def test_caches_change_nothing(state: Database, seed: int) -> None:
    chance = random.Random(seed)
    table = Hosts(state, cached_hosts=2, cached_ids=3)
    ids: dict[str, int] = {}
    pages: dict[str, int] = {}
    for _ in range(300):
        key = f"h{chance.randrange(10)}"
        assert table.id_of(key) == ids.setdefault(key, len(ids) + 1)
        if chance.random() < 0.5:
            host = table.get(ids[key])
            assert (host.key, host.pages) == (key, pages.get(key, 0))
            host.pages += 1
            pages[key] = host.pages
            table.touch(host)
        if chance.random() < 0.1:
            table.close_group()
            table.flush()
    table.close_group()
    table.flush()
    assert dict(state.query("SELECT key, pages FROM hosts")) == {key: pages.get(key, 0) for key in ids}


def test_robots_files_are_kept_by_origin(state: Database) -> None:
    first = RobotsFile(200, b"User-agent: *\nDisallow: /\xff", 10.0, 20.0)
    save_robots(state, "http://a", first)
    save_robots(state, "https://a", RobotsFile(404, b"", 11.0, 21.0))
    assert robots_of(state, "http://a") == first
    assert robots_of(state, "http://b") is None
    save_robots(state, "http://a", RobotsFile(0, b"", 12.0, 22.0))
    assert robots_of(state, "http://a") == RobotsFile(0, b"", 12.0, 22.0)
