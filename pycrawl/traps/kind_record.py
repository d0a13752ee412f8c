"""What the pages of one kind have brought so far, and whether the kind is to be stopped: arithmetic on counts.

Two rules stop a kind. It *brings nothing*: its yield is low, and its dull pages lead to ever more of them. It is a
*maze*: its text is new, but its pages lead only deeper and never back, which pages of a finite site do.
"""

from __future__ import annotations

from dataclasses import dataclass

from pycrawl.model import UrlOrder

# Yield. With these a kind whose pages are all copies stops after 8 of them, one that was good for long after 59.
YIELD_FLOOR = 0.4  # a kind with a lower yield is stopped
LOW = 0.6  # from this yield, or open share, on down other URLs of the host go first
GOOD = 0.8  # a kind with a higher yield and open share needs no row in the database
UNDECIDED = 0.65  # what a dull page counts that leads nowhere, or elsewhere: it neither saves a kind nor stops it
_PRIOR_PAGES = 3  # pages that the first estimate weighs as much as
_WINDOW = 64  # pages that an older estimate weighs as much as, at the most

# In a crawl most of whose pages are dull, dull pages prove little.
DULL_PAGES = 2_000  # pages of a kind before it is stopped there …
DULL_SERIES = 10_000  # … or these, if they are numbered one after the other: an archive may be that long …
_DULL_COMBINATIONS = 200  # … or these, if its URLs combine parameters: such lists are rarely worth more

# Dull pages that come to an end: back links tell how many there are.
_LEAST_BACKS = 3  # back links; fewer give no estimate
_SIZE_MARGIN = 2  # times the estimate: an estimate from three back links is right to about half of it
_SIZE_SLACK = 16  # pages, for small sites

# Mazes. With this floor, 12 closed pages in a row make one, unless the kind had open ones before.
_OPEN_FLOOR = 0.2  # open share
_LEAST_DEPTHS = 8  # links that closed pages must have led down: no directory of a site is that deep
_LONG_WINDOW = 512  # pages in which dead ends are counted
_FEW_DEAD_ENDS = 1  # pages without new links …
_DEAD_END_SHARE = 0.03  # … and this share of the pages; a site that ends somewhere has more
# A site of n pages leads back once in n chances, on average. So the numbers are sizes of a site in pages, squared and
# halved where each page leads to one other: `chances` then grows by the number of the page.
_LARGE_SITE = 20_000  # chances without a back link that make a maze of pages that branch
_LONG_CHAIN = 200_000  # likewise of pages that lead to one other: a chain has then some 600 pages
_LONG_SERIES = 50_000_000  # likewise if these are numbered or dated one after the other: 10,000 pages
_BRANCHES = 1.5  # new links a page, on average, above which pages branch

_PASSED_OVER = 64  # URLs of a kind with a low yield that let others go first, until one is sent all the same
_GOOD_RECORD = 4  # pages that a kind must have to go on where a wider one is stopped
_PROOF = 8  # pages of a kind, and of its host, that all get a close look
_DOUBTS = 16  # pages that all get a close look after a dull one that leads on
_SLOW_STEPS = 12  # pages after which the links of the last one are waited for: more are not worth the time


def smoothed(value: float, pages: int, score: float) -> float:
    """The estimate after one page more: all pages count alike at first, later the last `_WINDOW` count most."""
    weight = min(_PRIOR_PAGES + pages, _WINDOW)
    return (value * weight + score) / (weight + 1)


