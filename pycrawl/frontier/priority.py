"""The prioritiser: an integer from 1 to F for each URL, F first.

Near the seeds comes before far away, and a URL that many pages link to rises.
"""

from __future__ import annotations

import bisect

FRONT_QUEUES = 8
_DEPTHS = (1, 2, 3, 4, 6, 9, 16)  # from each of these depths on, one step lower
_INLINKS = (4, 16, 64)  # from each of these numbers on, one step higher


def priority(depth: int, inlinks: int) -> int:
    steps = bisect.bisect_right(_INLINKS, inlinks) - bisect.bisect_right(_DEPTHS, depth)
    return max(1, min(FRONT_QUEUES, FRONT_QUEUES + steps))


def steps_up(before: int, after: int) -> bool:
    """Whether so many more in-links can change a priority."""
    return bisect.bisect_right(_INLINKS, before) != bisect.bisect_right(_INLINKS, after)
