"""Random numbers that are the same in every process: they are made from a hash of a key."""

from __future__ import annotations

import struct
from functools import lru_cache
from hashlib import shake_128
from math import gcd

UNIT = 1 / (1 << 32)  # a draw times this lies in [0, 1)
PICKS = 1 << 16


def draws(key: str, count: int) -> tuple[int, ...]:
    """Returns `count` whole numbers below 2^32. A call with a larger count begins with the same numbers."""
    return struct.unpack(f"<{count}I", shake_128(key.encode()).digest(4 * count))


def picks(key: str, count: int) -> tuple[int, ...]:
    """Returns `count` whole numbers below `PICKS`."""
    return struct.unpack(f"<{count}H", shake_128(key.encode()).digest(2 * count))


def shuffled(number: int, total: int, key: str) -> int:
    """Returns the place of `number` when 0 … total - 1 are shuffled, without making a list of them.

    Exactly n of all numbers stand before place n, which is what makes a share exact.
    """
    factor, shift = _order(total, key)
    return (number * factor + shift) % total


@lru_cache(1024)
def _order(total: int, key: str) -> tuple[int, int]:
    first, second, third = draws(f"order {key}", 3)
    factor = (first << 32 | second) % total | 1
    while gcd(factor, total) != 1:
        factor += 2
    return factor, third % total
