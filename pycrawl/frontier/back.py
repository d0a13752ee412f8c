"""Mercator's back queues: each holds the URLs of one host, first in, first out.

The queues live in the table `back`; memory holds a short head of each. A URL that is appended and finished between two
commits is never written to the table.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from pycrawl.model import RobotsFile, UrlOrder
from pycrawl.policy.head_answers import HeadNote
from pycrawl.policy.robots_digest import robots_digest
from pycrawl.state.counters import Counters, totals
from pycrawl.state.database import Database
from pycrawl.state.hosts import Host
from pycrawl.urls.host_settings import HostSettings
from pycrawl.urls.parts import origin

HEAD = 64  # entries of one queue that memory holds; the rest are in the table only
MOST_UNWRITTEN = 50_000  # entries of all queues that may wait in memory to be written
_NEVER = float("inf")
_NOWHERE = -(1 << 62)  # lower than the `seq` of any entry, so that reading starts at the head of the queue


@dataclass(slots=True)
class Entry:
    """A URL in a back queue."""

    url_id: int
    url: str
    depth: int
    hops: int
    revisit: int  # 1: the URL was visited before; 2: a recrawl has chosen it (`recrawl_queue.py`)
    tries: int = 0  # attempts that have ended
    seq: int = 0  # the entry's place in the queue; set by `append` and `push`
    cookies: str = ""  # the Cookie header to send, after the URL redirected to itself and set a cookie
    head: HeadNote | None = None  # what a HEAD has said: the page itself is asked for next


class RulesAtFetcher:
    """For each origin of a back queue: which robots.txt its fetcher has, and where a robots.txt redirects to.

    `_sent` gains an origin when a job carries its robots.txt to the fetcher, and loses it when the fetcher was replaced
    or says that it lacks the rules. A redirect is kept until its target has answered.
    """

    __slots__ = ("_redirects", "_sent")

    def __init__(self) -> None:
        self._sent: dict[str, tuple[float, str]] = {}  # origin → when it expires, digest
        self._redirects: dict[str, tuple[str, int]] = {}  # origin → target, redirects so far

    def are_current(self, site: str, now: float) -> bool:
        """True if the fetcher has the robots.txt of the origin, and that has not expired."""
        return site in self._sent and self._sent[site][0] > now

    def digest_of(self, site: str) -> str:
        """Returns the digest of the robots.txt that the fetcher has of the origin; empty if it has none."""
        return self._sent[site][1] if site in self._sent else ""

    def note_sent(self, site: str, file: RobotsFile) -> None:
        self._sent[site] = (file.expires_at, robots_digest(file.body))

    def forget(self, site: str) -> None:
        self._sent.pop(site, None)

    def forget_all(self) -> None:
        self._sent.clear()

    def redirect_of(self, site: str) -> tuple[str, int] | None:
        """Returns the URL to ask for the origin's robots.txt, and how many redirects led there; None if the robots.txt
        has not redirected."""
        return self._redirects.get(site)

    def note_redirect(self, site: str, target: str, hops: int) -> None:
        self._redirects[site] = (target, hops)

    def forget_redirect(self, site: str) -> None:
        self._redirects.pop(site, None)


@dataclass(slots=True, eq=False)
class Gate:
    """The connections and the pause that all hosts of one address share (see `gates.py`)."""

    fetcher: int  # the number of the only fetcher that connects to the address
    connections: int  # open at once, at most: the smallest number that one of the address's hosts allows
    in_flight: int = 0  # hits on the address that have not ended
    ready_at: float = 0.0  # seconds since the epoch: the address must not be hit before
    waiting: list[tuple[float, int, BackQueue]] = field(default_factory=list)  # a heap: host's ready_at, ticket, queue


class Shut(NamedTuple):
    """An origin that cannot be asked for pages: no connection to it can be made, or its robots.txt cannot be had."""

    until: float  # seconds since the epoch: when it is tried again
    put_off: bool  # the run may end before that
    of_robots: bool = True  # its robots.txt cannot be had


@dataclass(slots=True, eq=False)
class BackQueue:
    """The URLs of one host that wait for their turn, and what decides when the host is hit."""

    host: Host
    fetcher: int  # the number of the only fetcher that hits this host
    settings: HostSettings
    entries: deque[Entry] = field(default_factory=deque)  # the head of the queue, without the URLs in flight
    more: bool = False  # True: the queue goes on behind `entries`, with rows that only the table holds
    read_to: int = _NOWHERE  # the `seq` of the last entry that was put into `entries`
    order: UrlOrder = UrlOrder.AS_FOUND  # any other order puts newly pulled URLs at the head of the queue
    in_flight: int = 0  # leased URLs whose hits have not ended
    unread: int = 0  # leased URLs whose hits have ended: the documents are being read
    ahead: int = 0  # URLs that may wait at the fetcher for a connection, beside those that have one
    holds_up: bool = False  # a robots.txt or a probe is in flight: nothing is sent ahead of its answer
    scheduled: bool = False  # the queue stands in its fetcher's heap, waits at its gate, or is held for a guest
    gate: Gate | None = None  # the gate that the queue passed last; None while the host's address is not known
    looked_up_at: float = 0.0  # seconds since the epoch: the last look-up of the host's name in this run
    due: float = 0.0  # seconds since the epoch: when the hit that was leased last was allowed
    parked: bool = False  # the host keeps failing, or gave all pages it may: the run may end with URLs left here
    rules: RulesAtFetcher = field(default_factory=RulesAtFetcher)
    # Origins that are shut. Their URLs are in the table only, never in `entries`, and `more` does not speak of them.
    shut: dict[str, Shut] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)  # the `seq` of entries that left `entries` and are still in the table
    reread_to: int = _NOWHERE  # up to this `seq`, rows that are read may be among those taken
    asleep: bool = False  # it stands in the heap until an origin that is shut is due, as it has no other URLs
    ticket: int = -1  # that of its valid item in the heap: an item with another one is void

    @property
    def is_empty(self) -> bool:
        """True if no URL waits, in memory or in the table; some may be in flight."""
        return not self.entries and not self.more and not self.shut

    @property
    def has_open(self) -> bool:
        """True if a URL waits that may be asked for: one of an origin that is not shut."""
        return bool(self.entries) or self.more

    def is_shut(self, url: str) -> bool:
        return bool(self.shut) and origin(url) in self.shut

    @property
    def ready_at(self) -> float:
        """When the queue may be hit again: one that has only URLs of shut origins waits for these."""
        if not self.shut or self.has_open:
            return self.host.ready_at
        return max(self.host.ready_at, min(shut.until for shut in self.shut.values()))

    @property
    def is_over(self) -> bool:
        """True if no URL waits, is in flight or is being read."""
        return self.is_empty and not self.in_flight and not self.unread

    @property
    def pages_at_most(self) -> int:
        """How many different pages the host has given, if each leased URL gives another one."""
        return self.host.pages + self.in_flight + self.unread

    @property
    def page_limit(self) -> float:
        """How many different pages limits.max_pages_per_host lets the host give."""
        return self.settings.limits.max_pages_per_host or _NEVER

    @property
    def has_given_all(self) -> bool:
        """True if the host has given as many different pages as it may."""
        return self.host.pages >= self.page_limit

    @property
    def is_revisit_next(self) -> bool:
        """True if the URL at the head of the queue was visited before, so that it adds no page to those of its host."""
        return bool(self.entries and self.entries[0].revisit)


class BackTable:
    """The table `back`, with the changes that memory holds until the next `flush`."""

    def __init__(
        self, database: Database, counters: Counters, head: int = HEAD, most_unwritten: int = MOST_UNWRITTEN
    ) -> None:
        self._head = head
        self._most_unwritten = most_unwritten
        self._database = database
        self._counters = counters
        known = totals(database)
        self._length = known.get("back", 0)
        self._next_seq = 1 + known.get("back_seq", 0)
        self._head_seq = known.get("back_head_seq", 0)  # the last `seq` given at the head of a queue, counting down
        self._counted = (self._length, self._next_seq, self._head_seq)  # the values that the counters were told last
        self._unwritten: dict[int, tuple[int, int, int, int, int]] = {}  # seq → row that is not in the table yet
        self._finished: list[tuple[int, int]] = []  # (host id, seq) of rows to be deleted from the table

    def __len__(self) -> int:
        return self._length

    def append(self, queue: BackQueue, entry: Entry) -> None:
        """Put a URL at the end of its queue."""
        entry.seq = self._next_seq
        self._next_seq += 1
        self._unwritten[entry.seq] = (queue.host.id, entry.seq, entry.url_id, entry.tries, entry.revisit)
        if queue.is_shut(entry.url):
            pass  # in the table only, until the origin is opened again
        elif queue.more or len(queue.entries) >= self._head:
            queue.more = True
        else:
            queue.entries.append(entry)
            queue.read_to = entry.seq
        self._length += 1
        if len(self._unwritten) > self._most_unwritten:
            self.flush()

    def push(self, queue: BackQueue, entry: Entry) -> None:
        """Put a URL at the head of its queue."""
        if queue.more and not queue.entries:
            self.read(queue)  # then `read_to` lies behind the rows at the head, so that none of them is read again
        self._head_seq -= 1
        entry.seq = self._head_seq
        self._unwritten[entry.seq] = (queue.host.id, entry.seq, entry.url_id, entry.tries, entry.revisit)
        if not queue.is_shut(entry.url):
            queue.entries.appendleft(entry)
            queue.read_to = max(queue.read_to, entry.seq)
        self._length += 1

    def remove(self, queue: BackQueue, entry: Entry) -> None:
        """Remove a URL that has left `queue.entries`; its row goes with the next `flush`."""
        if self._unwritten.pop(entry.seq, None) is None:
            self._finished.append((queue.host.id, entry.seq))
        queue.taken.discard(entry.seq)
        self._length -= 1

    def remove_rows(self, places: list[tuple[int, int]]) -> None:
        """Remove rows (host id, seq) of the table that no queue has read into memory yet."""
        self._finished += places
        self._length -= len(places)

    def read(self, queue: BackQueue) -> None:
        """Read the next entries of a queue into memory, as many as a head holds, without those of shut origins."""
        self.flush()
        taken = queue.taken if queue.read_to < queue.reread_to else ()
        most = self._head + 1 + len(taken)
        prefixes = [f"{site}/" for site in queue.shut]
        rows = self._database.query(
            "SELECT back.url_id, urls.url, urls.depth, urls.hops, back.revisit, back.tries, back.seq"
            " FROM back JOIN urls ON urls.id = back.url_id WHERE back.host_id = ? AND back.seq > ?"
            f"{' AND substr(urls.url, 1, ?) != ?' * len(prefixes)} ORDER BY back.seq LIMIT ?",
            (queue.host.id, queue.read_to, *(part for text in prefixes for part in (len(text), text)), most),
        ).fetchall()
        rows = [row for row in rows if row[6] not in taken]
        queue.entries.extend(Entry(*row) for row in rows[: self._head])
        queue.more = len(rows) > self._head
        if rows:
            queue.read_to = queue.entries[-1].seq

    def shut(self, queue: BackQueue, site: str, shut: Shut) -> None:
        """Shut an origin of the queue: its URLs leave memory, and wait in the table."""
        queue.shut[site] = shut
        queue.entries = deque(entry for entry in queue.entries if not queue.is_shut(entry.url))
        if queue.more and not queue.entries:
            self.read(queue)  # then `more` is true only if there are URLs of open origins

    def open(self, queue: BackQueue, site: str) -> None:
        """Open a shut origin again: the queue is read anew from its head, without what is in flight or finished."""
        del queue.shut[site]
        queue.reread_to = max(queue.reread_to, queue.read_to)
        queue.read_to = _NOWHERE
        queue.entries.clear()
        queue.more = True

    def flush(self) -> None:
        """Write the changes to the table and the counters; to be committed by the caller."""
        if self._unwritten:
            self._database.write_many("INSERT INTO back VALUES (?, ?, ?, ?, ?)", self._unwritten.values())
            self._unwritten.clear()
        if self._finished:
            self._database.write_many("DELETE FROM back WHERE host_id = ? AND seq = ?", self._finished)
            self._finished.clear()
        now = (self._length, self._next_seq, self._head_seq)
        for name, before, after in zip(("back", "back_seq", "back_head_seq"), self._counted, now, strict=True):
            self._counters.add(name, after - before)
        self._counted = now


def hosts_with_queues(database: Database) -> list[int]:
    """Returns the ids of all hosts with rows in `back`. It costs one index step a host, whatever the number of rows."""
    rows = database.query(
        "WITH RECURSIVE queue (host_id) AS ("
        " SELECT min(host_id) FROM back UNION ALL"
        " SELECT (SELECT min(back.host_id) FROM back WHERE back.host_id > queue.host_id)"
        " FROM queue WHERE queue.host_id IS NOT NULL"
        ") SELECT host_id FROM queue WHERE host_id IS NOT NULL"
    )
    return [host_id for (host_id,) in rows]
