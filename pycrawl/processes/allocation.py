"""Memory, set for processes that make many small values, hardly any cycles, and one page's buffers after another's."""

from __future__ import annotations

import ctypes
import gc

_YOUNG_OBJECTS = 100_000  # by default a few hundred: batches of rows would be walked through again and again
_KEPT_MEMORY = 16 << 20  # bytes; glibc takes no more than 32 MiB into account


def collect_rarely() -> None:
    """What is loaded by now stays; of the rest, a collection looks at much at a time, and seldom."""
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, 50, 50)


def keep_freed_memory() -> None:
    """Lets glibc keep what one page's buffers used for the next one's, instead of giving it back to the system.

    The pages of memory would be faulted in again for each of them. Freeing one large block raises the limit
    (mallopt(3), M_MMAP_THRESHOLD: "dynamic"); elsewhere this does nothing.
    """
    bytes(_KEPT_MEMORY)


def give_freed_memory_back() -> None:
    """To the system; after much was read that is not kept. Where there is no glibc this does nothing."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
