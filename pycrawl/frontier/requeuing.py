"""Visited URLs are queued again: what a recrawl has chosen; what is tried again, and sources that are due."""

from __future__ import annotations

from collections.abc import Sequence

from pycrawl.frontier.back import BackTable
from pycrawl.frontier.front import FrontQueues, level_in_sql
from pycrawl.frontier.recrawl_queue import RecrawlQueue
from pycrawl.policy.priority import FRONT_QUEUES
from pycrawl.state.database import Database
from pycrawl.state.documents import set_requeued
from pycrawl.state.standings import Standings


class Requeuing:
    def __init__(
        self, database: Database, front: FrontQueues, recrawls: RecrawlQueue, back: BackTable, standings: Standings
    ) -> None:
        self._database = database
        self._front = front
        self._recrawls = recrawls
        self._back = back
        self._standings = standings

    def queue_recrawls(self, url_ids: Sequence[int]) -> int:
        """Queue the pages that a recrawl has chosen, in this order; those of an earlier one must have been put back.
        Returns how many: those that are queued already or stand aside stay where they are."""
        self._standings.flush()  # what stands aside is read from the table
        return self._recrawls.fill(url_ids)

    def put_back_recrawls(self) -> None:
        """Let the pages that an earlier recrawl chose and did not get to stand where they stood before. No back queue
        may be open."""
        in_back = self._database.query("SELECT url_id, host_id, seq FROM back WHERE revisit = 2").fetchall()
        self._back.remove_rows([row[1:] for row in in_back])
        self._back.flush()
        set_requeued(self._database, [*self._recrawls.empty(), *(row[0] for row in in_back)], False)

    def requeue_sources(self, sources: Sequence[tuple[int, int]]) -> None:
        """Put sitemaps and feeds (id, host id), which must not be queued, into the highest front queue."""
        self._front.put([(FRONT_QUEUES, url_id, host_id, 1) for url_id, host_id in sources])
        set_requeued(self._database, (url_id for url_id, _ in sources), True)

    def requeue_visits(self, condition: str, values: Sequence[object]) -> int:
        """Put URLs back into the front queues whose last visit meets an SQL condition on `visits`. URLs that are queued
        already or stand aside stay where they are. Returns how many were put back."""
        due = f"requeued = 0 AND url_id IN (SELECT id FROM urls WHERE aside = 0) AND ({condition})"
        level = level_in_sql()
        self._standings.settle()  # the statements below read depths and reasons
        joined = f"FROM visits JOIN urls ON urls.id = visits.url_id WHERE {due}"
        counts = self._database.query(f"SELECT {level}, count(*) {joined} GROUP BY 1", values).fetchall()
        self._front.flush()
        self._database.write(f"INSERT INTO front SELECT {level}, urls.id, urls.host_id, 1 {joined}", values)
        self._database.write(f"UPDATE visits SET requeued = 1 WHERE {due}", values)
        for number, amount in counts:
            self._front.added_by_sql(number, amount)
        return sum(amount for _, amount in counts)
