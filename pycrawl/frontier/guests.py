"""Hits on a host for the sake of another one: a robots.txt that redirects there.

Such a hit keeps to the pauses of the host it goes to, and to the gate of its address, as if it were one of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from pycrawl.frontier.back import BackQueue, Gate
from pycrawl.frontier.gates import Gates
from pycrawl.state.hosts import Host, Hosts
from pycrawl.urls.host_settings import SettingsByHost
from pycrawl.urls.parts import address_literal

_AGAIN_SECONDS = 0.25  # until a host or an address is asked for again that is being hit


@dataclass(slots=True)
class Guest:
    host: Host  # that is hit
    gate: Gate | None  # held by the visit; none if the address is not known, or if the queue that asks holds it anyway
    due: float  # when the host might be hit


class Guests:
    def __init__(self, hosts: Hosts, settings: SettingsByHost, gates: Gates, queues: dict[int, BackQueue]) -> None:
        self._hosts = hosts
        self._settings = settings
        self._gates = gates
        self._queues = queues
        self._visited: dict[int, BackQueue | None] = {}  # by host id: its queue, if that waits for the visit's end

    def enter(self, asking: BackQueue, key: str, now: float) -> Guest | float:
        """Leave to hit the host `key`, or when to ask for it again."""
        host = self._hosts.get(self._hosts.id_of(key))
        host.address = host.address or address_literal(key)
        queue = self._queues.get(host.id)
        if host.id in self._visited or (queue is not None and queue.in_flight):
            return max(host.ready_at, now + _AGAIN_SECONDS)
        if host.ready_at > now:
            return host.ready_at
        connections = self._settings.of(key).politeness.connections_per_host
        gate = self._gates.of(host.address, connections, now) if host.address else None
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
        return Guest(host, gate, due)

    def holds(self, queue: BackQueue) -> bool:
        """Whether a queue must wait as its host is being visited."""
        if queue.host.id not in self._visited:
            return False
        self._visited[queue.host.id] = queue
        return True

    def leave(self, guest: Guest, ready_at: float) -> BackQueue | None:
        """The host may be hit again at `ready_at`, 0: it was not hit after all; its queue, if that was held."""
        guest.host.ready_at = max(ready_at, guest.host.ready_at)
        self._hosts.touch(guest.host)
        if guest.gate is not None:
            self._gates.leave(guest.gate, ready_at)
        return self._visited.pop(guest.host.id)
