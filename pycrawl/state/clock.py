"""A clock that was set back: what an earlier run has planned must not wait until the clock is there again."""

from __future__ import annotations

from pycrawl.state.database import Database
from pycrawl.state.sources import NEVER

_SLACK = 60.0  # seconds: clocks are set back by less now and then, and nothing is to be done about it


def follow_clock(database: Database, now: float) -> float:
    """If the last run ended later than it is now, move all that was planned as far back as the clock. Returns by how
    many seconds; 0: nothing was moved."""
    row = database.query(
        "SELECT id, max(started_at, updated_at, coalesce(ended_at, 0)) FROM runs ORDER BY id DESC LIMIT 1"
    ).fetchone()
    shift = row[1] - now if row is not None else 0.0
    if shift <= _SLACK:
        return 0.0
    for table, column in (
        ("hosts", "ready_at"), ("hosts", "failing_since"), ("robots", "fetched_at"), ("robots", "expires_at"),
        ("origin_failures", "since"), ("origin_failures", "next_at"), ("origin_failures", "not_before"),
        ("sources", "next_at"), ("sources", "read_at"), ("subscriptions", "asked_at"), ("subscriptions", "ends_at"),
    ):  # fmt: skip
        database.write(
            f"UPDATE {table} SET {column} = {column} - ? WHERE {column} > ? AND {column} < ?", (shift, now, NEVER)
        )
    # So that this is done once, whenever the next run begins.
    database.write(
        "UPDATE runs SET started_at = min(started_at, ?1), updated_at = min(updated_at, ?1),"
        " ended_at = min(ended_at, ?1) WHERE id = ?2",
        (now, row[0]),
    )
    database.commit()
    return float(shift)
