"""Was the crawl polite? The answer, from the crawl's own log of fetches (`fetch_log.py`).

The lines go into a temporary SQLite database, which sorts and joins them in bounded memory however long the log is.
"""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pycrawl.config import Config
from pycrawl.crawl.fetch_log import FetchLine, read
from pycrawl.model import Outcome
from pycrawl.urls.host_settings import SettingsByHost

_EARLY_SECONDS = 0.001  # clocks are read in two processes
_MOST_SHOWN = 1_000

_SCHEMA = """
CREATE TABLE hits (
    due REAL, started REAL, ended REAL, host TEXT, address TEXT, url TEXT, robots TEXT, page INTEGER,
    connections INTEGER  -- that the host allows at once
);
CREATE TABLE denials (robots TEXT, url TEXT);
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A host or an address, and how it was treated."""

    name: str
    fetches: int
    smallest_gap: float | None  # seconds from the end of a fetch to the start of the next; None: only one fetch
    most_at_once: int
    is_crowded: bool  # more at once than each of the hosts that were being fetched from allows


@dataclass(frozen=True, slots=True)
class Early:
    """A fetch that began before it was due."""

    url: str
    seconds: float


@dataclass(frozen=True, slots=True)
class RobotsFileUse:
    """How many decisions rest on one robots.txt."""

    digest: str
    allowed: int
    denied: int


@dataclass(frozen=True, slots=True)
class Audit:
    fetches: int
    hosts: tuple[Place, ...]
    addresses: tuple[Place, ...]
    early: tuple[Early, ...]
    robots: tuple[RobotsFileUse, ...]
    undecided: int  # pages fetched without a robots.txt to decide on

    @property
    def most_at_once(self) -> int:
        return max((place.most_at_once for place in self.addresses), default=0)

    @property
    def smallest_gap(self) -> float | None:
        gaps = [place.smallest_gap for place in self.hosts if place.smallest_gap is not None]
        return min(gaps, default=None)


def audit(log_folder: Path, config: Config, most_bytes: float = math.inf) -> Audit:
    """Measures the fetches in the log by the settings of today; only those in its newest files, if it is longer than
    `most_bytes`."""
    database = sqlite3.connect("")  # a temporary file, gone with the connection
    database.executescript(_SCHEMA)
    _fill(database, read(log_folder, most_bytes), SettingsByHost(config))
    (fetches,) = database.execute("SELECT count(*) FROM hits").fetchone()
    result = Audit(
        fetches=fetches,
        hosts=_places(database, "host"),
        addresses=_places(database, "address"),
        early=_early(database),
        robots=_robots(database),
        undecided=database.execute("SELECT count(*) FROM hits WHERE page AND robots = ''").fetchone()[0],
    )
    database.close()
    return result


def _fill(database: sqlite3.Connection, lines: Iterable[FetchLine], settings: SettingsByHost) -> None:
    hits: list[tuple[object, ...]] = []
    denials: list[tuple[str, str]] = []
    for line in lines:
        if line.outcome == Outcome.ROBOTS_DENIED:
            denials.append((line.robots, line.url))
        else:
            page = line.kind == "page"
            times = (line.due, line.started, line.ended)
            connections = settings.of(line.host).politeness.connections_per_host
            hits.append((*times, line.host, line.address, line.url, line.robots, page, connections))
        if len(hits) + len(denials) >= 10_000:
            _insert(database, hits, denials)
    _insert(database, hits, denials)


def _insert(database: sqlite3.Connection, hits: list[tuple[object, ...]], denials: list[tuple[str, str]]) -> None:
    database.executemany("INSERT INTO hits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", hits)
    database.executemany("INSERT INTO denials VALUES (?, ?)", denials)
    hits.clear()
    denials.clear()


def _places(database: sqlite3.Connection, column: str) -> tuple[Place, ...]:
    """Gaps and overlaps of the fetches of each host or address, in the order of their start."""
    gaps = database.execute(
        f"SELECT {column}, count(*), min(gap) FROM ("
        f" SELECT {column}, started - max(ended) OVER (PARTITION BY {column} ORDER BY started"
        "  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS gap FROM hits"
        f") WHERE {column} != '' GROUP BY {column}"
    ).fetchall()
    # An end at the very moment of a start comes first: the two did not overlap.
    overlaps = dict(
        database.execute(
            f"SELECT {column}, max(open) FROM ("
            f" SELECT {column}, sum(step) OVER (PARTITION BY {column} ORDER BY at, step) AS open FROM ("
            f"  SELECT {column}, started AS at, 1 AS step FROM hits UNION ALL"
            f"  SELECT {column}, ended, -1 FROM hits)"
            f") GROUP BY {column}"
        ).fetchall()
    )
    crowded = _crowded(database, column)
    return tuple(Place(name, count, gap, overlaps[name], name in crowded) for name, count, gap in gaps)


def _crowded(database: sqlite3.Connection, column: str) -> set[str]:
    """Names of the hosts or addresses that had more fetches at once than the strictest host among these allows."""
    crowded: set[str] = set()
    open_fetches: Counter[int] = Counter()  # by the number that their hosts allow
    last = ""
    for name, step, connections in database.execute(
        f"SELECT {column}, step, connections FROM ("
        f" SELECT {column}, started AS at, 1 AS step, connections FROM hits UNION ALL"
        f" SELECT {column}, ended, -1, connections FROM hits"
        f") WHERE {column} != '' ORDER BY {column}, at, step"
    ):
        if name != last:
            open_fetches.clear()
            last = name
        open_fetches[connections] += step
        if step > 0 and open_fetches.total() > min(number for number, count in open_fetches.items() if count > 0):
            crowded.add(name)
    return crowded


def _early(database: sqlite3.Connection) -> tuple[Early, ...]:
    rows = database.execute(
        "SELECT url, due - started FROM hits WHERE started < due - ? ORDER BY 2 DESC LIMIT ?",
        (_EARLY_SECONDS, _MOST_SHOWN),
    )
    return tuple(Early(url, seconds) for url, seconds in rows)


def _robots(database: sqlite3.Connection) -> tuple[RobotsFileUse, ...]:
    rows = database.execute(
        "SELECT robots, sum(allowed), sum(denied) FROM ("
        " SELECT robots, 1 AS allowed, 0 AS denied FROM hits WHERE page AND robots != '' UNION ALL"
        " SELECT robots, 0, 1 FROM denials) GROUP BY robots ORDER BY robots"
    )
    return tuple(RobotsFileUse(*row) for row in rows)
