"""The origins that cannot be asked for pages at present: no connection to them can be made, or their robots.txt
cannot be had.

An origin is a scheme, a host and a port: "https://example.com". A host has two of them, for http and for https.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pycrawl.model import CONDUCT
from pycrawl.state.database import Database
from pycrawl.urls.parts import origins_of

_NO_CONNECTION = {outcome.value for outcome, conduct in CONDUCT.items() if conduct.shuts_origin}
_COLUMNS = "origin, since, failures, next_at, not_before, outcome, detail, of_robots"


class OriginFailure(NamedTuple):
    """Until `next_at`, nothing of the origin is asked for, and its URLs wait. Times are seconds since the epoch."""

    origin: str
    since: float  # when it failed first
    failures: int  # in a row
    next_at: float  # when it is asked again; 0: its robots.txt has failed for so long that it counts as missing
    not_before: float  # the origin asked not to be hit before (Retry-After); 0: it did not
    outcome: str  # the `Outcome` of the last failure
    detail: str  # more about it, for people
    of_robots: bool = True  # its robots.txt could not be had; False: its robots.txt is known, or does not matter

    @property
    def words(self) -> str:
        """Returns what is wrong, in a few words."""
        return f"{self.outcome}: {self.detail}" if self.detail else self.outcome

    @property
    def facts(self) -> dict[str, object]:
        """Returns what `stats --json` and `why --json` say of it."""
        return {
            "origin": self.origin,
            "reason": self.outcome,
            "detail": self.detail,
            "since": self.since,
            "failures": self.failures,
            "next_try_at": self.next_at,
        }

    @property
    def is_of_connecting(self) -> bool:
        """True if no connection to the origin could be made, whatever it was to be asked for."""
        return self.outcome in _NO_CONNECTION


def save_failures(database: Database, failures: Iterable[tuple[str, OriginFailure | None]]) -> None:
    """Write the failures of origins; None: the origin has none any more."""
    for origin, failure in failures:
        if failure is None:
            database.write("DELETE FROM origin_failures WHERE origin = ?", (origin,))
        else:
            places = ", ".join("?" * len(failure))
            database.write(f"INSERT OR REPLACE INTO origin_failures ({_COLUMNS}) VALUES ({places})", failure)


def failure_of(database: Database, origin: str) -> OriginFailure | None:
    row = database.query(f"SELECT {_COLUMNS} FROM origin_failures WHERE origin = ?", (origin,)).fetchone()
    return OriginFailure(*row) if row else None


def failures_of_host(database: Database, key: str) -> list[OriginFailure]:
    found = (failure_of(database, origin) for origin in origins_of(key))
    return [failure for failure in found if failure is not None]


def all_failures(database: Database) -> list[OriginFailure]:
    rows = database.query(f"SELECT {_COLUMNS} FROM origin_failures ORDER BY next_at, origin")
    return [OriginFailure(*row) for row in rows]


def first_failures(database: Database, of_robots: bool, most: int) -> list[OriginFailure]:
    """Returns the failures of one kind that are tried again first."""
    rows = database.query(
        f"SELECT {_COLUMNS} FROM origin_failures WHERE of_robots = ? ORDER BY next_at, origin LIMIT ?",
        (of_robots, most),
    )
    return [OriginFailure(*row) for row in rows]


def count_failures(database: Database, of_robots: bool) -> int:
    return int(database.query("SELECT count(*) FROM origin_failures WHERE of_robots = ?", (of_robots,)).fetchone()[0])
