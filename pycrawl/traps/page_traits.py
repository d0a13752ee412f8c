"""What a fetcher tells of a page by which traps are judged (`traps.py`): its kind, a sample of its text, its links.

Knows nothing of numpy, which takes a tenth of a second to load, unless there is no compiled module.
"""

from __future__ import annotations

import functools
import re
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence

from pycrawl.fingerprint.word_table import hashed
from pycrawl.model import Closure, PackedLinks
from pycrawl.native import compiled
from pycrawl.urls.parts import host_key, path_and_query, url_hash

SAMPLE = 48  # pairs of words
_WHOLE_TEXT = 4_500  # characters; of longer texts three parts stand for the rest
_PART = 1_500
_WORD_SLOTS = 4_096
BANDS = 4
_LEAST_IN_BAND = 3
_BAND_SHIFT = 7  # bits: a band is no range of pairs, as a sample has the smallest ones
_HOST_FACTOR = 0x9E3779B97F4A7C15  # makes the keys of each host its own
_64_BITS = (1 << 64) - 1

_LINKS_LOOKED_AT = 16  # of one page

_SHAPED_SEGMENTS = 6
_SHAPED_PARAMETERS = 12
_LONG_SEGMENT = 24  # characters
_URLS_AT_HAND = 1_024  # a URL is asked about several times in a row
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


@functools.lru_cache(_URLS_AT_HAND)
def shape(url: str) -> str:
    """The kind of page that a normalised URL names, within its host: "/blog/0/0/*", "/search?color&size"."""
    path, _, query = path_and_query(url)[1:].partition("?")
    segments = path.split("/")
    shaped = "/".join(map(_shaped_segment, segments[:_SHAPED_SEGMENTS]))
    if len(segments) > _SHAPED_SEGMENTS:
        shaped += "/+"
    if not query:
        return "/" + shaped
    names = {_DIGITS.sub("0", field.partition("=")[0]) for field in query.split("&")}
    return f"/{shaped}?{'&'.join(sorted(names)[:_SHAPED_PARAMETERS])}"


@functools.lru_cache(_URLS_AT_HAND)
def section(url: str) -> str:
    """The coarser kind: the first directory, or whatever takes a query; "…" marks it: "/blog/…", "/…", "/search?…"."""
    path, mark, _ = path_and_query(url)[1:].partition("?")
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


# Texts


def sample(text: str, url: str) -> bytes:
    """Pairs of words of a text, without numbers, dates and the words of its own URL; as uint64, in ascending order."""
    if len(text) > _WHOLE_TEXT:
        parts = (len(text) * place // 6 - _PART // 2 for place in (1, 3, 5))
        text = " ".join([text[start : start + _PART] for start in parts])
    dropped = bytearray(_date_words(text.isascii()))
    _mark(dropped, _hashed(path_and_query(url))[0])
    pairs: bytes = _pairs(*_hashed(text), dropped, SAMPLE)
    return pairs


@functools.cache
def _date_words(in_ascii: bool) -> bytes:
    """By residue of the hash. A few other words share one, and are dropped wherever they stand, which does no harm.

    In texts of ASCII only those of ASCII can stand: to split the others takes tables that such texts have no use for.
    """
    dropped = bytearray(_WORD_SLOTS)
    _mark(dropped, _hashed(" ".join(word for word in _DATE_WORDS.split() if word.isascii() or not in_ascii))[0])
    return bytes(dropped)


def _mark(dropped: bytearray, hashes: bytes) -> None:
    for one in array("Q", hashes):
        dropped[one % _WORD_SLOTS] = 1


_hashed: Callable[[str], tuple[bytes, bytes]]
if compiled is not None:
    _hashed, _pairs = hashed, compiled.pairs
else:
    from pycrawl.fingerprint.pairs import hashed_by_numpy, pairs

    _hashed, _pairs = hashed_by_numpy, pairs


def band_keys(pairs: Sequence[int], host_id: int) -> list[int]:
    """What copies of a page have in common: a few words more or less change one or two of the keys."""
    bands: list[list[int]] = [[] for _ in range(BANDS)]
    for pair in pairs:
        bands[(pair >> _BAND_SHIFT) % BANDS].append(pair)
    if min(map(len, bands)) < _LEAST_IN_BAND:
        bands = [list(pairs)] * BANDS
    host = host_id * _HOST_FACTOR
    return [(sum(band) ^ host) & _64_BITS for band in bands]


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
