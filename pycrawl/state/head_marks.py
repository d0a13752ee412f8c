"""The table `head_marks`: what the headers said of large pages whose servers give nothing for a conditional request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pycrawl.policy.head_answers import Marks
from pycrawl.state.database import Database


class HeadMarks(NamedTuple):
    """A row of `head_marks`."""

    url_id: int
    digest: bytes  # of the body that the visit found
    size: int  # of the stored page, in bytes
    marks: Marks


def are_there(database: Database) -> bool:
    """True if there are marks of any page."""
    return database.query("SELECT 1 FROM head_marks LIMIT 1").fetchone() is not None


def marks_of(database: Database, url_id: int) -> HeadMarks | None:
    row = database.query(
        "SELECT url_id, digest, size, length, etag, last_modified FROM head_marks WHERE url_id = ?",
        (url_id,),
    ).fetchone()
    return HeadMarks(row[0], row[1], row[2], Marks(*row[3:])) if row else None


def save_marks(database: Database, rows: Iterable[HeadMarks]) -> None:
    """Write marks, which take the place of those of the same URLs; to be committed by the caller."""
    database.write_many(
        "INSERT OR REPLACE INTO head_marks VALUES (?, ?, ?, ?, ?, ?)",
        [(*row[:3], *row.marks) for row in rows],
    )


def remove(database: Database, url_ids: Iterable[int]) -> None:
    """Remove the marks of URLs; to be committed by the caller."""
    database.write_many("DELETE FROM head_marks WHERE url_id = ?", [(url_id,) for url_id in url_ids])
