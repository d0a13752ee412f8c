"""Which URLs are due: a run may ask for them now. The queued ones, and those that a recrawl would choose from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pycrawl.policy.page_records import Records, Standing, next_visits
from pycrawl.state import ledger
from pycrawl.state.change_rates import ChangeRates
from pycrawl.state.database import Database

_AT_ONCE = 1_000  # URLs


def due(
    database: Database, least: float, wanted: ledger.Filter, now: float, most: int = -1
) -> Iterator[ledger.Standing]:
    """Yields where the wanted URLs stand that are due now, in the order of discovery; at most `most` of them, or all if
    it is negative. `least`: seconds for which a page is left alone after a visit (`recrawl.min_interval`)."""
    rows = ledger.standings(database, wanted._replace(due_at=now, visited_by=now - least))
    found = _due_of(database, rows, least, now)
    return found if most < 0 else islice(found, most)


def _due_of(database: Database, rows: Iterator[ledger.Standing], least: float, now: float) -> Iterator[ledger.Standing]:
    known = ChangeRates(database, with_filters=False)
    while some := list(islice(rows, _AT_ONCE)):
        records = known.records_of([one.url_id for one in some if one.state != ledger.State.QUEUED])
        for one in some:
            if one.state == ledger.State.QUEUED or _may_be_visited(records.get(one.url_id), least, now):
                yield one


def _may_be_visited(record: Records | None, least: float, now: float) -> bool:
    """True if a recrawl may ask for a page now. One without a record was visited by an older release, or imported."""
    if record is None:
        return True
    return record["standing"][0] != Standing.DEADLY and float(next_visits(record, least)[0]) <= now
