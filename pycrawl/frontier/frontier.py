"""The frontier: URL-seen, front queues, back queues and the heaps joined.

`add` of a batch is the only way in; `lease` the only way out. Between them a URL is in a front queue or in the back
queue of its host. What is leased stays in the table until `finish`, so that no lease is lost with the process.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pycrawl.config import Config
from pycrawl.frontier.back import HEAD, MOST_UNWRITTEN, BackQueue, BackTable, Entry, Gate, hosts_with_queues
from pycrawl.frontier.discovered import Discovered
from pycrawl.frontier.front import STRETCH, FrontQueues
from pycrawl.frontier.gates import Gates
from pycrawl.frontier.guests import Guest, Guests
from pycrawl.frontier.held import Held
from pycrawl.frontier.host_pace import HostPace, host_pace
from pycrawl.frontier.judge import Judge
from pycrawl.frontier.sieve import Added, Sieve
from pycrawl.model import UrlOrder
from pycrawl.policy.politeness import is_parked
from pycrawl.policy.priority import PluginPrioritiser, UrlFacts, lowered, priority
from pycrawl.state.counters import Counters
from pycrawl.state.database import Database
from pycrawl.state.hosts import Host, Hosts
from pycrawl.state.standings import Standings
from pycrawl.state.url_seen import UrlSeen
from pycrawl.urls.parts import address_literal

QUEUES_PER_SLOT = 3
_MOST_QUEUES = 30_000
_PULLS_PER_FILL = 1_000  # keeps one call of `fill` in the range of 10 ms
_RETIRED_KEPT = 8_192  # some 1.5 KB each
_LOPSIDED = 1.5  # times as many queues as another fetcher has: then a host goes over to that one
_NEVER = float("inf")
_DEPTHS_IN_SQL = 32  # all deeper ones have one priority


@dataclass(frozen=True, slots=True)
class Sizes:
    """The frontier at a glance."""

    front: int
    back: int
    queues: int  # back queues, the parked ones apart
    parked: int
    in_flight: int


@dataclass(frozen=True, slots=True)
class FrontierBounds:
    """How much of the frontier is in memory."""

    queues_per_slot: int = QUEUES_PER_SLOT  # back queues that are open, for each fetch that may be
    head: int = HEAD
    most_unwritten: int = MOST_UNWRITTEN
    stretch: int = STRETCH


DEFAULT_BOUNDS = FrontierBounds()


class Frontier:
    """All times are seconds since the epoch, and `now` is always passed in."""

    def __init__(
        self,
        database: Database,
        hosts: Hosts,
        counters: Counters,
        seen: UrlSeen,
        standings: Standings,
        judge: Judge,
        config: Config,
        chance: random.Random,
        bounds: FrontierBounds = DEFAULT_BOUNDS,
    ) -> None:
        self._database = database
        self._hosts = hosts
        self._counters = counters
        self._seen = seen
        self._front = FrontQueues(database, counters, chance, bounds.stretch)
        self._back = BackTable(database, counters, bounds.head, bounds.most_unwritten)
        self._queues: dict[int, BackQueue] = {}  # the host table: host id → back queue
        self._retired: OrderedDict[int, BackQueue] = OrderedDict()  # by host id: empty queues, the newest last
        self._heaps: list[list[tuple[float, int, BackQueue]]] = []  # by fetcher: queues that could be hit, by time
        self._load: list[int] = []  # back queues of each fetcher
        self._ticket = itertools.count()  # equal times keep their order
        self._parked = 0
        self._in_flight = 0
        self._queues_per_slot = bounds.queues_per_slot
        self._wanted_queues = 1
        self._opened_at = _NEVER
        self._lowered: set[int] = set()  # hosts
        self.settings = judge.scope.settings
        self._gates = Gates()
        self._guests = Guests(hosts, self.settings, self._gates, self._queues)
        self._prioritiser = _prioritiser_of(config)
        self._standings = standings
        self._sieve = Sieve(
            database, hosts, counters, seen, standings, self._front, judge, self._level_of, self._prioritiser is None
        )
        self._held = Held(database, counters, self._front, self._back, standings)
        self._sieve.let_in = self._held.let_in

    # In

    def add(self, batch: Discovered, now: float) -> Added:
        """Sieve a batch: new URLs are entered, those to be asked for go to the front queues; known ones count as
        in-links."""
        return self._sieve.add(batch, now)

    def lower(self, host_ids: Iterable[int]) -> None:
        """From now on, let new URLs of these hosts wait behind those of others. In-links do not raise them."""
        self._lowered.update(host_ids)

    def _level_of(self, url: str, host_id: int, depth: int, inlinks: int) -> int:
        if self._prioritiser is None:
            level = priority(depth, inlinks)
        else:
            level = self._prioritiser.priority(UrlFacts(url, depth, inlinks))
        return lowered(level) if host_id in self._lowered else level

    def requeue(self, visited_before: float, outcomes: tuple[str, ...]) -> int:
        """Put URLs whose last visit is older, and ended in one of `outcomes`, back into the front queues."""
        return self.requeue_visits(
            f"visited_at <= ? AND outcome IN ({', '.join('?' * len(outcomes))})", (visited_before, *outcomes)
        )

    def requeue_visits(self, condition: str, values: Sequence[object]) -> int:
        """Put URLs back into the front queues whose last visit fulfils an SQL condition; those queued or aside stay."""
        due = f"requeued = 0 AND url_id IN (SELECT id FROM urls WHERE aside = 0) AND ({condition})"
        level = level_in_sql()
        joined = f"FROM visits JOIN urls ON urls.id = visits.url_id WHERE {due}"
        counts = self._database.query(f"SELECT {level}, count(*) {joined} GROUP BY 1", values).fetchall()
        self._front.flush()
        self._database.write(f"INSERT INTO front SELECT {level}, urls.id, urls.host_id, 1 {joined}", values)
        self._database.write(f"UPDATE visits SET requeued = 1 WHERE {due}", values)
        for number, amount in counts:
            self._front.added_by_sql(number, amount)
        return sum(amount for _, amount in counts)

    # Back queues

    def open_queues(self, fetchers: int, slots: int, now: float = _NEVER, max_depth: float = _NEVER) -> None:
        """Make the back queues of the table, for so many fetchers with so many slots in all.

        Hosts that kept failing in an earlier run and are to be left alone after `now` are parked from the start.
        URLs deeper than `max_depth` are held: they stay queued, and wait for the next run.
        """
        self._opened_at = now
        self._held.open(max_depth)
        self._retired.clear()
        self._heaps = [[] for _ in range(fetchers)]
        self._load = [0] * fetchers
        self._wanted_queues = self._queues_per_slot * slots
        for host_id in hosts_with_queues(self._database):
            queue = self._make_queue(host_id)
            queue.more = True
            self._schedule(queue)

    def fill(self, starving: bool) -> None:
        """Pull from the front queues until there are enough back queues; when slots are idle, more than that."""
        wanted = self._wanted_queues
        if starving:
            wanted = max(wanted, min(len(self._queues) - self._parked + self._wanted_queues, _MOST_QUEUES))
        for _ in range(_PULLS_PER_FILL):
            if len(self._queues) - self._parked >= wanted:
                return
            waiting = self._front.pull()
            if waiting is None:
                return
            depth = min(waiting.depth, self._standings.depth_of(waiting.url_id))  # the row may not be written yet
            if self._held.is_too_deep(depth):
                self._held.hold(waiting.url_id, waiting.host_id, waiting.revisit)
                continue
            self._seen.leave_front(waiting.url_id)
            queue = self._queues.get(waiting.host_id) or self._make_queue(waiting.host_id)
            entry = Entry(waiting.url_id, waiting.url, depth, waiting.hops, waiting.revisit)
            if queue.order or (entry.revisit and _has_given_all(queue)):
                self._back.push(queue, entry)
                self._let_revisit(queue)
            else:
                self._back.append(queue, entry)
            self._schedule(queue)

    def _let_revisit(self, queue: BackQueue) -> None:
        """A host that has given all the pages it may can still be asked for them again."""
        if _has_given_all(queue) and not is_parked(queue.host.failures):
            self.unpark(queue)

    def _make_queue(self, host_id: int) -> BackQueue:
        fetcher = min(range(len(self._load)), key=self._load.__getitem__)
        queue = self._retired.pop(host_id, None)
        if queue is None or self._load[queue.fetcher] > _LOPSIDED * (self._load[fetcher] + 1):
            host = self._hosts.get(host_id)
            queue = BackQueue(host, fetcher, self.settings.of(host.key))
        self._load[queue.fetcher] += 1
        queue.host.address = queue.host.address or address_literal(queue.host.key)
        self._queues[host_id] = queue
        if is_parked(queue.host.failures) and queue.host.ready_at > self._opened_at:
            self.park(queue)
        return queue

    def _schedule(self, queue: BackQueue) -> None:
        """Put a queue into its fetcher's heap if it belongs there; one whose host has given all it may is parked."""
        if self._could_be_hit(queue):
            self._push(queue, queue.host.ready_at, next(self._ticket))
        elif _has_given_all(queue) and not queue.is_empty and not _is_revisit_next(queue):
            self.park(queue)

    def _could_be_hit(self, queue: BackQueue) -> bool:
        """True if the queue belongs in its fetcher's heap: it has URLs, its host may give more, and a connection is
        free."""
        # Where the host is must be known before a second connection is made.
        ahead = 0 if queue.holds_up else queue.ahead
        most = queue.settings.politeness.connections_per_host + ahead if queue.host.address else 1
        if queue.scheduled or queue.in_flight >= most or queue.is_empty:
            return False
        return queue.host.pages + queue.in_flight < _page_limit(queue) or _is_revisit_next(queue)

    def _push(self, queue: BackQueue, at: float, ticket: int) -> None:
        queue.scheduled = True
        heapq.heappush(self._heaps[queue.fetcher], (at, ticket, queue))

    def park(self, queue: BackQueue) -> None:
        """From now on the queue's URLs do not keep a run from ending."""
        self._parked += not queue.parked
        queue.parked = True

    def unpark(self, queue: BackQueue) -> None:
        self._parked -= queue.parked
        queue.parked = False

    def let_be_asked(self, host_ids: Iterable[int], ready_at: Callable[[Host], float]) -> None:
        """Forget the failures of these hosts: they may be hit at `ready_at`, unless they may be sooner."""
        queues: set[BackQueue] = set()
        for host_id in host_ids:
            host = self._hosts.get(host_id)
            host.failures = 0
            host.ready_at = min(host.ready_at, ready_at(host))
            self._hosts.touch(host)
            queue = self._queues.get(host_id)
            if queue is not None:
                queues.add(queue)
                self.unpark(queue)
                if queue.gate is not None:
                    queue.gate.ready_at = min(queue.gate.ready_at, host.ready_at)
        self._schedule_anew(queues)

    def _schedule_anew(self, queues: set[BackQueue]) -> None:
        """Give queues that stand in a heap their present place there; one that waits at its gate stays there."""
        for heap in self._heaps:
            moved = [item[2] for item in heap if item[2] in queues]
            if moved:
                heap[:] = [item for item in heap if item[2] not in queues]
                heapq.heapify(heap)
            for queue in moved:
                queue.scheduled = False
                self._schedule(queue)

    # Out

    def lease(self, fetcher: int, now: float) -> tuple[BackQueue, Entry] | None:
        """The next URL for a fetcher whose host may be hit now. It counts as a hit until `release`."""
        queue = self._pop_due(self._heaps[fetcher], now)
        if queue is None:
            return None
        queue.due = max(queue.host.ready_at, queue.gate.ready_at if queue.gate else 0.0)
        if not queue.entries:
            self._back.read(queue)
        entry = queue.entries.popleft()
        queue.in_flight += 1
        self._in_flight += 1
        self._schedule(queue)
        return queue, entry

    def _pop_due(self, heap: list[tuple[float, int, BackQueue]], now: float) -> BackQueue | None:
        while heap and heap[0][0] <= now:
            _, ticket, queue = heapq.heappop(heap)
            queue.scheduled = False
            if queue.host.ready_at > now:
                self._schedule(queue)  # a hit on another connection has ended since: the host needs its pause
            elif self._guests.holds(queue):
                queue.scheduled = True
            elif self._pass_gate(queue, ticket, now):
                return queue
        return None

    def _pass_gate(self, queue: BackQueue, ticket: int, now: float) -> bool:
        """Whether the host's address may be hit too; if not, the queue waits for that.

        A host whose address is not known yet passes: its fetcher finds the address before it connects to it.
        """
        if not queue.host.address:
            return True
        gate = queue.gate
        if gate is None or not queue.in_flight:
            gate = queue.gate
            queue.gate = self._gates.of(queue.host.address, queue.settings.politeness.connections_per_host, now)
            if gate is not None and gate is not queue.gate:
                self._let_next_in(gate)  # the host has moved: whoever waits at its old address need not wait for it
            gate = queue.gate
        if self._gates.is_full(gate) and not self._is_next_at(gate, queue):
            queue.scheduled = True
            self._gates.wait(gate, queue)
            return False
        if gate.ready_at > now:
            self._push(queue, gate.ready_at, ticket)  # else the host that was hit last would always come first
            return False
        gate.in_flight += 1
        return True

    def _is_next_at(self, gate: Gate, queue: BackQueue) -> bool:
        """Whether the queue may be sent ahead, to pass the gate when those before it have: they are its own, and nobody
        else waits."""
        return queue.ahead > 0 and gate.in_flight == queue.in_flight and not gate.waiting

    def put_back(self, queue: BackQueue, entry: Entry) -> None:
        """The URL was not fetched after all: it goes to the head of its queue, or to its place among others there."""
        place = next((place for place, other in enumerate(queue.entries) if other.seq > entry.seq), len(queue.entries))
        queue.entries.insert(place, entry)
        self._schedule(queue)

    def retry(self, queue: BackQueue, entry: Entry) -> None:
        """The URL failed and is to be tried again after the others of its host."""
        self._back.remove(queue, entry)
        self._back.append(queue, entry)
        self._schedule(queue)

    def finish(self, queue: BackQueue, entry: Entry) -> None:
        """The URL is done. To be called in the transaction that commits its visit."""
        self._back.remove(queue, entry)

    def allow_ahead(self, queue: BackQueue, count: int) -> None:
        """From now on so many URLs of the queue may wait at its fetcher, beside those that have a connection."""
        queue.ahead = count

    def release(self, queue: BackQueue, ready_at: float) -> None:
        """A hit has ended: the host may be hit again at `ready_at`."""
        queue.host.ready_at = max(ready_at, queue.host.ready_at)
        self._hosts.touch(queue.host)
        queue.in_flight -= 1
        self._in_flight -= 1
        gate = queue.gate
        others_wait = gate is not None and self._leave_gate(gate, ready_at)
        if queue.is_empty and not queue.in_flight:
            self.unpark(queue)
            self._retire(queue)
        elif gate is not None and others_wait and self._could_be_hit(queue):
            queue.scheduled = True
            self._gates.wait(gate, queue)  # else a fetcher that is asked first would keep the gate to its hosts
        else:
            self._schedule(queue)

    def _retire(self, queue: BackQueue) -> None:
        """Nothing is left of a host for now. More may come soon, and should find its fetcher's connection and rules."""
        del self._queues[queue.host.id]
        self._load[queue.fetcher] -= 1
        queue.order = UrlOrder.AS_FOUND
        self._retired[queue.host.id] = queue
        if len(self._retired) > _RETIRED_KEPT:
            self._retired.popitem(last=False)

    def _leave_gate(self, gate: Gate, ready_at: float) -> bool:
        self._gates.leave(gate, ready_at)
        return self._let_next_in(gate)

    def _let_next_in(self, gate: Gate) -> bool:
        """Send the queue on its way that has waited longest at a gate; False if none waits."""
        while (next_one := self._gates.next_waiting(gate)) is not None:
            next_one.scheduled = False
            self._schedule(next_one)
            if next_one.scheduled:
                return True
        return False

    def visit(self, queue: BackQueue, key: str, now: float) -> Guest | float:
        """Leave to hit another host for the sake of this one (`guests.py`), or when to ask for it again."""
        return self._guests.enter(queue, key, now)

    def end_visit(self, guest: Guest, ready_at: float) -> None:
        held = self._guests.leave(guest, ready_at)
        if held is not None:
            held.scheduled = False
            self._schedule(held)
        if guest.gate is not None:
            self._let_next_in(guest.gate)

    def fetcher_replaced(self, fetcher: int) -> None:
        """The new process knows nothing: rules have to be sent again."""
        for queue in (*self._queues.values(), *self._retired.values()):
            if queue.fetcher == fetcher:
                queue.rules.forget_all()

    # At a glance

    def next_ready_at(self, usable: Callable[[int], bool]) -> float:
        """When the next host may be hit, among the fetchers that have a free slot; infinity if there is none."""
        return min((heap[0][0] for number, heap in enumerate(self._heaps) if heap and usable(number)), default=_NEVER)

    def sizes(self) -> Sizes:
        queues = len(self._queues) - self._parked
        return Sizes(len(self._front), len(self._back), queues, self._parked, self._in_flight)

    def front_lengths(self) -> list[int]:
        return self._front.lengths()

    @property
    def is_finished(self) -> bool:
        """Nothing is left that this run could fetch: no URL waits, none is in flight, parked hosts apart."""
        return not self._in_flight and len(self._queues) == self._parked and not len(self._front)

    def host_pace(self) -> HostPace:
        return host_pace(self._queues.values(), self.settings.common.politeness.delay)

    def parked_hosts(self) -> list[Host]:
        return [queue.host for queue in self._queues.values() if queue.parked]

    def flush(self) -> None:
        """Write what is only in memory; to be committed by the caller."""
        self._front.flush()
        self._back.flush()
        self._held.flush()
        self._seen.flush()
        self._standings.flush()
        self._hosts.flush()


def _has_given_all(queue: BackQueue) -> bool:
    """True if the host has given as many different pages as limits.max_pages_per_host allows."""
    return queue.host.pages >= _page_limit(queue)


def _is_revisit_next(queue: BackQueue) -> bool:
    """True if the URL at the head was asked for before: it is no further page of its host."""
    return bool(queue.entries and queue.entries[0].revisit)


def _page_limit(queue: BackQueue) -> float:
    return queue.settings.limits.max_pages_per_host or _NEVER


def _prioritiser_of(config: Config) -> PluginPrioritiser | None:
    name = config.crawl.prioritiser
    if not name:
        return None
    from pycrawl.plugins import registry

    plugin = registry.make_or_explain(registry.PRIORITIES, name, "crawl.prioritiser", config.plugins)
    return PluginPrioritiser(name, plugin)


def level_in_sql() -> str:
    """The built-in priority of a URL by its depth, as SQL over `urls`."""
    levels = " ".join(f"WHEN urls.depth <= {depth} THEN {priority(depth, 0)}" for depth in range(_DEPTHS_IN_SQL))
    return f"CASE {levels} ELSE {priority(_DEPTHS_IN_SQL, 0)} END"
