"""The priority of a URL: 1 to FRONT_QUEUES, the highest is fetched first. There is a front queue for each.

URLs near the seeds come before those far away; a URL that many pages link to rises; those of mirrors are lowered.
"""

from __future__ import annotations

import bisect

import numpy as np
from numpy.typing import NDArray

FRONT_QUEUES = 8
_DEPTHS = (1, 2, 3, 4, 6, 9, 16)  # from each of these depths on, one step lower
_INLINKS = (4, 16, 64)  # from each of these numbers on, one step higher
_STEPS_DOWN = 4


_STEPS_UP = np.array([bisect.bisect_right(_INLINKS, number) for number in range(256)], np.uint8)
_PRIORITIES = [
    [max(1, min(FRONT_QUEUES, FRONT_QUEUES + int(_STEPS_UP[inlinks]) - bisect.bisect_right(_DEPTHS, depth)))
     for inlinks in range(_INLINKS[-1] + 1)]
    for depth in range(_DEPTHS[-1] + 1)
]  # fmt: skip


def priority(depth: int, inlinks: int) -> int:
    return _PRIORITIES[min(depth, _DEPTHS[-1])][min(inlinks, _INLINKS[-1])]


def lowered(priority: int) -> int:
    """Returns the priority for a URL of a host that brings little new, such as a mirror."""
    return max(1, priority - _STEPS_DOWN)


def steps_up(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """True for each URL whose priority can change when its in-links grow from `before` to `after`."""
    return np.not_equal(_STEPS_UP[before], _STEPS_UP[after])
