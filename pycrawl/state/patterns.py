"""What each kind of page of a host has brought so far, and the judgements that rest on it.

In memory: a record for each host met lately, with some counters for each of its kinds; and two tables of fixed size,
which forget: one of the pages met (`Copies`), and for each section one of what its pages say (`Vocabulary`). On
disk are the kinds with a low yield, and how hosts answered probes: all that a restart must not forget.
"""

from __future__ import annotations

import random
import string
from array import array
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from pycrawl.config import Config
from pycrawl.model import Closure, PackedLinks, Search, Traits
from pycrawl.state.database import Database
from pycrawl.state.hosts import Host
from pycrawl.state.page_memory import Copies, Vocabulary
from pycrawl.traps.judgement import UNREMARKABLE, Pattern
from pycrawl.traps.novelty import (
    DULL_PAGES,
    FLOOR,
    LEAST_PAGES,
    LEAST_PAGES_OF_HOST,
    LOW,
    NEITHER,
    Hashes,
    are_alike,
    is_copy,
    is_made_anew,
)
from pycrawl.traps.page_traits import ALL, section, shape, some_links
from pycrawl.urls.host_list import HostList
from pycrawl.urls.parts import first_directory, host_key, origin

_HOSTS_KEPT = 20_000
_KINDS_KEPT = 512  # of one host
_VOCABULARIES_KEPT = 8_192  # 5 KB each
_FIRST_PAGES = 2
_USUAL = 8  # new pages from which on it is known what is usual
_LOOKED_AT = 32  # one page in so many is, from then on
_PASSED_OVER = 64  # URLs of a kind with a low yield that let others go first, until one of them is tried
_PAGES_BEFORE_PROBE = 5
_MOST_PROBES = 4  # of one host
_PROBE_LETTERS = 16
_COLUMNS = (
    "patterns.pages, novel, yield, openness, least_depth, most_depth, dead_ends, found, chances, backs, combined,"
    " promise, stopped"
)


@dataclass(slots=True)
class _HostRecord:
    id: int
    exempt: bool
    patterns: dict[str, Pattern] = field(default_factory=dict)
    probes: dict[str, Hashes] = field(default_factory=dict)  # by directory; empty: not answered with a page, or not yet
    answers_probes: bool = False  # with a page, at least once
    first: list[Hashes] = field(default_factory=list)  # what its first pages say, until it is probed
    low: set[str] = field(default_factory=set)  # those of its kinds that have a low yield now, or are stopped

    def add_probe(self, place: str, answer: Hashes) -> None:
        self.probes[place] = answer
        self.answers_probes |= len(answer) > 0

    def pattern(self, name: str) -> Pattern:
        """A new kind is expected to be as good as its host was."""
        pattern = self.patterns.get(name)
        if pattern is None:
            if len(self.patterns) >= _KINDS_KEPT:
                self._forget_one()
            whole = self.patterns.get(ALL)
            pattern = self.patterns[name] = Pattern(value=whole.value if whole and whole.value < LOW else 1.0)
        return pattern

    def _forget_one(self) -> None:
        """A shape rather than a section, one of which nothing bad is known rather than another, the oldest."""
        shapes = (name for name, one in self.patterns.items() if not name.endswith(ALL) and not one.is_low)
        forgotten = next(shapes, "") or next(name for name in self.patterns if name != ALL)
        self.patterns.pop(forgotten)
        self.low.discard(forgotten)

    def mark(self, name: str, pattern: Pattern) -> None:
        """Note whether a kind is a low one now."""
        if pattern.is_low or pattern.stopped:
            self.low.add(name)
        else:
            self.low.discard(name)

    def is_above_doubt(self, name: str) -> bool:
        whole, kind = self.patterns.get(ALL), self.patterns.get(name)
        return whole is not None and kind is not None and whole.is_above_doubt and kind.is_above_doubt

    def kinds(self, url: str) -> Iterator[tuple[str, Pattern]]:
        """Those known of the kinds that a URL is of, the narrowest first."""
        for name in (shape(url), section(url), ALL):
            if name in self.patterns:
                yield name, self.patterns[name]


