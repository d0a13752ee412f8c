"""The robots.txt of each origin as last answered, and which of them cannot be had at present.

An origin is a scheme, a host and a port: "https://example.com". A host has two of them, for http and for https.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pycrawl.model import RobotsFile
from pycrawl.state.database import Database

_FAILURE = "origin, since, failures, next_at, not_before, outcome, detail"


class RobotsFailure(NamedTuple):
    """The robots.txt of an origin cannot be had: until it can, nothing of the origin is asked for, and its URLs wait.

    Times are seconds since the epoch.
    """

    origin: str
    since: float  # when it failed first
    failures: int  # in a row
    next_at: float  # when it is asked for again
    not_before: float  # the origin asked not to be hit before (Retry-After); 0: it did not
    outcome: str  # the `Outcome` of the last failure
    detail: str  # more about it, for people

    @property
    def words(self) -> str:
        """Returns why it cannot be had, in a few words."""
        return f"{self.outcome}: {self.detail}" if self.detail else self.outcome


def origins_of(key: str) -> tuple[str, str]:
    """Returns the two origins that a host has."""
    return f"http://{key}", f"https://{key}"


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


def save_failures(database: Database, failures: Iterable[tuple[str, RobotsFailure | None]]) -> None:
    """Write the failures of origins; None: the origin has none any more."""
    for origin, failure in failures:
        if failure is None:
            database.write("DELETE FROM robots_failures WHERE origin = ?", (origin,))
        else:
            database.write(f"INSERT OR REPLACE INTO robots_failures ({_FAILURE}) VALUES (?, ?, ?, ?, ?, ?, ?)", failure)


def failure_of(database: Database, origin: str) -> RobotsFailure | None:
    row = database.query(f"SELECT {_FAILURE} FROM robots_failures WHERE origin = ?", (origin,)).fetchone()
    return RobotsFailure(*row) if row else None


def failures_of_host(database: Database, key: str) -> list[RobotsFailure]:
    found = (failure_of(database, origin) for origin in origins_of(key))
    return [failure for failure in found if failure is not None]


def all_failures(database: Database, most: int = -1) -> list[RobotsFailure]:
    """Returns the origins whose robots.txt cannot be had, those that are asked again first in front; at most `most`, or
    all if it is negative."""
    rows = database.query(f"SELECT {_FAILURE} FROM robots_failures ORDER BY next_at, origin LIMIT ?", (most,))
    return [RobotsFailure(*row) for row in rows]


def count_failures(database: Database) -> int:
    return int(database.query("SELECT count(*) FROM robots_failures").fetchone()[0])


def drop_host(database: Database, key: str) -> None:
    """Remove all that is known of the robots.txt of a host."""
    for table in ("robots", "robots_failures"):
        database.write_many(f"DELETE FROM {table} WHERE origin = ?", ((origin,) for origin in origins_of(key)))
