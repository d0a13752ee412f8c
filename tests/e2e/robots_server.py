"""A server on loopback whose robots.txt fails in many ways, one after the other, and then works; it notes when it was
asked for what, and when each of its connections was opened and closed."""

from __future__ import annotations

import socket
import struct
import threading
import time
from enum import StrEnum
from types import TracebackType
from typing import NamedTuple

_RECEIVE = 65_536
_PATIENCE = 60.0  # seconds
_TLS_HELLO = b"\x16"
_RETRY_AFTER = 2  # seconds


class Fault(StrEnum):
    """What a robots.txt answers, if anything."""

    BUSY = "503"
    BUSY_FOR_LONG = "503, with Retry-After"
    TOO_MANY = "429, with Retry-After"
    BROKEN = "500"
    UNDECODABLE = "a body that is not what its Content-Encoding says"
    CUT = "a body that ends too early"
    RESET = "the connection is reset"
    SILENT = "no answer until the client leaves"
    NOWHERE = "a redirect without a target"
    ODD = "a status that does not exist"
    RUBBISH = "not HTTP"

    @property
    def seconds(self) -> float:
        """The pause that it asks for."""
        return _RETRY_AFTER if self in (Fault.BUSY_FOR_LONG, Fault.TOO_MANY) else 0.0


def _answer(status: str, body: bytes = b"", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


_ANSWERS = {
    Fault.BUSY: _answer("503 Busy"),
    Fault.BUSY_FOR_LONG: _answer("503 Busy", b"", f"Retry-After: {_RETRY_AFTER}"),
    Fault.TOO_MANY: _answer("429 Slow down", b"", f"Retry-After: {_RETRY_AFTER}"),
    Fault.BROKEN: _answer("500 Broken"),
    Fault.UNDECODABLE: _answer("200 OK", b"User-agent: *\nDisallow:\n", "Content-Encoding: gzip"),
    Fault.CUT: b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent: *\n",
    Fault.NOWHERE: _answer("302 Found"),
    Fault.ODD: _answer("799 Odd"),
    Fault.RUBBISH: b"\x00\x01\x02 rubbish \xff\r\n\r\n",
}
_CLOSING = (Fault.CUT, Fault.RUBBISH)


class Asked(NamedTuple):
    at: float  # time.time()
    path: str


class Connection(NamedTuple):
    opened: float  # time.time()
    closed: float


class RobotsServer:
    """`faults` are what the first requests for robots.txt get; from then on it answers `robots`."""

    def __init__(
        self,
        address: str,
        faults: list[Fault],
        pages: int,
        robots: str = "User-agent: *\nDisallow:\n",
        robots_at: str = "",
        seconds: float = 0.0,
    ) -> None:
        """`robots_at`: the URL that robots.txt redirects to; `seconds`: what a page takes."""
        self._robots_at = robots_at
        self._seconds = seconds
        self._faults = list(faults)
        self._robots = robots.encode()
        self._pages = pages
        self._lock = threading.Lock()
        self._listener = socket.create_server((address, 0), backlog=64)
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self.port: int = self._listener.getsockname()[1]
        self.authority = f"{address}:{self.port}"
        self.url = f"http://{self.authority}"
        self.asked: list[Asked] = []
        self.connections: list[Connection] = []

    @property
    def page_paths(self) -> set[str]:
        return {f"/{number}" for number in range(self._pages)}

    def times_of(self, path: str) -> list[float]:
        with self._lock:
            return [one.at for one in self.asked if one.path == path]

    def wait_until_closed(self) -> None:
        """Wait until all connections are closed, as those of a crawl are when it has ended."""
        for thread in self._threads[1:]:
            thread.join(_PATIENCE)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(client, time.time()), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _serve(self, client: socket.socket, opened: float) -> None:
        with client:
            try:
                while (path := self._read(client)) is not None and self._reply(client, path):
                    pass
            except OSError:
                pass
            with self._lock:
                self.connections.append(Connection(opened, time.time()))

    def _read(self, client: socket.socket) -> str | None:
        head = b""
        while b"\r\n\r\n" not in head:
            data = client.recv(_RECEIVE)
            if not data:
                return None
            head += data
            if head.startswith(_TLS_HELLO):
                client.sendall(_answer("400 No TLS here"))
                return None
        return head.split(b" ", 2)[1].decode("latin-1")

    def _reply(self, client: socket.socket, path: str) -> bool:
        """Answer a request. Returns False if the connection ends with it."""
        with self._lock:
            self.asked.append(Asked(time.time(), path))
            fault = self._faults.pop(0) if path == "/robots.txt" and self._faults else None
        if fault is Fault.RESET:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if fault is Fault.SILENT:
            client.recv(_RECEIVE)
            return False
        client.sendall(_ANSWERS[fault] if fault is not None else self._good(path))
        return fault not in _CLOSING

    def _good(self, path: str) -> bytes:
        if path == "/robots.txt" and self._robots_at:
            return _answer("302 Found", b"", f"Location: {self._robots_at}")
        if path.startswith("/robots.txt"):
            return _answer("200 OK", self._robots, "Content-Type: text/plain")
        time.sleep(self._seconds)
        links = "".join(f'<a href="{other}">a page</a>' for other in sorted(self.page_paths))
        body = f"<!DOCTYPE html><title>{self.authority}{path}</title><p>Page {path} of {self.authority}.</p>{links}"
        return _answer("200 OK", body.encode(), "Content-Type: text/html")

    def __enter__(self) -> RobotsServer:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
