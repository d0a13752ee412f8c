"""Questions about one known URL, given its id: how it was found, and in which queue it waits."""

from __future__ import annotations

from dataclasses import dataclass

from pycrawl.model import Via
from pycrawl.policy.priority import FRONT_QUEUES
from pycrawl.state.database import Database

# All priorities: the index of `front` begins with the priority, and SQLite uses it only if the query names values.
_PRIORITIES = ", ".join(map(str, range(1, FRONT_QUEUES + 1)))

# A crawl writes depths that shrink to `url_changes` first (`standings.py`): this is to be joined to `urls` …
_SHORTER = "(SELECT url_id, min(depth) AS depth FROM url_changes GROUP BY 1) AS shorter"
SHORTER = f"LEFT JOIN {_SHORTER} ON shorter.url_id = urls.id"
TRUE_DEPTH = "min(urls.depth, coalesce(shorter.depth, urls.depth))"  # … and then this is the depth of a URL


@dataclass(frozen=True, slots=True)
class Step:
    """How one URL was found."""

    url: str
    via: str
    depth: int
    found_at: float


def discovery_chain(database: Database, url_id: int, most: int) -> list[Step]:
    """Returns how a URL was found, then how the page was found that names it, and so on up to a seed; at most `most`
    steps."""
    chain: list[Step] = []
    while url_id and len(chain) < most:
        url, via, depth, found_at, parent_id = database.query(
            f"SELECT url, via, {TRUE_DEPTH}, found_at, parent_id FROM urls {SHORTER} WHERE id = ?", (url_id,)
        ).fetchone()
        chain.append(Step(url, Via(via).name.lower(), depth, found_at))
        url_id = parent_id
    return chain


def host_of(database: Database, url_id: int) -> int:
    return int(database.query("SELECT host_id FROM urls WHERE id = ?", (url_id,)).fetchone()[0])


def place_in_queue(database: Database, url_id: int) -> str | None:
    """Returns where a URL waits, in words; None if it does not."""
    waiting = database.query(
        "SELECT (SELECT count(*) FROM back AS before WHERE before.host_id = back.host_id AND before.seq < back.seq)"
        " FROM back WHERE host_id = ? AND url_id = ?",
        (host_of(database, url_id), url_id),
    ).fetchone()
    if waiting is not None:
        return (
            f"its host's back queue, behind {waiting[0]:,} others"
            if waiting[0]
            else "its host's back queue, as the first"
        )
    front = database.query(
        f"SELECT priority FROM front WHERE priority IN ({_PRIORITIES}) AND url_id = ?", (url_id,)
    ).fetchone()
    if front is not None:
        return f"front queue {front[0]}"
    chosen = database.query("SELECT place FROM recrawls WHERE url_id = ?", (url_id,)).fetchone()
    if chosen is not None:
        return f"what a recrawl has chosen, at place {chosen[0]:,}"
    held = database.query("SELECT 1 FROM held WHERE url_id = ?", (url_id,)).fetchone()
    return "the queues of the next run" if held else None


def text_of(database: Database, url_id: int) -> str:
    return str(database.query("SELECT url FROM urls WHERE id = ?", (url_id,)).fetchone()[0])


def parent_of(database: Database, url_id: int) -> int:
    """Returns the id of what named a URL first; 0: a person did."""
    return int(database.query("SELECT parent_id FROM urls WHERE id = ?", (url_id,)).fetchone()[0])


def redirects_to(database: Database, url: str, most: int) -> list[str]:
    """Returns the URLs whose last visit was a redirect to this one, at most `most`."""
    rows = database.query(
        "SELECT urls.url FROM visits JOIN urls ON urls.id = visits.url_id"
        " WHERE visits.outcome = 'redirect' AND visits.detail = ? ORDER BY urls.id LIMIT ?",
        (url, most),
    )
    return [text for (text,) in rows]


def settle_depths(database: Database) -> None:
    """Write the depths to `urls` that only `url_changes` has, as the process that found them was killed; the caller
    commits. Whoever opens a state for writing does so first."""
    rows = database.query(
        f"SELECT url_id, shorter.depth FROM {_SHORTER} JOIN urls ON urls.id = url_id"
        " WHERE shorter.depth < urls.depth ORDER BY url_id"
    ).fetchall()
    if rows:
        database.write_many("UPDATE urls SET depth = ?2 WHERE id = ?1", rows)
