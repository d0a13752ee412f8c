"""Mercator's back queues: each holds the URLs of one host, first in, first out.

They live in the table `back`; in memory is a short head of each. A URL that was appended and finished between two
commits never reaches the table.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from pycrawl.model import RobotsFile, UrlOrder
from pycrawl.policy.robots_digest import robots_digest
from pycrawl.state.counters import Counters, totals
from pycrawl.state.database import Database
from pycrawl.state.hosts import Host
from pycrawl.urls.host_settings import HostSettings

HEAD = 64  # entries of one queue in memory
MOST_UNWRITTEN = 50_000  # entries of all queues, in memory only
_NOWHERE = -(1 << 62)  # before all places in a queue


@dataclass(slots=True)
class Entry:
    """A URL in a back queue."""

    url_id: int
    url: str
    depth: int
    hops: int
    revisit: int
    tries: int = 0  # attempts that are over
    seq: int = 0  # its place in the queue; set when it is appended
    cookies: str = ""  # to be sent with it, as its own redirect to itself asks for


class RulesAtFetcher:
    """What the fetcher of a back queue has of robots.txt, by origin, and where a robots.txt is that has moved.

    `sent` is filled when a job takes a robots.txt along; it is emptied when the fetcher was replaced or has forgotten
    it. A redirect is kept until the answer of its target.
    """

    __slots__ = ("_redirects", "_sent")

    def __init__(self) -> None:
        self._sent: dict[str, tuple[float, str]] = {}  # origin → when it expires, digest
        self._redirects: dict[str, tuple[str, int]] = {}  # origin → target, redirects so far

    def are_current(self, site: str, now: float) -> bool:
        return site in self._sent and self._sent[site][0] > now

    def digest_of(self, site: str) -> str:
        """The digest of the robots.txt that the fetcher has; empty if it has none."""
        return self._sent[site][1] if site in self._sent else ""

    def note_sent(self, site: str, file: RobotsFile) -> None:
        self._sent[site] = (file.expires_at, robots_digest(file.body))

    def forget(self, site: str) -> None:
        self._sent.pop(site, None)

    def forget_all(self) -> None:
        self._sent.clear()

    def redirect_of(self, site: str) -> tuple[str, int] | None:
        """Where the robots.txt of an origin is to be asked for, and behind how many redirects; None: in its place."""
        return self._redirects.get(site)

    def note_redirect(self, site: str, target: str, hops: int) -> None:
        self._redirects[site] = (target, hops)

    def forget_redirect(self, site: str) -> None:
        self._redirects.pop(site, None)


@dataclass(slots=True, eq=False)
class Gate:
    """What the hosts of one address share (see `gates.py`)."""

    connections: int  # the most at once: the smallest number that one of its hosts allows
    in_flight: int = 0
    ready_at: float = 0.0  # not to be passed before, seconds since the epoch
    waiting: list[tuple[float, int, BackQueue]] = field(default_factory=list)  # a heap by the host's own time


@dataclass(slots=True, eq=False)
class BackQueue:
    """`entries` is the head of the queue without what is in flight; `more`: rows behind it are in the table only."""

    host: Host
    fetcher: int
    settings: HostSettings
    entries: deque[Entry] = field(default_factory=deque)
    more: bool = False
    read_to: int = _NOWHERE  # the last place that was read into `entries`
    order: UrlOrder = UrlOrder.AS_FOUND  # unless so, what is pulled for it goes to its head
    in_flight: int = 0
    ahead: int = 0  # how many may be in flight beside those that have a connection, and wait for one at the fetcher
    holds_up: bool = False  # a robots.txt or a probe is in flight: nothing is sent ahead of its answer
    scheduled: bool = False  # it stands in its fetcher's heap, or waits at its gate
    gate: Gate | None = None  # that it passed last; none while the host's address is not known
    looked_up_at: float = 0.0  # when its host's name was looked up last in this run
    due: float = 0.0  # when the hit that was leased last was due
    parked: bool = False  # its host keeps failing or has given all it may: it does not keep a run from ending
    rules: RulesAtFetcher = field(default_factory=RulesAtFetcher)

    @property
    def is_empty(self) -> bool:
        return not self.entries and not self.more


class BackTable:
    """The table `back` behind what was not yet written to it."""

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
        self._head_seq = known.get("back_head_seq", 0)  # places at the head of a queue count down from 0
        self._counted = (self._length, self._next_seq, self._head_seq)  # what the counters know
        self._unwritten: dict[int, tuple[int, int, int, int, int]] = {}  # by seq
        self._finished: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return self._length

    def append(self, queue: BackQueue, entry: Entry) -> None:
        entry.seq = self._next_seq
        self._next_seq += 1
        self._unwritten[entry.seq] = (queue.host.id, entry.seq, entry.url_id, entry.tries, entry.revisit)
        if queue.more or len(queue.entries) >= self._head:
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
            self.read(queue)  # so that rows at the head are never read again
        self._head_seq -= 1
        entry.seq = self._head_seq
        self._unwritten[entry.seq] = (queue.host.id, entry.seq, entry.url_id, entry.tries, entry.revisit)
        queue.entries.appendleft(entry)
        queue.read_to = max(queue.read_to, entry.seq)
        self._length += 1

    def remove(self, queue: BackQueue, entry: Entry) -> None:
        if self._unwritten.pop(entry.seq, None) is None:
            self._finished.append((queue.host.id, entry.seq))
        self._length -= 1

    def remove_rows(self, places: list[tuple[int, int]]) -> None:
        """Remove rows (host id, place) of the table that no queue has read yet."""
        self._finished += places
        self._length -= len(places)

    def read(self, queue: BackQueue) -> None:
        """Bring the next stretch of a queue into memory."""
        self.flush()
        rows = self._database.query(
            "SELECT back.url_id, urls.url, urls.depth, urls.hops, back.revisit, back.tries, back.seq"
            " FROM back JOIN urls ON urls.id = back.url_id"
            " WHERE back.host_id = ? AND back.seq > ? ORDER BY back.seq LIMIT ?",
            (queue.host.id, queue.read_to, self._head + 1),
        ).fetchall()
        queue.entries.extend(Entry(*row) for row in rows[: self._head])
        queue.more = len(rows) > self._head
        if rows:
            queue.read_to = queue.entries[-1].seq

    def flush(self) -> None:
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
    """The ids of all hosts in the table: one index step for each host, whatever the number of rows."""
    rows = database.query(
        "WITH RECURSIVE queue (host_id) AS ("
        " SELECT min(host_id) FROM back UNION ALL"
        " SELECT (SELECT min(back.host_id) FROM back WHERE back.host_id > queue.host_id)"
        " FROM queue WHERE queue.host_id IS NOT NULL"
        ") SELECT host_id FROM queue WHERE host_id IS NOT NULL"
    )
    return [host_id for (host_id,) in rows]
