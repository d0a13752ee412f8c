"""The host table: which hosts have a back queue, with which fetcher, and which of the queues are parked."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from pycrawl.frontier.back import BackQueue, Shut
from pycrawl.frontier.gates import Gates
from pycrawl.model import UrlOrder
from pycrawl.policy.politeness import is_parked
from pycrawl.state.database import Database
from pycrawl.state.hosts import Hosts
from pycrawl.state.origin_failures import OriginFailure, failures_of_host
from pycrawl.urls.host_settings import SettingsByHost
from pycrawl.urls.parts import address_literal

_RETIRED_KEPT = 8_192  # empty queues, some 1.5 KB each
_NEVER = float("inf")


class OpenQueues:
    """A host has a queue in `by_host` while URLs of it wait in the back queues or are in flight."""

    def __init__(self, database: Database, hosts: Hosts, settings: SettingsByHost, gates: Gates) -> None:
        self._database = database
        self._hosts = hosts
        self._settings = settings
        self._gates = gates
        self.by_host: dict[int, BackQueue] = {}  # host id → its back queue
        self._retired: OrderedDict[int, BackQueue] = OrderedDict()  # host id → empty queue, the newest last
        self._load: list[int] = []  # by fetcher: how many back queues it has
        self._opened_at = _NEVER
        self.parked = 0  # how many of the queues are parked

    def begin_run(self, fetchers: int, now: float) -> None:
        """Share out all queues that are opened from now on among so many fetchers, which know no host yet."""
        self._opened_at = now
        self._retired.clear()
        self._load = [0] * fetchers

    @property
    def unparked(self) -> int:
        """How many queues the run waits for."""
        return len(self.by_host) - self.parked

    def open(self, host_id: int) -> BackQueue:
        """Open the back queue of a host, with the fetcher that had it before, or that connects to its address, as it
        may have a connection open; else with the one that has the fewest queues."""
        queue = self._retired.pop(host_id, None)
        if queue is None:
            host = self._hosts.get(host_id)
            host.address = host.address or address_literal(host.key)
            fetcher = self._gates.fetcher_of(host.address)
            if fetcher is None:
                fetcher = min(range(len(self._load)), key=self._load.__getitem__)
            queue = BackQueue(host, fetcher, self._settings.of(host.key))
        self._load[queue.fetcher] += 1
        self.by_host[host_id] = queue
        wait = queue.host.ready_at - self._opened_at
        if wait > 0 and is_parked(queue.host.failures, wait):
            self.park(queue)
        if queue.host.failing_since:
            for failure in failures_of_host(self._database, queue.host.key):
                if queue.settings.politeness.obey_robots or not failure.of_robots:
                    queue.shut[failure.origin] = shut_by(failure, self._opened_at)
        return queue

    def close(self, queue: BackQueue) -> None:
        """Close an empty queue but remember it: if URLs of its host come soon, they go to the fetcher that has a
        connection to the host and its rules."""
        self.unpark(queue)
        del self.by_host[queue.host.id]
        self._load[queue.fetcher] -= 1
        queue.order = UrlOrder.AS_FOUND
        self._retired[queue.host.id] = queue
        if len(self._retired) > _RETIRED_KEPT:
            self._retired.popitem(last=False)

    def move(self, queue: BackQueue, fetcher: int) -> None:
        """Give a queue to another fetcher, which has none of its host's rules."""
        self._load[queue.fetcher] -= 1
        self._load[fetcher] += 1
        queue.fetcher = fetcher
        queue.rules.forget_all()

    def fetcher_replaced(self, fetcher: int) -> None:
        """Forget which rules a fetcher has: its new process knows nothing, and gets them again."""
        for queue in self.in_memory():
            if queue.fetcher == fetcher:
                queue.rules.forget_all()

    def park(self, queue: BackQueue) -> None:
        """Let the run end even if this queue still has URLs. A host that is parked because it keeps failing is hit all
        the same when its time comes."""
        self.parked += not queue.parked
        queue.parked = True

    def unpark(self, queue: BackQueue) -> None:
        self.parked -= queue.parked
        queue.parked = False

    def in_memory(self) -> Iterator[BackQueue]:
        """Yields all queues, and those empty ones that are remembered."""
        yield from self.by_host.values()
        yield from self._retired.values()


def shut_by(failure: OriginFailure, now: float) -> Shut:
    """Returns how long an origin stays shut that has failed at `now`."""
    return Shut(failure.next_at, is_parked(failure.failures, failure.next_at - now), failure.of_robots)
