"""The frontier: joins URL-seen, the front queues, the back queues, and a heap for each fetcher.

New URLs come in by `add`, known ones again by `requeue`; `lease` is the only way out. Between them a URL is in a front
queue, in the back queue of its host, or held for the next run. A leased URL stays in the table `back` until `finish`,
so that no lease is lost when the process dies.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pycrawl.config import Config
from pycrawl.frontier.back import HEAD, MOST_UNWRITTEN, BackQueue, BackTable, Entry, Gate, Shut, hosts_with_queues
from pycrawl.frontier.discovered import Discovered
from pycrawl.frontier.front import STRETCH, FrontQueues, Waiting, level_in_sql
from pycrawl.frontier.gates import Gates
from pycrawl.frontier.guests import Guest, Guests
from pycrawl.frontier.held import Held
from pycrawl.frontier.host_pace import HostPace, host_pace
from pycrawl.frontier.judge import Judge
from pycrawl.frontier.recrawl_queue import RecrawlQueue
from pycrawl.frontier.sieve import Added, Sieve
from pycrawl.model import UrlOrder
from pycrawl.policy.politeness import is_parked
from pycrawl.policy.priority import FRONT_QUEUES, PluginPrioritiser, UrlFacts, lowered, priority
from pycrawl.state.counters import Counters
from pycrawl.state.database import Database
from pycrawl.state.documents import set_requeued
from pycrawl.state.hosts import Host, Hosts
from pycrawl.state.robots import RobotsFailure, failures_of_host
from pycrawl.state.sources import Sources
from pycrawl.state.standings import Standings
from pycrawl.state.url_seen import UrlSeen
from pycrawl.urls.parts import address_literal, host_key

QUEUES_PER_SLOT = 3  # back queues for each open fetch: Mercator's number, so that most slots find a host that is ready
_MOST_QUEUES = 30_000  # back queues that idle slots may lead to
_PULLS_PER_FILL = 1_000  # URLs; keeps one call of `fill` in the range of 10 ms
_RETIRED_KEPT = 8_192  # empty queues, some 1.5 KB each
_QUEUE_BYTES = 1_500  # that an empty back queue takes in memory, its host included; about
_ENTRY_BYTES = 300  # that a URL at the head of one takes; about
_NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much the frontier holds at one moment."""

    front: int  # URLs in the front queues, pages chosen by a recrawl included
    back: int  # URLs in the back queues, those in flight included
    queues: int  # back queues that are not parked
    parked: int  # back queues that are
    in_flight: int  # leased URLs


