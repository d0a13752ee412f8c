"""How numbers of a block are packed: in as many bits as they take, and ascending ones in two bits more than the step
from one to the next takes on average.

Ascending numbers are cut in two. Of the lower bits each has a number of its own. The higher bits are a row of bits: for
each number a one, and before it a zero for each step that its higher bits are ahead of those of the number before
(Elias-Fano coding). What is packed compresses no further, so other columns are compressed (`squeezed`).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from pycrawl.errors import StateError
from pycrawl.record.trec_web import BadStream

U64 = NDArray[np.uint64]
U8 = NDArray[np.uint8]

DAMAGED = "a block of sorted entries is damaged. Put back a copy, or start anew."

_BYTE = 8  # bits
_WORD = 8  # bytes of a number in memory
_LITTLE: Literal["little"] = "little"
_FASTEST = 1  # level of compression: the others take longer and save hardly more
_MOST_SQUEEZED = 1 << 26  # bytes that what was squeezed may have had


def bits_of(most: int) -> int:
    """Returns how many bits the numbers up to `most` take."""
    return most.bit_length()


def packed_size(count: int, width: int) -> int:
    """Returns how many bytes `pack` makes of `count` numbers of `width` bits."""
    return count * (width // _BYTE) + (count * (width % _BYTE) + _BYTE - 1) // _BYTE


def pack(numbers: U64, width: int) -> bytes:
    """Returns numbers of `width` bits: their whole bytes, and then the bits that are left of each, side by side."""
    whole, rest = divmod(width, _BYTE)
    table = np.ascontiguousarray(numbers, "<u8").view(np.uint8).reshape(-1, _WORD)
    data = table[:, :whole].tobytes()
    if rest:
        bits = np.unpackbits(table[:, whole : whole + 1], axis=1, count=rest, bitorder=_LITTLE)
        data += np.packbits(bits, bitorder=_LITTLE).tobytes()
    return data


def unpack(block: bytes, at: int, count: int, width: int) -> U64:
    """Returns the `count` numbers that `pack` has put at a place of the block."""
    if not 0 <= width <= _WORD * _BYTE or at + packed_size(count, width) > len(block):
        raise StateError(DAMAGED)
    whole, rest = divmod(width, _BYTE)
    table = np.zeros((count, _WORD), np.uint8)
    table[:, :whole] = np.frombuffer(block, np.uint8, count * whole, at).reshape(count, whole)
    if rest:
        size = (count * rest + _BYTE - 1) // _BYTE
        bits = np.unpackbits(
            np.frombuffer(block, np.uint8, size, at + count * whole), count=count * rest, bitorder=_LITTLE
        )
        table[:, whole] = np.packbits(bits.reshape(count, rest), axis=1, bitorder=_LITTLE)[:, 0]
    return table.view("<u8").reshape(count)


def low_bits(span: int, count: int) -> int:
    """Returns how many lower bits `count` ascending numbers from 0 to `span` have numbers of their own for."""
    return max(0, (span // max(count, 1)).bit_length() - 1)


def row_size(span: int, count: int, low: int) -> int:
    """Returns the bytes of the row of bits."""
    return ((span >> low) + count + _BYTE - 1) // _BYTE


def pack_row(ascending: U64, low: int) -> bytes:
    """Returns the row of bits for the higher bits of ascending numbers. The last one is their span."""
    ones = (ascending >> np.uint64(low)).astype(np.int64) + np.arange(len(ascending))
    bits = np.zeros(int(ones[-1]) + 1 if len(ones) else 0, np.uint8)
    bits[ones] = 1
    return np.packbits(bits, bitorder=_LITTLE).tobytes()


def unpack_row(block: bytes, at: int, size: int, count: int) -> U64:
    """Returns the higher bits of `count` ascending numbers."""
    if at + size > len(block):
        raise StateError(DAMAGED)
    ones = np.flatnonzero(np.unpackbits(np.frombuffer(block, np.uint8, size, at), bitorder=_LITTLE))
    if len(ones) != count:
        raise StateError(DAMAGED)
    return (ones - np.arange(count)).astype(np.uint64)


def squeezed(data: bytes) -> bytes:
    return isal_zlib.compress(data, _FASTEST)


def unsqueezed(data: bytes) -> bytes:
    """Returns what was squeezed."""
    inflater = isal_zlib.decompressobj()
    try:
        found: bytes = inflater.decompress(data, _MOST_SQUEEZED)
    except BadStream as error:
        raise StateError(DAMAGED) from error
    if not inflater.eof or inflater.unused_data:
        raise StateError(DAMAGED)
    return found
