"""How much a page has changed, told by the fingerprints of its main content before and after."""

from __future__ import annotations

import numpy as np

from pycrawl.fingerprint.packed import unpack
from pycrawl.fingerprint.sketch import resemblance
from pycrawl.model import Change

# The resemblance of two texts of equal length that have half of their four-word shingles in common.
EDITED_FROM = 1 / 3


def change(before: bytes, after: bytes) -> Change:
    """Returns the grade of a change between two packed fingerprints (`packed.py`); the bytes of the page are known to
    differ. Where there are none, as a page without words has none, nothing can be compared, and the page counts as
    rewritten."""
    if not before or not after:
        return Change.REWRITTEN
    prints = unpack((before, after))
    if np.array_equal(*prints["text_digest"]):
        return Change.COSMETIC
    return Change.EDITED if resemblance(*prints["sketch"]) >= EDITED_FROM else Change.REWRITTEN
