"""Who is to blame for the death of a fetcher?"""

from __future__ import annotations

import pytest

from pycrawl.config import Config, PolitenessSection
from pycrawl.coordinator.leases import Lease, Leases
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.model import Kind
from pycrawl.processes.pool import Death
from pycrawl.state.hosts import Host
from pycrawl.urls.host_settings import HostSettings

SETTINGS = HostSettings.of(Config())
URLS = (1, 2, 3)


def open_all(leases: Leases, fetcher: int = 0) -> None:
    for url_id in URLS:
        if leases.may_send(fetcher, url_id):
            queue = BackQueue(Host(url_id, f"h{url_id}"), fetcher, SETTINGS)
            entry = Entry(url_id, f"http://h{url_id}/", 0, 0, 0)
            leases.open(Lease(queue, entry, Kind.PAGE, fetcher, 0.0, entry.url, f"http://h{url_id}"))


def struck_out(deaths: list[Death]) -> set[int]:
    leases = Leases(1, 10)
    for death in deaths:
        open_all(leases)
        leases.close_all_of(death)
        assert not len(leases)
        assert not leases.pages
    return {url_id for url_id in URLS if leases.is_struck_out(url_id)}


def outside(url_id: int = 0) -> Death:
    return Death(0, url_id, "died (exit code -9)", True)


def crash(url_id: int = 0) -> Death:
    return Death(0, url_id, "died (exit code -11)", False)


@pytest.mark.parametrize(
    ("deaths", "blamed"),
    [
        ([crash(2)], set()),
        ([crash(2), crash(2)], {2}),
        ([crash(), crash()], {1}),  # all are suspects after the first, and sent out singly
        ([crash(1), crash(2)], set()),
        ([outside(), outside()], set()),
        ([outside()] * 4, set()),
        ([outside()] * 7, {1}),  # a URL must not take down fetchers for ever, whatever it does to them
        ([outside(2), outside(2)], {2}),
        ([outside(2), outside()], set()),
        ([outside(1), outside(2), outside(3)], set()),
        ([crash(), outside()], set()),
    ],
)
def test_who_is_never_tried_again(deaths: list[Death], blamed: set[int]) -> None:
    assert struck_out(deaths) == blamed


def test_a_result_takes_all_suspicion_away() -> None:
    leases = Leases(1, 10)
    for _ in range(3):
        open_all(leases)
        leases.close_all_of(crash(2))
        open_all(leases)
        assert leases.close(2) is not None
        for url_id in (1, 3):
            leases.close(url_id)
    assert not leases.is_struck_out(2)


def lease_of(queue: BackQueue, url_id: int) -> Lease:
    return Lease(queue, Entry(url_id, f"http://a/{url_id}", 0, 0, 0), Kind.PAGE, queue.fetcher, 0.0, "", "http://a")


@pytest.mark.parametrize("connections", [1, 2])
def test_what_waits_behind_another_takes_no_slot(connections: int) -> None:
    leases = Leases(1, 2)
    politeness = PolitenessSection(connections_per_host=connections)
    queue = BackQueue(Host(1, "a"), 0, HostSettings.of(Config(politeness=politeness)))
    for url_id in range(4):
        leases.open(lease_of(queue, url_id))
    assert leases.fetches == connections
    assert leases.has_free_slot(0) == (connections < 2)
    fetches = []
    for url_id in range(4):
        leases.close(url_id)
        fetches.append(leases.fetches)
    assert fetches == ([1, 1, 1, 0] if connections == 1 else [2, 2, 1, 0])


def test_a_document_that_is_converted_takes_no_slot() -> None:
    leases = Leases(1, 1)
    queue = BackQueue(Host(1, "a"), 0, SETTINGS)
    leases.open(lease_of(queue, 1))
    assert leases.begin_reading(1) is not None
    assert leases.begin_reading(1) is None
    assert (leases.has_free_slot(0), leases.documents, leases.pages, len(leases)) == (True, 1, 1, 1)
    leases.open(lease_of(queue, 2))
    assert {lease.entry.url_id for lease in leases.close_all_of(crash())} == {1, 2}
    assert (leases.free_slots(0), leases.documents, leases.pages, len(leases)) == (1, 0, 0, 0)


def test_slots_are_free_again_after_a_death() -> None:
    leases = Leases(1, 2)
    for queue in (BackQueue(Host(1, "a"), 0, SETTINGS), BackQueue(Host(2, "b"), 0, SETTINGS)):
        for url_id in range(3):
            leases.open(lease_of(queue, 10 * queue.host.id + url_id))
    assert not leases.has_free_slots
    leases.close_all_of(crash())
    assert leases.free_slots(0) == 2


def test_one_suspect_of_a_fetcher_is_in_flight_at_a_time() -> None:
    leases = Leases(2, 10)
    open_all(leases)
    leases.close_all_of(crash())
    assert leases.may_send(0, 1)
    assert not leases.may_send(0, 2)
    assert leases.may_send(1, 2)
