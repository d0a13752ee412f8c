"""A slot: one easy handle of libcurl, used for one transfer after another, and what its transfer has received."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

import pycurl

from pycrawl.fetch.addresses import Guard
from pycrawl.fetch.decoding import Body
from pycrawl.fetch.proxies import Proxy
from pycrawl.fetch.routes import Route, body_of, fill
from pycrawl.fetch.transport import DRAINED_BYTES, Head, Request, RequestTerms, Response, find_header
from pycrawl.model import Outcome

_E_WEIRD_SERVER_REPLY = 8  # these have no name of their own in pycurl
_E_HTTP2_STREAM = 92
_E_PROXY = 97
_E_TOO_LARGE = 100

_OUTCOMES = {
    pycurl.E_COULDNT_RESOLVE_HOST: Outcome.DNS_FAILURE,
    pycurl.E_COULDNT_RESOLVE_PROXY: Outcome.CONNECT_FAILED,
    pycurl.E_COULDNT_CONNECT: Outcome.CONNECT_FAILED,
    _E_PROXY: Outcome.CONNECT_FAILED,
    pycurl.E_INTERFACE_FAILED: Outcome.CONNECT_FAILED,
    pycurl.E_SSL_CONNECT_ERROR: Outcome.TLS_FAILURE,
    pycurl.E_PEER_FAILED_VERIFICATION: Outcome.TLS_FAILURE,
    pycurl.E_SSL_CERTPROBLEM: Outcome.TLS_FAILURE,
    pycurl.E_SSL_CIPHER: Outcome.TLS_FAILURE,
    pycurl.E_SSL_ISSUER_ERROR: Outcome.TLS_FAILURE,
    pycurl.E_SSL_INVALIDCERTSTATUS: Outcome.TLS_FAILURE,
    pycurl.E_GOT_NOTHING: Outcome.CONNECTION_LOST,
    pycurl.E_SEND_ERROR: Outcome.CONNECTION_LOST,
    pycurl.E_RECV_ERROR: Outcome.CONNECTION_LOST,
    pycurl.E_PARTIAL_FILE: Outcome.CONNECTION_LOST,
    pycurl.E_HTTP2: Outcome.CONNECTION_LOST,
    _E_HTTP2_STREAM: Outcome.CONNECTION_LOST,
    pycurl.E_UNSUPPORTED_PROTOCOL: Outcome.BAD_RESPONSE,  # "HTTP/0.9": no status line came
    _E_WEIRD_SERVER_REPLY: Outcome.BAD_RESPONSE,
    _E_TOO_LARGE: Outcome.HEADERS_TOO_LARGE,
}

_FAIR_SHARE = 65_536  # bytes; a body up to this size is kept even when there is no room left

_PROXY_FAILURES = {pycurl.E_COULDNT_CONNECT, pycurl.E_RECV_ERROR, pycurl.E_GOT_NOTHING, _E_PROXY}

Target = tuple[str, int]  # host and port, as libcurl's DNS cache has them


# (is the address pinned, the proxy): a handle keeps these for its whole life, as the options for one way would stay set
# on another.
Way = tuple[bool, Proxy | None]


class _Lent:
    """A socket's descriptor, handed to pycurl, which duplicates it; closed when pycurl drops this object."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def __del__(self) -> None:
        os.close(self._descriptor)


class Stop(Enum):
    """Why we ended a transfer ourselves, or dropped its body."""

    ENOUGH = auto()  # the body is longer than we keep, or cannot be decoded any further
    UNWANTED_TYPE = auto()
    HEADERS_TOO_LARGE = auto()
    NO_ROOM = auto()


