"""The few fingerprints of a text by which an inverted index finds the passages that it shares with others.

Of the windows of four words those that are 0 mod `ONE_IN` are taken: by their value alone, so that a passage brings the
same ones into each text that has it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pycrawl.fingerprint.page_prints import ONE_IN
from pycrawl.fingerprint.shingle import select_mod, windows

_Hashes = NDArray[np.uint64]

_STORED = np.dtype("<u8")


def selected(words: _Hashes) -> _Hashes:
    """Of the hashes of a text's words: each selected fingerprint once, in ascending order."""
    return np.unique(select_mod(windows(words), ONE_IN))


def unpack_passages(packed: bytes) -> _Hashes:
    return np.frombuffer(packed, _STORED)
