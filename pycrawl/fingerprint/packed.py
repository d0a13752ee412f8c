"""The fingerprints of a page as bytes: how processes send them, and how the state keeps them.

All records have the same length, so that thousands of them, joined, can be read as one numpy array with columns.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pycrawl.fingerprint.page import PageFingerprints, of_words
from pycrawl.fingerprint.page_prints import MOST_PASSAGES, RECORD, SKETCH_SIZE
from pycrawl.fingerprint.passages import selected
from pycrawl.fingerprint.words import split_by_numpy

PACKED = np.dtype(
    [("text_digest", "<u8", 2), ("simhash", "<u8"), ("words", "<u4"), ("sketch", "u1", SKETCH_SIZE)]
)  # the layout of `RECORD`
assert RECORD.size == PACKED.itemsize

Prints = NDArray[np.void]


def pack(prints: PageFingerprints) -> bytes:
    """Returns the fingerprints of one page as a `RECORD`."""
    return RECORD.pack(prints.text_digest, prints.simhash, prints.words, prints.sketch)


def unpack(packed: Iterable[bytes]) -> Prints:
    """Returns records as an array of `PACKED`, in the same order."""
    return np.frombuffer(b"".join(packed), PACKED)


def packed_by_numpy(text: str, seed: int) -> tuple[bytes, bytes]:
    """Returns the same as `page_prints.packed`, where there is no compiled module."""
    words = split_by_numpy(text)
    if not len(words.hashes):
        return b"", b""
    return pack(of_words(words, seed)), selected(words.hashes)[:MOST_PASSAGES].tobytes()
