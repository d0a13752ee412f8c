"""Fingerprints of pages as bytes: how they cross between processes, stand in the state, and come back by the thousand.

One record is as long as the other, so that many of them joined are an array with columns.
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
    [("text_digest", "<u8", 2), ("simhash", "<u8"), ("words", "<u4"), ("sketch", "<u2", SKETCH_SIZE)]
)  # as `RECORD` writes it
assert RECORD.size == PACKED.itemsize

Prints = NDArray[np.void]


def pack(prints: PageFingerprints) -> bytes:
    return RECORD.pack(prints.text_digest, prints.simhash, prints.words, prints.sketch)


def unpack(packed: Iterable[bytes]) -> Prints:
    """An array of `PACKED`, in the same order."""
    return np.frombuffer(b"".join(packed), PACKED)


def packed_by_numpy(text: str, seed: int) -> tuple[bytes, bytes]:
    """What `prints.packed` gives, where there is no compiled module."""
    words = split_by_numpy(text)
    if not len(words.hashes):
        return b"", b""
    return pack(of_words(words, seed)), selected(words.hashes)[:MOST_PASSAGES].tobytes()
