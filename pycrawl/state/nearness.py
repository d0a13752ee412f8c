"""What a document was joined to as a near-duplicate, for those who only ask: this does without numpy."""

from __future__ import annotations

from dataclasses import dataclass

from pycrawl.state.database import Database


@dataclass(frozen=True, slots=True)
class Nearness:
    """What a document was joined to."""

    near_id: int  # the older document that it was joined to
    resemblance: float  # of the two
    representative_id: int  # the oldest document of their cluster


def nearness_of(database: Database, document_id: int) -> Nearness | None:
    """Returns what a document was joined to; None if it was joined to none, though others may be joined to it."""
    row = join_of(database, document_id)
    if row is None:
        return None
    near_id, resemblance = row
    representative = near_id
    while (step := join_of(database, representative)) is not None:
        representative = step[0]
    return Nearness(near_id, resemblance, representative)


def join_of(database: Database, document_id: int) -> tuple[int, float] | None:
    """Returns the older document that a document was joined to, and their resemblance; None if it was to none."""
    row: tuple[int, float] | None = database.query(
        "SELECT near_id, resemblance FROM near WHERE document_id = ?", (document_id,)
    ).fetchone()
    return row
