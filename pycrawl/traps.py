"""Pages without end: what tells a trap from a large site, as pure functions of URLs, texts and counts.

Three measures, each of which an honest site passes however large it is:

* Is the page a copy, or made of what the pages of its kind always say? `sample` takes some pairs of words of a text,
  the same ones in each text that has them; dates do not count, so that all pages of a calendar are one.
* Does it lead anywhere but deeper into its own kind? `LinkMemory` says so: a page all of whose links are new and
  of its own kind, and that nothing known is linked from, is *closed*. A site of finite size has other pages too.
* A URL's kind: `shape` is its path without what numbers or names the single page, and the names of its parameters;
  `section` is coarser, so that all combinations of parameters and all depths of a path fall together.

The *yield* of a kind is the share of its pages that brought something new, smoothed (`smoothed`); below `FLOOR` the
kind is a trap.
"""

from __future__ import annotations

import functools
import re
from array import array
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from pycrawl.fingerprint.shingle import windows
from pycrawl.fingerprint.words import split, tokens
from pycrawl.model import Closure, PackedLinks
from pycrawl.urls import host_key, url_hash

Hashes = NDArray[np.uint64]

# Yield. With these a kind whose pages are all copies stops after 8 of them, one that was good for long after 59.
FLOOR = 0.4
LOW = 0.6  # from here on down, other URLs go first
NEITHER = 0.65  # what a page counts that says nothing new, but leads nowhere either, or elsewhere
PRIOR = 3  # pages that the first estimate weighs as much as
WINDOW = 64  # pages that an old estimate weighs as much as
LEAST_PAGES = 8  # of a host before one of its kinds is stopped …
LEAST_PAGES_OF_HOST = 16  # … and before all kinds are that have not proved good
DULL_PAGES = 2_000  # of a kind before it is stopped in a crawl most pages of which are dull
DULL_COMBINATIONS = 200  # likewise, of one whose URLs combine parameters

# Dull pages that come to an end: links that lead back tell how many there are.
LEAST_BACKS = 3
SIZE_MARGIN = 2
SIZE_SLACK = 16  # pages

# Mazes: 12 closed pages in a row, unless the kind had others before.
MAZE_FLOOR = 0.2
LEAST_DEPTHS = 8  # links that closed pages must have led down: no directory is that deep
LONG_WINDOW = 512  # pages in which dead ends are counted
FEW_DEAD_ENDS = 1
DEAD_END_SHARE = 0.03  # of the pages; a site that ends somewhere has more
LARGE_SITE = 20_000  # pages that a site must have, judged by how few links lead back, to be one
LONG_CHAIN = 200_000  # likewise where pages lead to little more than one other: such a chain has then some 600
BRANCHES = 1.5  # new links a page

# Texts.
SAMPLE = 48  # pairs of words
_PAIR = 2
_SMALLEST = 4 * SAMPLE  # pairs, repetitions and all, among which the sample is found
_WHOLE_TEXT = 4_500  # characters; of longer texts three parts stand for the rest
_PART = 1_500
_END_OF_URL = "xqzjxkvwqzxjqk"
_WORD_SLOTS = np.uint64(4_096)
_FIRST_BYTE, _ZERO, _NINE = np.uint64(0xFF), np.uint64(ord("0")), np.uint64(ord("9"))
BANDS = 4
_SAME_BANDS = 3  # of so many: a copy, but for a few words
_LEAST_IN_BAND = 3
_ALIKE = 0.9  # share of two samples
RARE = 0.08  # of the pages of its section have a pair of words that is not common
_PLAIN = 0.5  # of the pages have a pair that belongs to the template
_LEAST_RARE = 3  # pairs
_RARE_SHARE = 0.5  # of what is not template

_LINKS_LOOKED_AT = 16  # of one page

_BAND_SHIFT = 7  # bits: a band is no range of pairs, as a sample has the smallest ones
_HOST_FACTOR = 0x9E3779B97F4A7C15  # makes the keys of each host its own
_64_BITS = (1 << 64) - 1

