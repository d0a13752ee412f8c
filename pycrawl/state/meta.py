"""Facts about the crawl itself, and its runs."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass

from pycrawl.errors import StateError
from pycrawl.state.database import Database


def write_first(database: Database, now: float) -> None:
    """Write the facts that `init` fixes for good: the secret seed of URL hashes, and when the crawl was made."""
    # SQLite's integers are signed: 63 bits stay readable as they are.
    facts = (("hash_seed", int.from_bytes(os.urandom(8), "little") >> 1), ("created_at", now))
    database.write_many("INSERT INTO meta VALUES (?, ?)", facts)


def hash_seed(database: Database) -> int:
    return int(_fact(database, "hash_seed"))


def created_at(database: Database) -> float:
    return _fact(database, "created_at")


def judged_under(database: Database) -> dict[str, str] | None:
    """Returns the digests of the settings that all URLs were last judged under, by group of settings; None if the crawl
    is new, or was made before there was a ledger."""
    row = database.query("SELECT value FROM meta WHERE key = 'judged_under'").fetchone()
    return json.loads(row[0]) if row else None


def set_judged_under(database: Database, settings: dict[str, str]) -> None:
    database.write("INSERT OR REPLACE INTO meta VALUES ('judged_under', ?)", (json.dumps(settings),))


def judging_to(database: Database, settings: dict[str, str]) -> tuple[int, Counter[str]]:
    """Returns how far a pass that judges all URLs under these settings has come: the id of the last URL judged (0: it
    has not begun), and how many URLs so far stand aside, by the code of the reason."""
    row = database.query("SELECT value FROM meta WHERE key = 'judging_to'").fetchone()
    stored = json.loads(row[0]) if row else {}
    if stored.get("settings") != settings:
        return 0, Counter()
    return stored["last"], Counter(stored["counts"])


def is_judging(database: Database) -> bool:
    """True if a pass that judges all URLs anew has begun and not ended."""
    return database.query("SELECT 1 FROM meta WHERE key = 'judging_to'").fetchone() is not None


def set_judging_to(database: Database, settings: dict[str, str], last: int, counts: Counter[str]) -> None:
    value = json.dumps({"settings": settings, "last": last, "counts": counts})
    database.write("INSERT OR REPLACE INTO meta VALUES ('judging_to', ?)", (value,))


def clear_judging_to(database: Database) -> None:
    database.write("DELETE FROM meta WHERE key = 'judging_to'")


def last_reader(database: Database) -> str:
    """Returns the name of the reader that the last run read pages with; empty if that is not known."""
    row = database.query("SELECT value FROM meta WHERE key = 'reader'").fetchone()
    return row[0] if row else ""


def remember_reader(database: Database, name: str) -> None:
    database.write("INSERT OR REPLACE INTO meta VALUES ('reader', ?)", (name,))


def collection_commits(database: Database) -> int:
    """Returns how many commits have changed the collection (`store/aside.py`)."""
    row = database.query("SELECT value FROM meta WHERE key = 'collection_commits'").fetchone()
    return int(row[0]) if row else 0


def set_collection_commits(database: Database, number: int) -> None:
    database.write("INSERT OR REPLACE INTO meta VALUES ('collection_commits', ?)", (number,))


def memory(database: Database) -> dict[str, int]:
    """Returns how many bytes each part of the last crawl held in memory, as last written; empty if that is not
    known."""
    row = database.query("SELECT value FROM meta WHERE key = 'memory'").fetchone()
    return json.loads(row[0]) if row else {}


def set_memory(database: Database, parts: dict[str, int]) -> None:
    database.write("INSERT OR REPLACE INTO meta VALUES ('memory', ?)", (json.dumps(parts),))


def _fact(database: Database, key: str) -> float:
    row = database.query("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    if row is None:
        raise StateError(f"{database.path}: holds no crawl (meta.{key} is missing)")
    return row[0]  # type: ignore[no-any-return]  # written by write_first


@dataclass(frozen=True, slots=True)
class RunRow:
    started_at: float
    ended_at: float | None
    pid: int
    pages: int
    updated_at: float
    ended_by: str


def start_run(database: Database, now: float, pid: int) -> int:
    cursor = database.write("INSERT INTO runs (started_at, pid, updated_at) VALUES (?, ?, ?)", (now, pid, now))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def update_run(database: Database, run: int, pages: int, now: float) -> None:
    database.write("UPDATE runs SET pages = ?, updated_at = ? WHERE id = ?", (pages, now, run))


def end_run(database: Database, run: int, now: float, ended_by: str) -> None:
    database.write("UPDATE runs SET ended_at = ?, ended_by = ? WHERE id = ?", (now, ended_by, run))


def last_run(database: Database) -> RunRow | None:
    row = database.query(
        "SELECT started_at, ended_at, pid, pages, updated_at, ended_by FROM runs ORDER BY id DESC LIMIT 1"
    ).fetchone()
    return RunRow(*row) if row else None
