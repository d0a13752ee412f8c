"""Does a page say something new? From its sample, and from what the pages of its host and section said before."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterable
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from pycrawl.model import CloseLook
from pycrawl.traps.page_sample import SAMPLE_PAIRS

Hashes = NDArray[np.uint64]

# A page is a copy if so many of its four copy keys are known: a few words that differ change one or two keys.
_SAME_KEYS = 3  # keys
# Two samples are alike if they share this much: the greeting by name in a soft 404 differs, and nothing else.
_ALIKE = 0.9  # share of the smallest pairs of both together

# A page of a section is new if it has pairs of words that few others have, beside the template that most have.
_RARE = 0.08  # a rare pair stands on fewer than this share of the section's pages
_TEMPLATE = 0.5  # a pair of the template stands on at least this share
_LEAST_RARE = 3  # rare pairs that make a page new: one or two are a name or a price
_RARE_SHARE = 0.5  # and they must be this share of what is not template: a page put together from old parts is dull

_COPY_BITS = 21
_COPY_SLOTS = 1 << _COPY_BITS  # keys, by their low bits, four a page; of each the 32 bits above are kept
_COPY_MASK = 0xFFFF_FFFF
_SLOT_BITS = 10
_PAIR_SLOTS = 1 << _SLOT_BITS  # pairs that a vocabulary counts, by their low bits …
_KEY_BITS = 0xFFFF  # … and the 16 bits above tell a pair from others
_PAGES_COUNTED = 128  # pages after which a vocabulary halves its counts, so that they fit a byte and follow the site
_VOCABULARIES_KEPT = 8_192  # sections; 3 KB each
_VOCABULARY_BYTES = 3 * _PAIR_SLOTS + 350  # with the objects around it; about
_USUAL_PAGES = 8  # new pages from which on it is known what is usual in a crawl


def are_alike(one: Hashes, other: Hashes) -> bool:
    """True if two samples share nearly all of the smallest pairs of both together, which are a fair sample of both."""
    both = np.union1d(one, other)[:SAMPLE_PAIRS]
    if not len(one) or not len(other):
        return len(one) == len(other)
    shared = np.isin(both, one, assume_unique=True) & np.isin(both, other, assume_unique=True)
    return int(np.count_nonzero(shared)) >= _ALIKE * len(both)


def says_something_new(times: list[int], pages: int) -> bool:
    """From how many of the `pages` of its section have each pair of a page."""
    if not pages:
        return True
    few, most = max(1.0, _RARE * pages), max(1.0, _TEMPLATE * pages)
    rare = sum([one < few for one in times])
    template = sum([one >= most for one in times])
    return rare >= min(_LEAST_RARE, max(1, len(times))) and rare >= _RARE_SHARE * (len(times) - template)


class Said(Enum):
    """What a page says."""

    NEW = "new"
    OLD_PARTS = "old parts"  # what the pages of its section always say, put together in another way
    COPY = "copy"  # what another page of its host says


class Novelty:
    """What the pages of the crawl said lately, in tables of fixed size. They may forget a page; they invent none."""

    def __init__(self) -> None:
        self._copies = _Copies()
        self._vocabularies: OrderedDict[tuple[int, str], _Vocabulary] = OrderedDict()
        self._new_pages = 0
        self._dull_pages = 0

    def bytes_held(self) -> int:
        """Returns about how many bytes the tables take."""
        return 4 * _COPY_SLOTS + len(self._vocabularies) * _VOCABULARY_BYTES

    def count(self, new: int, dull: int) -> None:
        """Count pages for `is_dull_usual`. The first pages of a kind should not be counted as new: they always are."""
        self._new_pages += new
        self._dull_pages += dull

    @property
    def is_dull_usual(self) -> bool:
        """True if most pages of this crawl are dull, or too few were met to know."""
        return self._new_pages < max(self._dull_pages, _USUAL_PAGES)

    def take_in(self, host_id: int, look: CloseLook) -> Said:
        """Remember what a page says. Returns what that was, compared with the pages before."""
        known_keys = self._copies.take_in(look.copy_keys)
        vocabulary = self._vocabulary(host_id, look.section)
        pages = vocabulary.pages
        times = vocabulary.take_in(array("Q", look.pairs))
        if known_keys >= _SAME_KEYS:
            return Said.COPY
        return Said.NEW if says_something_new(times, pages) else Said.OLD_PARTS

    def _vocabulary(self, host_id: int, section: str) -> _Vocabulary:
        key = (host_id, section)
        found = self._vocabularies.get(key)
        if found is None:
            found = self._vocabularies[key] = _Vocabulary()
            if len(self._vocabularies) > _VOCABULARIES_KEPT:
                self._vocabularies.popitem(last=False)
        else:
            self._vocabularies.move_to_end(key)
        return found


class _Copies:
    """The copy keys of the pages met lately: one slot for each residue of a key, in which the newest stays."""

    def __init__(self) -> None:
        self._keys = array("I", bytes(4 * _COPY_SLOTS))

    def take_in(self, keys: Iterable[int]) -> int:
        """Remember the keys of a page. Returns how many of them were known."""
        places = [(key % _COPY_SLOTS, key >> _COPY_BITS & _COPY_MASK) for key in keys]
        known = sum([self._keys[slot] == kept for slot, kept in places])
        for slot, kept in places:
            self._keys[slot] = kept
        return known


class _Vocabulary:
    """On how many pages of a section a pair of words stands, for the pairs that stand on many."""

    __slots__ = ("_counts", "_keys", "pages")

    def __init__(self) -> None:
        self.pages = 0
        self._keys = array("H", bytes(2 * _PAIR_SLOTS))
        self._counts = bytearray(_PAIR_SLOTS)

    def take_in(self, pairs: Iterable[int]) -> list[int]:
        """Count the pairs of a page. Returns for each on how many pages it stood before."""
        keys, counts = self._keys, self._counts
        times = []
        for pair in pairs:
            slot = pair % _PAIR_SLOTS
            key = pair >> _SLOT_BITS & _KEY_BITS
            count = counts[slot]
            if keys[slot] == key:
                times.append(count)
                counts[slot] = count + 1
                continue
            times.append(0)
            # A pair that finds its slot taken weakens the one that holds it, and takes it over at last.
            if count > 1:
                counts[slot] = count - 1
            else:
                keys[slot], counts[slot] = key, 1
        self.pages += 1
        if self.pages == _PAGES_COUNTED:
            self.pages //= 2
            self._counts = bytearray(count // 2 for count in counts)
        return times
