"""A client's connection and the request that is open on it."""

from __future__ import annotations

import socket


class Request:
    """The parsed head of a request. `method` is empty if the bytes are no HTTP request."""

    __slots__ = ("_head", "_lowered", "closes", "method", "target")

    def __init__(self, head: bytes) -> None:
        """`head` ends with the last header's line end."""
        self._head = head
        self._lowered = lowered = head.lower()
        words = head[: head.index(b"\r\n")].split(b" ")
        if len(words) == 3 and words[1].startswith(b"/") and words[2] in (b"HTTP/1.1", b"HTTP/1.0"):
            self.method, self.target = words[0], words[1]
        else:
            self.method = self.target = b""
        if words[-1] == b"HTTP/1.1":
            self.closes = b"\nconnection: close" in lowered
        else:
            self.closes = b"\nconnection: keep-alive" not in lowered

    def header(self, name: bytes) -> str:
        """The value of the header with this name, given in lower case; empty if there is none."""
        start = self._lowered.find(b"\n" + name + b":")
        if start < 0:
            return ""
        start += len(name) + 2
        return self._head[start : self._head.index(b"\r\n", start)].strip().decode("latin-1")

    @property
    def is_conditional(self) -> bool:
        return b"\nif-none-match:" in self._lowered or b"\nif-modified-since:" in self._lowered


NO_REQUEST = Request(b"\r\n")


class Connection:
    """One client. At most one request is open at a time; bytes of the next one wait in `inbox`."""

    __slots__ = ("fd", "host", "inbox", "number", "outbox", "request", "socket", "started", "status")

    def __init__(self, sock: socket.socket, host: int, number: int) -> None:
        self.socket = sock
        self.fd = sock.fileno()
        self.host = host
        self.number = number
        self.inbox = b""
        self.request: Request | None = None  # the open one
        self.started = 0.0  # when it came, by the monotonic clock
        self.status = 0  # of its answer
        self.outbox: bytes | memoryview = b""  # what of its answer the kernel has not taken yet
