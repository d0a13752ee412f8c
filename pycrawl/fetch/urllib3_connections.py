"""urllib3 connections that dial only the addresses of a given route, and read answers within limits."""

from __future__ import annotations

import io
import logging
import socket
import ssl
import time
from functools import partial
from http.client import HTTPResponse
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection

from pycrawl.fetch.addresses import Guard
from pycrawl.fetch.proxies import Proxy
from pycrawl.fetch.routes import Route
from pycrawl.fetch.transport import RequestTerms
from pycrawl.fetch.tunnels import TunnelError, open_tunnel
from pycrawl.model import Outcome

# It logs a warning with a traceback for each odd header, and the Web is full of those.
logging.getLogger("urllib3.connection").setLevel(logging.ERROR)


_BUFFER_BYTES = 65_536


class FetchError(Exception):
    """Ends a fetch with an outcome. Passes through urllib3 unchanged, which wraps other errors in its own."""

    def __init__(self, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.detail = detail


class Budget:
    """The limits of one fetch on time, speed and header size. `read_into` does all reading, and checks them."""

    def __init__(self, terms: RequestTerms, started: float) -> None:
        self.wire_bytes = 0
        self.lines: list[bytes] = []  # the header lines so far
        self._terms = terms
        self._deadline = started + terms.total_timeout
        self._connect_deadline = started + terms.connect_timeout
        self._header_bytes = 0
        self._window_start = time.monotonic()
        self._window_bytes = 0

    def connect_seconds(self) -> float:
        left = self._connect_deadline - time.monotonic()
        if left <= 0:
            raise FetchError(Outcome.CONNECT_TIMEOUT, f"no connection within {self._terms.connect_timeout:g} s")
        return left

    def open_window(self) -> None:
        """Start to measure the speed anew; called when the request has been sent."""
        self._window_start = time.monotonic()
        self._window_bytes = 0

    def read_into(self, sock: socket.socket, buffer: Any) -> int:
        while True:
            sock.settimeout(self._patience())
            try:
                count = sock.recv_into(buffer)
            except TimeoutError:
                continue
            self.wire_bytes += count
            self._window_bytes += count
            return count

    def take_line(self, line: bytes) -> None:
        self._header_bytes += len(line)
        if self._header_bytes > self._terms.max_header_bytes:
            raise FetchError(Outcome.HEADERS_TOO_LARGE, f"the headers exceed {self._terms.max_header_bytes} bytes")
        if b"\0" in line:
            raise FetchError(Outcome.BAD_RESPONSE, "NUL byte in header")
        if b":" not in line and line.strip() and not line.startswith((b"HTTP/", b" ", b"\t")):
            raise FetchError(Outcome.BAD_RESPONSE, f"neither a status line nor a header: {line[:80]!r}")
        self.lines.append(line)

    def _patience(self) -> float:
        """Returns the seconds until the limits must be checked again; raises FetchError if one is exceeded."""
        now = time.monotonic()
        terms = self._terms
        if now >= self._deadline:
            raise FetchError(Outcome.TIMEOUT, f"not done within {terms.total_timeout:g} s")
        if not terms.min_bytes_per_second:
            return self._deadline - now
        window_end = self._window_start + terms.slow_seconds
        if now >= window_end:
            self._check_rate(now)
            window_end = now + terms.slow_seconds
        return min(self._deadline, window_end) - now

    def _check_rate(self, now: float) -> None:
        if self._window_bytes < self._terms.min_bytes_per_second * (now - self._window_start):
            outcome = Outcome.TOO_SLOW if self.wire_bytes else Outcome.TIMEOUT
            raise FetchError(outcome, f"{self._window_bytes} bytes in {now - self._window_start:.0f} s")
        self.open_window()


class _BudgetedSocket(io.RawIOBase):
    def __init__(self, budget: Budget, sock: socket.socket) -> None:
        self._budget = budget
        self._sock = sock
        self._hold = sock.makefile("rb", buffering=0)  # keeps the socket open when the connection lets go of it

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._budget.read_into(self._sock, buffer)

    def close(self) -> None:
        self._hold.close()
        super().close()


class _TappedReader(io.BufferedReader):
    """Passes each line to the budget while the headers are read (`tap` is set)."""

    def __init__(self, budget: Budget, sock: socket.socket) -> None:
        super().__init__(_BudgetedSocket(budget, sock), _BUFFER_BYTES)
        self.tap: Budget | None = budget

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        if self.tap is not None:
            self.tap.take_line(line)
        return line


class _Answer(HTTPResponse):
    def __init__(self, budget: Budget, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self.fp.close()
        self.fp = self._reader = _TappedReader(budget, sock)

    def begin(self) -> None:
        super().begin()
        while 100 <= self.status < 200:  # http.client passes over 100 only
            self.headers = self.msg = None  # type: ignore[assignment]  # its word for "not read yet"
            super().begin()
        self._reader.tap = None


class _Dialling:
    """What our plain and TLS connections do differently from urllib3's: they dial the route."""

    budget: Budget
    route: Route
    guard: Guard
    user_agent: str
    address: str  # the server's
    timeout: Any

    def prepare(self, budget: Budget, route: Route) -> None:
        """Set budget and route of the next request."""
        self.budget = budget
        self.route = route
        self.response_class: Any = partial(_Answer, budget)

    def _new_conn(self) -> socket.socket:
        route = self.route
        if route.proxy is None:
            for address in route.addresses:
                if not self.guard.permits(address):
                    raise FetchError(Outcome.ADDRESS_REFUSED, f"{address} is not a public address")
            self.address, sock = self._dial(route.addresses, route.origin.port)
        else:
            _, sock = self._dial(route.proxy_addresses, route.proxy.port)
            self.address = route.address
            if not (route.proxy.is_http and route.origin.scheme == "http"):
                self._tunnel_through(sock, route.proxy)
        return sock

    def _dial(self, addresses: tuple[str, ...], port: int) -> tuple[str, socket.socket]:
        failure = FetchError(Outcome.CONNECT_FAILED, "no address")
        for address in addresses:
            try:
                sock = socket.create_connection((address, port), self.budget.connect_seconds())
            except TimeoutError:
                failure = FetchError(Outcome.CONNECT_TIMEOUT, f"{address} does not answer")
            except OSError as error:
                failure = FetchError(Outcome.CONNECT_FAILED, f"{address}: {error.strerror or error}")
            else:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return address, sock
        raise failure

    def _tunnel_through(self, sock: socket.socket, proxy: Proxy) -> None:
        origin = self.route.origin
        try:
            open_tunnel(
                sock, proxy, self.route.pinned or origin.host, origin.port, self.user_agent, self.budget.connect_seconds
            )
        except (TunnelError, OSError) as error:
            sock.close()
            outcome = Outcome.CONNECT_TIMEOUT if isinstance(error, TimeoutError) else Outcome.CONNECT_FAILED
            raise FetchError(outcome, f"the proxy {proxy.host}: {error}") from error
        except BaseException:
            sock.close()
            raise


class _PlainConnection(_Dialling, HTTPConnection):
    response_class: Any


class _TlsConnection(_Dialling, HTTPSConnection):
    response_class: Any


Connection = _PlainConnection | _TlsConnection


def new_connection(route: Route, guard: Guard, context: ssl.SSLContext, user_agent: str) -> Connection:
    connection: Connection
    if route.origin.scheme == "https":
        connection = _TlsConnection(route.origin.host, route.origin.port, ssl_context=context)
    else:
        connection = _PlainConnection(route.origin.host, route.origin.port)
    connection.guard = guard
    connection.user_agent = user_agent
    return connection
