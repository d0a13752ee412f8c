"""The depth of every known URL, and the code of the reason for which it stands aside: two bytes a URL, in memory.

Both are columns of `urls` too. But thousands of links to known URLs come in a second, and here it can be told without a
query whether one of them is a shorter way, or clears the reason.

On disk are copies in chunks (`url_standings`), written now and then. Changes since then stand in `url_changes`, and new
URLs in `urls` itself; so a start reads the chunks and a little more, and not all rows of `urls`.

A reason is written to `urls` with the commit that changes it. A depth is not: URLs that become less deep lie anywhere
in `urls`, and each would cost a page of the database. They are *settled* together, when there are many, when a command
ends, and before anything else where a state is opened for writing. Until then `urls.depth` may be too large; readers
beside a crawl take the least of it and what `url_changes` has (`urls_table.TRUE_DEPTH`).
"""

from __future__ import annotations

from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from pycrawl.state.database import Database

U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]

DEEPEST = 255  # links from a seed; all deeper URLs have this depth here, and the true one in `urls`
_CHUNK = 65_536  # ids in one row of url_standings
_LEAST_GROWTH = 65_536  # URLs for which the arrays get room at once
_SETTLED_SHARE = 8  # depths are settled when 1/8 of all URLs have changed …
_LEAST_SETTLED, _MOST_SETTLED = 20_000, 200_000  # … but not fewer, and not more: that would stop the crawl for long


class Standings:
    """Two arrays by URL id; ids start at 1. The sieve appends each new URL, and changes one when a shorter way to it is
    found or it is judged anew."""

    def __init__(self, database: Database, least_settled: int = _LEAST_SETTLED) -> None:
        """`least_settled`: changes of depths that are written to `urls` together, at least."""
        self._database = database
        self._least_settled = least_settled
        self._depths: U8 = np.zeros(_LEAST_GROWTH, np.uint8)
        self._asides: U8 = np.zeros(_LEAST_GROWTH, np.uint8)
        self._dirty: set[int] = set()  # the first ids of the chunks that have changed since they were written
        self._changes: list[tuple[int, int, int]] = []  # (id, depth, aside) of changes since the last flush
        self._unsettled: dict[int, int] = {}  # id → depth, where `urls` may have a larger one
        self._with_reason: list[tuple[int, int, int]] = []  # those of them that have another reason
        self._unsaved = 0  # changes and new URLs that are not in the chunks on disk
        self.next_id = 1
        self._load()

    def depths_of(self, ids: U32) -> U8:
        return self._depths[ids]

    def asides_of(self, ids: U32) -> U8:
        return self._asides[ids]

    def depth_of(self, url_id: int) -> int:
        return int(self._depths[url_id])

    def aside_of(self, url_id: int) -> int:
        return int(self._asides[url_id])

    def true_depth(self, url_id: int, depth: int) -> int:
        """Returns the depth of a URL whose row in `urls`, read after a `flush`, has `depth`."""
        return min(depth, self._unsettled.get(url_id, depth))

    def append(self, depths: U8, asides: U8) -> None:
        """Add new URLs, in the order of their ids, from `next_id` on."""
        end = self.next_id + len(depths)
        if end > len(self._depths):
            self._depths = _grown(self._depths, end)
            self._asides = _grown(self._asides, end)
        self._depths[self.next_id : end] = depths
        self._asides[self.next_id : end] = asides
        first = self.next_id // _CHUNK * _CHUNK
        self._dirty.update(range(first, end, _CHUNK))
        self._unsaved += len(depths)
        self.next_id = end

    def set_depths(self, ids: U32, depth: int) -> None:
        """Set the depth of URLs in memory only. The caller must call `change` for each of them afterwards."""
        self._depths[ids] = min(depth, DEEPEST)

    def change(self, url_id: int, depth: int, aside: int) -> None:
        """Set the depth and the reason of a URL, and keep them with the next `flush`."""
        self._depths[url_id] = min(depth, DEEPEST)
        if self._asides[url_id] == aside:
            self._unsettled[url_id] = depth
        else:
            self._unsettled.pop(url_id, None)
            self._with_reason.append((url_id, depth, aside))
        self._asides[url_id] = aside
        self._dirty.add(url_id // _CHUNK * _CHUNK)
        self._changes.append((url_id, depth, aside))

    def bytes_held(self) -> int:
        return self._depths.nbytes + self._asides.nbytes

    def flush(self) -> None:
        """Write the changes; to be committed by the caller."""
        if self._changes:
            self._database.write_many("UPDATE urls SET depth = ?2, aside = ?3 WHERE id = ?1", self._with_reason)
            self._database.write_many("INSERT INTO url_changes (url_id, depth, aside) VALUES (?, ?, ?)", self._changes)
            self._unsaved += len(self._changes)
            self._changes.clear()
            self._with_reason.clear()
        enough = max(self._least_settled, min(self.next_id // _SETTLED_SHARE, _MOST_SETTLED))
        if len(self._unsettled) > enough:
            self._settle()

    def settle(self) -> None:
        """Write all changes, depths too, to `urls`, for SQL statements that read them there; to be committed by the
        caller."""
        self.flush()
        self._settle()

    def _settle(self) -> None:
        self._database.write_many(
            "UPDATE urls SET depth = ?2 WHERE id = ?1", sorted(self._unsettled.items(), key=itemgetter(0))
        )
        self._unsettled.clear()

    def save(self, least: int) -> None:
        """Write the changed chunks, if at least `least` changes and new URLs are not in those on disk; the next start
        is quicker by it."""
        if self._unsaved < least:
            return
        self.settle()
        self._database.write_many(
            "INSERT OR REPLACE INTO url_standings VALUES (?, ?, ?)",
            (
                (first, self._depths[first:end].tobytes(), self._asides[first:end].tobytes())
                for first in sorted(self._dirty)
                if (end := min(first + _CHUNK, self.next_id)) > first
            ),
        )
        self._database.write("DELETE FROM url_changes")
        self._dirty.clear()
        self._unsaved = 0

    def _load(self) -> None:
        for first, depths, asides in self._database.query("SELECT * FROM url_standings ORDER BY first_id"):
            self.next_id = max(first, 1)
            skipped = self.next_id - first  # id 0 is nobody's
            self.append(np.frombuffer(depths, np.uint8)[skipped:], np.frombuffer(asides, np.uint8)[skipped:])
        self._dirty.clear()
        self._unsaved = 0
        rows = self._database.query(
            "SELECT min(depth, ?), aside FROM urls WHERE id >= ? ORDER BY id", (DEEPEST, self.next_id)
        )
        while some := rows.fetchmany(_CHUNK):
            columns = np.array(some, np.uint8)
            self.append(columns[:, 0], columns[:, 1])
        for url_id, depth, aside in self._database.query("SELECT url_id, depth, aside FROM url_changes ORDER BY id"):
            self._depths[url_id] = min(depth, DEEPEST)
            self._asides[url_id] = aside
            self._unsettled[url_id] = depth
            self._dirty.add(url_id // _CHUNK * _CHUNK)
            self._unsaved += 1


def _grown(array: U8, least: int) -> U8:
    grown = np.zeros(least + max(_LEAST_GROWTH, len(array) // 8), np.uint8)
    grown[: len(array)] = array
    return grown
