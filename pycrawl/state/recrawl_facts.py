"""Two facts about recrawls, kept in `meta`: how many visits were made on each of the last days, and what the last
choice of pages came to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from pycrawl.state.database import Database

_DAY = 86_400
_DAYS_KEPT = 8  # today and the seven before
_REVISITS, _CHOICE = "revisits", "recrawl_choice"


def count_revisits(database: Database, times: Iterable[float]) -> None:
    """Count visits of URLs that were visited before, by day; to be committed by the caller."""
    new = Counter(int(at // _DAY) for at in times)
    if not new:
        return
    days = new + _days(database)
    first = max(days) - _DAYS_KEPT + 1
    _write(database, _REVISITS, {day: count for day, count in days.items() if day >= first})


def revisits_a_day(database: Database, now: float) -> float:
    """Returns how many visits of URLs that were visited before there were a day: the mean of the last seven days, or of
    those since the first one."""
    today = int(now // _DAY)
    days = {day: count for day, count in _days(database).items() if today - _DAYS_KEPT + 1 < day <= today}
    return sum(days.values()) / (today - min(days) + 1) if days else 0.0


def _days(database: Database) -> Counter[int]:
    """Returns the number of the day since the epoch → visits."""
    return Counter({int(day): int(count) for day, count in (_read(database, _REVISITS) or {}).items()})


class Choice(NamedTuple):
    """What the last choice of pages came to."""

    policy: str
    at: float
    pages: int  # that were chosen
    least_index: float  # that of the last page chosen; 0: all pages that were due have been chosen


def last_choice(database: Database) -> Choice | None:
    found = _read(database, _CHOICE)
    return Choice(**found) if found else None


def set_last_choice(database: Database, choice: Choice) -> None:
    """Note what the choice came to; to be committed by the caller."""
    _write(database, _CHOICE, choice._asdict())


def _read(database: Database, key: str) -> dict[str, Any] | None:
    row = database.query("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return json.loads(row[0]) if row else None


def _write(database: Database, key: str, facts: object) -> None:
    database.write("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(facts)))
