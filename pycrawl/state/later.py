"""The table `asked_later`: visited URLs that are to be asked for again once they stand aside no more.

Their visits ended as they did because of a setting that has changed since, or their documents were lost, or a person
wanted them tried again; and then the scope, or another setting, kept them out. Every one of them stands aside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pycrawl.state.database import Database

_STANDS_ASIDE = "(SELECT aside FROM urls WHERE id = url_id) != 0"


def note(database: Database, condition: str, values: Sequence[object] = ()) -> None:
    """Enter the URLs that stand aside and whose visit meets an SQL condition; to be committed by the caller."""
    database.write(
        f"INSERT OR IGNORE INTO asked_later SELECT url_id FROM visits WHERE ({condition}) AND {_STANDS_ASIDE}", values
    )


def queue(database: Database, level: str) -> None:
    """Put those that stand aside no more into the front queues; `level` is an SQL expression over `urls` for their
    priority. The caller counts the queues anew, and commits."""
    wanted = (
        "FROM asked_later JOIN urls ON urls.id = asked_later.url_id"
        " JOIN visits ON visits.id = visit_id(asked_later.url_id) WHERE aside = 0 AND requeued = 0"
    )
    database.write(f"INSERT OR IGNORE INTO front SELECT {level}, urls.id, urls.host_id, 1 {wanted}")
    database.write(f"UPDATE visits SET requeued = 1 WHERE id IN (SELECT visits.id {wanted})")
    database.write(f"DELETE FROM asked_later WHERE NOT {_STANDS_ASIDE}")


def take(database: Database, url_ids: Sequence[int]) -> set[int]:
    """Remove those of the URLs that are there, and return them; the caller queues them, and commits."""
    taken = {
        url_id for (url_id,) in database.query_each("SELECT url_id FROM asked_later WHERE url_id IN ({})", url_ids)
    }
    remove(database, taken)
    return taken


def remove(database: Database, url_ids: Iterable[int]) -> None:
    """Remove URLs, those that are there; to be committed by the caller."""
    database.write_many("DELETE FROM asked_later WHERE url_id = ?", [(url_id,) for url_id in url_ids])


def remove_where(database: Database, condition: str, values: Sequence[object]) -> None:
    """Remove the URLs whose visit meets an SQL condition; to be committed by the caller."""
    database.write(
        "DELETE FROM asked_later WHERE EXISTS"
        f" (SELECT 1 FROM visits WHERE visits.id = visit_id(asked_later.url_id) AND {condition})",
        values,
    )
