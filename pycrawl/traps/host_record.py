"""What is known of one host: its kinds, its series, and how it answers probes; and the questions that rest on it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pycrawl.model import CloseLook, Closure, PackedLinks, UrlOrder
from pycrawl.traps.kind_record import DULL_PAGES, DULL_SERIES, LOW, UNDECIDED, YIELD_FLOOR, KindRecord
from pycrawl.traps.link_memory import some_new_links
from pycrawl.traps.novelty import Hashes, Novelty, Said, are_alike
from pycrawl.traps.series import REPEATS, Series
from pycrawl.traps.url_kinds import ALL, Place, place, section, shape
from pycrawl.urls.parts import first_directory, host_key

SAMPLE_EVERY = 32  # pages; of a kind that is above doubt, one page in 32 gets a close look
PAGES_BEFORE_PROBE = 5  # pages of a host, or of a directory: enough to see whether all its pages are alike
_MOST_PROBES = 4  # of one host: they are requests for nothing
_LEAST_PAGES = 8  # of a host before one of its kinds is stopped …
_LEAST_PAGES_OF_HOST = 16  # … and before the host is
_FIRST_PAGES = 2  # of a kind: always new, whatever the kind is like
_NEIGHBOURS = 100  # that far apart are numbers at the most: pages of an archive may be counted in entries
_KINDS_KEPT = 512  # of one host
_SERIES_KEPT = 64  # of one host


@dataclass(slots=True)
class HostRecord:
    """The kinds and series that were met; whichever are missing brought nothing remarkable."""

    id: int
    key: str  # "example.com"
    is_exempt: bool  # from all judgements
    kinds: dict[str, KindRecord] = field(default_factory=dict)
    series: dict[str, Series] = field(default_factory=dict)
    probes: dict[str, Hashes] = field(default_factory=dict)  # directory → sample of the answer; empty: no page
    answers_probes: bool = False  # with a page, at least once
    first_samples: list[Hashes] = field(default_factory=list)  # of its first pages, until it was probed
    low: set[str] = field(default_factory=set)  # its kinds that are low or stopped
    watched: set[str] = field(default_factory=set)  # its series that may run on, or are stopped

    @property
    def parts(self) -> int:
        """How many kinds and series it has, which is what its memory grows with."""
        return len(self.kinds) + len(self.series)

    # Before a fetch

    @property
    def is_watched(self) -> bool:
        """True if one of its URLs may be a trap, or may have to wait."""
        return bool(self.low or self.watched)

    def trap(self, url: str) -> str:
        """Why a URL is not asked for: the kind or series, and what it brought. Empty if the URL is no trap."""
        here = place(url) if self.watched else None
        if here is not None and here.series in self.watched:
            series = self.series[here.series]
            if series.stopped and series.is_beyond(here):
                return f"{self.key}{here.series}: {series.reason}"
        for name in (shape(url), section(url), ALL):
            kind = self.kinds.get(name)
            if kind is None:
                continue
            if kind.stopped:
                return f"{self.key}{name}: {kind.reason}"
            if kind.is_trusted:
                return ""
        return ""

    def low_kind(self, url: str) -> KindRecord | None:
        """The narrowest kind of the URL whose yield is low, the host itself excluded; None if there is none."""
        for name in (shape(url), section(url)):
            kind = self.kinds.get(name)
            if kind is not None and kind.yield_ < LOW and name != ALL:
                return kind
        return None

    def is_above_doubt(self, url: str) -> bool:
        """True if pages of the URL's section need no close look, but for a sample of them."""
        here = place(url) if self.watched else None
        if here is not None and here.series in self.watched:
            return False
        return not self.low and self._is_good(section(url))

    def directory_to_probe(self, url: str) -> str:
        """The directory in which a page that cannot exist should be asked for before this URL; empty if in none.

        Pages alike in a directory may be what it says of missing ones, though the host answers as it should; but where
        most are alike, they are what it has.
        """
        if self.is_exempt:
            return ""
        if "/" not in self.probes:
            return "/"
        directory = first_directory(url)
        if directory in self.probes or len(self.probes) >= _MOST_PROBES:
            return ""
        kind = self.kinds.get(section(url))
        if kind is None or kind.pages < PAGES_BEFORE_PROBE or not kind.new < kind.pages <= 2 * kind.new:
            return ""
        return directory

    def start_probe(self, directory: str) -> None:
        """Note that the directory is being probed, so that it is not probed again."""
        self.probes[directory] = np.empty(0, np.uint64)

    # After a fetch

    def end_probe(self, directory: str, answer: Hashes) -> None:
        """`answer`: the sample of the page that came; empty if none did."""
        self.probes[directory] = answer
        self.answers_probes |= len(answer) > 0
        self.first_samples.clear()

    def is_like_first_pages(self, answer: Hashes) -> bool:
        """True if the answer to a probe is like all of the host's first pages but one: then it says nothing."""
        first = self.first_samples
        return bool(first) and sum(are_alike(answer, page) for page in first) >= len(first) - 1

    def is_soft_404(self, url: str, look: CloseLook) -> bool:
        if not self.answers_probes or not look.pairs:
            return False
        answers = [self.probes[one] for one in {"/", first_directory(url)} if one in self.probes]
        pairs = np.frombuffer(look.pairs, np.uint64)
        return any(are_alike(pairs, answer) for answer in answers if len(answer))

    def add_page(
        self, url: str, depth: int, look: CloseLook, links: PackedLinks, novelty: Novelty, today: int
    ) -> UrlOrder:
        """Count a page for its kinds and its series, and judge these. Returns the order for the URLs of the host."""
        new_links = some_new_links(links)
        leads_on = self._add_to_series(url, new_links, today)
        combines = "&" in url or b"&" in links.texts
        is_numbered = leads_on and not combines and _leads_to_neighbours(url, new_links)
        said = novelty.take_in(self.id, look)
        scores = (1.0, 1.0, 1.0)
        if said is Said.OLD_PARTS and is_numbered:
            scores = (UNDECIDED, UNDECIDED, UNDECIDED)  # the pages of an archive may share most of their words
        elif said is not Said.NEW:
            scores = _scores_of_dull_page(url, look, new_links, self._kind(ALL).yield_ >= YIELD_FLOOR)
        self._count_novelty(novelty, look.section, scores[0])
        for name, score in zip((ALL, look.section, look.shape), scores, strict=True):
            kind = self._kind(name)
            closed = look.closure >= (Closure.SECTION if name is look.section else Closure.HOST)
            kind.add_links(closed, depth, links.texts_count, look.backs)
            kind.combined += combines
            kind.in_series += leads_on
            kind.add(score)
            self._judge(name, kind, novelty, DULL_SERIES if is_numbered or not new_links else DULL_PAGES)
        return self._order(url, look.section)

    def add_redirect(self, url: str, target: str, is_known: bool, novelty: Novelty) -> tuple[str, ...]:
        """Count a redirect that stays on the host: by itself it brings nothing. Returns the kinds it counts for."""
        score = UNDECIDED if is_known else 0.0
        names = (section(url), ALL) if section(url) == section(target) else (ALL,)
        for name in names:
            kind = self._kind(name)
            kind.add(score)
            self._judge(name, kind, novelty, DULL_PAGES)
        return names

    def mark_watched(self) -> None:
        """Fill `low` and `watched` from the kinds and series. To be called when these were read."""
        for name, kind in self.kinds.items():
            self._mark(name, kind)
        self.watched = {name for name, one in self.series.items() if one.is_watched}

    # Kinds

    def _is_good(self, name: str) -> bool:
        whole, kind = self.kinds.get(ALL), self.kinds.get(name)
        return whole is not None and kind is not None and whole.is_above_doubt and kind.is_above_doubt

    def _kind(self, name: str) -> KindRecord:
        """A kind's record, made if it is missing; a new kind is expected to be as good as its host was."""
        kind = self.kinds.get(name)
        if kind is None:
            if len(self.kinds) >= _KINDS_KEPT:
                self._forget_kind()
            whole = self.kinds.get(ALL)
            kind = self.kinds[name] = KindRecord(yield_=whole.yield_ if whole and whole.yield_ < LOW else 1.0)
        return kind

    def _forget_kind(self) -> None:
        """Forget the oldest shape of which nothing bad is known; if there is none, the oldest kind but the host."""
        shapes = (name for name, kind in self.kinds.items() if not name.endswith(ALL) and not kind.is_low)
        forgotten = next(shapes, "") or next(name for name in self.kinds if name != ALL)
        self.kinds.pop(forgotten)
        self.low.discard(forgotten)

    def _judge(self, name: str, kind: KindRecord, novelty: Novelty, dull_pages: int) -> None:
        """Stop the kind if it is to be. `dull_pages`: that it may have where most pages of the crawl are dull."""
        least = _LEAST_PAGES_OF_HOST if name == ALL else _LEAST_PAGES
        if not kind.is_good and self._kind(ALL).pages >= least:
            kind.stop_if_endless(name.endswith(ALL), dull_pages if novelty.is_dull_usual else 0)
        self._mark(name, kind)

    def _mark(self, name: str, kind: KindRecord) -> None:
        if kind.is_low or kind.stopped:
            self.low.add(name)
        else:
            self.low.discard(name)

    def _count_novelty(self, novelty: Novelty, name: str, score: float) -> None:
        """A page of a kind that is above doubt stands for all those that got no close look."""
        if not score:
            novelty.count(0, 1)
        elif score == 1.0 and self._kind(name).pages >= _FIRST_PAGES:
            novelty.count(SAMPLE_EVERY if self._is_good(name) else 1, 0)

    def _order(self, url: str, own_section: str) -> UrlOrder:
        """Of a series both directions should be tried: that tells a calendar from an archive (`series`)."""
        here = place(url) if self.watched else None
        if here is not None and here.series in self.watched:
            return UrlOrder.AS_FOUND
        order = UrlOrder.AS_FOUND
        for name in (own_section, ALL):
            kind = self._kind(name)
            wanted = kind.order()
            if wanted is UrlOrder.NEWEST_FIRST_SLOWLY:
                kind.start_slow_step()
            order = max(order, wanted)
        return order

    # Series

    def _add_to_series(self, url: str, new_links: list[str], today: int) -> bool:
        """Count a page for its series. Returns True if its new links all lead on in the series, and there are some."""
        here = place(url)
        own = self._series(here) if here is not None else None
        is_useful = False
        leads_on = own is not None and bool(new_links)
        for link in new_links:
            there = place(link) if host_key(link) == self.key else None
            if here is not None and there is not None and there.series == here.series:
                continue
            leads_on = False
            if there is None:
                is_useful = True
                continue
            other = self._series(there)
            is_useful |= other.pages < REPEATS
            if own is None or own.pages < REPEATS:
                other.name(there.position)
        if here is not None and own is not None:
            self.series[here.series] = own  # it may have been forgotten for the sake of another one just now
            own.add(here.position, is_useful, today)
            if own.is_watched:
                self.watched.add(here.series)
            else:
                self.watched.discard(here.series)
        return leads_on

    def _series(self, where: Place) -> Series:
        """A series' record, made if it is missing."""
        series = self.series.get(where.series)
        if series is None:
            if len(self.series) >= _SERIES_KEPT:
                self._forget_series()
            series = self.series[where.series] = Series(where.is_dated, where.position, where.position)
        return series

    def _forget_series(self) -> None:
        """Forget the oldest series with few pages; if there is none, the oldest that is not watched, or the oldest."""
        few = (name for name, one in self.series.items() if one.pages < REPEATS)
        unwatched = (name for name in self.series if name not in self.watched)
        forgotten = next(few, "") or next(unwatched, "") or next(iter(self.series))
        self.series.pop(forgotten)
        self.watched.discard(forgotten)


def _leads_to_neighbours(url: str, new_links: list[str]) -> bool:
    """True if the new links of a page, all of its series, have numbers near its own, as those of an archive."""
    here = place(url)
    there = [place(link) for link in new_links]
    return (
        here is not None
        and not here.is_dated
        and all(one is not None and abs(one.position - here.position) <= _NEIGHBOURS for one in there)
    )


def _scores_of_dull_page(
    url: str, look: CloseLook, new_links: list[str], is_host_good: bool
) -> tuple[float, float, float]:
    """What a dull page counts for its host, its section and its shape.

    0 if it leads on into the same. It counts for neither side if it leads nowhere, so that it ends there, or to pages
    of another kind on a host whose pages are good.
    """
    if not new_links:
        return UNDECIDED, UNDECIDED, UNDECIDED
    elsewhere = UNDECIDED if is_host_good else 0.0
    key = host_key(url)
    if not all(host_key(text) == key for text in new_links):
        return elsewhere, elsewhere, elsewhere
    same_section = all(section(text) == look.section for text in new_links)
    same_shape = same_section and all(shape(text) == look.shape for text in new_links)
    return 0.0, 0.0 if same_section else elsewhere, 0.0 if same_shape else elsewhere
