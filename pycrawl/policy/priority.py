"""The priority of a URL: 1 to FRONT_QUEUES, the highest is fetched first. There is a front queue for each.

URLs near the seeds come before those far away; a URL that many pages link to rises; those of mirrors are lowered.
"""

from __future__ import annotations

import bisect
from typing import NamedTuple, Protocol

from pycrawl.plugins.guard import PluginFailed, guarded

FRONT_QUEUES = 8
_DEPTHS = (1, 2, 3, 4, 6, 9, 16)  # from each of these depths on, one step lower
_INLINKS = (4, 16, 64)  # from each of these numbers on, one step higher
_STEPS_DOWN = 4


STEPS_UP = bytes(bisect.bisect_right(_INLINKS, number) for number in range(256))  # by number of in-links
PRIORITIES = [
    [max(1, min(FRONT_QUEUES, FRONT_QUEUES + STEPS_UP[inlinks] - bisect.bisect_right(_DEPTHS, depth)))
     for inlinks in range(_INLINKS[-1] + 1)]
    for depth in range(_DEPTHS[-1] + 1)
]  # fmt: skip


def priority(depth: int, inlinks: int) -> int:
    return PRIORITIES[min(depth, _DEPTHS[-1])][min(inlinks, _INLINKS[-1])]


class UrlFacts(NamedTuple):
    """What is known of a URL when it is found."""

    url: str
    depth: int  # links away from a seed
    inlinks: int  # links to it in the batch that brought it


class Prioritiser(Protocol):
    """The seam of prioritisers: a plugin of the group "pycrawl.priorities", asked once about each new URL."""

    def priority(self, facts: UrlFacts) -> int:
        """From 1 to `FRONT_QUEUES`, the highest first."""


class PluginPrioritiser:
    """A prioritiser of another package. Where it fails, the built-in priority holds, and `failure` says why."""

    def __init__(self, name: str, prioritiser: Prioritiser) -> None:
        self._name = name
        self._prioritiser = prioritiser
        self.failure = ""  # the first one

    def priority(self, facts: UrlFacts) -> int:
        try:
            level = guarded(self._name, self._prioritiser.priority, facts)
            if isinstance(level, int) and 1 <= level <= FRONT_QUEUES:
                return level
            raise PluginFailed(f"{self._name}: returned {level!r}, not a number from 1 to {FRONT_QUEUES}")
        except PluginFailed as failed:
            self.failure = self.failure or str(failed)
            return priority(facts.depth, facts.inlinks)


def lowered(priority: int) -> int:
    """Returns the priority for a URL of a host that brings little new, such as a mirror."""
    return max(1, priority - _STEPS_DOWN)


def raised(priority: int, steps: int) -> int:
    """Returns the priority so many front queues higher, or lower where `steps` is negative."""
    return min(FRONT_QUEUES, max(1, priority + steps)) if steps else priority
