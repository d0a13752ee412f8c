"""How many fetches are open at once, and how long their results gather: both follow from how fast fetches end."""

from __future__ import annotations

import math
from collections.abc import Callable

_MEASURED_SECONDS = 0.5
_GATHERING_SHARE = 0.05  # of the time that a fetch takes may pass until its result is taken in
_LONGEST_GATHERING = 0.02  # seconds
_SHORTEST_GATHERING = 0.001  # seconds
FIRST_SLOTS = 128
_FEWEST_SLOTS = 2  # for which there always is room
_MORE = 1.5  # times as many slots with each step
_GAIN = 1.15  # times as many results since the last step show that it helped
_PATIENCE = 10.0  # seconds after a step that did not help, until another one is tried


class Pace:
    """`gathering`: how long results gather before they are taken in, as a wake-up costs more than a result does. It is
    a small part of what a fetch takes by now: so little that fetchers never run dry for it.

    `slots`: fetches that one fetcher may have open. They grow while hosts wait for one and results come faster for it:
    so a crawl that waits for slow hosts gets many, and one that waits for the processor does not.
    """

    def __init__(self, most_slots: int) -> None:
        self.slots = min(FIRST_SLOTS, most_slots)
        self.gathering = 0.0
        self._most_slots = most_slots
        self._since = 0.0
        self._results = 0
        self._rate_before = 0.0  # results a second when there were fewer slots
        self._next_step = 0.0

    def measure(self, results: int, in_flight: int, hosts_wait: Callable[[], bool], now: float) -> None:
        """`results` have come since the last call; `hosts_wait` for a slot, though they might be hit."""
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
        """What a fetcher says of itself: its transport can have so many open; 0: it did not say."""
        if most_slots and most_slots < self._most_slots:
            self._most_slots = most_slots
            self.slots = min(self.slots, most_slots)

    def shrink(self, now: float) -> None:
        """What is fetched at once takes too much memory: half as much is tried, and more again after a while."""
        self.slots = max(_FEWEST_SLOTS, self.slots // 2)
        self._rate_before = math.inf
        self._next_step = now + _PATIENCE

    def _set_gathering(self, fetch_seconds: float) -> None:
        """By Little's law, what is in flight, divided by what ends in a second, is how long a fetch takes."""
        seconds = min(_GATHERING_SHARE * fetch_seconds, _LONGEST_GATHERING)
        self.gathering = seconds if seconds >= _SHORTEST_GATHERING else 0.0

    def _grow(self, rate: float, now: float) -> None:
        if rate >= _GAIN * self._rate_before or now >= self._next_step:
            self.slots = min(int(self.slots * _MORE) + 1, self._most_slots)
            self._rate_before = rate
            self._next_step = now + _PATIENCE
