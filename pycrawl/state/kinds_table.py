"""The tables `kinds` and `series`, for those who read them; `kinds.py` fills them."""

from __future__ import annotations

from pycrawl.state.database import Database
from pycrawl.traps.kind_record import KindRecord
from pycrawl.traps.series import Series
from pycrawl.traps.url_kinds import ALL, place, section, shape

_KIND_COLUMNS = (
    "kinds.pages, new, yield, open_share, least_depth, most_depth, dead_ends, found, chances, backs, combined,"
    " in_series, pages_allowed, stopped"
)
_SERIES_COLUMNS = "is_dated, first_named, last_named, series.pages, before, after, future, useful, stopped"


def kinds_of_host(database: Database, host_id: int) -> dict[str, KindRecord]:
    """Returns the records of the host's kinds that are not good, by name."""
    rows = database.query(f"SELECT kind, {_KIND_COLUMNS} FROM kinds WHERE host_id = ?", (host_id,))
    return {name: KindRecord(*values) for name, *values in rows}


def series_of_host(database: Database, host_id: int) -> dict[str, Series]:
    """Returns the records of the host's series that run on, by name."""
    rows = database.query(f"SELECT series, {_SERIES_COLUMNS} FROM series WHERE host_id = ?", (host_id,))
    return {name: Series(*values) for name, *values in rows}


def kinds_of(database: Database, host_id: int, url: str) -> dict[str, KindRecord]:
    """Returns the records of the kinds that a URL belongs to, the narrowest first. A kind without a row is good."""
    known = kinds_of_host(database, host_id)
    return {name: known.get(name, KindRecord()) for name in (shape(url), section(url), ALL)}


def series_of(database: Database, host_id: int, url: str) -> tuple[str, Series] | None:
    """Returns the name and the record of the series that a URL belongs to; None if there is none that runs on."""
    here = place(url)
    known = series_of_host(database, host_id) if here is not None else {}
    return (here.series, known[here.series]) if here is not None and here.series in known else None


def worst_kinds(database: Database, most: int) -> list[tuple[str, str, KindRecord]]:
    """Returns (host, kind, record) of at most `most` kinds: the stopped ones first, then those with the lowest yield or
    open share."""
    rows = database.query(
        f"SELECT key, kind, {_KIND_COLUMNS} FROM kinds JOIN hosts ON hosts.id = host_id"
        " ORDER BY stopped DESC, min(yield, open_share), kinds.pages DESC LIMIT ?",
        (most,),
    )
    return [(key, name, KindRecord(*values)) for key, name, *values in rows]


def stopped_series(database: Database, most: int) -> list[tuple[str, str, Series]]:
    """Returns (host, series, record) of at most `most` stopped series, those with most pages first."""
    rows = database.query(
        f"SELECT key, series, {_SERIES_COLUMNS} FROM series JOIN hosts ON hosts.id = host_id"
        " WHERE stopped ORDER BY series.pages DESC LIMIT ?",
        (most,),
    )
    return [(key, name, Series(*values)) for key, name, *values in rows]
