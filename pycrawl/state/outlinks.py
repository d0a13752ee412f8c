"""The links of fetched pages, by the ids of their URLs. When a shorter way to a page is found, its new depth is handed
on along them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from pycrawl.state.database import Database
from pycrawl.state.runs.value_runs import ValueRuns
from pycrawl.state.stores import OUTLINKS

U32 = NDArray[np.uint32]

REDIRECT = np.uint32(1 << 31)  # marks the target of a redirect, which is as deep as what redirects to it


class Outlinks:
    """The links of all pages. What was put is found at once, and written by `flush`."""

    def __init__(self, database: Database) -> None:
        self._runs = ValueRuns(database, OUTLINKS)

    def put(self, rows: Mapping[int, bytes]) -> None:
        """Take in rows (id of a page → ids of its targets as little-endian uint32). They replace what the page had
        before."""
        self._runs.put(rows)

    def targets_of(self, ids: Iterable[int]) -> Iterator[tuple[int, U32]]:
        """Yields (id, ids of its targets) of those pages that were fetched and have links. A target with the bit
        `REDIRECT` is that of a redirect."""
        return ((url_id, np.frombuffer(targets, np.uint32)) for url_id, targets in self._runs.get(ids).items())

    def flush(self) -> None:
        """Write what was put; to be committed by the caller."""
        self._runs.flush()

    def bytes_held(self) -> int:
        return self._runs.bytes_held()


def remove(database: Database, ids: Iterable[int]) -> None:
    """Remove the links of pages; to be committed by the caller."""
    ValueRuns(database, OUTLINKS).remove(ids)


def pages_that_link_to(database: Database, url_id: int) -> Iterator[int]:
    """Yields the ids of the pages that link or redirect to a URL, in the order of discovery. Links that ask not to be
    followed do not count. This reads the links of all pages; the caller must hold one view of the database."""
    wanted = np.array([url_id, url_id | REDIRECT], np.uint32)
    texts = (wanted[:1].tobytes(), wanted[1:].tobytes())
    for source, targets in ValueRuns(database, OUTLINKS, with_filters=False).items():
        # The bytes of an id may also stand across two others.
        if (texts[0] in targets or texts[1] in targets) and np.isin(wanted, np.frombuffer(targets, np.uint32)).any():
            yield source
