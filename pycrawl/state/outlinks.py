"""The links of fetched pages, by the ids of their URLs. When a shorter way to a page is found, its new depth is handed
on along them.

This does without numpy, as commands do that only look something up: it would be most of the time that they take."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from pycrawl.state.database import Database

REDIRECT = 1 << 31  # marks the target of a redirect, which is as deep as what redirects to it
_ID_BYTES = 4


def save(database: Database, rows: Iterable[tuple[int, bytes]]) -> None:
    """Write rows (id of a page, ids of its targets as little-endian uint32). They replace what the page had before."""
    database.write_many("INSERT OR REPLACE INTO outlinks VALUES (?, ?)", rows)


def targets_of(database: Database, ids: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """Yields (id, ids of its targets as little-endian uint32) of those pages that were fetched and have links.
    A target with the bit `REDIRECT` is that of a redirect."""
    return database.query_each("SELECT url_id, targets FROM outlinks WHERE url_id IN ({})", ids)


def pages_that_link_to(database: Database, url_id: int) -> Iterator[int]:
    """Yields the ids of the pages that link or redirect to a URL, in the order of discovery. Links that ask not to be
    followed do not count. This reads the links of all pages."""
    wanted = (url_id, url_id | REDIRECT)
    rows = database.query(
        "SELECT url_id, targets FROM outlinks WHERE instr(targets, ?) OR instr(targets, ?) ORDER BY url_id",
        tuple(one.to_bytes(_ID_BYTES, "little") for one in wanted),
    )
    # SQLite compares bytes, and may also find the id across two others.
    return (source for source, targets in rows if not {*wanted}.isdisjoint(array("I", targets)))
