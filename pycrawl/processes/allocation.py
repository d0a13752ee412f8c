"""Settings of the garbage collector and of malloc for our processes.

They make many small objects with hardly any reference cycles, and use large buffers for one page after another.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager

# New objects between two collections. With the default of some hundred, each batch of rows would be walked through
# many times.
_YOUNG_OBJECTS = 100_000
_KEPT_MEMORY = 16 << 20  # bytes; glibc takes no more than 32 MiB into account


def collect_rarely() -> None:
    """Make garbage collections rare, and let them skip all objects that exist now."""
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, 50, 50)


@contextmanager
def collected_as_before() -> Iterator[None]:
    """Leave the garbage collector as it was found: a session sets it for itself, and the process may be somebody's
    program with other things to do."""
    before = gc.get_threshold()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def keep_freed_memory() -> None:
    """Make glibc keep freed buffers for the next page, instead of giving them back to the system each time.

    Memory that was given back costs a page fault for every 4 KiB when it is used again. Freeing one large block raises
    glibc's limit (mallopt(3), M_MMAP_THRESHOLD: "dynamic"). With another C library this does nothing.
    """
    bytes(_KEPT_MEMORY)


def give_freed_memory_back() -> None:
    """Give freed memory back to the system, after much was read and dropped. Without glibc this does nothing."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
