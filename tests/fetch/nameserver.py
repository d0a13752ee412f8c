"""A DNS server on loopback that knows what a test tells it."""

from __future__ import annotations

import socket
import struct
import threading
from dataclasses import dataclass

TYPE_A, TYPE_AAAA = 1, 28
_NXDOMAIN = 3


@dataclass
class Zone:
    """The answers for one name; `silent`: none at all."""

    v4: tuple[str, ...] = ()
    v6: tuple[str, ...] = ()
    ttl: int = 0
    silent: bool = False


class NameServer:
    """`queries` holds (name, type) of all that arrived. A name without a zone does not exist."""

    def __init__(self, port: int = 0) -> None:
        self.zones: dict[str, Zone] = {}
        self.queries: list[tuple[str, int]] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", port))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def asked(self, name: str, kind: int = TYPE_A) -> int:
        return self.queries.count((name, kind))

    def close(self) -> None:
        self._socket.sendto(b"", self._socket.getsockname())  # wakes the thread, which then ends

    def _serve(self) -> None:
        while True:
            query, client = self._socket.recvfrom(4096)
            if not query:
                self._socket.close()
                return
            name, kind, end = _question(query)
            self.queries.append((name, kind))
            zone = self.zones.get(name)
            if zone is None or not zone.silent:
                self._socket.sendto(_answer(query, end, kind, zone), client)


def _question(query: bytes) -> tuple[str, int, int]:
    labels = []
    at = 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode().lower())
        at += 1 + query[at]
    return ".".join(labels), struct.unpack_from(">H", query, at + 1)[0], at + 5


def _answer(query: bytes, question_end: int, kind: int, zone: Zone | None) -> bytes:
    records = [] if zone is None else _records(zone, kind)
    flags = 0x8180 | (_NXDOMAIN if zone is None else 0)
    head = query[:2] + struct.pack(">HHHHH", flags, 1, len(records), 0, 0)
    return head + query[12:question_end] + b"".join(records)


def _records(zone: Zone, kind: int) -> list[bytes]:
    if kind == TYPE_A:
        packed = [socket.inet_pton(socket.AF_INET, address) for address in zone.v4]
    else:
        packed = [socket.inet_pton(socket.AF_INET6, address) for address in zone.v6]
    return [struct.pack(">HHHIH", 0xC00C, kind, 1, zone.ttl, len(data)) + data for data in packed]
