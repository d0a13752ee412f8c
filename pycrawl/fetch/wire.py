"""What comes over the wire besides a body, and how much of it is too much.

The sizes, extensions and ends of chunks, interim answers and the frames of HTTP/2 are no part of a body, so no limit on
the body sees them: a server can send gigabytes of them for a few bytes of a page.
"""

from __future__ import annotations

import socket
import struct
from fcntl import ioctl
from termios import FIONREAD

_MOST_OVERHEAD_BYTES = 1_000_000
_WIRE_FOR_ONE = 8  # bytes for each of the body: in chunks of one byte, six
_MOST_PIECES = 10_000
_LEAST_PIECE_BYTES = 16  # on average, of a body in more pieces than that: each costs a microsecond
_TCP_INFO_BYTES = 136
_BYTES_RECEIVED_AT = 128  # in the kernel's struct tcp_info


def is_padded(wire_bytes: int, body_bytes: int) -> bool:
    """True if far more was received than a body of `body_bytes` (as received, still encoded) accounts for."""
    return wire_bytes > _MOST_OVERHEAD_BYTES + _WIRE_FOR_ONE * body_bytes


def is_crumbled(pieces: int, body_bytes: int) -> bool:
    """True if a body comes in too many pieces for its length."""
    return pieces > _MOST_PIECES + body_bytes // _LEAST_PIECE_BYTES


def received_bytes(descriptor: int) -> int:
    """Returns how many bytes have been read from a TCP socket since it was connected, by the kernel's count."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=descriptor)
    try:
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    finally:
        sock.detach()
    arrived: int = struct.unpack_from("=Q", info, _BYTES_RECEIVED_AT)[0]
    unread: int = struct.unpack("=i", ioctl(descriptor, FIONREAD, bytes(4)))[0]
    return arrived - unread
