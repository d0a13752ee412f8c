"""Cases made from a corpus by chance: where no coverage guides the search, and under sanitizers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

GENERATIONS = 40  # a case is changed so many times in a row before another seed is taken
MOST_CHANGES = 8  # between two cases
_DIGITS = re.compile(rb"[0-9]+")
_NUMBERS = (b"", b"-1", b"0", b"00", b"1e999", b"4294967296", b"18446744073709551616", b"9" * 400, b"9" * 4_400)
_BYTES = b"\0\t\n\r \x1b\x7f\x80\x9b\xad\xc2\xff<>\"'&=;:,/%#?@[]()*$\\^`{|}"


class Mutator:
    """`cases` never ends; the same seed and corpus give the same cases."""

    def __init__(self, seed: int, corpus: Sequence[bytes], words: Sequence[bytes], max_bytes: int) -> None:
        self._dice = random.Random(seed)
        self._corpus = [*corpus, b""]
        self._words = [*words] or [b"\0"]
        self._max_bytes = max_bytes

    def cases(self) -> Iterator[bytes]:
        while True:
            data = self._dice.choice(self._corpus)
            if self._dice.randrange(4) == 0:
                data = b"".join(self._dice.choices(self._words, k=self._dice.randrange(60)))
            for _ in range(GENERATIONS):
                data = self._changed(data)
                yield data

    def _changed(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(self._dice.randrange(1, MOST_CHANGES)):
            self._change(changed)
        return bytes(changed[: self._max_bytes])

    def _change(self, data: bytearray) -> None:
        dice = self._dice
        place = dice.randrange(len(data) + 1)
        match dice.randrange(9):
            case 0:
                del data[place : place + dice.randrange(1, 40)]
            case 1 | 2:
                data[place:place] = dice.choice(self._words)
            case 3:
                data[place : place + 1] = bytes([dice.choice(_BYTES)])
            case 4:
                data[place : place + dice.randrange(4)] = dice.randbytes(dice.randrange(4))
            case 5:
                data[place:place] = data[place : place + dice.randrange(1, 200)]
            case 6:
                data[place:place] = bytes(data[place : place + dice.randrange(1, 12)]) * dice.randrange(2, 400)
            case 7:
                other = dice.choice(self._corpus)
                data[place : place + dice.randrange(40)] = other[dice.randrange(len(other) + 1) :]
            case _:
                self._change_number(data)

    def _change_number(self, data: bytearray) -> None:
        numbers = list(_DIGITS.finditer(data))
        if numbers:
            found = self._dice.choice(numbers)
            data[found.start() : found.end()] = self._dice.choice(_NUMBERS)
