"""How the links of one page are packed: a byte of flags, then for each link the id of its target in three or four
bytes, and four bytes with the id of its text and the bits of `urls/link_flags.py`."""

from __future__ import annotations

import struct
from typing import NamedTuple

from pycrawl.errors import StateError
from pycrawl.urls.link_flags import BITS

# Flags of a row.
WIDE = 1  # ids of targets have four bytes
HAS_ANCHORS = 2  # the row knows texts, rel and places; without it, they are to be read off the page's record

NARROW_BYTES, WIDE_BYTES = 7, 8  # of a link
FIRST_WIDE = 1 << 24  # the lowest id that needs four bytes
EMPTY = bytes([HAS_ANCHORS])
_MASK = (1 << BITS) - 1
_DAMAGED = "a row of links is damaged. Put back a copy, or start anew."


class StoredLink(NamedTuple):
    """A link as it is stored."""

    target_id: int
    text_id: int  # 0: it has no text, or none was kept
    flags: int  # bits of `urls/link_flags.py`


def has_anchors(row: bytes) -> bool:
    """True if the row knows the texts, rel and places of its links."""
    return bool(row and row[0] & HAS_ANCHORS)


def link_bytes(row: bytes) -> int:
    """Returns how many bytes each link of a row takes. Raises StateError for what is no row."""
    size = WIDE_BYTES if row and row[0] & WIDE else NARROW_BYTES
    if not row or row[0] > WIDE | HAS_ANCHORS or (len(row) - 1) % size:
        raise StateError(_DAMAGED)
    return size


def links_of(row: bytes) -> list[StoredLink]:
    """Returns the links of a row, in the order of the page."""
    size = link_bytes(row)
    return [_link(row, at, size) for at in range(1, len(row), size)]


def links_to(row: bytes, target_id: int) -> list[StoredLink]:
    """Returns the links of a row that lead to one target, in the order of the page."""
    size = link_bytes(row)
    if target_id >> 8 * (size - 4):
        return []
    wanted = target_id.to_bytes(size - 4, "little")
    found = []
    at = row.find(wanted, 1)
    while at >= 0:
        if not (at - 1) % size:  # else bytes of two fields look like it
            found.append(_link(row, at, size))
        at = row.find(wanted, at + 1)
    return found


def _link(row: bytes, at: int, size: int) -> StoredLink:
    (word,) = struct.unpack_from("<I", row, at + size - 4)
    return StoredLink(int.from_bytes(row[at : at + size - 4], "little"), word >> BITS, word & _MASK)
