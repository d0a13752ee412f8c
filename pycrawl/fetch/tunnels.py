"""Opens a tunnel through a proxy: HTTP's CONNECT, and SOCKS 5 (RFC 1928), on a socket connected to the proxy."""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import ip_address

from pycrawl.fetch.proxies import Proxy

_MOST_HEAD_BYTES = 16_384
_VERSION, _AUTHENTICATION_VERSION = 5, 1
_NO_AUTHENTICATION, _BY_PASSWORD = 0, 2
_CONNECT = 1
_V4, _NAME, _V6 = 1, 3, 4
_ADDRESS_BYTES = {_V4: 4, _V6: 16}
_LONGEST_FIELD = 255  # bytes
_REPLIES = {
    1: "general failure",
    2: "not allowed by its rules",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
    6: "time to live expired",
    7: "command not supported",
    8: "address type not supported",
}


class TunnelError(Exception):
    """The proxy refuses the tunnel, or does not speak its protocol."""


class _Wire:
    """Sends, and reads exact numbers of bytes, within the seconds that are left."""

    def __init__(self, sock: socket.socket, seconds_left: Callable[[], float]) -> None:
        self._sock = sock
        self._seconds_left = seconds_left

    def send(self, data: bytes) -> None:
        self._sock.settimeout(self._seconds_left())
        self._sock.sendall(data)

    def read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            self._sock.settimeout(self._seconds_left())
            piece = self._sock.recv(count - len(data))
            if not piece:
                raise TunnelError("it closed the connection")
            data += piece
        return data


def open_tunnel(
    sock: socket.socket, proxy: Proxy, host: str, port: int, agent: str, seconds_left: Callable[[], float]
) -> None:
    """Make `proxy` connect `sock` to the server at `host`, an address or a name. Raises TunnelError or OSError."""
    wire = _Wire(sock, seconds_left)
    if proxy.is_http:
        _connect(wire, proxy, host, port, agent)
    else:
        _authenticate(wire, proxy)
        _request(wire, host, port)


def _connect(wire: _Wire, proxy: Proxy, host: str, port: int, agent: str) -> None:
    target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}", f"User-Agent: {agent}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    wire.send("\r\n".join([*lines, "", ""]).encode("latin-1", "replace"))
    head = b""
    while not head.endswith((b"\r\n\r\n", b"\n\n")):  # byte by byte: what follows belongs to the server
        head += wire.read(1)
        if len(head) > _MOST_HEAD_BYTES:
            raise TunnelError("its answer to CONNECT does not end")
    words = head.split(None, 2)
    if not (head.startswith(b"HTTP/") and len(words) > 1 and words[1].startswith(b"2")):
        raise TunnelError(f"CONNECT {target}: {head.splitlines()[0][:80].decode('latin-1')}")


def _authenticate(wire: _Wire, proxy: Proxy) -> None:
    methods = [_NO_AUTHENTICATION, _BY_PASSWORD] if proxy.user else [_NO_AUTHENTICATION]
    wire.send(bytes([_VERSION, len(methods), *methods]))
    version, method = wire.read(2)
    if version != _VERSION or method not in methods:
        raise TunnelError("it does not speak SOCKS 5" if version != _VERSION else "it asks for a user and password")
    if method == _BY_PASSWORD:  # RFC 1929
        wire.send(bytes([_AUTHENTICATION_VERSION]) + _field(proxy.user) + _field(proxy.password))
        if wire.read(2)[1] != 0:
            raise TunnelError("it refuses the user and password")


def _request(wire: _Wire, host: str, port: int) -> None:
    wire.send(bytes([_VERSION, _CONNECT, 0]) + _destination(host) + port.to_bytes(2, "big"))
    _, reply, _, kind = wire.read(4)
    if reply != 0:
        raise TunnelError(f"{host}: {_REPLIES.get(reply, f'reply {reply}')}")
    length = _ADDRESS_BYTES.get(kind) or wire.read(1)[0]
    wire.read(length + 2)  # the address and port it dials from


def _destination(host: str) -> bytes:
    try:
        address = ip_address(host)
    except ValueError:
        return bytes([_NAME]) + _field(host)
    return bytes([_V4 if address.version == 4 else _V6]) + address.packed


def _field(text: str) -> bytes:
    data = text.encode()
    if len(data) > _LONGEST_FIELD:
        raise TunnelError(f"{len(data)} bytes are too long for it")
    return bytes([len(data)]) + data