# Shapes.
_SHAPED_SEGMENTS = 6
_SHAPED_PARAMETERS = 12
_LONG_SEGMENT = 24  # characters
_DIGITS = re.compile("[0-9]+")
_ID = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9=]{8,}")
_SEPARATOR = re.compile(r"[-_+.~,%]+")

_DATE_WORDS = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun am pm
januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag
janvier février mars avril juin juillet août septembre octobre novembre décembre
lundi mardi mercredi jeudi vendredi samedi dimanche
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
lunes martes miércoles jueves viernes sábado domingo
gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
lunedì martedì mercoledì giovedì venerdì sabato domenica
januari februari maart mei augustus maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
"""


# URLs


def shape(url: str) -> str:
    """The kind of page that a normalised URL names, within its host: "/blog/0/0/*", "/search?color&size"."""
    path, _, query = url[url.index("/", 8) + 1 :].partition("?")
    segments = path.split("/")
    shaped = "/".join(map(_shaped_segment, segments[:_SHAPED_SEGMENTS]))
    if len(segments) > _SHAPED_SEGMENTS:
        shaped += "/+"
    if not query:
        return "/" + shaped
    names = {_DIGITS.sub("0", field.partition("=")[0]) for field in query.split("&")}
    return f"/{shaped}?{'&'.join(sorted(names)[:_SHAPED_PARAMETERS])}"


def section(url: str) -> str:
    """The coarser kind: the first directory, or whatever takes a query; "…" marks it: "/blog/…", "/…", "/search?…"."""
    path, mark, _ = url[url.index("/", 8) + 1 :].partition("?")
    first, slash, _ = path.partition("/")
    if slash or mark:
        return f"/{_shaped_segment(first)}{slash}{mark}…"
    return "/…"


ALL = "…"  # the coarsest kind: the host


def _shaped_segment(segment: str) -> str:
    if segment.isalpha() and len(segment) <= _LONG_SEGMENT:
        return segment
    if len(segment) > _LONG_SEGMENT or len(_SEPARATOR.findall(segment)) > 1:
        return "*"  # a title
    if _ID.fullmatch(segment):
        return "#"
    return _DIGITS.sub("0", segment)


def directory(url: str) -> str:
    """The first level of a URL's path, "/" or "/news/"."""
    path = url[url.index("/", 8) :].partition("?")[0]
    end = path.find("/", 1)
    return path[: end + 1] if end > 0 else "/"


# Texts


