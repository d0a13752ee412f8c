"""The texts of links, each stored once and known by an id.

Ids start at 1 and ascend. A text that no link has any more stays until `links.tidy`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from pycrawl.state import arrays
from pycrawl.state.database import Database
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.runs.value_runs import ValueRuns
from pycrawl.state.stores import ANCHOR_HASHES, ANCHOR_TEXTS
from pycrawl.urls.link_flags import LONGEST_ANCHOR

U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

MOST_TEXTS = (1 << 26) - 1  # as `links.py` packs their ids; further texts are not kept
_REMEMBERED = 1 << 16  # texts whose ids memory holds, of the last ones met: 12 bytes each


class AnchorTexts:
    """Texts are held in memory by `ids_of` until `flush` writes them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._by_hash = IdRuns(database, ANCHOR_HASHES)
        self._texts = ValueRuns(database, ANCHOR_TEXTS)
        self._forget()

    def _forget(self) -> None:
        self._hashes: U64 = np.zeros(_REMEMBERED, np.uint64)
        self._ids: U32 = np.zeros(_REMEMBERED, np.uint32)
        self._next_id = 0  # 0: to be read off the database
        self._read_after = self._database.rollbacks

    def ids_of(self, hashes: U64, texts_at: Callable[[I64], list[bytes]]) -> U32:
        """Returns the ids of texts by their hashes; 0 where the hash is 0, for no text. Texts that are not known yet
        are entered. `texts_at`: returns the texts at some places in `hashes`."""
        if self._read_after != self._database.rollbacks:
            self._forget()
        distinct, first, counts, order, _ = arrays.distinct(hashes)
        slots = (distinct % np.uint64(_REMEMBERED)).astype(np.int64)
        ids = np.where(self._hashes[slots] == distinct, self._ids[slots], np.uint32(0))
        missing = np.flatnonzero((ids == 0) & (distinct != 0))
        if len(missing):
            places, known = self._by_hash.find(distinct[missing], most=1)
            ids[missing[places]] = known
            new = missing[ids[missing] == 0]
            ids[new] = self._enter(distinct[new], texts_at(first[new]))
            self._hashes[slots[missing]] = distinct[missing]
            self._ids[slots[missing]] = ids[missing]
        found = np.empty(len(hashes), np.uint32)
        found[order] = np.repeat(ids, counts)
        return found

    def _enter(self, hashes: U64, texts: list[bytes]) -> U32:
        if not self._next_id:
            self._next_id = 1 + max((max(run.lasts, default=0) for run in self._texts.table.runs), default=0)
        count = max(0, min(len(texts), MOST_TEXTS + 1 - self._next_id))
        ids = np.zeros(len(texts), np.uint32)
        ids[:count] = np.arange(self._next_id, self._next_id + count, dtype=np.uint32)
        self._next_id += count
        self._by_hash.insert(hashes[:count], ids[:count])
        # Whoever sends texts has cut them to this length: nothing longer is kept, whatever a message holds.
        self._texts.put(dict(zip(ids[:count].tolist(), [text[:LONGEST_ANCHOR] for text in texts[:count]], strict=True)))
        return ids

    def flush(self) -> None:
        """Write new texts; to be committed by the caller."""
        self._by_hash.flush()
        self._texts.flush()

    def bytes_held(self) -> int:
        held = self._by_hash.bytes_held() + self._texts.bytes_held()
        return held + self._hashes.nbytes + self._ids.nbytes


def texts_of(texts: ValueRuns, ids: Iterable[int]) -> dict[int, str]:
    """Returns id → text, of the store `ANCHOR_TEXTS`."""
    return {text_id: text.decode("utf-8", "replace") for text_id, text in texts.get(ids).items()}


def all_ids(database: Database) -> U32:
    """Returns the ids of all texts."""
    texts = ValueRuns(database, ANCHOR_TEXTS, with_filters=False)
    return np.fromiter((text_id for text_id, _ in texts.items()), np.uint32)


def remove(database: Database, ids: U32) -> None:
    """Remove texts; to be committed by the caller."""
    if len(ids):
        IdRuns(database, ANCHOR_HASHES).remove_ids(ids)
        ValueRuns(database, ANCHOR_TEXTS).remove(ids.tolist())
