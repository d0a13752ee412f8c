"""The robots.txt of each origin as last answered. `origin_failures.py` has those that cannot be had at present."""

from __future__ import annotations

from pycrawl.model import RobotsFile
from pycrawl.state.database import Database
from pycrawl.urls.parts import origins_of


def save_robots(database: Database, origin: str, file: RobotsFile) -> None:
    database.write(
        "INSERT OR REPLACE INTO robots (origin, status, body, fetched_at, expires_at, crawl_delay)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (origin, *file),
    )


def robots_of(database: Database, origin: str) -> RobotsFile | None:
    row = database.query(
        "SELECT status, body, fetched_at, expires_at, crawl_delay FROM robots WHERE origin = ?", (origin,)
    ).fetchone()
    return RobotsFile(*row) if row else None


def drop_host(database: Database, key: str) -> None:
    """Remove all that is known of the origins of a host."""
    for table in ("robots", "origin_failures"):
        database.write_many(f"DELETE FROM {table} WHERE origin = ?", ((origin,) for origin in origins_of(key)))
