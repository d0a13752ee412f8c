"""Sums over whole tables, for reports: each is one pass that SQLite makes by itself."""

from __future__ import annotations

from typing import Any, NamedTuple

from pycrawl.state.database import Database
from pycrawl.state.short_columns import TYPE_SQL
from pycrawl.state.urls_table import SHORTER, TRUE_DEPTH

_DEEPEST = 30  # depths from here on are counted together
# The media type, without parameters.
_TYPE = f"lower(trim(substr({TYPE_SQL}, 1, instr({TYPE_SQL} || ';', ';') - 1)))"


class Sum(NamedTuple):
    """Documents with something in common, and the bytes of their bodies."""

    name: str
    documents: int
    bytes: int


class Span(NamedTuple):
    first: float  # seconds since the epoch
    last: float
    documents: int
    bytes: int  # of all bodies


def span(database: Database) -> Span | None:
    """Returns from when to when documents were fetched; None if there are none."""
    row = database.query(
        "SELECT min(fetched_at), max(fetched_at), count(*), sum(body_length) FROM documents"
    ).fetchone()
    return Span(*row) if row[2] else None


def documents_over_time(database: Database, first: float, seconds: float) -> dict[int, int]:
    """Returns how many documents were fetched, by the number of the stretch of `seconds` since `first`."""
    rows = database.query(
        "SELECT cast((fetched_at - ?) / ? AS INTEGER), count(*) FROM documents GROUP BY 1", (first, seconds)
    )
    return dict(rows.fetchall())


def by_type(database: Database) -> list[Sum]:
    """Returns the media types of documents, the most frequent first."""
    rows = database.query(f"SELECT {_TYPE}, count(*), sum(body_length) FROM documents GROUP BY 1 ORDER BY 2 DESC")
    return [Sum(*row) for row in rows]


def by_charset(database: Database) -> list[Sum]:
    """Returns the encodings that documents were read with, the most frequent first; empty: ASCII, or no text."""
    rows = database.query("SELECT charset, count(*), sum(body_length) FROM documents GROUP BY 1 ORDER BY 2 DESC")
    return [Sum(*row) for row in rows]


def by_host(database: Database, most: int) -> list[Sum]:
    """Returns the hosts with the most documents, at most `most`."""
    rows = database.query(
        "SELECT key, n, size FROM (SELECT host_id, count(*) AS n, sum(body_length) AS size FROM documents"
        " CROSS JOIN urls ON urls.id = url_id GROUP BY host_id ORDER BY n DESC LIMIT ?)"
        " JOIN hosts ON hosts.id = host_id ORDER BY n DESC, key",
        (most,),
    )
    return [Sum(*row) for row in rows]


def by_depth(database: Database) -> dict[int, int]:
    """Returns how many documents there are, by the links between their URLs and a seed; 30 stands for all beyond."""
    rows = database.query(
        f"SELECT min({TRUE_DEPTH}, ?), count(*) FROM documents CROSS JOIN urls ON urls.id = documents.url_id {SHORTER}"
        " GROUP BY 1 ORDER BY 1",
        (_DEEPEST,),
    )
    return dict(rows.fetchall())


def versions(database: Database) -> dict[int, int]:
    """Returns how many URLs there are, by the number of their documents."""
    rows = database.query(
        "SELECT n, count(*) FROM (SELECT count(*) AS n FROM documents GROUP BY url_hash) GROUP BY 1 ORDER BY 1"
    )
    return dict(rows.fetchall())


def outcomes(database: Database) -> dict[Any, tuple[int, list[str]]]:
    """Returns how many URLs' last visits ended so, by outcome, each with two URLs as examples."""
    return _with_examples(database, "SELECT outcome, count(*), min(url_id), max(url_id) FROM visits GROUP BY 1")


def asides(database: Database) -> dict[Any, tuple[int, list[str]]]:
    """Returns how many URLs stand aside, by the code of the reason, each with two examples."""
    return _with_examples(database, "SELECT aside, count(*), min(id), max(id) FROM urls WHERE aside != 0 GROUP BY 1")


def _with_examples(database: Database, sql: str) -> dict[Any, tuple[int, list[str]]]:
    found = {}
    for name, count, first, last in database.query(sql).fetchall():
        rows = database.query("SELECT url FROM urls WHERE id IN (?, ?) ORDER BY id", (first, last))
        found[name] = (count, [url for (url,) in rows])
    return found


def robots_files(database: Database) -> list[tuple[int, bytes]]:
    """Returns status and body of every robots.txt that was asked for."""
    return database.query("SELECT status, body FROM robots").fetchall()


def sample_ids(database: Database, most: int) -> list[int]:
    """Returns the ids of documents with records of their own, evenly over the collection; at most about `most`."""
    (last, count) = database.query("SELECT coalesce(max(id), 0), count(*) FROM documents").fetchone()
    if count <= most:
        return [one for (one,) in database.query("SELECT id FROM documents WHERE duplicate_of = 0 ORDER BY id")]
    wanted = (last * number // most for number in range(most))
    found = {
        row[0]
        for one in wanted
        if (row := database.query(
            "SELECT id FROM documents WHERE id > ? AND duplicate_of = 0 ORDER BY id LIMIT 1", (one,)
        ).fetchone())
    }  # fmt: skip
    return sorted(found)


def all_runs(database: Database, most: int) -> list[tuple[float, float | None, int, str]]:
    """Returns (start, end, pages, how it ended) of the last runs, at most `most`, the newest first."""
    return database.query(
        "SELECT started_at, ended_at, pages, ended_by FROM runs ORDER BY id DESC LIMIT ?", (most,)
    ).fetchall()
