"""When each back queue is hit next: a heap for each fetcher, and the gates of addresses.

A queue that could be hit stands in the heap of its fetcher by the time at which its host may be hit, or waits at the
gate of its address, or is held while its host is visited. `scheduled` is true of it then.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

from pycrawl.frontier.back import BackQueue, BackTable, Gate
from pycrawl.frontier.gates import Gates
from pycrawl.frontier.guests import Guest, Guests
from pycrawl.frontier.open_queues import OpenQueues
from pycrawl.policy.politeness import is_parked

_NEVER = float("inf")


class Schedule:
    def __init__(self, back: BackTable, queues: OpenQueues, gates: Gates, guests: Guests) -> None:
        self._back = back
        self._queues = queues
        self._gates = gates
        self._guests = guests
        self._heaps: list[list[tuple[float, int, BackQueue]]] = []  # by fetcher: (ready at, ticket, queue)
        self._ticket = itertools.count()  # queues with equal times leave a heap in the order in which they came

    def begin_run(self, fetchers: int) -> None:
        """Forget all places and gates: a new run has other fetchers."""
        self._gates.clear()
        self._heaps = [[] for _ in range(fetchers)]

    def next_ready_at(self, usable: Callable[[int], bool]) -> float:
        """Returns when the next host may be hit (seconds since the epoch), among those of the fetchers for which
        `usable(number)` is true; infinity if there is none."""
        return min((heap[0][0] for number, heap in enumerate(self._heaps) if heap and usable(number)), default=_NEVER)

    # In

    def place(self, queue: BackQueue) -> None:
        """Put a queue into its fetcher's heap if it belongs there; one whose host has given all it may is parked."""
        if queue.more and not queue.entries and queue.pages_at_most >= queue.page_limit:
            self._back.read(queue)  # only a revisit may be next
        if self._could_be_hit(queue):
            queue.asleep = not queue.has_open
            if queue.asleep and not queue.in_flight and all(shut.put_off for shut in queue.shut.values()):
                self._queues.park(queue)
            self._push(queue, queue.ready_at, next(self._ticket))
        elif queue.has_given_all and not queue.is_empty and not queue.is_revisit_next:
            self._queues.park(queue)

    def _could_be_hit(self, queue: BackQueue) -> bool:
        """True if the queue belongs in its fetcher's heap: it has URLs, a connection is free, and its host may give
        another page or the next URL is a revisit."""
        # Until the address is known, and so the gate, the host gets one connection only.
        ahead = 0 if queue.holds_up else queue.ahead
        most = queue.settings.politeness.connections_per_host + ahead if queue.host.address else 1
        if queue.scheduled or queue.in_flight >= most or queue.is_empty or (queue.holds_up and queue.in_flight):
            return False
        return queue.pages_at_most < queue.page_limit or queue.is_revisit_next

    def _push(self, queue: BackQueue, at: float, ticket: int) -> None:
        queue.scheduled = True
        queue.ticket = ticket
        heapq.heappush(self._heaps[queue.fetcher], (at, ticket, queue))

    def wake(self, queue: BackQueue) -> None:
        """Take a queue that sleeps out of the heap, as it has a URL that need not wait; its item there is void."""
        queue.asleep = queue.scheduled = False
        queue.ticket = -1
        if not is_parked(queue.host.failures):
            self._queues.unpark(queue)

    def place_anew(self, queues: set[BackQueue]) -> None:
        """Move queues that stand in a heap to the place that their host's `ready_at` says now. A queue that waits at
        its gate stays there."""
        for heap in self._heaps:
            moved = [item[2] for item in heap if item[2] in queues]
            if moved:
                heap[:] = [item for item in heap if item[2] not in queues]
                heapq.heapify(heap)
            for queue in moved:
                queue.scheduled = False
                self.place(queue)

    # Out

    def pop_due(self, fetcher: int, now: float) -> BackQueue | None:
        """Remove and return the first queue of a fetcher that may be hit now, and has passed its gate; None if there is
        none."""
        heap = self._heaps[fetcher]
        while heap and heap[0][0] <= now:
            _, ticket, queue = heapq.heappop(heap)
            if ticket != queue.ticket:
                continue
            queue.scheduled = queue.asleep = False
            if queue.ready_at > now:
                self.place(queue)  # another hit on the host has ended since it came here: the pause begins anew
            elif not self._has_next(queue, now):
                self._put_away(queue)
            elif self._guests.holds(queue):
                queue.scheduled = True
            elif self._pass_gate(queue, ticket, now):
                return queue
        return None

    def _has_next(self, queue: BackQueue, now: float) -> bool:
        """True if a URL is at the head of the queue, after its shut origins that are due were opened, and its next rows
        were read."""
        for site in [site for site, shut in queue.shut.items() if shut.until <= now]:
            self._back.open(queue, site)
        if not queue.entries and queue.more:
            self._back.read(queue)
        return bool(queue.entries)

    def _put_away(self, queue: BackQueue) -> None:
        """A queue turned out to have no URL that may be asked for: it sleeps, or is closed if nothing is in flight."""
        if queue.is_over:
            self._queues.close(queue)
        else:
            self.place(queue)

    def _pass_gate(self, queue: BackQueue, ticket: int, now: float) -> bool:
        """True if the host's address may be hit too; then the hit counts at the gate. If not, the queue waits at the
        gate or in the heap.

        A host whose address is not known yet passes: its fetcher looks the address up and reports it, without
        connecting to it (`Outcome.ADDRESS_MOVED`).
        """
        if not queue.host.address:
            return True
        gate = queue.gate
        if gate is None or not queue.in_flight:
            old = gate
            connections = queue.settings.politeness.connections_per_host
            gate = queue.gate = self._gates.of(queue.host.address, queue.fetcher, connections, now)
            if old is not None and old is not gate:
                self.let_next_in(old)  # the host has left its old address: no release of it will wake who waits there
            if gate.fetcher != queue.fetcher:
                self._move(queue, gate.fetcher, ticket)
                return False
        if self._gates.is_full(gate) and not self._is_next_at(gate, queue):
            queue.scheduled = True
            self._gates.wait(gate, queue)
            return False
        if gate.ready_at > now:
            # It keeps its ticket: a new one would put it behind the host that was hit last, time after time.
            self._push(queue, gate.ready_at, ticket)
            return False
        gate.in_flight += 1
        return True

    def _move(self, queue: BackQueue, fetcher: int, ticket: int) -> None:
        """Move a queue to the fetcher that connects to its host's address: two would have two connections."""
        self._queues.move(queue, fetcher)
        self._push(queue, queue.host.ready_at, ticket)

    def _is_next_at(self, gate: Gate, queue: BackQueue) -> bool:
        """True if a URL of the queue may be sent ahead to its fetcher although the gate is full: all hits in flight
        there are the queue's own, and no other queue waits."""
        return queue.ahead > 0 and gate.in_flight == queue.in_flight and not gate.waiting

    # After a hit

    def end_hit(self, queue: BackQueue, address_ready_at: float) -> None:
        """A hit on a queue's host has ended: leave its gate, where the next queue is let in, and place the queue anew;
        one that is empty is closed."""
        gate = queue.gate
        others_wait = False
        if gate is not None:
            self._gates.leave(gate, address_ready_at)
            others_wait = self.let_next_in(gate)
        if queue.is_over:
            self._queues.close(queue)
        elif gate is not None and others_wait and queue.has_open and self._could_be_hit(queue):
            queue.scheduled = True
            # It lines up behind those who wait: else the fetcher that is asked first would keep the gate to its hosts.
            self._gates.wait(gate, queue)
        else:
            self.place(queue)

    def end_reading(self, queue: BackQueue) -> None:
        """A document of a queue's host was read: close the queue if that was all, else place it anew."""
        if queue.is_over:
            self._queues.close(queue)
        else:
            self.place(queue)

    def let_next_in(self, gate: Gate) -> bool:
        """Put the next queue that waits at a gate back into its heap. Returns False if none waits that could be hit."""
        while (next_one := self._gates.next_waiting(gate)) is not None:
            next_one.scheduled = False
            self.place(next_one)
            if next_one.scheduled:
                return True
        return False

    def end_visit(self, guest: Guest, ready_at: float, address_ready_at: float) -> None:
        """End a visit (`guests.py`): place the host's own queue anew if it was held, and let the next queue in at the
        gate."""
        held = self._guests.leave(guest, ready_at, address_ready_at)
        if held is not None:
            held.scheduled = False
            self.place(held)
        if guest.gate is not None:
            self.let_next_in(guest.gate)
