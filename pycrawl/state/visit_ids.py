"""Finds the visit of a URL: id of the URL → id of its row in `visits`.

Rows of `visits` stand in the order in which URLs were visited for the first time, so that a commit writes them side by
side. URLs are visited in no order of their ids; so the way from one to the other is a store of sorted runs (`VISITS`).
SQL statements take it by the function `visit_id(url_id)`, which every connection has. It returns 0 where there is none.

Who writes keeps what it was asked for: from some look-ups on, all ids are in memory, four bytes for each URL (a crawl
that visits nothing again does not need them). Beside a crawl this holds for one statement, as the next one may see a
newer state.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pycrawl.state.database import Database
from pycrawl.state.runs.one_key import ids_in_one_view

if TYPE_CHECKING:
    from pycrawl.state.runs.id_runs import IdRuns

STORE = 7  # the number of the store (`stores.py`)
_FEW = 64  # look-ups one by one, before all ids are read
_ITEM = "I"  # four bytes
_ROWS_AT_ONCE = 50_000  # rows that are moved at once


class VisitIds:
    """The visits of one database. `rollbacks` of it, and with a reader its every statement, make this look again."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._runs: IdRuns | None = None
        self._all: array[int] | None = None  # by the id of the URL; 0: no visit
        self._asked = 0
        self._as_of = (-1, -1)

    def id_of(self, url_id: int) -> int:
        """Returns the id of a URL's visit, or 0."""
        if self._as_of != self._now():
            self._all, self._asked = None, 0
            self._as_of = self._now()
        if self._all is None:
            self._asked += 1
            if self._asked <= _FEW:
                found = ids_in_one_view(self._database, STORE, url_id)
                self._as_of = self._now()  # what was asked here is no other statement
                return found[0] if found else 0
            self._all = self._read_all()
            self._as_of = self._now()
        return self._all[url_id] if url_id < len(self._all) else 0

    def _now(self) -> tuple[int, int]:
        database = self._database
        return database.rollbacks, 0 if database.is_writable else database.statements

    def _read_all(self) -> array[int]:
        import numpy as np

        found = array(_ITEM)
        for portion in self.runs.portions():
            if not len(portion):
                continue
            ids = np.frombuffer(_grown(found, int(portion.keys.max()) + 1), np.uint32)
            ids[portion.keys.astype(np.int64)] = portion.ids
            del ids  # else the array could not grow
        return found

    @property
    def runs(self) -> IdRuns:
        """Returns the store. Readers get it anew, as it may have changed."""
        from pycrawl.state.runs.id_runs import IdRuns
        from pycrawl.state.stores import VISITS

        if self._runs is None or not self._database.is_writable:
            self._runs = IdRuns(self._database, VISITS, with_filters=self._database.is_writable)
        return self._runs

    def find(self, url_ids: Sequence[int]) -> dict[int, int]:
        """Returns id of the URL → id of its visit, for those of many URLs that have one."""
        import numpy as np

        if self._all is not None and self._as_of == self._now():
            return {one: self._all[one] for one in url_ids if one < len(self._all) and self._all[one]}
        places, ids = self.runs.find(np.array(url_ids, np.uint64))
        return {url_ids[place]: one for place, one in zip(places.tolist(), ids.tolist(), strict=True)}

    def enter(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Let URLs lead to their visits: pairs (id of the URL, id of the visit); to be committed by the caller."""
        import numpy as np

        columns = np.array(pairs, np.uint64).reshape(-1, 2)
        self.runs.insert(columns[:, 0], columns[:, 1].astype(np.uint32))
        self.runs.flush()
        if self._all is not None and pairs:
            _grown(self._all, max(pairs)[0] + 1)
            for url_id, visit_id in pairs:
                self._all[url_id] = visit_id

    def leave(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Undo `enter`."""
        import numpy as np

        columns = np.array(pairs, np.uint64).reshape(-1, 2)
        self.runs.remove(columns[:, 0], columns[:, 1].astype(np.uint32))
        self._all = None

    def bytes_held(self) -> int:
        held = len(self._all) * self._all.itemsize if self._all is not None else 0
        return held + (self._runs.bytes_held() if self._runs is not None else 0)


def visit_ids(database: Database) -> VisitIds:
    """Returns the visits of a database, always the same object."""
    if database.visit_ids is None:
        database.visit_ids = VisitIds(database)
    found: VisitIds = database.visit_ids
    return found


def _grown(ids: array[int], least: int) -> array[int]:
    """Returns the array, after letting it have at least so many items; those that come in are 0."""
    if len(ids) < least:
        ids.frombytes(bytes((least + least // 8 - len(ids)) * ids.itemsize))
    return ids


def visited_of(database: Database, url_ids: Iterable[int]) -> set[int]:
    """Returns those of the ids whose URL has been visited."""
    ids = visit_ids(database)
    return {url_id for url_id in url_ids if ids.id_of(url_id)}


def drop_visits(database: Database, url_ids: Iterable[int]) -> None:
    """Remove the visits of URLs; to be committed by the caller."""
    ids = visit_ids(database)
    pairs = [(url_id, found) for url_id in url_ids if (found := ids.id_of(url_id))]
    database.write_many("DELETE FROM visits WHERE id = ?", [(visit_id,) for _, visit_id in pairs])
    ids.leave(pairs)


# For proofs


def faults(database: Database) -> Iterator[str]:
    """Yields what is wrong, in words: every visit is found by its URL, and nothing else is."""
    visits = dict(database.query("SELECT id, url_id FROM visits"))
    for portion in visit_ids(database).runs.portions():
        for url_id, visit_id in zip(portion.keys.tolist(), portion.ids.tolist(), strict=True):
            if visits.pop(visit_id, 0) != url_id:
                yield f"URL {url_id} leads to visit {visit_id}, which is none of it"
    yield from (f"visit {visit_id} is not found by its URL {url_id}" for visit_id, url_id in visits.items())


# A step of the schema


def move(database: Database) -> None:
    """Fill `visits_in_order` from `visits`, which an older release kept by the ids of URLs."""
    columns = (
        "url_id, outcome, status, visited_at, tries, detail, etag, last_modified, digest, document_id, requeued, since,"
        " unkept"
    )
    database.write(f"INSERT INTO visits_in_order ({columns}) SELECT {columns} FROM visits ORDER BY visited_at, url_id")
    rows = database.query("SELECT url_id, id FROM visits_in_order ORDER BY id")
    while some := rows.fetchmany(_ROWS_AT_ONCE):
        visit_ids(database).enter(some)
