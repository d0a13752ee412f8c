"""One gate for each address: hosts that share an address share its connections and its pauses.

A back queue that finds its gate occupied waits there, and the next one is let through when the gate is free again.
"""

from __future__ import annotations

import heapq

from pycrawl.frontier.back import BackQueue, Gate

_MOST_IDLE = 50_000  # gates kept although nobody is there


class Gates:
    def __init__(self) -> None:
        self._gates: dict[str, Gate] = {}
        self._ticket = 0  # equal times keep their order

    def of(self, address: str, connections: int, now: float) -> Gate:
        """The gate of an address, for a host that allows so many connections: from now on, it lets no more pass."""
        gate = self._gates.get(address)
        if gate is None:
            if len(self._gates) >= _MOST_IDLE:
                self._forget_idle(now)
            gate = self._gates[address] = Gate(connections)
        gate.connections = min(gate.connections, connections)
        return gate

    def is_full(self, gate: Gate) -> bool:
        return gate.in_flight >= gate.connections

    def wait(self, gate: Gate, queue: BackQueue) -> None:
        self._ticket += 1
        heapq.heappush(gate.waiting, (queue.host.ready_at, self._ticket, queue))

    def leave(self, gate: Gate, ready_at: float) -> None:
        """A hit has ended: the address may be hit again at `ready_at`."""
        gate.in_flight -= 1
        gate.ready_at = max(gate.ready_at, ready_at)

    def next_waiting(self, gate: Gate) -> BackQueue | None:
        return heapq.heappop(gate.waiting)[2] if gate.waiting else None

    def _forget_idle(self, now: float) -> None:
        self._gates = {
            address: gate
            for address, gate in self._gates.items()
            if gate.in_flight or gate.waiting or gate.ready_at > now
        }
