"""Visits without records of changes, made by an older release or by `import`: the next recrawl enters them, once."""

from __future__ import annotations

from collections.abc import Callable

from pycrawl.model import CONDUCT, Outcome
from pycrawl.policy.page_records import Found
from pycrawl.state.change_rates import ChangeRates, Observation
from pycrawl.state.database import Database
from pycrawl.state.documents import visits_after

_AT_ONCE = 50_000  # visits between two commits
_MISSING = "changes_missing"  # a fact in `meta`: up to which id of `visits` they are entered
_GONE = (404, 410)


def note_missing(database: Database) -> None:
    """Note that visits were entered without what they show of changes, as those of imported pages are; to be committed
    by the caller."""
    database.write("INSERT OR REPLACE INTO meta VALUES (?, 0)", (_MISSING,))


def enter_older_visits(database: Database, rates: ChangeRates, kind_of: Callable[[str], int]) -> None:
    """Enter the older visits, and commit. If it is killed, the next call goes on where it was. `kind_of` returns the
    kind of a URL, as in `Observation`."""
    row = database.query("SELECT value FROM meta WHERE key = ?", (_MISSING,)).fetchone()
    if row is None:
        return
    after = int(row[0])
    while rows := visits_after(database, after, _AT_ONCE):
        after = rows[-1][0]
        known = rates.records_of([url_id for _, url_id, *_ in rows])
        rates.take_in(
            [
                Observation(
                    url_id, host_id, kind_of(url), at, _found(outcome, status, document_id), document_id > 0, True
                )
                for _, url_id, host_id, url, at, outcome, status, document_id in rows
                if url_id not in known
            ]
        )
        database.write("UPDATE meta SET value = ? WHERE key = ?", (after, _MISSING))
        database.commit()
    database.write("DELETE FROM meta WHERE key = ?", (_MISSING,))
    database.commit()


def _found(outcome: str, status: int, document_id: int) -> Found:
    if outcome == Outcome.FETCHER_KILLED:
        return Found.DEADLY
    if document_id:
        return Found.GONE if status in _GONE else Found.FIRST
    return Found.NOTHING if CONDUCT[Outcome(outcome)].is_error else Found.FIRST
