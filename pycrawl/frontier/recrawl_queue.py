"""The pages that a recrawl has chosen (`crawl/recrawling.py`), in the order in which they are to be asked for.

They wait in the table `recrawls`; memory holds how many they are, and a short stretch of the head. They leave at the
head only, so one DELETE removes all that were pulled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from pycrawl.frontier.front import STRETCH, Waiting
from pycrawl.state.counters import Counters, totals
from pycrawl.state.database import Database
from pycrawl.state.documents import not_queued_again, set_requeued

RECRAWL = 2  # of `revisit`: the URL was chosen by a recrawl; 1: it is visited again for another reason


class RecrawlQueue:
    def __init__(self, database: Database, counters: Counters, stretch: int = STRETCH) -> None:
        self._database = database
        self._counters = counters
        self._stretch = stretch
        self._length = self._counted = totals(database).get("recrawls", 0)
        self._head: deque[tuple[int, Waiting]] = deque()  # (place, URL)
        self._read_to = 0  # the last place read into the head
        self._pulled_to = 0  # the last place pulled since the last flush; 0: none

    def __len__(self) -> int:
        return self._length

    def fill(self, url_ids: Sequence[int]) -> int:
        """Put URLs into the queue, which must be empty, in this order. Those that wait elsewhere or stand aside are
        left out. Returns how many were put in."""
        hosts = not_queued_again(self._database, url_ids)
        chosen = [url_id for url_id in url_ids if url_id in hosts]
        rows = ((place, url_id, hosts[url_id]) for place, url_id in enumerate(chosen, 1))
        self._database.write_many("INSERT INTO recrawls VALUES (?, ?, ?)", rows)
        set_requeued(self._database, chosen, True)
        self._length = len(chosen)
        self._read_to = 0
        return len(chosen)

    def pull(self) -> Waiting | None:
        """Remove and return the next URL; None if there is none."""
        if not self._head and self._length:
            self._read()
        if not self._head:
            return None
        self._pulled_to, waiting = self._head.popleft()
        self._length -= 1
        return waiting

    def _read(self) -> None:
        rows = self._database.query(
            "SELECT place, url_id, recrawls.host_id, url, depth, hops FROM recrawls JOIN urls ON urls.id = url_id"
            " WHERE place > ? ORDER BY place LIMIT ?",
            (self._read_to, self._stretch),
        )
        for place, url_id, host_id, url, depth, hops in rows:
            self._head.append((place, Waiting(url_id, host_id, RECRAWL, url, depth, hops)))
            self._read_to = place

    def empty(self) -> list[int]:
        """Remove all URLs. Returns their ids."""
        self.flush()
        left = [url_id for (url_id,) in self._database.query("SELECT url_id FROM recrawls")]
        self._database.write("DELETE FROM recrawls")
        self._head.clear()
        self._length = 0
        return left

    def flush(self) -> None:
        """Delete the rows of the URLs that were pulled, and tell the counters; to be committed by the caller."""
        if self._length != self._counted:
            self._counters.add("recrawls", self._length - self._counted)
            self._counted = self._length
        if self._pulled_to:
            self._database.write("DELETE FROM recrawls WHERE place <= ?", (self._pulled_to,))
            self._pulled_to = 0
