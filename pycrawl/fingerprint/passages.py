"""The few fingerprints of a text by which an inverted index finds the passages that it shares with others.

Of all windows of four words, those whose fingerprint is 0 mod `ONE_IN` are selected. The value alone decides, so that a
passage has the same selected fingerprints in every text that contains it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pycrawl.fingerprint.page_prints import ONE_IN
from pycrawl.fingerprint.shingle import select_mod, windows

_Hashes = NDArray[np.uint64]

_STORED = np.dtype("<u8")


def selected(words: _Hashes) -> _Hashes:
    """Returns the selected fingerprints of a text, given the hashes of its words: distinct, in ascending order."""
    return np.unique(select_mod(windows(words), ONE_IN))


def unpack_passages(packed: bytes) -> _Hashes:
    return np.frombuffer(packed, _STORED)
