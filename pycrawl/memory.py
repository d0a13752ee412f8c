"""The garbage collector, set for processes that make many small values and hardly any cycles."""

from __future__ import annotations

import gc

_YOUNG_OBJECTS = 100_000  # by default a few hundred: batches of rows would be walked through again and again


def collect_rarely() -> None:
    """What is loaded by now stays; of the rest, a collection looks at much at a time, and seldom."""
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, 50, 50)