@dataclass(slots=True)
class KindRecord:
    """The pages of one kind; the fields up to `stopped` are kept in the database."""

    pages: int = 0
    new: int = 0  # pages that said something new
    yield_: float = 1.0
    open_share: float = 1.0
    least_depth: int = 0  # of its closed pages
    most_depth: int = 0
    dead_ends: float = 0.0  # pages without new links among the last `_LONG_WINDOW` or so
    found: int = 0  # new links on its pages
    chances: int = 0  # how often a link might have led back, were the site no larger than what was found
    backs: int = 0  # how often one did
    combined: int = 0  # pages whose URL combines parameters, or that lead to such
    in_series: int = 0  # pages whose new links all lead on in the page's series
    pages_allowed: int = 0  # dull pages that it may have, as back links say that it is finite; 0: no estimate yet
    stopped: bool = False
    passed_over: int = 0  # URLs of it that let others go first, since the last one that was sent
    slow_steps: int = 0  # pages after which the links of the last one were waited for
    doubts: int = 0  # pages that will get a close look, as a dull one led on

    # Counting

    def add_links(self, closed: bool, depth: int, new: int, backs: int) -> None:
        """Count the links of a page. To be called before `add`, which counts the page."""
        self.chances += (new + backs) * self.found
        self.found += new
        self.backs += backs
        self.open_share = smoothed(self.open_share, self.pages, not closed)
        self.dead_ends += (new == 0) - self.dead_ends / _LONG_WINDOW
        if closed:
            self.least_depth = min(self.least_depth or depth, depth)
            self.most_depth = max(self.most_depth, depth)

    def add(self, score: float) -> None:
        """Count a page. `score`: 1 if it was new, 0 if it was dull and leads on, or `UNDECIDED`."""
        self.yield_ = smoothed(self.yield_, self.pages, score)
        self.pages += 1
        self.new += score == 1.0
        self.doubts = max(0, self.doubts - 1) if score else _DOUBTS

    def stop_if_endless(self, is_wide: bool, patience: int) -> None:
        """Stop the kind if one of the rules says so. `patience`: dull pages that it may have.

        Only a section or a host can be a maze: pages of one shape may all lead to another shape.
        """
        self.stopped |= self._brings_nothing(patience) or (is_wide and self._is_maze)

    def start_slow_step(self) -> None:
        """Note that the links of a page are waited for, as `order` asked."""
        self.slow_steps += 1

    # The rules

    def _brings_nothing(self, patience: int) -> bool:
        least = min(patience, _DULL_COMBINATIONS) if self._combines else patience
        if self.yield_ >= YIELD_FLOOR or self.pages < least:
            return False
        self.pages_allowed = self.pages_allowed or self._likely_size()
        return self.pages >= self.pages_allowed

    @property
    def _combines(self) -> bool:
        return 2 * self.combined > self.pages

    def _likely_size(self) -> int:
        """Pages, estimated from how often links lead back, as one counts the fish of a lake by catching them twice; 0:
        unknown. Combinations of parameters lead to each other in many ways, however many there are."""
        if self.backs < _LEAST_BACKS or self._combines:
            return 0
        return _SIZE_MARGIN * self.chances // self.backs + _SIZE_SLACK

    @property
    def _is_maze(self) -> bool:
        return self._may_be_maze and self.most_depth - self.least_depth >= _LEAST_DEPTHS

    @property
    def _may_be_maze(self) -> bool:
        return (
            self.open_share < _OPEN_FLOOR
            and self.dead_ends <= _FEW_DEAD_ENDS + _DEAD_END_SHARE * min(self.pages, _LONG_WINDOW)
            and self.chances >= self._chances_of_maze * (self.backs + 1)
        )

    @property
    def _chances_of_maze(self) -> int:
        if self.found > _BRANCHES * self.pages:
            return _LARGE_SITE
        return _LONG_SERIES if 2 * self.in_series > self.pages else _LONG_CHAIN

    # Questions

    @property
    def is_low(self) -> bool:
        return self.yield_ < LOW or self.open_share < LOW

    @property
    def is_good(self) -> bool:
        return self.yield_ >= GOOD and self.open_share >= GOOD

    @property
    def lets_others_first(self) -> bool:
        """True if other URLs of the host should go before those of this kind, which has a low yield: then one more is
        to be counted in `passed_over`. When its turn comes, that begins anew."""
        return self.passed_over < _PASSED_OVER

    @property
    def is_trusted(self) -> bool:
        """True if the kind goes on where a wider one is stopped."""
        return not self.stopped and self.pages >= _GOOD_RECORD and not self.is_low

    @property
    def is_above_doubt(self) -> bool:
        """True if not every page of the kind needs a close look."""
        return self.pages >= _PROOF and not self.doubts and self.is_good

    def order(self) -> UrlOrder:
        """The order of URLs that shows soonest whether the kind is a maze: the way down ends, or it does not."""
        if self.stopped or self.open_share >= LOW:
            return UrlOrder.AS_FOUND
        if self.slow_steps == _SLOW_STEPS or not self._may_be_maze:
            return UrlOrder.NEWEST_FIRST
        return UrlOrder.NEWEST_FIRST_SLOWLY

    @property
    def reason(self) -> str:
        """Why it was stopped."""
        if self.yield_ >= YIELD_FLOOR:
            return f"{self.pages} pages, {1 - self.open_share:.0%} closed"
        return f"{self.pages} pages, yield {self.yield_:.2f}"

    def columns(self) -> tuple[int | float | bool, ...]:
        """As the table `kinds` has them, in the order of the fields."""
        return (
            self.pages, self.new, self.yield_, self.open_share, self.least_depth, self.most_depth, self.dead_ends,
            self.found, self.chances, self.backs, self.combined, self.in_series, self.pages_allowed, self.stopped,
        )  # fmt: skip
