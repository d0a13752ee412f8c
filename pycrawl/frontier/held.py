"""Held URLs: an option of this run (--max-depth) leaves them out, and they wait in the table `held` for another.

Filled when a URL that is too deep is pulled from a front queue, and with those that an earlier run left in the back
queues. A URL leaves when a shorter way to it is found; all leave when the next run opens (`crawl/judging.py`).
"""

from __future__ import annotations

from pycrawl.frontier.back import BackTable
from pycrawl.frontier.front import FrontQueues
from pycrawl.policy.priority import priority
from pycrawl.state.counters import Counters
from pycrawl.state.database import Database
from pycrawl.state.standings import Standings

_NEVER = float("inf")


class Held:
    def __init__(
        self, database: Database, counters: Counters, front: FrontQueues, back: BackTable, standings: Standings
    ) -> None:
        self._database = database
        self._counters = counters
        self._front = front
        self._back = back
        self._standings = standings
        self._max_depth = _NEVER
        self._unwritten: list[tuple[int, int, int]] = []  # (id, host id, revisit) of URLs not yet in the table

    def open(self, max_depth: float) -> None:
        """Hold URLs deeper than `max_depth` from now on. Those in the back queues, which must not be read into memory
        yet, are moved here at once."""
        self._max_depth = max_depth
        if max_depth == _NEVER:
            return
        self._standings.settle()  # the statement below reads depths
        rows = self._database.query(
            "SELECT back.url_id, back.host_id, back.revisit, back.seq FROM back JOIN urls ON urls.id = back.url_id"
            " WHERE urls.depth > ?",
            (max_depth,),
        ).fetchall()
        self._unwritten += [row[:3] for row in rows]
        self._back.remove_rows([(host_id, seq) for _, host_id, _, seq in rows])
        self._back.flush()  # else hosts would get a back queue for rows that are about to be deleted

    def is_too_deep(self, depth: int) -> bool:
        return depth > self._max_depth

    def hold(self, url_id: int, host_id: int, revisit: int) -> None:
        """Keep a URL out of this run."""
        self._unwritten.append((url_id, host_id, revisit))

    def let_in(self, ids: list[int]) -> None:
        """Queue those of the held URLs `ids` that a shorter way has brought within this run's depth."""
        if self._max_depth == _NEVER:
            return
        near = [url_id for url_id in ids if not self.is_too_deep(self._standings.depth_of(url_id))]
        self.flush()
        rows = self._database.query_each("SELECT url_id, host_id, revisit FROM held WHERE url_id IN ({})", near)
        found = [(priority(self._standings.depth_of(row[0]), 0), *row) for row in list(rows)]
        self._database.write_many("DELETE FROM held WHERE url_id = ?", [(row[1],) for row in found])
        self._counters.add("held", -len(found))
        self._front.put(found)

    def flush(self) -> None:
        """Write the URLs that were held since the last flush; to be committed by the caller."""
        self._database.write_many("INSERT OR REPLACE INTO held VALUES (?, ?, ?)", self._unwritten)
        self._counters.add("held", len(self._unwritten))
        self._unwritten.clear()
