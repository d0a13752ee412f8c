"""Min-hash sketches by one permutation: they tell how much two sets of shingles have in common.

The range of 64-bit fingerprints is cut into `size` equal bins; a sketch keeps, for each bin, 7 bits of the smallest
fingerprint in it. A bin that both sketches fill has the same smallest fingerprint in both with a probability that is
the Jaccard coefficient of the sets, as it is for min-hash values of independent permutations; but this takes one pass
instead of 200. Different fingerprints have equal bits once in 128 times; the estimate takes that off.

A bin that stays empty (in texts of some hundred words) borrows 15 bits from another bin, found by a fixed order of
search, mixes them with its own number into 7, and is marked as borrowed. Bands need a value in every bin; the estimate
counts only bins that at least one of the two sets has filled. So the estimate never counts a value twice, and is better
than that of as many permutations, most of all for short texts. Where hardly a bin is filled, 7 bits of each would be
too few to tell different texts apart: there at least half as many borrowed bins must agree too.

Bands: candidates for verification are documents that share all values of some band. At Jaccard s this happens with
probability 1 - (1 - s^ROWS)^BANDS: 0.995 at 0.9, 0.68 at 0.8, 0.20 at 0.7, 0.034 at 0.6, 0.004 at 0.5.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from pycrawl.fingerprint.mixing import spread
from pycrawl.fingerprint.page_prints import SKETCH_SIZE

_Hashes = NDArray[np.uint64]
Sketch = NDArray[np.uint8]

BANDS = 16  # bands of a sketch
ROWS = 12  # values in a band

_HALF = np.uint64(32)
_VALUE = np.uint16(0x7FFF)
_BORROWED = np.uint16(0x8000)
_VALUE_BITS = np.uint8(0x7F)  # of a byte of a sketch
_MARK = np.uint8(0x80)  # of a byte of a sketch: it is borrowed
_FEW = 8  # filled bins that may agree by chance
_BY_CHANCE = 1 / 128  # of the bins that differ, so many have equal bits
_NOTHING = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_LAST = np.uint16(0xFFFF)  # in the order of search, behind all bins that have a value
_STORED = np.dtype("u1")


def sketch(shingles: _Hashes, size: int = SKETCH_SIZE) -> Sketch:
    """Returns the sketch of a set of fingerprints, which may be given with repetitions. Of an empty set all bins are
    marked as borrowed."""
    return folded(wide_sketch(shingles, size))


def wide_sketch(shingles: _Hashes, size: int = SKETCH_SIZE) -> NDArray[np.uint16]:
    """Returns 15 bits of each bin, and above them whether they are borrowed; states of earlier releases hold this."""
    bins = shingles >> _HALF
    bins *= np.uint64(size)
    bins >>= _HALF
    smallest = np.full(size, _NOTHING)
    np.minimum.at(smallest, bins.view(np.int64), shingles)
    values = smallest.astype(np.uint16)
    values &= _VALUE
    if smallest.max() == _NOTHING:
        _densify(values, smallest == _NOTHING)
    return values


def folded(values: NDArray[np.uint16]) -> Sketch:
    """Returns wide sketches in bytes."""
    mixed = ((values & _VALUE).astype(np.uint32) + np.uint32(1)) * _bin_multipliers(values.shape[-1])
    own, borrowed = values.astype(np.uint8) & _VALUE_BITS, (mixed >> np.uint32(16)).astype(np.uint8) | _MARK
    return np.where(values < _BORROWED, own, borrowed)


@functools.cache
def _bin_multipliers(size: int) -> NDArray[np.uint32]:
    return (spread(np.arange(size, dtype=np.uint64)) >> _HALF).astype(np.uint32) | np.uint32(1)


def _densify(values: NDArray[np.uint16], is_empty: NDArray[np.bool_]) -> None:
    """Give each empty bin the value of the first filled bin in its order of search, and mark it as borrowed."""
    empty = np.flatnonzero(is_empty)
    if len(empty) < len(values):
        search = _search_order(len(values))[empty]
        search |= is_empty * _LAST
        values[empty] = values[search.argmin(axis=1)]
    values[empty] |= _BORROWED


@functools.cache
def _search_order(size: int) -> NDArray[np.uint16]:
    """Returns a matrix: in row i, the rank of each other bin in the search of bin i. Each bin has an order of its own,
    so that the many empty bins of a short text do not all borrow from the same few ("optimal densification")."""
    drawn = spread(np.arange(size * size, dtype=np.uint64)).reshape(size, size)
    return drawn.argsort(axis=1).argsort(axis=1).astype(np.uint16)


def resemblance(a: Sketch, b: Sketch) -> float:
    """Returns the estimated Jaccard coefficient of two sets, given their sketches; that of two empty sets is 1."""
    return float(resemblances(a, b[np.newaxis])[0])


def resemblances(one: Sketch, many: Sketch) -> NDArray[np.float64]:
    """Returns the `resemblance` of one sketch with each row of `many`."""
    if one.shape[-1] != many.shape[-1]:
        raise ValueError(f"expected sketches of one size, found {one.shape[-1]} and {many.shape[-1]}")
    is_equal = many == one
    agree = np.count_nonzero(is_equal & (one < _MARK), axis=-1)
    filled = np.count_nonzero((many & one) < _MARK, axis=-1)
    share = np.where(filled == 0, 1.0, agree / np.maximum(filled, 1))
    if np.any((filled < _FEW) & (agree > 0)):
        borrowed = np.count_nonzero(is_equal, axis=-1) - agree
        both = one.shape[-1] - filled
        share[(filled < _FEW) & (2 * borrowed < share * both)] = 0.0
    return np.maximum((share - _BY_CHANCE) / (1 - _BY_CHANCE), 0.0)


def bands(sketches: Sketch, bands: int = BANDS, rows: int = ROWS) -> _Hashes:
    """Returns a key for each band of a sketch; for many sketches, one a row, a row of keys for each."""
    if bands * rows > sketches.shape[-1]:
        raise ValueError(f"expected at most {sketches.shape[-1]} rows in all bands, found {bands} x {rows}")
    values = (sketches[..., : bands * rows] & _VALUE_BITS).astype(np.uint64)
    keys = values.reshape(*sketches.shape[:-1], bands, rows) @ _row_multipliers(rows)
    keys += np.arange(bands, dtype=np.uint64)
    return spread(keys)


@functools.cache
def _row_multipliers(rows: int) -> _Hashes:
    return spread(np.arange(1, rows + 1, dtype=np.uint64)) | np.uint64(1)


def pack_sketch(values: Sketch) -> bytes:
    return values.astype(_STORED).tobytes()


def unpack_sketch(stored: bytes) -> Sketch:
    return np.frombuffer(stored, _STORED)
