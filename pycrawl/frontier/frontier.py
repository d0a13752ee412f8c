"""The frontier: joins URL-seen, the front queues, the back queues, and the schedule of hits.

New URLs come in by `add`, known ones again by `queue_recrawls` and `requeue_visits`; `lease` is the only way out.
Between them a URL is in a front queue, among the pages that a recrawl has chosen, in its host's back queue, or held for
the next run. A leased URL stays in the table `back` until `finish`, so that no lease is lost when the process dies.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pycrawl.config import Config
from pycrawl.frontier.back import HEAD, MOST_UNWRITTEN, BackQueue, BackTable, Entry, Shut, hosts_with_queues
from pycrawl.frontier.discovered import Discovered
from pycrawl.frontier.front import STRETCH, FrontQueues, Waiting
from pycrawl.frontier.gates import Gates
from pycrawl.frontier.guests import Guest, Guests
from pycrawl.frontier.held import Held
from pycrawl.frontier.host_pace import HostPace, host_pace
from pycrawl.frontier.judge import Judge
from pycrawl.frontier.open_queues import OpenQueues, shut_by
from pycrawl.frontier.recrawl_queue import RecrawlQueue
from pycrawl.frontier.requeuing import Requeuing
from pycrawl.frontier.schedule import Schedule
from pycrawl.frontier.sieve import Added, Sieve
from pycrawl.policy.politeness import is_parked
from pycrawl.policy.priority import PluginPrioritiser, UrlFacts, lowered, priority
from pycrawl.state.counters import Counters
from pycrawl.state.database import Database
from pycrawl.state.hosts import Host, Hosts
from pycrawl.state.origin_failures import OriginFailure
from pycrawl.state.sources import Sources
from pycrawl.state.standings import Standings
from pycrawl.state.url_seen import UrlSeen
from pycrawl.urls.parts import host_key

QUEUES_PER_SLOT = 3  # back queues for each open fetch: Mercator's number, so that most slots find a host that is ready
_MOST_QUEUES = 30_000  # back queues that idle slots may lead to
_PULLS_PER_FILL = 1_000  # URLs; keeps one call of `fill` in the range of 10 ms
_QUEUE_BYTES = 1_500  # that an empty back queue takes in memory, its host included; about
_ENTRY_BYTES = 300  # that a URL at the head of one takes; about
_NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much the frontier holds at one moment."""

    front: int  # URLs in the front queues, and pages chosen by a recrawl
    back: int  # URLs in the back queues, those in flight included
    queues: int  # back queues that are not parked
    parked: int  # back queues that are
    in_flight: int  # leased URLs, those that are being read included


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
        self._in_flight = 0
        self._queues_per_slot = bounds.queues_per_slot
        self._wanted_queues = 1
        self._lowered: set[int] = set()  # ids of hosts whose new URLs wait behind those of others
        self.settings = judge.scope.settings
        gates = Gates()
        self._queues = OpenQueues(database, hosts, self.settings, gates)
        self._guests = Guests(hosts, self.settings, gates, self._queues.by_host)
        self._schedule = Schedule(self._back, self._queues, gates, self._guests)
        self._prioritiser = _prioritiser_of(config)
        self._standings = standings
        self._sieve = Sieve(
            database, hosts, counters, seen, standings, self._front, judge, sources, self._level_of,
            self._prioritiser is None,
        )  # fmt: skip
        self._requeuing = Requeuing(database, self._front, self._recrawls, self._back, standings)
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
        """Queue the pages that a recrawl has chosen, in this order, once those of an earlier one were put back. Returns
        how many: those that are queued already or stand aside stay where they are."""
        return self._requeuing.queue_recrawls(url_ids)

    def put_back_recrawls(self) -> None:
        """Let the pages that an earlier recrawl chose and did not get to stand where they stood before. No back queue
        may be open."""
        self._requeuing.put_back_recrawls()

    def requeue_sources(self, sources: Sequence[tuple[int, int]]) -> None:
        """Put sitemaps and feeds (id, host id), which must not be queued, into the highest front queue."""
        self._requeuing.requeue_sources(sources)

    def requeue_visits(self, condition: str, values: Sequence[object]) -> int:
        """Put URLs back into the front queues whose last visit meets an SQL condition on `visits`. Returns how many."""
        return self._requeuing.requeue_visits(condition, values)

    # Back queues

    def open_queues(self, fetchers: int, slots: int, now: float = _NEVER, max_depth: float = _NEVER) -> None:
        """Open a back queue for each host in the table `back`, shared out among `fetchers` with `slots` fetches in all.

        A host that kept failing in an earlier run and must not be hit at `now` is parked from the start. URLs deeper
        than `max_depth` are held: they wait for the next run.
        """
        self._held.open(max_depth)
        self._queues.begin_run(fetchers, now)
        self._schedule.begin_run(fetchers)
        self._wanted_queues = self._queues_per_slot * slots
        for host_id in hosts_with_queues(self._database):
            queue = self._queues.open(host_id)
            queue.more = True
            if queue.shut:
                self._back.read(queue)
            self._schedule.place(queue)

    def _pull(self) -> Waiting | None:
        """Remove and return the next URL: a new one in recrawl.new_share of all cases, else one to visit again;
        whatever there is where one kind is lacking. None if there is none."""
        if not len(self._recrawls) or (len(self._front) and self._chance.random() < self._new_share):
            return self._front.pull()
        return self._recrawls.pull()

    def fill(self, starving: bool) -> None:
        """Move URLs from the front queues to back queues until enough of these are open. `starving`: slots are idle, so
        that more are opened."""
        wanted = self._wanted_queues
        if starving:
            wanted = max(wanted, min(self._queues.unparked + self._wanted_queues, _MOST_QUEUES))
        for _ in range(_PULLS_PER_FILL):
            if self._queues.unparked >= wanted:
                return
            waiting = self._pull()
            if waiting is None:
                return
            depth = min(waiting.depth, self._standings.depth_of(waiting.url_id))  # the row may not be written yet
            if self._held.is_too_deep(depth):
                self._held.hold(waiting.url_id, waiting.host_id, waiting.revisit)
                continue
            self._seen.leave_front(waiting.url_id)
            queue = self._queues.by_host.get(waiting.host_id) or self._queues.open(waiting.host_id)
            entry = Entry(waiting.url_id, waiting.url, depth, waiting.hops, waiting.revisit)
            if queue.order or (entry.revisit and queue.has_given_all):
                self._back.push(queue, entry)
                self._let_revisit(queue)
            else:
                self._back.append(queue, entry)
            if queue.asleep and queue.has_open:
                self._schedule.wake(queue)
            self._schedule.place(queue)

    def _let_revisit(self, queue: BackQueue) -> None:
        """Unpark the queue of a host that has given all the pages it may: it may still be asked for these again."""
        if queue.has_given_all and not is_parked(queue.host.failures):
            self.unpark(queue)

    # Origins that cannot be asked for pages

    def shut(self, host: Host, failure: OriginFailure, now: float) -> None:
        """Let the URLs of an origin of this host wait, all of them, until it is tried again."""
        queue = self._queues.by_host.get(host.id)
        if queue is not None:
            self._back.shut(queue, failure.origin, shut_by(failure, now))

    def ask_origin_again(self, failure: OriginFailure) -> None:
        """An origin that is shut is tried again at `failure.next_at`, earlier than was planned."""
        host_id = self._hosts.id_of(host_key(f"{failure.origin}/"))
        queue = self._queues.by_host.get(host_id)
        if queue is not None and failure.origin in queue.shut:
            queue.shut[failure.origin] = Shut(failure.next_at, False, failure.of_robots)
            if queue.asleep:
                self._schedule.wake(queue)
                self._schedule.place(queue)

    # Hosts that the run does not wait for

    def park(self, queue: BackQueue) -> None:
        """Let the run end even if this queue still has URLs."""
        self._queues.park(queue)

    def unpark(self, queue: BackQueue) -> None:
        self._queues.unpark(queue)

    def let_be_asked(self, host_ids: Iterable[int], ready_at: Callable[[Host], float]) -> None:
        """Forget the failures of these hosts, and let them be hit at `ready_at(host)` if that is earlier than now
        planned."""
        queues: set[BackQueue] = set()
        for host_id in host_ids:
            host = self._hosts.get(host_id)
            host.failures = 0
            host.ready_at = min(host.ready_at, ready_at(host))
            self._hosts.touch(host)
            queue = self._queues.by_host.get(host_id)
            if queue is not None:
                queues.add(queue)
                self.unpark(queue)
                if queue.gate is not None:
                    queue.gate.ready_at = min(queue.gate.ready_at, host.ready_at)
        self._schedule.place_anew(queues)

    # Out

    def lease(self, fetcher: int, now: float) -> tuple[BackQueue, Entry] | None:
        """Returns the next URL for a fetcher, of a host that may be hit now; None if no host may be.

        The URL counts as a hit on its host until `release`, which the caller owes for every lease.
        """
        queue = self._schedule.pop_due(fetcher, now)
        if queue is None:
            return None
        queue.due = max(queue.host.ready_at, queue.gate.ready_at if queue.gate else 0.0)
        entry = queue.entries.popleft()
        queue.taken.add(entry.seq)
        queue.in_flight += 1
        self._in_flight += 1
        self._schedule.place(queue)
        return queue, entry

    def put_back(self, queue: BackQueue, entry: Entry) -> None:
        """Put a leased URL that was not fetched after all back to its old place in its queue."""
        queue.taken.discard(entry.seq)
        if queue.is_shut(entry.url):
            self._schedule.place(queue)
            return
        place = next((place for place, other in enumerate(queue.entries) if other.seq > entry.seq), len(queue.entries))
        queue.entries.insert(place, entry)
        self._schedule.place(queue)

    def retry(self, queue: BackQueue, entry: Entry) -> None:
        """Put a leased URL that failed at the end of its queue, to be tried again after the others of its host."""
        self._back.remove(queue, entry)
        self._back.append(queue, entry)
        self._schedule.place(queue)

    def let_next_go(self, queue: BackQueue, entry: Entry) -> Entry | None:
        """Put a leased URL at the end of its queue, in which others must wait, and lease the next one in its place: the
        hit on the host stays what it was. Returns None if the next one may not be hit; the lease is then to be ended by
        `release`."""
        assert not queue.is_empty
        self._back.remove(queue, entry)
        self._back.append(queue, entry)
        if not queue.entries:
            self._back.read(queue)
        if queue.pages_at_most > queue.page_limit and not queue.is_revisit_next:
            return None
        following = queue.entries.popleft()
        queue.taken.add(following.seq)
        return following

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
        self._in_flight -= 1
        self._end_hit(queue, ready_at, ready_at if address_ready_at is None else address_ready_at)

    def begin_reading(self, queue: BackQueue, ready_at: float, address_ready_at: float) -> None:
        """The hit of a lease has ended, and its document is being read: the host and its address may be hit again at
        these times. The caller owes `end_reading`, in the place of `release`."""
        queue.unread += 1
        self._end_hit(queue, ready_at, address_ready_at)

    def end_reading(self, queue: BackQueue) -> None:
        """End a lease whose document was read."""
        queue.unread -= 1
        self._in_flight -= 1
        self._schedule.end_reading(queue)

    def _end_hit(self, queue: BackQueue, ready_at: float, address_ready_at: float) -> None:
        queue.host.ready_at = max(ready_at, queue.host.ready_at)
        self._hosts.touch(queue.host)
        queue.in_flight -= 1
        self._schedule.end_hit(queue, address_ready_at)

    def visit(self, queue: BackQueue, key: str, now: float) -> Guest | float:
        """Returns the leave to hit the host `key` for the sake of this queue (`guests.py`), or the time to ask again.
        The caller owes `end_visit` for every leave."""
        return self._guests.enter(queue, key, now)

    def end_visit(self, guest: Guest, ready_at: float, address_ready_at: float, put_off: bool = False) -> None:
        """End a visit: the host may be hit again at `ready_at`, its address at `address_ready_at`; 0: it was not hit
        after all. `put_off`: the run does not wait for the host, as it keeps failing."""
        own = self._queues.by_host.get(guest.host.id)
        if own is not None and put_off:
            self.park(own)
        self._schedule.end_visit(guest, ready_at, address_ready_at)

    def fetcher_replaced(self, fetcher: int) -> None:
        """Forget which rules a fetcher has: its new process knows nothing, and gets them again."""
        self._queues.fetcher_replaced(fetcher)

    # Questions

    def next_ready_at(self, usable: Callable[[int], bool]) -> float:
        """Returns when the next host may be hit (seconds since the epoch), among those of the fetchers for which
        `usable(number)` is true; infinity if there is none."""
        return self._schedule.next_ready_at(usable)

    def bytes_held(self) -> dict[str, int]:
        """Returns about how many bytes each part holds in memory."""
        queues = list(self._queues.in_memory())
        entries = sum(len(queue.entries) for queue in queues)
        return {
            "links of pages": self._sieve.bytes_held(),
            "back queues": len(queues) * _QUEUE_BYTES,
            "heads of back queues": entries * _ENTRY_BYTES,
        }

    def sizes(self) -> Sizes:
        queues, front = self._queues, len(self._front) + len(self._recrawls)
        return Sizes(front, len(self._back), queues.unparked, queues.parked, self._in_flight)

    def front_lengths(self) -> list[int]:
        return self._front.lengths()

    @property
    def is_finished(self) -> bool:
        """True if nothing is left that this run could fetch: no URL is in flight, none waits in the front queues, and
        all back queues are parked."""
        return not self._in_flight and not self._queues.unparked and not self.sizes().front

    def host_pace(self) -> HostPace:
        return host_pace(self._queues.by_host.values(), self.settings.common.politeness.delay)

    def parked_hosts(self) -> list[Host]:
        """Returns the hosts that the run does not wait for, without those of `shut_origins`."""
        return [queue.host for queue in self._queues.by_host.values() if queue.parked and not queue.asleep]

    def shut_origins(self) -> list[Shut]:
        """Returns what is known of the origins that cannot be asked for pages."""
        return [shut for queue in self._queues.by_host.values() for shut in queue.shut.values()]

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


def _prioritiser_of(config: Config) -> PluginPrioritiser | None:
    name = config.crawl.prioritiser
    if not name:
        return None
    from pycrawl.plugins import registry

    plugin = registry.make_or_explain(registry.PRIORITIES, name, "crawl.prioritiser", config.plugins)
    return PluginPrioritiser(name, plugin)