def sample(text: str, url: str) -> Hashes:
    """Pairs of words of a text, without numbers, dates and the words of its own URL; in ascending order."""
    if len(text) > _WHOLE_TEXT:
        parts = (len(text) * place // 6 - _PART // 2 for place in (1, 3, 5))
        text = " ".join(text[start : start + _PART] for start in parts)
    # The URL's words stand in front, up to one that no text has.
    words = split(f"{url[url.index('/', 8) :]} {_END_OF_URL} {text}")
    hashes = words.hashes
    own = int((hashes == _end_of_url()).argmax())
    dropped = _date_words(text.isascii()).copy()
    dropped[hashes[: own + 1] % _WORD_SLOTS] = True
    first = words.columns[0] & _FIRST_BYTE
    dropped = dropped[hashes % _WORD_SLOTS]
    dropped |= (first >= _ZERO) & (first <= _NINE)
    pairs = windows(hashes[~dropped], _PAIR)
    if len(pairs) > _SMALLEST:  # sorting all of them would take longer than all the rest
        pairs = np.partition(pairs, _SMALLEST)[:_SMALLEST]
    pairs.sort()
    is_first = np.ones(len(pairs), np.bool_)
    np.not_equal(pairs[1:], pairs[:-1], out=is_first[1:])
    return pairs[is_first][:SAMPLE]


@functools.cache
def _date_words(in_ascii: bool) -> NDArray[np.bool_]:
    """By residue of the hash. A few other words share one, and are dropped wherever they stand, which does no harm.

    In texts of ASCII only those of ASCII can stand: to split the others takes tables that such texts have no use for.
    """
    table = np.zeros(int(_WORD_SLOTS), np.bool_)
    words = " ".join(word for word in _DATE_WORDS.split() if word.isascii() or not in_ascii)
    table[tokens(words) % _WORD_SLOTS] = True
    return table


@functools.cache
def _end_of_url() -> np.uint64:
    return np.uint64(tokens(_END_OF_URL)[0])


def band_keys(pairs: Hashes, host_id: int) -> list[int]:
    """What copies of a page have in common: a few words more or less change one or two of the keys."""
    bands: list[list[int]] = [[] for _ in range(BANDS)]
    for pair in pairs.tolist():
        bands[(pair >> _BAND_SHIFT) % BANDS].append(pair)
    if min(map(len, bands)) < _LEAST_IN_BAND:
        bands = [pairs.tolist()] * BANDS
    host = host_id * _HOST_FACTOR
    return [(sum(band) ^ host) & _64_BITS for band in bands]


def is_copy(known_bands: int) -> bool:
    return known_bands >= _SAME_BANDS


def is_made_anew(seen: list[int], pages: int) -> bool:
    """Whether a page says anything of its own; `seen`: how many of the `pages` of its section have each of its pairs.

    What most of them have is the template, which says nothing either way.
    """
    if not pages:
        return True
    few, most = max(1.0, RARE * pages), max(1.0, _PLAIN * pages)
    rare = sum([times < few for times in seen])
    template = sum([times >= most for times in seen])
    return rare >= min(_LEAST_RARE, max(1, len(seen))) and rare >= _RARE_SHARE * (len(seen) - template)


def are_alike(one: Hashes, other: Hashes) -> bool:
    """Do two texts share nearly all they say? From the smallest pairs of both together, which are a fair sample."""
    both = np.union1d(one, other)[:SAMPLE]
    if not len(one) or not len(other):
        return len(one) == len(other)
    shared = np.isin(both, one, assume_unique=True) & np.isin(both, other, assume_unique=True)
    return int(np.count_nonzero(shared)) >= _ALIKE * len(both)


# Yield


def smoothed(value: float, pages: int, score: float) -> float:
    """The estimate after one page more: all pages count alike at first, later the last `WINDOW` count most."""
    weight = min(PRIOR + pages, WINDOW)
    return (value * weight + score) / (weight + 1)


# Links


def some_links(links: PackedLinks) -> list[str]:
    """Those of a page that are new, or an even choice of them."""
    if not links.texts_count:
        return []
    texts = links.texts.decode().split("\n")
    return texts[:: max(1, len(texts) // _LINKS_LOOKED_AT)]


class LinkMemory:
    """What a fetcher remembers of the links it met, to tell whether a page is closed. Forgets, never invents."""

    _HOSTS = 4_096
    _FETCHED_SLOTS = 1 << 16

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._last: OrderedDict[str, bytes] = OrderedDict()  # host → hashes of the links of its page before
        self._fetched = array("Q", bytes(8 * self._FETCHED_SLOTS))

    def look(self, url: str, links: PackedLinks) -> tuple[Closure, int]:
        """Where do the links of the page stay if all are new, and else how many lead back to what was met elsewhere?
        The navigation aside, and the way back up.

        New is what travels with its text, as it was not met before; navigation is what the page before had too.
        """
        host = host_key(url)
        before = self._last.pop(host, b"")
        self._last[host] = links.hashes
        if len(self._last) > self._HOSTS:
            self._last.popitem(last=False)
        own = url_hash(url, self._seed)
        self._fetched[own % self._FETCHED_SLOTS] = own
        backs = self._backs(links, before)
        texts = some_links(links)
        if backs or not texts or any(host_key(text) != host for text in texts):
            return Closure.OPEN, backs
        kind = section(url)
        return Closure.SECTION if all(section(text) == kind for text in texts) else Closure.HOST, 0

    def _backs(self, links: PackedLinks, before: bytes) -> int:
        """Links to pages that were met before, though nobody has been there."""
        known = set(array("Q", links.hashes[8 * links.texts_count :])).difference(array("Q", before))
        fetched, slots = self._fetched, self._FETCHED_SLOTS
        return sum([fetched[one % slots] != one for one in known])
