"""Visited URLs go back into the front queues: on a recrawl, when they are tried again, when a source is due."""

from __future__ import annotations

from collections.abc import Sequence

from pycrawl.frontier.front import FrontQueues, level_in_sql
from pycrawl.policy.priority import FRONT_QUEUES
from pycrawl.state.database import Database
from pycrawl.state.standings import Standings


class Requeuing:
    def __init__(self, database: Database, front: FrontQueues, standings: Standings) -> None:
        self._database = database
        self._front = front
        self._standings = standings

    def requeue(self, visited_before: float, outcomes: tuple[str, ...]) -> int:
        """Put URLs back into the front queues whose last visit was at `visited_before` or earlier, and ended in one of
        `outcomes`. Sitemaps and feeds have a time of their own. Returns how many."""
        return self.requeue_visits(
            f"visited_at <= ? AND outcome IN ({', '.join('?' * len(outcomes))})"
            " AND url_id NOT IN (SELECT url_id FROM sources)",
            (visited_before, *outcomes),
        )

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
