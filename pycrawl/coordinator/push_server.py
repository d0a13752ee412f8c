"""A small HTTP server for what WebSub hubs send, on one thread beside other work: whoever owns it waits until `fileno`
is readable, and calls `work`, also now and then without that.

What comes in is hostile: the head of a request is bounded, a body is handed on piece by piece and kept nowhere, the
number of connections is bounded, and so is the time of each. One request a connection.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, Protocol

_MOST_CONNECTIONS = 64
_MOST_HEAD_BYTES = 16_384
MOST_BODY_BYTES = 10_000_000
_SECONDS = 20.0  # for a whole request
_LINGER_SECONDS = 2.0  # after the answer, in which what still comes is dropped: a reset could take the answer with it
_READ_BYTES = 65_536
_READS = 16  # of one connection in a row, so that none holds up the others
_BACKLOG = 64
_WORDS = {200: "OK", 202: "Accepted", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed",
          411: "Length Required", 413: "Content Too Large"}  # fmt: skip


class Incoming(NamedTuple):
    """A request whose body is still to come."""

    method: str
    target: str  # path and query, as they came
    headers: Mapping[str, str]  # names in lower case; of several values, the last
    length: int  # of the body


class Answer(NamedTuple):
    status: int
    text: str = ""


class Sink(Protocol):
    """Takes the body of a request."""

    def take(self, data: bytes) -> None: ...

    def end(self) -> Answer:
        """Returns what is answered once the whole body is there."""


class PushServer:
    """`respond` is called with each request, and returns the answer, or what takes the body first. `on_bad` is called
    for each request that cannot be read or is too large, with a word that says so."""

    def __init__(
        self, address: str, respond: Callable[[Incoming], Answer | Sink], on_bad: Callable[[str], None]
    ) -> None:
        """Listen at ADDRESS:PORT; raises OSError where that cannot be done."""
        host, _, port = address.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, int(port)), family=family, backlog=_BACKLOG)
        self._listener.setblocking(False)
        self._respond = respond
        self._on_bad = on_bad
        self._open: dict[int, _Connection] = {}
        self._epoll = select.epoll()
        self._epoll.register(self._listener.fileno(), select.EPOLLIN)

    def fileno(self) -> int:
        return self._epoll.fileno()

    def work(self) -> None:
        """Accept and read what has come, answer, and end what took too long."""
        for fd, _ in self._epoll.poll(0):
            if fd == self._listener.fileno():
                self._accept()
            elif self._open[fd].go_on():
                self._close(fd)
        now = time.monotonic()
        for fd in [fd for fd, one in self._open.items() if one.until < now]:
            self._close(fd)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:  # nobody waits any more, or there are too many open files
                return
            if len(self._open) >= _MOST_CONNECTIONS:
                sock.close()
                continue
            sock.setblocking(False)
            self._open[sock.fileno()] = _Connection(sock, self._respond, self._on_bad)
            self._epoll.register(sock.fileno(), select.EPOLLIN)

    def _close(self, fd: int) -> None:
        self._epoll.unregister(fd)
        self._open.pop(fd).sock.close()

    def close(self) -> None:
        for fd in list(self._open):
            self._close(fd)
        self._epoll.close()
        self._listener.close()


class _Connection:
    def __init__(
        self, sock: socket.socket, respond: Callable[[Incoming], Answer | Sink], on_bad: Callable[[str], None]
    ) -> None:
        self.sock = sock
        self.until = time.monotonic() + _SECONDS
        self._respond = respond
        self._on_bad = on_bad
        self._head = b""
        self._sink: Sink | None = None
        self._left = 0  # bytes of the body that are still to come
        self._has_answered = False

    def go_on(self) -> bool:
        """Read what is there. Returns True if the connection is to be closed."""
        for _ in range(_READS):
            try:
                data = self.sock.recv(_READ_BYTES)
            except BlockingIOError:
                return False
            except OSError:
                return True
            if not data:
                return True
            if not self._has_answered:
                self._take(data)
        return False

    def _take(self, data: bytes) -> None:
        if self._sink is None:
            self._head += data
            head, end, data = self._head.partition(b"\r\n\r\n")
            if len(head) > _MOST_HEAD_BYTES or not end:
                if len(head) > _MOST_HEAD_BYTES:
                    self._refuse(400, "bad-request")
                return
            self._begin(head)
        if self._sink is not None and not self._has_answered:
            self._take_body(data)

    def _begin(self, head: bytes) -> None:
        """Read the head of the request, and find out who takes the body."""
        incoming = _read_head(head)
        if incoming is None:
            self._refuse(400, "bad-request")
        elif "transfer-encoding" in incoming.headers or incoming.length < 0:
            self._refuse(411, "without-length")
        elif incoming.length > MOST_BODY_BYTES:
            self._refuse(413, "too-large")
        else:
            begun = self._respond(incoming)
            if isinstance(begun, Answer):
                self._answer(begun)
                return
            self._sink, self._left = begun, incoming.length
            if incoming.headers.get("expect", "").lower() == "100-continue":
                self._send(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _take_body(self, data: bytes) -> None:
        assert self._sink is not None
        data = data[: self._left]
        self._left -= len(data)
        self._sink.take(data)
        if not self._left:
            self._answer(self._sink.end())

    def _refuse(self, status: int, word: str) -> None:
        self._on_bad(word)
        self._answer(Answer(status))

    def _answer(self, answer: Answer) -> None:
        body = answer.text.encode("utf-8", "replace")
        head = (
            f"HTTP/1.1 {answer.status} {_WORDS[answer.status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"X-Content-Type-Options: nosniff\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self._has_answered = True
        self.until = time.monotonic() + _LINGER_SECONDS
        self._send(head.encode() + body)
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_WR)

    def _send(self, data: bytes) -> None:
        """What is sent is short, and finds room in the socket's buffer."""
        with suppress(OSError):
            self.sock.send(data)


def _read_head(head: bytes) -> Incoming | None:
    """Returns the request that has this head, without the empty line; None if it is not HTTP/1. A `length` of -1: it
    has a body of unknown length."""
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[1].startswith("/") or words[2] not in ("HTTP/1.1", "HTTP/1.0"):
        return None
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon or not name or name != name.strip() or (name == "content-length" and name in headers):
            return None
        headers[name] = value.strip()
    length = headers.get("content-length", "-1" if words[0] == "POST" else "0")
    if not (length.isascii() and length.isdigit() and len(length) < 19) and length != "-1":
        return None
    return Incoming(words[0], words[1], headers, int(length))
