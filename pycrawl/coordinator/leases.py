"""The URLs in flight at each fetcher; and which of them are suspected of having taken a fetcher down."""

from __future__ import annotations

from dataclasses import dataclass

from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.frontier.guests import Guest
from pycrawl.model import Kind
from pycrawl.processes.pool import Death

_STRIKES = 2  # deaths of a fetcher that are blamed on one URL, after which it is given up
_DOUBTS = 5  # kills from outside while one URL was in flight, from which on each counts as a strike against it


@dataclass(slots=True)
class Lease:
    """A URL in flight. A job for a robots.txt or a probe holds the lease of the page URL that it was needed for."""

    queue: BackQueue
    entry: Entry
    kind: Kind
    fetcher: int
    due: float  # seconds since the epoch: when the hit was allowed
    url: str  # the URL that is asked for: the entry's own, a robots.txt, or a probe's, which cannot exist
    site: str  # the origin of the entry's URL
    guest: Guest | None = None  # the leave to hit another host, where a robots.txt has redirected
    is_read: bool = False  # the hit has ended, and the document that it brought is being converted


class Leases:
    """All leases by URL id. Dispatch opens them; a result, or the death of the fetcher, closes them."""

    def __init__(self, fetchers: int, slots: int) -> None:
        self.slots = slots  # fetches that one fetcher may have open
        self.pages = 0  # leases for pages, not for a robots.txt or a probe
        self.documents = 0  # leases whose documents are being converted
        self._leases: dict[int, Lease] = {}  # by URL id
        self._open = [0] * fetchers  # by fetcher: leases, without those that wait there for a connection
        self._by_host: dict[int, int] = {}  # host id → number of leases
        self._suspects: dict[int, int] = {}  # fetcher → id of the only URL in flight there that has a strike
        self._strikes: dict[int, int] = {}  # URL id → deaths of a fetcher that are blamed on it
        self._doubts: dict[int, int] = {}  # URL id → kills from outside while it was in flight

    def __len__(self) -> int:
        return len(self._leases)

    @property
    def fetches(self) -> int:
        """Returns the number of leases, without those that wait at their fetcher for a connection or are being read."""
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

    def get(self, url_id: int) -> Lease | None:
        """Returns the open lease of a URL; None if it has none."""
        return self._leases.get(url_id)

    def begin_reading(self, url_id: int) -> Lease | None:
        """Note that the document of a page's lease has come and is being converted: the lease stays open, without a
        slot. Returns the lease; None if no such page is in flight."""
        lease = self._leases.get(url_id)
        if lease is None or lease.is_read or lease.kind is not Kind.PAGE:
            return None
        self._leave_slot(lease)
        lease.is_read = True
        self.documents += 1
        return lease

    def close(self, url_id: int) -> Lease | None:
        """Close the lease of a URL whose fetch has ended while its fetcher lives: the URL is cleared of all suspicion.
        Returns the lease; None if it was closed with a fetcher that died."""
        lease = self._leases.pop(url_id, None)
        if lease is not None:
            self._closed(lease)
            self._strikes.pop(url_id, None)
            self._doubts.pop(url_id, None)
        return lease

    def close_all_of(self, death: Death) -> list[Lease]:
        """Close and return the leases of a fetcher that died, with a strike for each URL that is blamed."""
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
        """Returns the ids of the URLs to blame: the one that was being worked on; if that is not known, the suspect; if
        there is none, all in flight.

        A kill from outside may strike at any moment, so that a URL in flight is blamed only after several of them.
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
        """Take a closed lease out of all counts."""
        if lease.is_read:
            self.documents -= 1
        else:
            self._leave_slot(lease)
        self.pages -= lease.kind is Kind.PAGE
        if self._suspects.get(lease.fetcher) == lease.entry.url_id:
            del self._suspects[lease.fetcher]

    def _leave_slot(self, lease: Lease) -> None:
        host_id = lease.queue.host.id
        others = self._by_host.pop(host_id) - 1
        if others:
            self._by_host[host_id] = others
        self._open[lease.fetcher] -= others < lease.queue.settings.politeness.connections_per_host

    def may_send(self, fetcher: int, url_id: int) -> bool:
        """True if the URL may be sent to the fetcher now. A URL with a strike becomes the fetcher's suspect, and there
        is only one at a time, so that the next death proves something."""
        return url_id not in self._strikes or self._suspects.setdefault(fetcher, url_id) == url_id

    def is_struck_out(self, url_id: int) -> bool:
        """True if the URL has taken down so many fetchers that it must not be tried again."""
        return self._strikes.get(url_id, 0) >= _STRIKES
