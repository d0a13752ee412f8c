"""Turns consecutive numbers into numbers without pattern. Unlike numpy's generators, this gives the same numbers in
every version of numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def spread(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Returns SplitMix64's output function of each number. It is a bijection: distinct numbers stay distinct."""
    mixed = (numbers + np.uint64(1)) * _GAMMA
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return mixed ^ (mixed >> np.uint64(31))
