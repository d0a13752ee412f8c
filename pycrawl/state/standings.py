"""The depth of every known URL, and the reason for which it stands aside: two bytes a URL, in memory.

Both are columns of `urls` too. Links to known URLs come by the thousand in a second, and whether one of them is a
shorter way, or clears a reason, is told here without a look at the table.

On disk: copies in chunks (`url_standings`), written now and then; a change since then stands in `url_changes`, and new
URLs in `urls` itself, so that a start reads a little and not all rows.
"""

from __future__ import annotations

from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from pycrawl.state.database import Database

U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]

DEEPEST = 255  # depths beyond count as this one, here; `urls` has them as they are
_CHUNK = 65_536  # ids in one row of url_standings
_LEAST_GROWTH = 65_536  # URLs


class Standings:
    """Filled with each new URL, changed when a shorter way is found or a URL is judged anew. Ids start at 1."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._depths: U8 = np.zeros(_LEAST_GROWTH, np.uint8)
        self._asides: U8 = np.zeros(_LEAST_GROWTH, np.uint8)
        self._dirty: set[int] = set()  # chunks, by their first id
        self._changes: list[tuple[int, int, int]] = []  # since the last flush: id, depth, aside
        self._unsaved = 0  # changes and new URLs that the chunks on disk do not have
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

    def append(self, depths: U8, asides: U8) -> None:
        """New URLs, in the order of their ids."""
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
        """In memory only: `change` follows for each of them."""
        self._depths[ids] = min(depth, DEEPEST)

    def change(self, url_id: int, depth: int, aside: int) -> None:
        """Note both of a URL anew."""
        self._depths[url_id] = min(depth, DEEPEST)
        self._asides[url_id] = aside
        self._dirty.add(url_id // _CHUNK * _CHUNK)
        self._changes.append((url_id, depth, aside))

    def flush(self) -> None:
        """Write the changes; to be committed by the caller."""
        if self._changes:
            self._database.write_many(
                "UPDATE urls SET depth = ?2, aside = ?3 WHERE id = ?1", sorted(self._changes, key=itemgetter(0))
            )
            self._database.write_many("INSERT INTO url_changes (url_id, depth, aside) VALUES (?, ?, ?)", self._changes)
            self._unsaved += len(self._changes)
            self._changes.clear()

    def save(self, least: int) -> None:
        """Write the chunks anew, if so much is not in those on disk: the next start need not read it elsewhere."""
        if self._unsaved < least:
            return
        self.flush()
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
            self._dirty.add(url_id // _CHUNK * _CHUNK)
            self._unsaved += 1


def _grown(array: U8, least: int) -> U8:
    grown = np.zeros(least + max(_LEAST_GROWTH, len(array) // 8), np.uint8)
    grown[: len(array)] = array
    return grown
