"""The URLs in flight, by fetcher; and what is known of those that were in flight when a fetcher died."""

from __future__ import annotations

from dataclasses import dataclass

from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.frontier.guests import Guest
from pycrawl.model import Kind
from pycrawl.processes.pool import Death

_STRIKES = 2  # fetchers that one URL may take down
_DOUBTS = 5  # fetchers killed from outside while one URL was in flight, until that counts against it


@dataclass(slots=True)
class Lease:
    """A URL in flight. A robots job holds the URL that it was needed for."""

    queue: BackQueue
    entry: Entry
    kind: Kind
    fetcher: int
    due: float  # when the host might be hit
    url: str  # that is asked for: that of the entry, of its host's robots.txt, or one that cannot exist
    site: str  # the origin of the entry's URL
    guest: Guest | None = None  # of the host that is hit, if that is another one


class Leases:
    """Opened by dispatch; closed by results and by the death of a fetcher."""

    def __init__(self, fetchers: int, slots: int) -> None:
        self.slots = slots  # of one fetcher
        self.pages = 0  # in flight that are no robots.txt or probe
        self._leases: dict[int, Lease] = {}  # by URL id
        self._open = [0] * fetchers  # leases by fetcher, those that wait for a connection apart
        self._by_host: dict[int, int] = {}  # how many leases
        self._suspects: dict[int, int] = {}  # by fetcher: the URL in flight that may have killed another one
        self._strikes: dict[int, int] = {}  # by URL id
        self._doubts: dict[int, int] = {}  # by URL id

    def __len__(self) -> int:
        return len(self._leases)

    @property
    def fetches(self) -> int:
        """Leases without those that wait for a connection."""
        return sum(self._open)

    @property
    def all_slots(self) -> int:
        return self.slots * len(self._open)

    @property
    def has_free_slots(self) -> bool:
        return self.fetches < self.all_slots

    def has_free_slot(self, fetcher: int) -> bool:
        return self._open[fetcher] < self.slots

    def free_slots(self, fetcher: int) -> int:
        return self.slots - self._open[fetcher]

    def open(self, lease: Lease) -> None:
        self._leases[lease.entry.url_id] = lease
        host_id = lease.queue.host.id
        others = self._by_host.get(host_id, 0)
        self._by_host[host_id] = others + 1
        self._open[lease.fetcher] += others < lease.queue.settings.politeness.connections_per_host
        self.pages += lease.kind is Kind.PAGE

    def close(self, url_id: int) -> Lease | None:
        """The fetch has ended, and its fetcher lives; None: it was given up with an earlier fetcher."""
        lease = self._leases.pop(url_id, None)
        if lease is not None:
            self._closed(lease)
            self._strikes.pop(url_id, None)
            self._doubts.pop(url_id, None)
        return lease

    def close_all_of(self, death: Death) -> list[Lease]:
        """A fetcher has died: what it had in flight."""
        leases = [lease for lease in self._leases.values() if lease.fetcher == death.fetcher]
        blamed = self._blamed(death, [lease.entry.url_id for lease in leases])
        for lease in leases:
            url_id = lease.entry.url_id
            del self._leases[url_id]
            self._closed(lease)
            if url_id in blamed:
                self._strikes[url_id] = self._strikes.get(url_id, 0) + 1
        return leases

    def _blamed(self, death: Death, in_flight: list[int]) -> set[int]:
        """The URL that was being worked on; without one, the suspect if there is one, else all in flight.

        But a kill from outside may have struck at any moment: what was only in flight has to be so several times.
        """
        if death.url_id:
            return {death.url_id}
        if death.from_outside:
            for url_id in in_flight:
                self._doubts[url_id] = self._doubts.get(url_id, 0) + 1
            return {url_id for url_id in in_flight if self._doubts[url_id] >= _DOUBTS}
        suspect = self._suspects.get(death.fetcher)
        return set(in_flight) if suspect is None else {suspect}

    def _closed(self, lease: Lease) -> None:
        host_id = lease.queue.host.id
        others = self._by_host.pop(host_id) - 1
        if others:
            self._by_host[host_id] = others
        self._open[lease.fetcher] -= others < lease.queue.settings.politeness.connections_per_host
        self.pages -= lease.kind is Kind.PAGE
        if self._suspects.get(lease.fetcher) == lease.entry.url_id:
            del self._suspects[lease.fetcher]

    def may_send(self, fetcher: int, url_id: int) -> bool:
        """One suspect at a time, so that the next death of its fetcher proves something."""
        return url_id not in self._strikes or self._suspects.setdefault(fetcher, url_id) == url_id

    def is_struck_out(self, url_id: int) -> bool:
        return self._strikes.get(url_id, 0) >= _STRIKES
