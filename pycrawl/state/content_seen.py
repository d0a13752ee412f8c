"""Content seen?: tells whether a body is stored already, byte for byte.

A 128-bit digest decides: among ten billion pages, two different ones share it with a chance of 10⁻¹⁹. A checksum such
as a CRC is made to catch noise on a wire, and different pages share one far too often.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycrawl.state.database import Database


class ContentSeen:
    """The table `fingerprints` (digest → document), and the digests of documents that are not committed yet.

    A digest must never be committed before its document: other pages would count as copies of one that is not there. So
    digests wait with the group of their document: `close_group` is called when the group is closed, `flush` in its
    transaction.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._open: dict[bytes, int] = {}  # digest → document of the open group
        self._closed: dict[bytes, int] = {}  # digest → document of the closed group
        self._looked: dict[bytes, int] = {}  # digest → document as the table has it, or 0; of the last `look`

    def look(self, digests: Sequence[bytes]) -> None:
        """Look a batch of digests up at once, so that `find` need not ask the table for these until the next commit."""
        self._looked = dict.fromkeys(digests, 0)
        found = self._database.query_each(
            "SELECT digest, document_id FROM fingerprints WHERE digest IN ({})", self._looked
        )
        self._looked.update(found)

    def find(self, digest: bytes) -> int:
        """Returns the id of the document that holds this body, or 0."""
        document_id = self._open.get(digest) or self._closed.get(digest) or self._looked.get(digest)
        if document_id is None:
            row = self._database.query("SELECT document_id FROM fingerprints WHERE digest = ?", (digest,)).fetchone()
            document_id = int(row[0]) if row else 0
        return document_id

    def add(self, digest: bytes, document_id: int) -> None:
        self._open.setdefault(digest, document_id)

    def close_group(self) -> None:
        self._closed, self._open = self._open, {}

    def flush(self) -> None:
        self._database.write_many("INSERT OR IGNORE INTO fingerprints VALUES (?, ?)", self._closed.items())
        self._looked = {}
        self._closed = {}
