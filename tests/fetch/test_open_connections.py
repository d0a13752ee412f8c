"""Which requests find room at an address at once; whole crawls are in `e2e/test_open_connections.py`."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from pycrawl.fetch.loop import Loop
from pycrawl.fetch.open_connections import OpenConnections
from pycrawl.fetch.origins import Origin

ADDRESS = "192.0.2.1"
HERE, THERE = Origin("http", "a.test", 80), Origin("http", "b.test", 80)


@pytest.fixture
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.close()


@pytest.fixture
def open_connections(loop: Loop) -> OpenConnections:
    return OpenConnections(loop, set())


def open_one(connections: OpenConnections, origin: Origin) -> socket.socket:
    made = socket.socket()
    connections.note_opened(made.fileno(), ADDRESS, origin)
    connections.meet(made.fileno())
    return made


def test_a_request_has_room_where_nothing_is_open(open_connections: OpenConnections) -> None:
    assert open_connections.note_use(ADDRESS, HERE)


def test_the_only_connection_of_an_address_is_used_again_by_its_origin_alone(open_connections: OpenConnections) -> None:
    with open_one(open_connections, HERE):
        assert open_connections.note_use(ADDRESS, HERE)
        assert not open_connections.note_use(ADDRESS, THERE)


def test_of_two_connections_it_has_to_be_seen_which_may_stay(open_connections: OpenConnections) -> None:
    with open_one(open_connections, HERE), open_one(open_connections, HERE):
        assert not open_connections.note_use(ADDRESS, HERE)


def test_a_request_has_room_where_all_were_closed(loop: Loop, open_connections: OpenConnections) -> None:
    with open_one(open_connections, HERE):
        open_connections.close_idle(ADDRESS)
        loop.run_once(0)
        assert open_connections.note_use(ADDRESS, THERE)


def test_a_socket_that_is_not_watched_yet_is_not_idle(loop: Loop, open_connections: OpenConnections) -> None:
    with socket.socket() as made:
        open_connections.note_opened(made.fileno(), ADDRESS, HERE)
        open_connections.close_idle(ADDRESS)
        loop.run_once(0)
        assert not open_connections.note_use(ADDRESS, THERE)
