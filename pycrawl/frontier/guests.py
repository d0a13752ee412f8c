"""Visits: hits on a host for the sake of another one, whose robots.txt redirects there.

A visit keeps to the pauses and the gate of the host that it hits, as if one of that host's own URLs were fetched. While
a host is visited, its own back queue is held.
"""

from __future__ import annotations

from dataclasses import dataclass

from pycrawl.frontier.back import BackQueue, Gate
from pycrawl.frontier.gates import Gates
from pycrawl.state.hosts import Host, Hosts
from pycrawl.urls.host_settings import SettingsByHost
from pycrawl.urls.parts import address_literal

_AGAIN_SECONDS = 0.25  # until leave is asked for again, if the host or its address is being hit


@dataclass(slots=True)
class Guest:
    """The leave to hit a host once. Whoever has it hands it back with `Guests.leave`."""

    host: Host  # the host that is visited
    gate: Gate | None  # a connection of this gate is taken; None: no address is known, or the asking queue passed it
    fetcher: int  # the fetcher that connects to the host's address
    due: float  # seconds since the epoch: when the hit was allowed


class Guests:
    def __init__(self, hosts: Hosts, settings: SettingsByHost, gates: Gates, queues: dict[int, BackQueue]) -> None:
        self._hosts = hosts
        self._settings = settings
        self._gates = gates
        self._queues = queues
        self._visited: dict[int, BackQueue | None] = {}  # id of a visited host → its own queue, if that is held

    def enter(self, asking: BackQueue, key: str, now: float) -> Guest | float:
        """Returns the leave to hit the host `key` now; or, if it must not be hit yet, the time to ask again.

        `asking` is the queue whose robots.txt redirects there.
        """
        host = self._hosts.get(self._hosts.id_of(key))
        host.address = host.address or address_literal(key)
        queue = self._queues.get(host.id)
        if host.id in self._visited or (queue is not None and queue.in_flight):
            return max(host.ready_at, now + _AGAIN_SECONDS)
        if host.ready_at > now:
            return host.ready_at
        connections = self._settings.of(key).politeness.connections_per_host
        fetcher = queue.fetcher if queue is not None else asking.fetcher
        gate = self._gates.of(host.address, fetcher, connections, now) if host.address else None
        if gate is not None:
            fetcher = gate.fetcher
        if gate is asking.gate:
            gate = None
        if gate is not None:
            if self._gates.is_full(gate):
                return max(gate.ready_at, now + _AGAIN_SECONDS)
            if gate.ready_at > now:
                return gate.ready_at
            gate.in_flight += 1
        due = max(host.ready_at, gate.ready_at if gate is not None else 0.0)
        self._visited[host.id] = None
        return Guest(host, gate, fetcher, due)

    def holds(self, queue: BackQueue) -> bool:
        """True if the queue's host is being visited. Then the queue is kept here, until `leave` returns it."""
        if queue.host.id not in self._visited:
            return False
        self._visited[queue.host.id] = queue
        return True

    def leave(self, guest: Guest, ready_at: float, address_ready_at: float) -> BackQueue | None:
        """End a visit: the host may be hit again at `ready_at`, its address at `address_ready_at`; 0: it was not hit
        after all.

        Returns the host's own queue if it was held, which the caller schedules again.
        """
        guest.host.ready_at = max(ready_at, guest.host.ready_at)
        self._hosts.touch(guest.host)
        if guest.gate is not None:
            self._gates.leave(guest.gate, address_ready_at)
        return self._visited.pop(guest.host.id)
