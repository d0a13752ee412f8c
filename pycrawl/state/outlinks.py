"""The links of fetched pages, by the ids of their URLs. When a shorter way to a page is found, its new depth is handed
on along them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from pycrawl.state.database import Database

U32 = NDArray[np.uint32]

REDIRECT = np.uint32(1 << 31)  # marks the target of a redirect, which is as deep as what redirects to it


def save(database: Database, rows: Iterable[tuple[int, bytes]]) -> None:
    """Write rows (id of a page, ids of its targets as little-endian uint32). They replace what the page had before."""
    database.write_many("INSERT OR REPLACE INTO outlinks VALUES (?, ?)", rows)


def packed_targets_of(database: Database, url_id: int) -> bytes | None:
    """Returns the row of one page as it was saved; None if there is none."""
    row = database.query("SELECT targets FROM outlinks WHERE url_id = ?", (url_id,)).fetchone()
    return bytes(row[0]) if row else None


def targets_of(database: Database, ids: Iterable[int]) -> Iterator[tuple[int, U32]]:
    """Yields (id, ids of its targets) of those pages that were fetched and have links. A target with the bit `REDIRECT`
    is that of a redirect."""
    rows = database.query_each("SELECT url_id, targets FROM outlinks WHERE url_id IN ({})", ids)
    return ((url_id, np.frombuffer(targets, np.uint32)) for url_id, targets in rows)


def pages_that_link_to(database: Database, url_id: int) -> Iterator[int]:
    """Yields the ids of the pages that link or redirect to a URL, in the order of discovery. Links that ask not to be
    followed do not count. This reads the links of all pages."""
    wanted = np.array([url_id, url_id | REDIRECT], np.uint32)
    rows = database.query(
        "SELECT url_id, targets FROM outlinks WHERE instr(targets, ?) OR instr(targets, ?) ORDER BY url_id",
        (wanted[:1].tobytes(), wanted[1:].tobytes()),
    )
    # SQLite compares bytes, and may also find the id across two others.
    return (source for source, targets in rows if np.isin(wanted, np.frombuffer(targets, np.uint32)).any())
