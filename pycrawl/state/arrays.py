"""Searching and sorting of large arrays of hashes.

numpy's unstable sort takes a fraction of the time of its stable one, which np.unique uses for places, and of a search
for hashes that are in no order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

_NEWLINE = 10


def distinct(batch: U64) -> tuple[U64, I64, I64, I64, I64]:
    """Returns five arrays. Of each distinct number, ascending: the number, the first place that has it, how many places
    have it; all places of the batch by ascending number; and where in these the places of each number begin."""
    order = batch.argsort()
    ordered = batch[order]
    is_first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    first = np.minimum.reduceat(order, starts) if len(starts) else starts
    return ordered[starts], first, np.diff(starts, append=len(ordered)), order, starts


def places_in(ascending: U64, wanted: U64) -> I64:
    """Returns `ascending.searchsorted(wanted)`. Neighbours that are asked for one after the other are found in the
    processor's cache, and where the one before was found."""
    order = wanted.argsort()
    places = np.empty(len(wanted), np.int64)
    places[order] = ascending.searchsorted(wanted[order])
    return places


def lines_at(data: bytes, numbers: I64) -> list[bytes]:
    """Returns the lines of `data` with these numbers, from 0 on. No object is made for any other line."""
    ends = np.append(np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE), len(data))
    begins = np.append(0, ends[:-1] + 1)
    return [data[begin:end] for begin, end in zip(begins[numbers].tolist(), ends[numbers].tolist(), strict=True)]
