"""What was met on pages lately, in tables of fixed size that forget and never invent (for `patterns.py`)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

_COPY_SLOTS = 1 << 21  # 8 bytes each, four a page
_WORDS_SLOTS = 1_024  # by the low bits of a pair; the 32 low bits tell it from others
_KEY_BITS = 0xFFFF_FFFF
_MOST_PAGES = 128  # that a vocabulary counts before it halves


class Copies:
    """The band keys of the pages met lately: one slot for each residue, the newest stays."""

    def __init__(self) -> None:
        self._keys = array("Q", bytes(8 * _COPY_SLOTS))

    def look_and_add(self, keys: Iterable[int]) -> int:
        """How many of them were there."""
        known = sum([self._keys[key % _COPY_SLOTS] == key for key in keys])
        for key in keys:
            self._keys[key % _COPY_SLOTS] = key
        return known


class Vocabulary:
    """How many of the pages of a section have a pair of words, for the pairs that stand on many."""

    __slots__ = ("_counts", "_keys", "pages")

    def __init__(self) -> None:
        self.pages = 0
        self._keys = array("I", bytes(4 * _WORDS_SLOTS))
        self._counts = bytearray(_WORDS_SLOTS)

    def look_and_add(self, pairs: Iterable[int]) -> list[int]:
        """For each pair, how many pages had it before."""
        keys, counts = self._keys, self._counts
        seen = []
        for pair in pairs:
            slot = pair % _WORDS_SLOTS
            key = pair & _KEY_BITS
            count = counts[slot]
            if keys[slot] == key:
                seen.append(count)
                counts[slot] = count + 1
                continue
            seen.append(0)
            # A pair that finds its slot taken weakens the one that holds it, and takes it over at last.
            if count > 1:
                counts[slot] = count - 1
            else:
                keys[slot], counts[slot] = key, 1
        self.pages += 1
        if self.pages == _MOST_PAGES:
            self.pages //= 2
            self._counts = bytearray(count // 2 for count in counts)
        return seen
