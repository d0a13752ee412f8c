"""Brings the fingerprints of pages into the form of this release, whose sketches have a byte for each bin instead of
two: a step of the schema.

Nothing is read again for it: `folded` makes of an older sketch exactly what this release makes of the text. The index
of near-duplicates is made when the next page is stored, as its keys have changed.
"""

from __future__ import annotations

import logging

import numpy as np

from pycrawl.fingerprint.packed import PACKED
from pycrawl.fingerprint.page_prints import SKETCH_SIZE
from pycrawl.fingerprint.sketch import folded
from pycrawl.state.database import Database

log = logging.getLogger(__name__)

_ROWS_AT_ONCE = 10_000
_OLDER = np.dtype([("rest", "u1", PACKED.itemsize - SKETCH_SIZE), ("sketch", "<u2", SKETCH_SIZE)])


def move(database: Database) -> None:
    """Fill `short_prints` from `page_prints`."""
    rows = database.query("SELECT document_id, prints FROM page_prints ORDER BY document_id")
    while some := rows.fetchmany(_ROWS_AT_ONCE):
        if some[0][0] == 1:
            log.warning("%s: is brought up to date; with millions of pages this takes minutes", database.path)
        older = np.frombuffer(b"".join(prints for _, prints in some), _OLDER)
        columns = np.concatenate((older["rest"], folded(older["sketch"])), axis=1)
        database.write_many(
            "INSERT INTO short_prints VALUES (?, ?)",
            ((row[0], prints.tobytes()) for row, prints in zip(some, columns, strict=True)),
        )
