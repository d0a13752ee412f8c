"""Content seen?: tells whether a body is stored already, byte for byte.

A 128-bit digest decides: among ten billion pages, two different ones share it with a chance of 10⁻¹⁹. A checksum such
as a CRC is made to catch noise on a wire, and different pages share one far too often.

The table `documents` has the digests. The store `CONTENT` finds documents by the first 64 bits of it, which different
pages may share; so what is found there is compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from pycrawl.state.database import Database
from pycrawl.state.runs.entries import U64
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.stores import CONTENT

_KEY_BYTES = 8


class ContentSeen:
    """The store `CONTENT` (digest → document), and the digests of documents that are not committed yet.

    A digest must never be committed before its document: other pages would count as copies of one that is not there. So
    digests wait with the group of their document: `close_group` is called when the group is closed, `flush` in its
    transaction.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._runs = IdRuns(database, CONTENT)
        self._open: dict[bytes, int] = {}  # digest → document of the open group
        self._closed: dict[bytes, int] = {}  # digest → document of the closed group
        self._looked: dict[bytes, int] = {}  # digest → document as the state has it, or 0; of the last `look`

    def look(self, digests: Iterable[bytes]) -> None:
        """Look a batch of digests up at once, so that `find` need not ask for these one by one."""
        self._looked = dict.fromkeys(digests, 0)
        if self._looked:
            self._looked.update(stored(self._database, self._looked, self._runs))

    def find(self, digest: bytes) -> int:
        """Returns the id of the document that holds this body, or 0."""
        document_id = self._open.get(digest) or self._closed.get(digest) or self._looked.get(digest)
        if document_id is None:
            document_id = stored(self._database, [digest], self._runs).get(digest, 0)
        return document_id

    def add(self, digest: bytes, document_id: int) -> None:
        self._open.setdefault(digest, document_id)

    def close_group(self) -> None:
        self._closed, self._open = self._open, {}

    def flush(self) -> None:
        """Write the digests of the closed group, after its documents."""
        self._looked.update((digest, one) for digest, one in self._closed.items() if not self._looked.get(digest, 1))
        self._runs.insert(keys_of(self._closed), np.array(list(self._closed.values()), np.uint32))
        self._runs.flush()
        self._closed = {}

    def bytes_held(self) -> int:
        return self._runs.bytes_held()


def keys_of(digests: Collection[bytes]) -> U64:
    """Returns the keys of digests in `CONTENT`."""
    whole = b"".join(digest[:_KEY_BYTES].ljust(_KEY_BYTES, b"\0") for digest in digests)
    return np.frombuffer(whole, ">u8").astype(np.uint64)


def stored(database: Database, digests: Collection[bytes], runs: IdRuns) -> dict[bytes, int]:
    """Returns digest → the oldest document with a record of its own that has it, for those that are stored."""
    _, ids = runs.find(keys_of(digests))
    rows = database.query_each(
        "SELECT digest, id FROM documents WHERE duplicate_of = 0 AND id IN ({})", np.unique(ids).tolist()
    )
    found: dict[bytes, int] = {}
    for digest, document_id in rows:
        found[digest] = min(document_id, found.get(digest, document_id))
    return {digest: document_id for digest, document_id in found.items() if digest in digests}
