"""Fingerprints of pages as bytes: how they cross between processes, stand in the state, and come back by the thousand.

One record is as long as the other, so that many of them joined are an array with columns.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pycrawl.fingerprint.page import PageFingerprints
from pycrawl.fingerprint.sketch import SKETCH_SIZE

PACKED = np.dtype(
    [("text_digest", "<u8", 2), ("simhash", "<u8"), ("words", "<u4"), ("sketch", "<u2", SKETCH_SIZE)]
)  # as `_FORM` writes it
_FORM = struct.Struct(f"<16sQI{SKETCH_SIZE * 2}s")
assert _FORM.size == PACKED.itemsize

Prints = NDArray[np.void]


def pack(prints: PageFingerprints) -> bytes:
    return _FORM.pack(prints.text_digest, prints.simhash, prints.words, prints.sketch)


def unpack(packed: Iterable[bytes]) -> Prints:
    """An array of `PACKED`, in the same order."""
    return np.frombuffer(b"".join(packed), PACKED)
