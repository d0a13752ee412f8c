"""The way of found URLs into the ledger: each is looked up in URL-seen, judged, and entered or updated.

Every URL of a batch that comes with a text is entered once, wanted or not. A link to a known URL counts as one more
in-link. A known URL is judged anew if the batch brings a shorter way to it, or the first link to it that does not ask
not to be followed. A shorter way is handed on: the pages that it leads to, and what they link to, are less deep too.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pycrawl.frontier.discovered import Discovered, Source
from pycrawl.frontier.front import FrontQueues
from pycrawl.frontier.judge import Judge
from pycrawl.frontier.link_keeper import LinkKeeper
from pycrawl.model import Kind, Via
from pycrawl.policy.priority import STEPS_UP, priority, raised
from pycrawl.state import later
from pycrawl.state.counters import Counters
from pycrawl.state.database import Database
from pycrawl.state.documents import set_requeued
from pycrawl.state.hosts import Hosts
from pycrawl.state.links import Links
from pycrawl.state.sources import Sources
from pycrawl.state.standings import DEEPEST, Standings
from pycrawl.state.unwanted import FORGOTTEN, forgotten_text
from pycrawl.state.url_seen import Looked, UrlSeen
from pycrawl.state.visit_ids import visited_of
from pycrawl.urls.parts import host_key
from pycrawl.urls.reasons import Reason

# Reasons that another link may clear: one that does not ask not to be followed, and one without redirects.
_BY_ASKING = np.array(
    [reason.code for reason in (
        Reason.NOFOLLOW, Reason.SOFT_404_LINK, Reason.FOREIGN_SITEMAP, Reason.SITEMAP, Reason.FEED,
    )], np.uint8,
)  # fmt: skip
_BY_REDIRECTS = np.uint8(Reason.TOO_MANY_REDIRECTS.code)
_EXTERNAL = Reason.EXTERNAL.code
_STEPS_UP = np.frombuffer(STEPS_UP, np.uint8)
_FORGOTTEN = Reason.FORGOTTEN.code

I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]

log = logging.getLogger(__name__)

# Columns of `urls`: url, host id, depth, hops, via, id of the page, ask, aside.
_Row = tuple[str, int, int, int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a batch's URLs that were never met before."""

    new: int  # how many there were …
    queued: int  # … and how many of them are to be asked for
    asides: Counter[str]  # reason → new URLs that stand aside


NOTHING_ADDED = Added(0, 0, Counter())


@dataclass(slots=True)
class _News:
    """What a batch brings for a known URL."""

    depth: int | None = None  # the length of a shorter way to it; None: there is none
    before: int = DEEPEST  # the depth that it had until now
    clears_ask: bool = False  # a link was found that does not ask not to be followed
    clears_hops: bool = False  # a way was found that needs no redirect

    def shorten(self, depth: int, before: int) -> None:
        """A way of this depth was found; `before` is the depth that the URL had until now."""
        if self.depth is None:
            self.before = before
        self.depth = depth