class Room:
    """Memory for the bodies of all transfers together, in bytes; `free` is what is left of `size`.

    When none is left, a transfer that holds more than a fair share ends with NO_ROOM. Without this, a thousand
    transfers could each hold a body of the largest size.
    """

    __slots__ = ("free", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.free = size


class Slot:
    """libcurl appends header lines to `lines` and gives the body to `on_body`; `response` reads both, `rest` clears."""

    __slots__ = (
        "_body",
        "_guard",
        "_head",
        "_header_bytes",
        "_held",
        "_keeps_body",
        "_refused",
        "_room",
        "_size",
        "_stop",
        "curl",
        "has_own_headers",
        "lines",
        "request",
        "resolved",
        "route",
        "spent",
        "started",
        "terms",
        "way",
    )

    def __init__(
        self,
        curl: Any,
        way: Way,
        guard: Guard,
        keeps_body: Callable[[Head], bool],
        room: Room,
    ) -> None:
        self.curl = curl
        self.way = way
        self.lines: list[bytes] = []
        self.resolved: Target | None = None  # whose addresses this slot has put into libcurl's DNS cache
        self.terms: RequestTerms | None = None  # that the handle is set to
        self.has_own_headers = False  # the handle is set to other headers than the common ones of its terms
        self.spent = -1.0  # seconds by which the handle's time-outs are shorter than its terms say
        self.request: Request
        self.route: Route
        self.started: float
        self._guard = guard
        self._keeps_body = keeps_body
        self._room = room
        self._held = 0  # bytes that the body takes out of the room
        self._head: Head | None = None
        self._body: Body | None = None
        self._header_bytes = 0
        self._size = 0
        self._stop: Stop | None = None
        self._refused = ""

    def rest(self) -> None:
        self.lines.clear()
        self._room.free += self._held
        self._held = 0
        self._head = None
        self._body = None
        self._header_bytes = 0
        self._size = 0
        self._stop = None
        self._refused = ""

    def on_body(self, data: bytes) -> int | None:
        """libcurl's write callback. Returns None to go on, 0 to end the transfer."""
        if self._head is None:
            self._read_head()
        if self._body is None:
            self._size += len(data)
            return None if self._stop is Stop.UNWANTED_TYPE and self._size <= DRAINED_BYTES else 0
        if self._body.feed(data):
            if self._is_in_the_way():
                self._stop = Stop.NO_ROOM
                return 0
            return None
        self._stop = Stop.ENOUGH
        return 0

    def _is_in_the_way(self) -> bool:
        assert self._body is not None
        assert self.terms is not None
        held = self.terms.max_body_bytes - self._body.room
        self._room.free -= held - self._held
        self._held = held
        return self._room.free < 0 and held > _FAIR_SHARE

    def open_guarded_socket(self, purpose: int, address: Any) -> Any:
        """libcurl's socket callback: checks the address once more, right before it is dialled."""
        host = address.addr[0]
        host = host.decode("ascii") if isinstance(host, bytes) else host
        if not (host in self.route.proxy_addresses if self.route.proxy is not None else self._guard.permits(host)):
            self._refused = host
            return pycurl.SOCKET_BAD
        return _Lent(socket.socket(address.family, address.socktype, address.protocol).detach())

    def response(self, code: int, message: str) -> Response:
        """Returns the response of the transfer that ended with libcurl's `code` (0: success)."""
        request = self.request
        if self._head is None and self.lines:
            self._read_head()
        response = Response(request.key, request.url, self.started, cookies=request.cookies)
        response.address = self.curl.getinfo(pycurl.PRIMARY_IP) if self.route.proxy is None else self.route.address
        response.wire_bytes = self._header_bytes + int(self.curl.getinfo(pycurl.SIZE_DOWNLOAD_T))
        stop = self._stop
        if stop is Stop.HEADERS_TOO_LARGE:
            response.outcome = Outcome.HEADERS_TOO_LARGE
            assert self.terms is not None
            response.detail = f"the headers exceed {self.terms.max_header_bytes} bytes"
        elif stop is Stop.NO_ROOM:
            response.outcome = Outcome.NO_ROOM
            response.detail = f"all open pages together exceed {self._room.size} bytes"
        elif code and not (stop is not None and code == pycurl.E_WRITE_ERROR):
            response.outcome, response.detail = self._failure(code, message)
        else:
            assert self._head is not None
            fill(response, self.route, self._head, self._body)
            response.aborted_by_type = stop is Stop.UNWANTED_TYPE
        return response

    def _read_head(self) -> None:
        assert self.terms is not None
        head = self._head = Head(self.lines)
        self._header_bytes = sum(map(len, self.lines))
        if self._header_bytes > self.terms.max_header_bytes:
            self._stop = Stop.HEADERS_TOO_LARGE
        elif not (self.request.any_type or self._keeps_body(head)):
            self._stop = Stop.UNWANTED_TYPE
            length = find_header(head.headers, b"content-length") or b""
            if length.isdigit() and int(length) > DRAINED_BYTES:
                self._size = DRAINED_BYTES
        else:
            self._body = body_of(head, self.terms.max_body_bytes)

    def _failure(self, code: int, message: str) -> tuple[Outcome, str]:
        detail = " ".join(message.split()) or f"libcurl's error {code}"
        if self._refused:
            return Outcome.ADDRESS_REFUSED, f"{self._refused} is not a public address"
        if code == pycurl.E_OPERATION_TIMEDOUT:
            return self._timeout(detail), detail
        if code == pycurl.E_SSL_CONNECT_ERROR and ("SYSCALL" in detail or "reset by peer" in detail):
            return Outcome.CONNECTION_LOST, detail
        if self.route.proxy is not None and not self.lines and code in _PROXY_FAILURES:
            return Outcome.CONNECT_FAILED, f"the proxy {self.route.proxy.host}: {detail}"
        return _OUTCOMES.get(code, Outcome.INTERNAL_ERROR), detail

    def _timeout(self, detail: str) -> Outcome:
        if not self.curl.getinfo(pycurl.REQUEST_SIZE):  # the request never went out
            return Outcome.CONNECT_TIMEOUT
        return Outcome.TOO_SLOW if detail.startswith("Operation too slow") and self.lines else Outcome.TIMEOUT