@dataclass(frozen=True, slots=True)
class FrontierBounds:
    """How much of the frontier is in memory."""

    queues_per_slot: int = QUEUES_PER_SLOT  # back queues for each fetch that may be open
    head: int = HEAD  # entries of a back queue
    most_unwritten: int = MOST_UNWRITTEN  # entries of all back queues that are not in the table yet
    stretch: int = STRETCH  # rows of a front queue


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
        sources: Sources,
        config: Config,
        chance: random.Random,
        bounds: FrontierBounds = DEFAULT_BOUNDS,
    ) -> None:
        self._database = database
        self._hosts = hosts
        self._counters = counters
        self._seen = seen
        self._front = FrontQueues(database, counters, chance, bounds.stretch)
        self._recrawls = RecrawlQueue(database, counters, bounds.stretch)
        self._chance = chance
        self._new_share = config.recrawl.new_share
        self._back = BackTable(database, counters, bounds.head, bounds.most_unwritten)
        self._queues: dict[int, BackQueue] = {}  # the host table: host id → back queue
        self._retired: OrderedDict[int, BackQueue] = OrderedDict()  # host id → empty queue, the newest last
        self._heaps: list[list[tuple[float, int, BackQueue]]] = []  # by fetcher: (ready at, ticket, queue)
        self._load: list[int] = []  # by fetcher: how many back queues it has
        self._ticket = itertools.count()  # queues with equal times leave a heap in the order in which they came
        self._parked = 0
        self._in_flight = 0
        self._queues_per_slot = bounds.queues_per_slot
        self._wanted_queues = 1
        self._opened_at = _NEVER
        self._lowered: set[int] = set()  # ids of hosts whose new URLs wait behind those of others
        self.settings = judge.scope.settings
        self._gates = Gates()
        self._guests = Guests(hosts, self.settings, self._gates, self._queues)
        self._prioritiser = _prioritiser_of(config)
        self._standings = standings
        self._sieve = Sieve(
            database, hosts, counters, seen, standings, self._front, judge, sources, self._level_of,
            self._prioritiser is None,
        )  # fmt: skip
        self._held = Held(database, counters, self._front, self._back, standings)
        self._sieve.let_in = self._held.let_in

    # In

    def add(self, batch: Discovered, now: float) -> Added:
        """Take in a batch of found URLs (`sieve.py`): new ones are entered and, if wanted, queued; a link to a known
        one counts as an in-link. Returns how many were new."""
        return self._sieve.add(batch, now)

    def lower(self, host_ids: Iterable[int]) -> None:
        """From now on, let new URLs of these hosts wait behind those of others."""
        self._lowered.update(host_ids)

    def _level_of(self, url: str, host_id: int, depth: int, inlinks: int) -> int:
        """Returns the priority of a URL, which is the number of its front queue."""
        if self._prioritiser is None:
            level = priority(depth, inlinks)
        else:
            level = self._prioritiser.priority(UrlFacts(url, depth, inlinks))
        return lowered(level) if host_id in self._lowered else level

    def queue_recrawls(self, url_ids: Sequence[int]) -> int:
        """Queue the pages that a recrawl has chosen, in this order; those of an earlier one must have been put
        back. Returns how many: those that are queued already or stand aside stay where they
        are."""
        self._standings.flush()  # what stands aside is read from the table
        return self._recrawls.fill(url_ids)

    def put_back_recrawls(self) -> None:
        """Let the pages that an earlier recrawl chose and did not get to stand where they stood before. No back queue
        may be open."""
        in_back = self._database.query("SELECT url_id, host_id, seq FROM back WHERE revisit = 2").fetchall()
        self._back.remove_rows([row[1:] for row in in_back])
        self._back.flush()
        set_requeued(self._database, [*self._recrawls.empty(), *(row[0] for row in in_back)], False)

    def requeue_sources(self, sources: Sequence[tuple[int, int]]) -> None:
        """Put sitemaps and feeds (id, host id), which must not be queued, into the highest front queue."""
        self._front.put([(FRONT_QUEUES, url_id, host_id, 1) for url_id, host_id in sources])
        self._database.write_many(
            "UPDATE visits SET requeued = 1 WHERE url_id = ?", [(url_id,) for url_id, _ in sources]
        )

    def requeue_visits(self, condition: str, values: Sequence[object]) -> int:
        """Put URLs back into the front queues whose last visit meets an SQL condition on `visits`. URLs that are queued
        already or stand aside stay where they are. Returns how many were put back."""
        due = f"requeued = 0 AND url_id IN (SELECT id FROM urls WHERE aside = 0) AND ({condition})"
        level = level_in_sql()
        self._standings.flush()  # the statements below read depths and reasons
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
        """Open a back queue for each host in the table `back`, shared out among `fetchers` with `slots` fetches in all.

        A host that kept failing in an earlier run and must not be hit at `now` is parked from the start. URLs deeper
        than `max_depth` are held: they wait for the next run.
        """
        self._opened_at = now
        self._held.open(max_depth)
        self._retired.clear()
        self._gates.clear()
        self._heaps = [[] for _ in range(fetchers)]
        self._load = [0] * fetchers
        self._wanted_queues = self._queues_per_slot * slots
        for host_id in hosts_with_queues(self._database):
            queue = self._make_queue(host_id)
            queue.more = True
            if queue.shut:
                self._back.read(queue)
            self._schedule(queue)

    def fill(self, starving: bool) -> None:
        """Move URLs from the front queues to back queues until enough of these are open. `starving`: slots are idle, so
        that more are opened."""
        wanted = self._wanted_queues
        if starving:
            wanted = max(wanted, min(len(self._queues) - self._parked + self._wanted_queues, _MOST_QUEUES))
        for _ in range(_PULLS_PER_FILL):
            if len(self._queues) - self._parked >= wanted:
                return
            waiting = self._pull()
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
            if queue.asleep and queue.has_open:
                self._wake(queue)
            self._schedule(queue)

    def _pull(self) -> Waiting | None:
        """Remove and return the next URL: a new one in recrawl.new_share of all cases, else one to visit again;
        whatever there is where one kind is lacking. None if there is none."""
        if not len(self._recrawls) or (len(self._front) and self._chance.random() < self._new_share):
            return self._front.pull()
        return self._recrawls.pull()

    def _let_revisit(self, queue: BackQueue) -> None:
        """Unpark the queue of a host that has given all the pages it may: it may still be asked for these again."""
        if _has_given_all(queue) and not is_parked(queue.host.failures):
            self.unpark(queue)

    def _make_queue(self, host_id: int) -> BackQueue:
        """Open the back queue of a host, with the fetcher that had it before, or that connects to its address, as it
        may have a connection open; else with the one that has the fewest queues."""
        queue = self._retired.pop(host_id, None)
        if queue is None:
            host = self._hosts.get(host_id)
            host.address = host.address or address_literal(host.key)
            fetcher = self._gates.fetcher_of(host.address)
            if fetcher is None:
                fetcher = min(range(len(self._load)), key=self._load.__getitem__)
            queue = BackQueue(host, fetcher, self.settings.of(host.key))
        self._load[queue.fetcher] += 1
        self._queues[host_id] = queue
        wait = queue.host.ready_at - self._opened_at
        if wait > 0 and is_parked(queue.host.failures, wait):
            self.park(queue)
        if queue.host.robots_failing_since and queue.settings.politeness.obey_robots:
            for failure in failures_of_host(self._database, queue.host.key):
                queue.shut[failure.origin] = _shut_by(failure, self._opened_at)
        return queue

    def _schedule(self, queue: BackQueue) -> None:
        """Put a queue into its fetcher's heap if it belongs there; one whose host has given all it may is parked."""
        if self._could_be_hit(queue):
            queue.asleep = not queue.has_open
            if queue.asleep and not queue.in_flight and all(shut.put_off for shut in queue.shut.values()):
                self.park(queue)
            self._push(queue, _ready_at(queue), next(self._ticket))
        elif _has_given_all(queue) and not queue.is_empty and not _is_revisit_next(queue):
            self.park(queue)

    def _could_be_hit(self, queue: BackQueue) -> bool:
        """True if the queue belongs in its fetcher's heap: it has URLs, a connection is free, and its host may give
        another page or the next URL is a revisit."""
        # Until the address is known, and so the gate, the host gets one connection only.
        ahead = 0 if queue.holds_up else queue.ahead
        most = queue.settings.politeness.connections_per_host + ahead if queue.host.address else 1
        if queue.scheduled or queue.in_flight >= most or queue.is_empty or (queue.holds_up and queue.in_flight):
            return False
        return queue.host.pages + queue.in_flight < _page_limit(queue) or _is_revisit_next(queue)

    def _push(self, queue: BackQueue, at: float, ticket: int) -> None:
        queue.scheduled = True
        queue.ticket = ticket
        heapq.heappush(self._heaps[queue.fetcher], (at, ticket, queue))

    def _wake(self, queue: BackQueue) -> None:
        """Take a queue that sleeps out of the heap, as it has a URL that need not wait; its item there is void."""
        queue.asleep = queue.scheduled = False
        queue.ticket = -1
        if not is_parked(queue.host.failures):
            self.unpark(queue)

    # Origins whose robots.txt cannot be had

    def shut(self, queue: BackQueue, failure: RobotsFailure, now: float) -> None:
        """Let the URLs of an origin wait, all of them, until its robots.txt is asked for again."""
        self._back.shut(queue, failure.origin, _shut_by(failure, now))

    def ask_robots_again(self, failure: RobotsFailure) -> None:
        """The robots.txt of an origin that is shut is asked for at `failure.next_at`, earlier than was planned."""
        host_id = self._hosts.id_of(host_key(f"{failure.origin}/"))
        queue = self._queues.get(host_id)
        if queue is not None and failure.origin in queue.shut:
            queue.shut[failure.origin] = Shut(failure.next_at, False)
            if queue.asleep:
                self._wake(queue)
                self._schedule(queue)

    def park(self, queue: BackQueue) -> None:
        """Let the run end even if this queue still has URLs. A host that is parked because it keeps failing is hit all
        the same when its time comes."""
        self._parked += not queue.parked
        queue.parked = True

    def unpark(self, queue: BackQueue) -> None:
        self._parked -= queue.parked
        queue.parked = False

    def let_be_asked(self, host_ids: Iterable[int], ready_at: Callable[[Host], float]) -> None:
        """Forget the failures of these hosts, and let them be hit at `ready_at(host)` if that is earlier than now
        planned."""
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
        """Move queues that stand in a heap to the place that their host's `ready_at` says now. A queue that waits at
        its gate stays there."""
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
        """Returns the next URL for a fetcher, of a host that may be hit now; None if no host may be.

        The URL counts as a hit on its host until `release`, which the caller owes for every lease.
        """
        queue = self._pop_due(self._heaps[fetcher], now)
        if queue is None:
            return None
        queue.due = max(queue.host.ready_at, queue.gate.ready_at if queue.gate else 0.0)
        entry = queue.entries.popleft()
        queue.taken.add(entry.seq)
        queue.in_flight += 1
        self._in_flight += 1
        self._schedule(queue)
        return queue, entry

    def _pop_due(self, heap: list[tuple[float, int, BackQueue]], now: float) -> BackQueue | None:
        """Remove and return the first queue of a heap that may be hit now, and has passed its gate; None if there is
        none."""
        while heap and heap[0][0] <= now:
            _, ticket, queue = heapq.heappop(heap)
            if ticket != queue.ticket:
                continue
            queue.scheduled = queue.asleep = False
            if _ready_at(queue) > now:
                self._schedule(queue)  # another hit on the host has ended since it came here: the pause begins anew
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
        if queue.is_empty and not queue.in_flight:
            self.unpark(queue)
            self._retire(queue)
        else:
            self._schedule(queue)

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
            gate = queue.gate
            connections = queue.settings.politeness.connections_per_host
            queue.gate = self._gates.of(queue.host.address, queue.fetcher, connections, now)
            if gate is not None and gate is not queue.gate:
                self._let_next_in(gate)  # the host has left its old address: no release of it will wake who waits there
            gate = queue.gate
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
        self._load[queue.fetcher] -= 1
        self._load[fetcher] += 1
        queue.fetcher = fetcher
        queue.rules.forget_all()
        self._push(queue, queue.host.ready_at, ticket)

    def _is_next_at(self, gate: Gate, queue: BackQueue) -> bool:
        """True if a URL of the queue may be sent ahead to its fetcher although the gate is full: all hits in flight
        there are the queue's own, and no other queue waits."""
        return queue.ahead > 0 and gate.in_flight == queue.in_flight and not gate.waiting

    def put_back(self, queue: BackQueue, entry: Entry) -> None:
        """Put a leased URL that was not fetched after all back to its old place in its queue."""
        queue.taken.discard(entry.seq)
        if queue.is_shut(entry.url):
            self._schedule(queue)
            return
        place = next((place for place, other in enumerate(queue.entries) if other.seq > entry.seq), len(queue.entries))
        queue.entries.insert(place, entry)
        self._schedule(queue)

    def retry(self, queue: BackQueue, entry: Entry) -> None:
        """Put a leased URL that failed at the end of its queue, to be tried again after the others of its host."""
        self._back.remove(queue, entry)
        self._back.append(queue, entry)
        self._schedule(queue)

    def let_next_go(self, queue: BackQueue, entry: Entry) -> Entry | None:
        """Put a leased URL at the end of its queue, in which others must wait, and lease the next one in its place: the
        hit on the host stays what it was. Returns None if the next one may not be hit; the lease is then to be ended by
        `release`."""
        assert not queue.is_empty
        self._back.remove(queue, entry)
        self._back.append(queue, entry)
        if not queue.entries:
            self._back.read(queue)
        if queue.host.pages + queue.in_flight > _page_limit(queue) and not _is_revisit_next(queue):
            return None
        return queue.entries.popleft()

    def finish(self, queue: BackQueue, entry: Entry) -> None:
        """Remove a leased URL that is done. To be called in the transaction that commits its visit."""
        self._back.remove(queue, entry)

    def allow_ahead(self, queue: BackQueue, count: int) -> None:
        """Let `count` URLs of the queue wait at its fetcher, beside those that have a connection."""
        queue.ahead = count

    def release(self, queue: BackQueue, ready_at: float, address_ready_at: float | None = None) -> None:
        """End a lease: the host may be hit again at `ready_at`, or later if another hit said so. Its address may be at
        `address_ready_at`, which is earlier if the host has trouble of its own; None: at `ready_at`.

        The leased URL was put back, retried, or is to be finished: `release` does not touch it.
        """
        queue.host.ready_at = max(ready_at, queue.host.ready_at)
        self._hosts.touch(queue.host)
        queue.in_flight -= 1
        self._in_flight -= 1
        gate = queue.gate
        if address_ready_at is None:
            address_ready_at = ready_at
        others_wait = gate is not None and self._leave_gate(gate, address_ready_at)
        if queue.is_empty and not queue.in_flight:
            self.unpark(queue)
            self._retire(queue)
        elif gate is not None and others_wait and queue.has_open and self._could_be_hit(queue):
            queue.scheduled = True
            # It lines up behind those who wait: else the fetcher that is asked first would keep the gate to its hosts.
            self._gates.wait(gate, queue)
        else:
            self._schedule(queue)

    def _retire(self, queue: BackQueue) -> None:
        """Close an empty queue but remember it: if URLs of its host come soon, they go to the fetcher that has a
        connection to the host and its rules."""
        del self._queues[queue.host.id]
        self._load[queue.fetcher] -= 1
        queue.order = UrlOrder.AS_FOUND
        self._retired[queue.host.id] = queue
        if len(self._retired) > _RETIRED_KEPT:
            self._retired.popitem(last=False)

    def _leave_gate(self, gate: Gate, ready_at: float) -> bool:
        """End a hit at a gate, and let the next queue in. Returns False if none waits."""
        self._gates.leave(gate, ready_at)
        return self._let_next_in(gate)

    def _let_next_in(self, gate: Gate) -> bool:
        """Put the next queue that waits at a gate back into its heap. Returns False if none waits that could be hit."""
        while (next_one := self._gates.next_waiting(gate)) is not None:
            next_one.scheduled = False
            self._schedule(next_one)
            if next_one.scheduled:
                return True
        return False

    def visit(self, queue: BackQueue, key: str, now: float) -> Guest | float:
        """Returns the leave to hit the host `key` for the sake of this queue (`guests.py`), or the time to ask again.
        The caller owes `end_visit` for every leave."""
        return self._guests.enter(queue, key, now)

    def end_visit(self, guest: Guest, ready_at: float, address_ready_at: float, put_off: bool = False) -> None:
        """End a visit: the host may be hit again at `ready_at`, its address at `address_ready_at`; 0: it was not hit
        after all. `put_off`: the run does not wait for the host, as it keeps failing."""
        held = self._guests.leave(guest, ready_at, address_ready_at)
        own = self._queues.get(guest.host.id)
        if own is not None and put_off:
            self.park(own)
        if held is not None:
            held.scheduled = False
            self._schedule(held)
        if guest.gate is not None:
            self._let_next_in(guest.gate)

    def fetcher_replaced(self, fetcher: int) -> None:
        """Forget which rules a fetcher has: its new process knows nothing, and gets them again."""
        for queue in (*self._queues.values(), *self._retired.values()):
            if queue.fetcher == fetcher:
                queue.rules.forget_all()

    # Questions

    def next_ready_at(self, usable: Callable[[int], bool]) -> float:
        """Returns when the next host may be hit (seconds since the epoch), among those of the fetchers for which
        `usable(number)` is true; infinity if there is none."""
        return min((heap[0][0] for number, heap in enumerate(self._heaps) if heap and usable(number)), default=_NEVER)

    def bytes_held(self) -> dict[str, int]:
        """Returns about how many bytes each part holds in memory."""
        queues = [*self._queues.values(), *self._retired.values()]
        entries = sum(len(queue.entries) for queue in queues)
        return {
            "links of pages": self._sieve.bytes_held(),
            "back queues": len(queues) * _QUEUE_BYTES,
            "heads of back queues": entries * _ENTRY_BYTES,
        }

    def sizes(self) -> Sizes:
        queues = len(self._queues) - self._parked
        return Sizes(len(self._front) + len(self._recrawls), len(self._back), queues, self._parked, self._in_flight)

    def front_lengths(self) -> list[int]:
        return self._front.lengths()

    @property
    def is_finished(self) -> bool:
        """True if nothing is left that this run could fetch: no URL is in flight, none waits in the front queues, and
        all back queues are parked."""
        return not self._in_flight and len(self._queues) == self._parked and not self.sizes().front

    def host_pace(self) -> HostPace:
        return host_pace(self._queues.values(), self.settings.common.politeness.delay)

    def parked_hosts(self) -> list[Host]:
        """Returns the hosts that the run does not wait for, without those of `shut_origins`."""
        return [queue.host for queue in self._queues.values() if queue.parked and not queue.asleep]

    def shut_origins(self) -> dict[str, float]:
        """Returns the origins whose robots.txt cannot be had, each with the time at which it is asked for again."""
        return {site: shut.until for queue in self._queues.values() for site, shut in queue.shut.items()}

    def flush(self) -> None:
        """Write all changes that only memory holds; to be committed by the caller."""
        self._front.flush()
        self._recrawls.flush()
        self._back.flush()
        self._held.flush()
        self._seen.flush()
        self._standings.flush()
        self._sieve.flush()
        self._hosts.flush()


def _ready_at(queue: BackQueue) -> float:
    """Returns when the queue may be hit again: a queue that has only URLs of shut origins waits for these."""
    if queue.has_open or not queue.shut:
        return queue.host.ready_at
    return max(queue.host.ready_at, min(shut.until for shut in queue.shut.values()))


def _shut_by(failure: RobotsFailure, now: float) -> Shut:
    return Shut(failure.next_at, is_parked(failure.failures, failure.next_at - now))


def _has_given_all(queue: BackQueue) -> bool:
    """True if the host has given as many different pages as limits.max_pages_per_host allows."""
    return queue.host.pages >= _page_limit(queue)


def _is_revisit_next(queue: BackQueue) -> bool:
    """True if the URL at the head of the queue was visited before, so that it adds no page to those of its host."""
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