class Patterns:
    """Filled from results as they come; asked before each URL is sent out."""

    def __init__(self, database: Database, config: Config) -> None:
        self._database = database
        self._judges = config.traps.novelty
        self._probes = config.traps.soft_404
        self._exempt = HostList("traps.exempt_hosts", config.traps.exempt_hosts)
        self._records: OrderedDict[int, _HostRecord] = OrderedDict()
        self._vocabularies: OrderedDict[tuple[int, str], Vocabulary] = OrderedDict()
        self._copies = Copies()
        self._dirty: dict[tuple[int, str], Pattern] = {}
        self._new_probes: list[tuple[int, str, bytes]] = []
        self._chance = random.Random()
        self._turn = 0
        self._new_pages = 0  # of the crawl: that say something new though others of their kind were there before …
        self._dull_pages = 0  # … and that say nothing new, and lead on

    # Before a fetch

    def watches(self, host: Host) -> bool:
        """Whether one of the host's kinds has a low yield, so that its URLs have to be looked at."""
        return self._judges and bool(self._record(host).low)

    def trap(self, host: Host, url: str) -> str:
        """Why a URL is not asked for; empty if it may be."""
        for name, pattern in self._record(host).kinds(url):
            if pattern.stopped:
                return f"{host.key}{name}: {pattern.reason}"
            if pattern.is_trusted:
                return ""
        return ""

    def lets_others_first(self, host: Host, url: str) -> bool:
        """Whether other URLs of the host go before this one."""
        if self._patience:
            return False
        for name, pattern in self._record(host).kinds(url):
            if pattern.value < LOW and name != ALL:
                pattern.passed_over = (pattern.passed_over + 1) % (_PASSED_OVER + 1)
                return pattern.passed_over > 0
        return False

    def looks_at(self, host: Host, url: str) -> bool:
        """Whether the page is to be looked at closely; of a host with a good record, a few are. Not to be asked where
        nothing is judged."""
        record = self._record(host)
        if record.exempt:
            return False
        if record.low or record.answers_probes:
            return True
        if not self._judges:
            return not record.probes
        if not record.is_above_doubt(section(url)):
            return True
        self._turn = (self._turn + 1) % _LOOKED_AT
        return not self._turn

    def probe(self, host: Host, url: str) -> str:
        """A URL that cannot exist, if the host is to be asked for one before this; else empty."""
        if not self._probes or host.pages < _PAGES_BEFORE_PROBE:
            return ""
        record = self._record(host)
        place = "/"
        if place in record.probes:
            place = self._doubtful_directory(record, url)
        if not place or record.exempt:
            return ""
        record.probes[place] = np.empty(0, np.uint64)
        return origin(url) + place + "".join(self._chance.choices(string.ascii_lowercase, k=_PROBE_LETTERS))

    def _doubtful_directory(self, record: _HostRecord, url: str) -> str:
        """Pages alike in a directory may be what it says of missing ones, though the host answers as it should; but
        where most are alike, they are what it has."""
        place = first_directory(url)
        if place in record.probes or len(record.probes) >= _MOST_PROBES:
            return ""
        kind = record.patterns.get(section(url))
        return place if kind and kind.pages >= _PAGES_BEFORE_PROBE and kind.novel < kind.pages <= 2 * kind.novel else ""

    # After a fetch

    def take_in_probe(self, host: Host, probe_url: str, pairs: bytes) -> None:
        """`pairs`: of the text that came with a 2xx answer; empty if none did.

        An answer like all of the host's first pages, but for one, says nothing: perhaps all are made of the same words.
        """
        place = first_directory(probe_url)
        record = self._record(host)
        answer = np.frombuffer(pairs, np.uint64)
        if record.first and sum(are_alike(answer, page) for page in record.first) >= len(record.first) - 1:
            pairs = b""
        record.first.clear()
        record.add_probe(place, np.frombuffer(pairs, np.uint64))
        self._new_probes.append((host.id, place, pairs))

    def is_soft_404(self, host: Host, url: str, traits: Traits) -> bool:
        record = self._record(host)
        if not record.probes or not traits.pairs:
            return False
        known = [record.probes[place] for place in {"/", first_directory(url)} if place in record.probes]
        pairs = np.frombuffer(traits.pairs, np.uint64)
        return any(are_alike(pairs, probe) for probe in known if len(probe))

    def take_in_page(self, host: Host, url: str, depth: int, traits: Traits, links: PackedLinks) -> Search:
        """How its host is to be searched from here on."""
        record = self._record(host)
        if self._probes and not record.probes and len(record.first) < _PAGES_BEFORE_PROBE:
            record.first.append(np.frombuffer(traits.pairs, np.uint64))
        if not self._judges or record.exempt:
            return Search.AS_FOUND
        scores = (1.0, 1.0, 1.0)
        if not self._is_new(record, traits):
            scores = _scores_of_copy(url, traits, links, record.pattern(ALL).value >= FLOOR)
        self._weigh(record, traits.section, scores[0])
        combines = "&" in url or b"&" in links.texts
        for name, score in zip((ALL, traits.section, traits.shape), scores, strict=True):
            pattern = record.pattern(name)
            closed = traits.closure >= (Closure.SECTION if name is traits.section else Closure.HOST)
            pattern.add_links(closed, depth, links.texts_count, traits.backs)
            pattern.combined += combines
            pattern.add(score)
            self._judged(record, name, pattern)
        return max(record.pattern(traits.section).search(), record.pattern(ALL).search())

    def take_in_redirect(self, host: Host, url: str, target: str, is_known: bool) -> None:
        """A redirect that stays on its host brings nothing by itself."""
        record = self._record(host)
        if not self._judges or record.exempt or host_key(target) != host.key:
            return
        score = NEITHER if is_known else 0.0
        names = (section(url), ALL) if section(url) == section(target) else (ALL,)
        for name in names:
            pattern = record.pattern(name)
            pattern.add(score)
            self._judged(record, name, pattern)

    def _weigh(self, record: _HostRecord, name: str, score: float) -> None:
        """What is usual in this crawl? The first pages of a kind are always new, and prove nothing."""
        if not score:
            self._dull_pages += 1
        elif score == 1.0 and record.pattern(name).pages >= _FIRST_PAGES:
            self._new_pages += _LOOKED_AT if record.is_above_doubt(name) else 1

    @property
    def _patience(self) -> int:
        """Where most pages are dull, dull ones prove little."""
        return 0 if self._new_pages >= max(self._dull_pages, _USUAL) else DULL_PAGES

    def _is_new(self, record: _HostRecord, traits: Traits) -> bool:
        known = self._copies.look_and_add(traits.bands)
        vocabulary = self._vocabulary(record.id, traits.section)
        pages = vocabulary.pages
        seen = vocabulary.look_and_add(array("Q", traits.pairs))
        return not is_copy(known) and is_made_anew(seen, pages)

    def _vocabulary(self, host_id: int, name: str) -> Vocabulary:
        key = (host_id, name)
        found = self._vocabularies.get(key)
        if found is None:
            found = self._vocabularies[key] = Vocabulary()
            if len(self._vocabularies) > _VOCABULARIES_KEPT:
                self._vocabularies.popitem(last=False)
        else:
            self._vocabularies.move_to_end(key)
        return found

    def _judged(self, record: _HostRecord, name: str, pattern: Pattern) -> None:
        if pattern.value < UNREMARKABLE or pattern.openness < UNREMARKABLE:
            if record.pattern(ALL).pages >= (LEAST_PAGES_OF_HOST if name == ALL else LEAST_PAGES):
                pattern.judge(name.endswith(ALL), self._patience)
            self._dirty[record.id, name] = pattern
        record.mark(name, pattern)

    # Records

    def _record(self, host: Host) -> _HostRecord:
        record = self._records.get(host.id)
        if record is not None:
            self._records.move_to_end(host.id)
            return record
        record = self._records[host.id] = self._read(host)
        if len(self._records) > _HOSTS_KEPT:
            self._records.popitem(last=False)
        return record

    def _read(self, host: Host) -> _HostRecord:
        record = _HostRecord(host.id, host.key in self._exempt)
        if host.pages:  # else it is new
            self.flush()
            record.patterns = patterns_of(self._database, host.id)
            probes = self._database.query("SELECT directory, pairs FROM probes WHERE host_id = ?", (host.id,))
            for place, pairs in probes:
                record.add_probe(place, np.frombuffer(pairs, np.uint64))
            if self._judges and not record.exempt:
                for name, pattern in record.patterns.items():
                    record.mark(name, pattern)
        return record

    def flush(self) -> None:
        """To be called in the transaction of a group commit."""
        if self._dirty:
            self._database.write_many(
                "INSERT OR REPLACE INTO patterns VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(*key, *one.columns()) for key, one in self._dirty.items()],
            )
            self._dirty.clear()
        if self._new_probes:
            self._database.write_many("INSERT OR REPLACE INTO probes VALUES (?, ?, ?)", self._new_probes)
            self._new_probes.clear()