class Sieve:
    def __init__(
        self,
        database: Database,
        hosts: Hosts,
        counters: Counters,
        seen: UrlSeen,
        standings: Standings,
        front: FrontQueues,
        judge: Judge,
        sources: Sources,
        level_of: Callable[[str, int, int, int], int],
        counts_inlinks: bool,
    ) -> None:
        """`level_of(url, host id, depth, in-links)` returns the front queue of a URL. `counts_inlinks`: in-links and
        shorter ways move a URL to a higher one."""
        self._database = database
        self._links = Links(database)
        self._link_keeper = LinkKeeper(self._links)
        self._hosts = hosts
        self._counters = counters
        self._seen = seen
        self._standings = standings
        self._front = front
        self._judge = judge
        self._sources = sources
        self._level_of = level_of
        self._counts_inlinks = counts_inlinks
        self.let_in: Callable[[list[int]], None] = lambda ids: None  # called with the ids whose depth has shrunk

    def add(self, batch: Discovered, now: float) -> Added:
        """Take in a batch: enter its new URLs, update the known ones, keep the links of its pages. Changes are written,
        and committed by the caller."""
        texts = batch.texts()
        looked = self._seen.look(batch.hashes())
        sources, source_of = batch.sources()
        depths = np.array([min(source.depth, DEEPEST) for source in sources], np.uint8)[source_of]
        least_depths = looked.least(depths)
        known = np.flatnonzero(looked.ids)
        self._count_lost(looked, len(texts))
        seed_hosts = self._mark_seeds(texts[: batch.seeds])
        added = self._enter(batch, looked, texts, sources, source_of, least_depths, seed_hosts, now)
        ids = looked.ids_in_batch()
        ends = np.searchsorted(source_of, np.arange(len(sources)), "right").tolist()
        self._link_keeper.keep(batch, ids, sources, source_of)
        if batch.has_sources:
            self._enter_sources(ids, sources, ends)
        self._take_in_news(looked, known, sources, source_of, least_depths)
        if batch.from_pages:
            self._count_inlinks(looked)
        return added

    def flush(self) -> None:
        """Write the links of pages; to be committed by the caller."""
        self._links.flush()

    def bytes_held(self) -> int:
        """Returns how many bytes memory holds of the links of pages."""
        return self._links.bytes_held()

    # New URLs

    def _mark_seeds(self, texts: list[bytes]) -> list[int]:
        """Mark the hosts of the seeds `texts` as seed hosts, before links are judged by that, and judge anew the known
        URLs of hosts that were none before. Returns the host id of each seed."""
        host_ids = [self._hosts.id_of(host_key(text.decode())) for text in texts]
        new = self._hosts.mark_seeds(set(host_ids))
        if new and self._judge.needs_seed_hosts:
            self._standings.flush()  # the query reads reasons
            rows = self._database.query_each(
                f"SELECT id FROM urls WHERE aside = {_EXTERNAL} AND host_id IN ({{}})", new
            )
            self._judge_anew({url_id: _News() for (url_id,) in rows})
        return host_ids

    def _enter(
        self,
        batch: Discovered,
        looked: Looked,
        texts: list[bytes],
        sources: list[Source],
        source_of: I64,
        least_depths: U8,
        seed_hosts: list[int],
        now: float,
    ) -> Added:
        """Judge and enter the URLs that are new, each as its first link in the batch says, with the least depth."""
        places = np.flatnonzero((looked.ids == 0) & (looked.first < len(texts)))
        places = places[looked.first[places].argsort()]  # in the order of discovery
        if not len(places):
            return NOTHING_ADDED
        firsts = looked.first[places]
        least_asks = _least_asks(looked, sources, source_of)
        verdicts = batch.verdicts()
        columns = (
            firsts.tolist(), source_of[firsts].tolist(), least_depths[places].tolist(), least_asks[places].tolist(),
        )  # fmt: skip
        rows: list[_Row] = []
        rises: list[int] = []
        for first, source_index, least_depth, ask in zip(*columns, strict=True):
            url = texts[first].decode()
            source = sources[source_index]
            host_id = seed_hosts[first] if first < batch.seeds else self._hosts.id_of(host_key(url))
            depth = min(source.depth, least_depth) if least_depth < DEEPEST else source.depth
            aside = self._code_of(url, host_id, depth, source.hops, ask, verdicts[first])
            if aside == _FORGOTTEN:
                url = forgotten_text(int(looked.hashes[places[len(rows)]]))
            rows.append((url, host_id, depth, source.hops, int(source.via), source.parent_id, ask, aside))
            rises.append(source.rise)
        return self._insert(looked, places, rows, rises, now)

    def _code_of(self, url: str, host_id: int, depth: int, hops: int, ask: int, scope_code: int | None = None) -> int:
        """Returns the code of the reason for which a URL stands aside, or 0 (`Judge.code_of`)."""
        is_seed = self._judge.needs_seed_hosts and self._hosts.get(host_id).is_seed
        return self._judge.code_of(url, host_key(url), is_seed, depth, hops, ask, scope_code)

    def _insert(self, looked: Looked, places: I64, rows: list[_Row], rises: list[int], now: float) -> Added:
        ids = self._seen.insert(looked.hashes[places])
        looked.ids[places] = ids
        asides = np.array([row[7] for row in rows], np.uint8)
        self._standings.append(np.array([min(row[2], DEEPEST) for row in rows], np.uint8), asides)
        found_at = int(now)
        self._database.write_many(
            "INSERT INTO urls (id, url, host_id, depth, hops, via, parent_id, ask, aside, found_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((url_id, *row, found_at) for url_id, row in zip(ids.tolist(), rows, strict=True)),
        )
        counts = looked.counts[places].tolist()
        queued = [
            (raised(self._level_of(row[0], row[1], row[2], count), rise), url_id, row[1], 0)
            for url_id, count, row, rise in zip(ids.tolist(), counts, rows, rises, strict=True)
            if not row[7]
        ]
        self._front.add(queued)
        self._counters.add("urls", len(rows))
        turned_away = Counter(str(Reason.from_code(code)) for code in asides[asides > 0].tolist())
        for reason, amount in turned_away.items():
            self._counters.add(f"aside:{reason}", amount)
        return Added(len(rows), len(queued), turned_away)

    def _count_lost(self, looked: Looked, texts: int) -> None:
        """Report hashes of unknown URLs that came without a text. There must be none: a fetcher sends a hash alone only
        after the text, and every text is entered; else a URL is lost."""
        lost = int(np.count_nonzero((looked.ids == 0) & (looked.first >= texts)))
        if lost:
            self._counters.add("lost_hashes", lost)
            log.error("%d links came as hashes of URLs that are not known: this is a fault of pycrawl", lost)

    def _enter_sources(self, ids: U32, sources: list[Source], ends: list[int]) -> None:
        """Enter URLs that are named as sitemaps or feeds, and what sitemaps say of others. `ids` and `ends` are as in
        `add`."""
        on_pages: list[U32] = []  # feeds that pages name: most of them again and again
        begin = 0
        for source, end in zip(sources, ends, strict=True):
            some = ids[begin:end]
            begin = end
            if source.hints:
                self._sources.save_hints(source.parent_id, some, source.hints)
            if source.kind is Kind.FEED and source.via is Via.LINK:
                on_pages.append(some)
            elif source.kind is not Kind.PAGE:
                leads = source.via in (Via.SITEMAP, Via.REDIRECT)
                found_in = source.parent_id if leads else 0
                self._sources.take_in(
                    source.kind, some[some > 0], source.via, found_in, source.level, source.voucher
                )  # fmt: skip
        if on_pages:
            some = np.concatenate(on_pages)
            self._sources.take_in(Kind.FEED, some[some > 0], Via.LINK, 0, 0, "")

    # Known URLs

    def _take_in_news(
        self, looked: Looked, known: I64, sources: list[Source], source_of: I64, least_depths: U8
    ) -> None:
        """Find out what the batch brings for known URLs (at the places `known` of `looked`), and judge those anew."""
        ids = looked.ids[known]
        asides = self._standings.asides_of(ids)
        shorter = least_depths[known] < self._standings.depths_of(ids)
        news: defaultdict[int, _News] = defaultdict(_News)
        shrunk = ids[shorter]
        columns = (shrunk.tolist(), least_depths[known][shorter].tolist(), self._standings.depths_of(shrunk).tolist())
        for url_id, depth, before in zip(*columns, strict=True):
            news[url_id].shorten(depth, before)
        if asides.any():
            least_asks = _least_asks(looked, sources, source_of)[known]
            for url_id in ids[(least_asks == 0) & np.isin(asides, _BY_ASKING)].tolist():
                news[url_id].clears_ask = True
            hops = looked.least(np.array([source.hops for source in sources], np.int64)[source_of])[known]
            for url_id in ids[(hops == 0) & (asides == _BY_REDIRECTS)].tolist():
                news[url_id].clears_hops = True
        if news:
            self._hand_on_depths(news)
            # A shorter way never makes a URL unwanted: those that are wanted need no judgement.
            aside = {url_id: one for url_id, one in news.items() if self._standings.aside_of(url_id)}
            self._judge_anew(aside)
            self._rise({url_id: one for url_id, one in news.items() if url_id not in aside})
            self.let_in([url_id for url_id, one in news.items() if one.depth is not None])

    def _hand_on_depths(self, news: defaultdict[int, _News]) -> None:
        """Hand shorter ways on through the links of fetched pages, and add to `news` each URL whose depth shrinks.

        The target of a link is at most one deeper than the page; the target of a redirect is as deep as the page.
        """
        shrunk = {url_id: one.depth for url_id, one in news.items() if one.depth is not None}
        for url_id, depth in shrunk.items():
            self._standings.set_depths(np.array([url_id], np.uint32), depth)
        while shrunk:
            further: dict[int, int] = {}
            for page, linked, led_to in self._links.targets_of(list(shrunk)):
                for part, depth in ((linked, shrunk[page] + 1), (led_to, shrunk[page])):
                    deeper = part[self._standings.depths_of(part) > min(depth, DEEPEST)]
                    before = self._standings.depths_of(deeper).tolist()
                    self._standings.set_depths(deeper, depth)
                    for url_id, depth_before in zip(deeper.tolist(), before, strict=True):
                        further[url_id] = depth
                        news[url_id].shorten(depth, depth_before)
            shrunk = further

    def _judge_anew(self, news: dict[int, _News]) -> None:
        """Judge known URLs (by id) again with what is new of them: those that are wanted now are queued, those that
        wait in a front queue rise. News only clear reasons, so that no URL has to leave a queue."""
        if not news:
            return
        self._standings.flush()  # rows have the depths of before else, and one of them would undo a shorter way
        rows = self._database.query_each(
            "SELECT id, url, host_id, depth, hops, ask, aside FROM urls WHERE id IN ({})", sorted(news)
        )
        wanted = []
        for url_id, url, host_id, depth, hops, ask, before in list(rows):
            one = news[url_id]
            depth = self._standings.true_depth(url_id, depth)
            depth = depth if one.depth is None else min(depth, one.depth)
            ask = 0 if one.clears_ask else ask
            hops = 0 if one.clears_hops else hops
            # A forgotten URL has no text to be judged by.
            aside = before if url.startswith(FORGOTTEN) else self._code_of(url, host_id, depth, hops, ask)
            if one.clears_ask or one.clears_hops:
                self._database.write("UPDATE urls SET ask = ?, hops = ? WHERE id = ?", (ask, hops, url_id))
            self._standings.change(url_id, depth, aside)
            if aside != before:
                self._count_aside(before, -1)
                self._count_aside(aside, 1)
                if not aside:
                    wanted.append((url_id, url, host_id, depth))
        self._queue(wanted)

    def _rise(self, news: dict[int, _News]) -> None:
        """Wanted URLs have a shorter way now: those that wait in a front queue rise."""
        moves = []
        for url_id, one in news.items():
            if one.depth is not None:
                self._standings.change(url_id, one.depth, 0)
                inlinks = self._seen.inlinks_of(url_id)
                if inlinks is not None and (low := priority(one.before, inlinks)) != priority(one.depth, inlinks):
                    moves.append((url_id, low, priority(one.depth, inlinks)))
        if self._counts_inlinks:  # else a plugin gave the priority, once and for all
            self._front.promote(moves)

    def _count_aside(self, code: int, amount: int) -> None:
        if code:
            self._counters.add(f"aside:{Reason.from_code(code)}", amount)

    def _queue(self, wanted: list[tuple[int, str, int, int]]) -> None:
        """Put URLs (id, url, host id, depth) that no longer stand aside into the front queues, unless they were visited
        and are not to be asked for again."""
        ids = [url_id for url_id, *_ in wanted]
        visited = visited_of(self._database, ids)
        again = later.take(self._database, ids) & visited
        rows = [
            (self._level_of(url, host_id, depth, 0), url_id, host_id, int(url_id in again))
            for url_id, url, host_id, depth in wanted
            if url_id not in visited or url_id in again
        ]
        self._front.put(rows)
        set_requeued(self._database, again, True)

    def _count_inlinks(self, looked: Looked) -> None:
        """Count the batch's links, and move URLs that wait in a front queue to a higher one if they have earned it."""
        known = np.flatnonzero(looked.ids)
        ids = looked.ids[known]
        before, after, in_front = self._seen.add_inlinks(ids, looked.counts[known])
        # A URL without in-links so far is new in this batch, and has its priority already.
        rising = np.flatnonzero((before > 0) & in_front & (_STEPS_UP[before] != _STEPS_UP[after]))
        if len(rising) and self._counts_inlinks:
            depths = self._standings.depths_of(ids[rising]).tolist()
            columns = (ids[rising].tolist(), depths, before[rising].tolist(), after[rising].tolist())
            moves = [
                (url_id, priority(depth, low), priority(depth, high))
                for url_id, depth, low, high in zip(*columns, strict=True)
            ]
            self._front.promote(move for move in moves if move[1] != move[2])


def _least_asks(looked: Looked, sources: list[Source], source_of: I64) -> U8:
    """For each distinct URL of the batch what asks that it not be followed, as far as all links to it do."""
    if not any(source.ask for source in sources):
        return np.zeros(len(looked.hashes), np.uint8)
    return looked.least(np.array([source.ask for source in sources], np.uint8)[source_of])
