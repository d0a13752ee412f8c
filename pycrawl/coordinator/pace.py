"""How many fetches are open at once, and how long their results gather: both follow from how fast fetches end."""

from __future__ import annotations

import math
from collections.abc import Callable

_MEASURED_SECONDS = 0.5  # over which the rate of results is measured
_GATHERING_SHARE = 0.05  # of the time that a fetch takes: so long results may gather, as fetchers hardly notice it
_LONGEST_GATHERING = 0.02  # seconds
_SHORTEST_GATHERING = 0.001  # seconds; to sleep for less is not worth the call
FIRST_SLOTS = 128  # of each fetcher at the start
_FEWEST_SLOTS = 2  # of each fetcher, for which memory always has room
_MORE = 1.5  # times as many slots with each step
_GAIN = 1.15  # times as many results a second show that the last step helped
_PATIENCE = 10.0  # seconds after a step that did not help, until another one is tried


class Pace:
    """Two numbers that follow the speed of the crawl.

    `gathering`: seconds for which results gather before they are taken in, because waking up costs more than a result
    does. It is a small share of the time that a fetch takes at present, so that fetchers never run out of jobs by it.

    `slots`: fetches that one fetcher may have open. The number grows while hosts wait for a slot and more slots bring
    more results a second: a crawl that waits for slow hosts gets many, one that waits for the processor does not.
    """

    def __init__(self, most_slots: int) -> None:
        self.slots = min(FIRST_SLOTS, most_slots)
        self.gathering = 0.0
        self._most_slots = most_slots
        self._since = 0.0  # monotonic: when the present measurement began
        self._results = 0  # results since then
        self._rate_before = 0.0  # results a second at the last step, with fewer slots
        self._next_step = 0.0  # monotonic: when more slots may be tried although the last step did not help

    def measure(self, results: int, in_flight: int, hosts_wait: Callable[[], bool], now: float) -> None:
        """Take note of the number of `results` since the last call, and adapt both numbers once enough time has passed.

        `hosts_wait` returns True if a host that may be hit lacks nothing but a slot.
        """
        self._since = self._since or now
        self._results += results
        seconds = now - self._since
        if seconds >= _MEASURED_SECONDS:
            rate = self._results / seconds
            self._since = now
            self._results = 0
            self._set_gathering(in_flight / rate if rate else 0.0)
            if self.slots < self._most_slots and hosts_wait():
                self._grow(rate, now)

    def cap(self, most_slots: int) -> None:
        """Allow no more slots than a fetcher says that its transport can have open; 0: it did not say."""
        if most_slots and most_slots < self._most_slots:
            self._most_slots = most_slots
            self.slots = min(self.slots, most_slots)

    def shrink(self, now: float) -> None:
        """Halve the slots, because the pages fetched at once take too much memory; after a while more are
        tried again."""
        self.slots = max(_FEWEST_SLOTS, self.slots // 2)
        self._rate_before = math.inf
        self._next_step = now + _PATIENCE

    def _set_gathering(self, fetch_seconds: float) -> None:
        """Set `gathering` from the time that a fetch takes: by Little's law, fetches in flight divided by results a
        second."""
        seconds = min(_GATHERING_SHARE * fetch_seconds, _LONGEST_GATHERING)
        self.gathering = seconds if seconds >= _SHORTEST_GATHERING else 0.0

    def _grow(self, rate: float, now: float) -> None:
        """Add slots if the last addition has raised the rate, or was long ago."""
        if rate >= _GAIN * self._rate_before or now >= self._next_step:
            self.slots = min(int(self.slots * _MORE) + 1, self._most_slots)
            self._rate_before = rate
            self._next_step = now + _PATIENCE
