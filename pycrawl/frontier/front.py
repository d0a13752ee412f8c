"""Mercator's front queues: one for each priority, emptied in the order of discovery.

The queues live in the table `front`; memory holds their lengths and a short stretch of the head of each. A URL leaves a
queue at its head only, so one DELETE for each queue removes all that were pulled.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pycrawl.policy.priority import FRONT_QUEUES
from pycrawl.policy.priority import priority as priority_of
from pycrawl.state.counters import Counters, family, totals
from pycrawl.state.database import Database

STRETCH = 512  # rows of a queue read into memory at once
_WEIGHTS = [2**number for number in range(FRONT_QUEUES)]  # each queue is chosen twice as often as the one below
_DEPTHS_IN_SQL = 32  # depths with a priority of their own in SQL; all deeper ones share one


class Waiting(NamedTuple):
    """A URL that waits in a front queue."""

    url_id: int
    host_id: int
    revisit: int  # 1: the URL was visited before; 2: a recrawl has chosen it (`recrawl_queue.py`)
    url: str
    depth: int
    hops: int


class FrontQueues:
    def __init__(self, database: Database, counters: Counters, chance: random.Random, stretch: int = STRETCH) -> None:
        self._stretch = stretch
        self._database = database
        self._counters = counters
        self._chance = chance
        counted = family(totals(database), "front")
        self._lengths = [counted.get(str(number + 1), 0) for number in range(FRONT_QUEUES)]
        self._heads: list[deque[Waiting]] = [deque() for _ in range(FRONT_QUEUES)]
        self._read_to = [0] * FRONT_QUEUES  # by queue: the last id read into its head
        self._pulled_to = [0] * FRONT_QUEUES  # by queue: the last id pulled since the last flush; 0: none
        self._counted = list(self._lengths)  # the lengths that the counters were told last
        self._filled: list[int] = []  # the numbers of the queues that are not empty …
        self._chances: list[int] = []  # … and the running sums of their weights
        self._weigh()

    def __len__(self) -> int:
        return sum(self._lengths)

    def lengths(self) -> list[int]:
        """Returns the number of URLs in each queue, from the lowest priority to the highest."""
        return list(self._lengths)

    def add(self, rows: Sequence[tuple[int, int, int, int]]) -> None:
        """Add URLs (priority, id, host id, revisit). Their ids must be greater than all that were read into the head of
        their queue, else they would be passed over; see `put`."""
        self._database.write_many("INSERT INTO front VALUES (?, ?, ?, ?)", rows)
        for priority, amount in Counter(row[0] for row in rows).items():
            self._count(priority, amount)

    def promote(self, moves: Iterable[tuple[int, int, int]]) -> None:
        """Move URLs (id, old priority, new priority) to another queue. One that has left its old queue stays away."""
        targets: defaultdict[int, dict[int, int]] = defaultdict(dict)  # priority → id → new priority
        for url_id, before, after in moves:
            targets[before][url_id] = after
        self.flush()
        taken: list[tuple[int, int]] = []
        added: list[tuple[int, int, int, int]] = []
        for before, wanted in targets.items():
            rows = self._database.query_each(
                "SELECT url_id, host_id, revisit FROM front WHERE priority = ? AND url_id IN ({})", wanted, (before,)
            )
            for url_id, host_id, revisit in rows:
                taken.append((before, url_id))
                added.append((wanted[url_id], url_id, host_id, revisit))
        self._database.write_many("DELETE FROM front WHERE priority = ? AND url_id = ?", sorted(taken))
        self._forget_heads(taken)
        self._forget_heads([row[:2] for row in added])
        for priority, amount in Counter(before for before, _ in taken).items():
            self._count(priority, -amount)
        self.add(sorted(added))

    def put(self, rows: Sequence[tuple[int, int, int, int]]) -> None:
        """Add URLs (priority, id, host id, revisit) with any ids: each takes the place that its id says."""
        if rows:
            self.flush()
            self.add(sorted(rows))
            self._forget_heads([row[:2] for row in rows])

    def added_by_sql(self, priority: int, amount: int) -> None:
        """Take note of rows with any ids that the caller has put into the table by SQL."""
        self.flush()
        self._count(priority, amount)
        self._forget_heads([(priority, 0)])

    def pull(self) -> Waiting | None:
        """Remove and return the next URL, from a queue chosen at random, each twice as likely as the one below it. None
        if all queues are empty."""
        filled = self._filled
        if not filled:
            return None
        number = filled[0] if len(filled) == 1 else self._chance.choices(filled, cum_weights=self._chances)[0]
        head = self._heads[number]
        if not head:
            self._read(number)
        waiting = head.popleft()
        self._pulled_to[number] = waiting.url_id
        self._lengths[number] -= 1
        if not self._lengths[number]:
            self._weigh()
        return waiting

    def _weigh(self) -> None:
        """Update what `pull` draws from, after a queue has become empty or is no longer."""
        self._filled = [number for number, length in enumerate(self._lengths) if length]
        self._chances = list(itertools.accumulate(_WEIGHTS[number] for number in self._filled))

    def flush(self) -> None:
        """Delete the rows of the URLs that were pulled, and tell the counters; to be committed by the caller."""
        for number, length in enumerate(self._lengths):
            if length != self._counted[number]:
                self._counters.add(f"front:{number + 1}", length - self._counted[number])
                self._counted[number] = length
        for number, pulled_to in enumerate(self._pulled_to):
            if pulled_to:
                self._database.write("DELETE FROM front WHERE priority = ? AND url_id <= ?", (number + 1, pulled_to))
                self._pulled_to[number] = 0

    def _read(self, number: int) -> None:
        rows = self._database.query(
            "SELECT front.url_id, front.host_id, front.revisit, urls.url, urls.depth, urls.hops"
            " FROM front JOIN urls ON urls.id = front.url_id"
            " WHERE front.priority = ? AND front.url_id > ? ORDER BY front.url_id LIMIT ?",
            (number + 1, self._read_to[number], self._stretch),
        )
        self._heads[number].extend(map(Waiting._make, rows))
        self._read_to[number] = self._heads[number][-1].url_id

    def _forget_heads(self, changed: Iterable[tuple[int, int]]) -> None:
        """Let a queue's head be read again if one of these rows (priority, id) was, or belongs, in the part read."""
        for priority, url_id in changed:
            if url_id <= self._read_to[priority - 1]:
                self._heads[priority - 1].clear()
                self._read_to[priority - 1] = 0

    def _count(self, priority: int, amount: int) -> None:
        self._lengths[priority - 1] += amount
        self._weigh()


def level_in_sql() -> str:
    """Returns an SQL expression over `urls`: the built-in priority of a URL without in-links."""
    levels = " ".join(f"WHEN urls.depth <= {depth} THEN {priority_of(depth, 0)}" for depth in range(_DEPTHS_IN_SQL))
    return f"CASE {levels} ELSE {priority_of(_DEPTHS_IN_SQL, 0)} END"
