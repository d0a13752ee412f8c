"""What the pages of one kind have brought so far, and whether that is a trap: pure arithmetic on counts."""

from __future__ import annotations

from dataclasses import dataclass

from pycrawl.model import Search
from pycrawl.traps.novelty import (
    BRANCHES,
    DEAD_END_SHARE,
    DULL_COMBINATIONS,
    FEW_DEAD_ENDS,
    FLOOR,
    LARGE_SITE,
    LEAST_BACKS,
    LEAST_DEPTHS,
    LONG_CHAIN,
    LONG_WINDOW,
    LOW,
    MAZE_FLOOR,
    SIZE_MARGIN,
    SIZE_SLACK,
    smoothed,
)

_GOOD_RECORD = 4  # pages that a kind must have to be trusted where the wider one has stopped
UNREMARKABLE = 0.8  # a yield above which a kind needs no row
_PROOF = 8  # pages that a kind must have shown, and its host too, until not all are looked at
_MOST_STEPS_DOWN = 12
_DOUBTS = 16  # pages that are all looked at after one that brought nothing


@dataclass(slots=True)
class Pattern:
    """One kind of page."""

    pages: int = 0
    novel: int = 0
    value: float = 1.0  # the yield
    openness: float = 1.0  # likewise, the share of its pages that were not closed
    least_depth: int = 0  # of its closed pages
    most_depth: int = 0
    dead_ends: float = 0.0  # pages without new links among the last `LONG_WINDOW` or so
    found: int = 0  # links of its pages that were new
    chances: int = 0  # and how often they might have led back, had the site not been larger than what was found
    backs: int = 0  # how often they did
    combined: int = 0  # pages whose URL combines parameters, or that lead to such
    promise: int = 0  # pages that it may have though they bring nothing, as it looks finite
    stopped: bool = False
    passed_over: int = 0  # URLs, since the last one that was tried
    steps_down: int = 0  # pages after which there was time to find the way down
    doubts: int = 0  # pages to be looked at, as one of the last few brought nothing

    def add(self, score: float) -> None:
        self.value = smoothed(self.value, self.pages, score)
        self.pages += 1
        self.novel += score == 1.0
        self.doubts = max(0, self.doubts - 1) if score else _DOUBTS

    def add_links(self, closed: bool, depth: int, fresh: int, backs: int) -> None:
        """To be called before `add`."""
        self.chances += (fresh + backs) * self.found
        self.found += fresh
        self.backs += backs
        self.openness = smoothed(self.openness, self.pages, not closed)
        self.dead_ends += (fresh == 0) - self.dead_ends / LONG_WINDOW
        if closed:
            self.least_depth = min(self.least_depth or depth, depth)
            self.most_depth = max(self.most_depth, depth)

    def judge(self, is_wide: bool, patience: int) -> None:
        """Only of a wide kind can it be said that there is no way out: pages of one shape may all lead to another."""
        self.stopped |= self._brings_nothing(patience) or (is_wide and self._is_maze)

    def _brings_nothing(self, patience: int) -> bool:
        """Dull pages that lead to ever more of them; if there seems to be an end to it, it has a chance to come."""
        if self.value >= FLOOR or self.pages < (min(patience, DULL_COMBINATIONS) if self._combines else patience):
            return False
        self.promise = self.promise or self._likely_size()
        return self.pages >= self.promise

    @property
    def _combines(self) -> bool:
        return 2 * self.combined > self.pages

    def _likely_size(self) -> int:
        """From how often links lead back to what was found before, as one counts the fish of a lake; 0: unknown.

        Combinations of parameters lead to each other in many ways, however many there are: that says nothing.
        """
        if self.backs < LEAST_BACKS or self._combines:
            return 0
        return SIZE_MARGIN * self.chances // self.backs + SIZE_SLACK

    @property
    def _is_maze(self) -> bool:
        return self._may_be_endless and self.most_depth - self.least_depth >= LEAST_DEPTHS

    @property
    def _may_be_endless(self) -> bool:
        """Closed page upon closed page. A site of n pages leads back once in n chances, on average."""
        return (
            self.openness < MAZE_FLOOR
            and self.dead_ends <= FEW_DEAD_ENDS + DEAD_END_SHARE * min(self.pages, LONG_WINDOW)
            and self.chances >= (LARGE_SITE if self._grows else LONG_CHAIN) * (self.backs + 1)
        )

    @property
    def _grows(self) -> bool:
        """It branches; else it may be a long row of pages, each with the way to the next."""
        return self.found > BRANCHES * self.pages

    def columns(self) -> tuple[int | float | bool, ...]:
        """As the table has them."""
        return (
            self.pages, self.novel, self.value, self.openness, self.least_depth, self.most_depth, self.dead_ends,
            self.found, self.chances, self.backs, self.combined, self.promise, self.stopped,
        )  # fmt: skip

    @property
    def is_low(self) -> bool:
        return self.value < LOW or self.openness < LOW

    def search(self) -> Search:
        """How to find out, with the next page, whether it is a maze: the way down ends, or it does not."""
        if self.stopped or self.openness >= LOW:
            return Search.AS_FOUND
        if self.steps_down == _MOST_STEPS_DOWN or not self._may_be_endless:
            return Search.DEEP
        self.steps_down += 1
        return Search.DEEP_AT_LEISURE

    @property
    def is_trusted(self) -> bool:
        return not self.stopped and self.pages >= _GOOD_RECORD and not self.is_low

    @property
    def is_above_doubt(self) -> bool:
        return self.pages >= _PROOF and not self.doubts and min(self.value, self.openness) >= UNREMARKABLE

    @property
    def reason(self) -> str:
        if self.value >= FLOOR:
            return f"{self.pages} pages, {1 - self.openness:.0%} lead only deeper"
        return f"{self.pages} pages, yield {self.value:.2f}"
