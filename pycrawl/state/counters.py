"""Totals over all runs, changed in the same transaction as the rows they count.

Names with a colon are families: `error:timeout`, `filtered:too-deep`, `status:200`.
"""

from __future__ import annotations

from collections import Counter

from pycrawl.state.database import Database

_ADD = "INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value"


class Counters:
    """Changes of the totals since the last flush; the totals themselves are in the table `counters`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pending: Counter[str] = Counter()

    def add(self, name: str, amount: int = 1) -> None:
        self._pending[name] += amount

    def flush(self) -> None:
        self._database.write_many(_ADD, self._pending.items())
        self._pending.clear()


def count(database: Database, name: str, amount: int) -> None:
    """Change one total in the table directly, in the open transaction."""
    database.write(_ADD, (name, amount))


def totals(database: Database) -> dict[str, int]:
    return dict(database.query("SELECT name, value FROM counters").fetchall())


def family(all_totals: dict[str, int], prefix: str) -> dict[str, int]:
    """Returns the totals of one family, by name without the prefix: `family(totals, "status")` → {"200": 17, …}."""
    start = prefix + ":"
    return {name[len(start) :]: value for name, value in sorted(all_totals.items()) if name.startswith(start)}
