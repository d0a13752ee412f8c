"""One gate for each IP address: hosts that share an address share its connections and its pauses.

A back queue that finds all connections of its gate taken waits there; when a hit on the address ends, the frontier lets
the next one through.
"""

from __future__ import annotations

import heapq

from pycrawl.frontier.back import BackQueue, Gate

_MOST_IDLE = 50_000  # gates; from this number on, those that no hit, queue or pause needs are forgotten
_KEPT_SECONDS = 120.0  # after the last pause; by then the fetcher has closed its idle connections to the address


class Gates:
    def __init__(self) -> None:
        self._gates: dict[str, Gate] = {}
        self._most = _MOST_IDLE
        self._ticket = 0  # queues with equal times leave in the order in which they came

    def of(self, address: str, fetcher: int, connections: int, now: float) -> Gate:
        """Returns the gate of an address for one of its hosts, with `fetcher` if it is new. From now on the gate allows
        no more connections at once than this host does."""
        gate = self._gates.get(address)
        if gate is None:
            if len(self._gates) >= self._most:
                self._forget_idle(now)
            gate = self._gates[address] = Gate(fetcher, connections)
        gate.connections = min(gate.connections, connections)
        return gate

    def fetcher_of(self, address: str) -> int | None:
        """Returns the fetcher that connects to the address; None if none does so far."""
        gate = self._gates.get(address)
        return gate.fetcher if gate is not None else None

    def clear(self) -> None:
        """Forget all gates: a new run has other fetchers."""
        self._gates.clear()

    def is_full(self, gate: Gate) -> bool:
        return gate.in_flight >= gate.connections

    def wait(self, gate: Gate, queue: BackQueue) -> None:
        """Let a queue wait at its gate; the caller has marked it as scheduled."""
        self._ticket += 1
        heapq.heappush(gate.waiting, (queue.host.ready_at, self._ticket, queue))

    def leave(self, gate: Gate, ready_at: float) -> None:
        """Note that a hit has ended: the address may be hit again at `ready_at`, or later if another hit said so."""
        gate.in_flight -= 1
        gate.ready_at = max(gate.ready_at, ready_at)

    def next_waiting(self, gate: Gate) -> BackQueue | None:
        """Remove and return the waiting queue whose host was ready first; None if none waits."""
        return heapq.heappop(gate.waiting)[2] if gate.waiting else None

    def _forget_idle(self, now: float) -> None:
        self._gates = {
            address: gate
            for address, gate in self._gates.items()
            if gate.in_flight or gate.waiting or gate.ready_at > now - _KEPT_SECONDS
        }
        self._most = max(_MOST_IDLE, 2 * len(self._gates))
