"""Series whose dates or numbers run on without end: one record for each series of a host, and the judgement.

Text of its own on every page proves nothing here: a calendar can make it up. What tells a calendar from an archive is
where its positions lie. An archive has an end on each side, and pages elsewhere on the site (the home page, a list of
months) name positions near one of them: the crawl runs to the other end, and that is all. A calendar is entered at the
present, and runs on from there into the past and into the future.
"""

from __future__ import annotations

from dataclasses import dataclass

from pycrawl.traps.url_kinds import Place

# Ten years of months. A calendar of an association that keeps its past, and plans its next year, has less.
RUN_PAGES = 128  # pages beyond all positions that other pages name
# Both sides must be beyond doubt. A calendar that leads a month back and a year ahead has by then some ten months
# behind where it was entered.
LEAST_ON_A_SIDE = 8  # pages
# Nobody has published yet what belongs to these dates, unless there are pages about it, which would be linked to.
FUTURE_DAYS = 366  # days from today
FUTURE_PAGES = 32  # pages that far ahead
# A month with an article that is linked from nowhere else proves the series useful. The first pages of a series always
# lead to something new, the menu and other views of a calendar: they prove nothing.
USEFUL_SHARE = 0.25  # of the pages of a series
_FIRST_PAGES = 16  # pages after which it is said whether a series is useful
REPEATS = 3  # pages from which on a series is one, and not an article with a date in its URL


@dataclass(slots=True)
class Series:
    """The pages of one series. Positions from `first_named` to `last_named` are those that other pages name."""

    is_dated: bool
    first_named: int
    last_named: int
    pages: int = 0
    before: int = 0  # pages before all named positions, where the series has no natural end on that side
    after: int = 0  # pages after all named positions
    future: int = 0  # those of `after` that lie more than `FUTURE_DAYS` ahead
    useful: int = 0  # pages that led to something new outside of the series
    stopped: bool = False

    def name(self, position: int) -> None:
        """Note that a page outside of the series links to this position."""
        self.first_named = min(self.first_named, position)
        self.last_named = max(self.last_named, position)

    def add(self, position: int, is_useful: bool, today: int) -> None:
        """Count a page, and judge. `today`: as a position."""
        self.pages += 1
        self.useful += is_useful
        # Numbers end at 0, however far down they are entered: only below that do they run on.
        self.before += position < (self.first_named if self.is_dated else min(self.first_named, 0))
        self.after += position > self.last_named
        self.future += self.is_dated and position > max(self.last_named, today + FUTURE_DAYS)
        self.stopped |= self._runs_on

    @property
    def _runs_on(self) -> bool:
        if self._is_useful:
            return False
        runs_both_ways = min(self.before, self.after) >= LEAST_ON_A_SIDE and self.before + self.after >= RUN_PAGES
        return runs_both_ways or self.future >= FUTURE_PAGES

    @property
    def _is_useful(self) -> bool:
        return self.pages >= _FIRST_PAGES and self.useful > USEFUL_SHARE * self.pages

    @property
    def is_watched(self) -> bool:
        """True if it is stopped or may come to be: then every page of it has to be counted."""
        return self.stopped or ((self.is_dated or self.before > 0) and not self._is_useful)

    def is_beyond(self, place: Place) -> bool:
        """True if no page outside of the series names this position, or one farther out."""
        return not self.first_named <= place.position <= self.last_named

    @property
    def reason(self) -> str:
        """Why it was stopped."""
        return f"{self.pages} pages, {self.before} before and {self.after} after all that other pages link to"

    def columns(self) -> tuple[int | bool, ...]:
        """As the table `series` has them, in the order of the fields."""
        return (
            self.is_dated, self.first_named, self.last_named, self.pages, self.before, self.after, self.future,
            self.useful, self.stopped,
        )  # fmt: skip
