"""Content seen?: is this body, byte for byte, one that is stored already.

A 128-bit digest decides: a checksum such as a CRC or a byte sum is made to catch noise on a wire, and two different
pages share one far too often; at 128 bits, ten billion pages share one with a chance of 10⁻¹⁹.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycrawl.state.database import Database


class ContentSeen:
    """The fingerprint table, behind the digests of documents that are not committed yet.

    A digest must never be committed before its document: the page would count as a copy of one that is not there. So
    digests wait in the group of their document: `close_group` when the group is closed, `flush` in its transaction.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._open: dict[bytes, int] = {}
        self._closed: dict[bytes, int] = {}
        self._looked: dict[bytes, int] = {}  # of the batch at hand: what the table says

    def look(self, digests: Sequence[bytes]) -> None:
        """Ask the table about a batch at once; before the next commit, `find` asks no more."""
        self._looked = dict.fromkeys(digests, 0)
        found = self._database.query_each(
            "SELECT digest, document_id FROM fingerprints WHERE digest IN ({})", self._looked
        )
        self._looked.update(found)

    def find(self, digest: bytes) -> int:
        """The document that holds this body, or 0."""
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