def _scores_of_copy(url: str, traits: Traits, links: PackedLinks, host_is_good: bool) -> tuple[float, float, float]:
    """What a page that says nothing new counts for its host, its section and its shape.

    Nothing, if it leads on into the same. It counts neither way if it leads nowhere, so that it ends there, or to pages
    of another kind on a host whose pages are good.
    """
    fresh = some_links(links)
    if not fresh:
        return NEITHER, NEITHER, NEITHER
    elsewhere = NEITHER if host_is_good else 0.0
    key = host_key(url)
    if not all(host_key(text) == key for text in fresh):
        return elsewhere, elsewhere, elsewhere
    same_section = all(section(text) == traits.section for text in fresh)
    same_shape = same_section and all(shape(text) == traits.shape for text in fresh)
    return 0.0, 0.0 if same_section else elsewhere, 0.0 if same_shape else elsewhere


# For readers


def patterns_of(database: Database, host_id: int) -> dict[str, Pattern]:
    rows = database.query(f"SELECT pattern, {_COLUMNS} FROM patterns WHERE host_id = ?", (host_id,))
    return {name: Pattern(*values) for name, *values in rows}


def kinds_of(database: Database, host_id: int, url: str) -> dict[str, Pattern]:
    """What is known of the kinds that a URL is of, the narrowest first; those without a row have a good yield."""
    known = patterns_of(database, host_id)
    return {name: known.get(name, Pattern()) for name in (shape(url), section(url), ALL)}


def worst_patterns(database: Database, most: int) -> list[tuple[str, str, Pattern]]:
    """(host, kind, what it brought): the stopped ones first, then those with the lowest yield."""
    rows = database.query(
        f"SELECT key, pattern, {_COLUMNS} FROM patterns JOIN hosts ON hosts.id = host_id"
        " ORDER BY stopped DESC, min(yield, openness), patterns.pages DESC LIMIT ?",
        (most,),
    )
    return [(key, name, Pattern(*values)) for key, name, *values in rows]
