"""A slot: one easy handle of libcurl, used for one transfer after another, and what its transfer has received."""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

import pycurl

from pycrawl.fetch.addresses import Guard
from pycrawl.fetch.decoding import Body
from pycrawl.fetch.faults import note_fault
from pycrawl.fetch.origins import Origin
from pycrawl.fetch.proxies import Proxy
from pycrawl.fetch.routes import Route, body_of, fill
from pycrawl.fetch.transport import DRAINED_BYTES, MOST_HEADER_LINES, Head, Request, RequestTerms, Response
from pycrawl.fetch.wire import is_crumbled, is_padded, received_bytes
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
    pycurl.E_BAD_CONTENT_ENCODING: Outcome.BAD_ENCODING,  # a Transfer-Encoding that was not asked for
    _E_TOO_LARGE: Outcome.HEADERS_TOO_LARGE,
}

_PIECES_PER_CHECK = 64  # a transfer is checked for padding each time that its body has come in so many more pieces
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
    BAD_HEAD = auto()
    HEADERS_TOO_LARGE = auto()
    NO_ROOM = auto()
    PADDED = auto()  # what was received is far more than the body, or the body comes in crumbs
    FAULT = auto()  # an exception was raised while we handled it


# A stop that is the outcome of the transfer, whatever libcurl says.
_ENDS = {
    Stop.BAD_HEAD: Outcome.BAD_RESPONSE,
    Stop.HEADERS_TOO_LARGE: Outcome.HEADERS_TOO_LARGE,
    Stop.NO_ROOM: Outcome.NO_ROOM,
    Stop.PADDED: Outcome.BAD_RESPONSE,
    Stop.FAULT: Outcome.INTERNAL_ERROR,
}


class Room:
    """What the slots of a transport share. Memory for the bodies of all transfers together, in bytes: `free` is what is
    left of `size`.

    When none is left, a transfer that holds more than a fair share ends with NO_ROOM. Without this, a thousand
    transfers could each hold a body of the largest size.

    `received` counts the bytes of bodies that came, still encoded. `suspects` are slots to be checked for padding:
    slots fill it in their callbacks, in which libcurl tells nothing of their transfers, and the transport empties it.
    """

    __slots__ = ("free", "received", "size", "suspects")

    def __init__(self, size: int) -> None:
        self.size = size
        self.free = size
        self.received = 0
        self.suspects: list[Slot] = []


class Slot:
    """libcurl appends header lines to `lines` and gives the body to `on_body`; `response` reads both, `rest` clears."""

    __slots__ = (
        "_at_first",
        "_body",
        "_drained_bytes",
        "_fault",
        "_guard",
        "_head",
        "_header_bytes",
        "_held",
        "_keeps_body",
        "_note_opened",
        "_pieces",
        "_refused",
        "_room",
        "_size",
        "_stop",
        "_wire_bytes",
        "curl",
        "has_own_headers",
        "is_head",
        "is_post",
        "led_to",
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
        note_opened: Callable[[int, str, Origin], None],
    ) -> None:
        self.curl = curl
        self._note_opened = note_opened  # called with each new socket, the address and the origin that it is for
        self.way = way
        # One more than allowed shows that there were too many. Those that come after the head are of no interest.
        self.lines: deque[bytes] = deque(maxlen=MOST_HEADER_LINES + 1)
        self.resolved: Target | None = None  # whose addresses this slot has put into libcurl's DNS cache
        self.terms: RequestTerms | None = None  # that the handle is set to
        self.has_own_headers = False  # the handle is set to other headers than the common ones of its terms
        self.led_to: Route | None = None  # the route that the handle is set to, if its address is pinned
        self.is_head = False  # the handle is set to ask for headers only
        self.is_post = False  # … or to send a form
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
        self._size = 0  # bytes of the body as received, still encoded
        self._pieces = 0  # in which they came
        self._drained_bytes = 0  # of an unwanted body that are read and dropped
        self._at_first: tuple[int, int] | None = None  # bytes on the wire and of bodies from which the transfer counts
        self._wire_bytes = 0  # received in all, when that was last looked at
        self._stop: Stop | None = None
        self._fault = ""
        self._refused = ""

    def rest(self) -> None:
        self.lines.clear()
        self._room.free += self._held
        self._held = 0
        self._head = None
        self._body = None
        self._header_bytes = 0
        self._size = 0
        self._pieces = 0
        self._at_first = None
        self._wire_bytes = 0
        self._stop = None
        self._fault = ""
        self._refused = ""

    def on_body(self, data: bytes) -> int | None:
        """libcurl's write callback. Returns None to go on, 0 to end the transfer."""
        try:
            if self._head is None:
                self._read_head()
            length = len(data)
            self._room.received += length
            self._size += length
            self._pieces += 1
            if not self._pieces % _PIECES_PER_CHECK:
                self._check_pieces()
            if self._body is None:
                return None if self._stop is Stop.UNWANTED_TYPE and self._size <= self._drained_bytes else 0
            body = self._body
            if not body.feed(data):
                self._stop = Stop.ENOUGH
            else:
                held = body.held_bytes
                self._room.free -= held - self._held
                self._held = held
                if self._room.free < 0 and held > _FAIR_SHARE:
                    self._stop = Stop.NO_ROOM
        except Exception as error:  # noqa: BLE001 - costs this URL only
            self.blame(error)
        return None if self._stop is None else 0

    def blame(self, error: Exception) -> None:
        """End the transfer as a fault of ours."""
        self._stop = Stop.FAULT
        self._fault = note_fault(self.request.url, error)

    def _check_pieces(self) -> None:
        self._room.suspects.append(self)
        if self._stop is None and is_crumbled(self._pieces, self._size):
            self._stop = Stop.PADDED

    def open_guarded_socket(self, purpose: int, address: Any) -> Any:
        """libcurl's socket callback: checks the address once more, right before it is dialled."""
        try:
            return self._open_socket(address)
        except Exception as error:  # noqa: BLE001 - costs this URL only
            self.blame(error)
            return pycurl.SOCKET_BAD

    def _open_socket(self, address: Any) -> Any:
        host = address.addr[0]
        host = host.decode("ascii") if isinstance(host, bytes) else host
        if not (host in self.route.proxy_addresses if self.route.proxy is not None else self._guard.permits(host)):
            self._refused = host
            return pycurl.SOCKET_BAD
        made = socket.socket(address.family, address.socktype, address.protocol)
        if self.route.proxy is None:
            self._note_opened(made.fileno(), host, self.route.origin)
        return _Lent(made.detach())

    def is_to_end(self) -> bool:
        """Look at what has come over the wire so far. True if that is far more than the body: the transfer is to end.

        Not to be called from a callback.
        """
        try:
            return self._is_padded()
        except Exception as error:  # noqa: BLE001 - costs this URL only
            self.blame(error)
            return True

    def _is_padded(self) -> bool:
        """What counts is what came since the first look, unless the connection was made
        for this transfer. HTTP/2 has several transfers on a connection, so that all bodies are taken together.
        """
        descriptor = self.curl.getinfo(pycurl.ACTIVESOCKET)
        if descriptor < 0:
            return False
        is_shared = self.curl.getinfo(pycurl.INFO_HTTP_VERSION) == pycurl.CURL_HTTP_VERSION_2_0
        wire, body = received_bytes(descriptor), self._room.received if is_shared else self._size
        if self._at_first is None:
            is_ours = not is_shared and self.curl.getinfo(pycurl.NUM_CONNECTS) > 0
            self._at_first = (0, 0) if is_ours else (wire - body, 0) if not is_shared else (wire, body)
        self._wire_bytes = wire - self._at_first[0]
        if not is_padded(self._wire_bytes, body - self._at_first[1]):
            return False
        if self._head is None and self.lines:
            self._read_head()
        if self._stop is None:
            self._stop = Stop.PADDED
        return True

    def response(self, code: int, message: str) -> Response:
        """Returns the response of the transfer that ended with libcurl's `code` (0: success)."""
        try:
            return self._response(code, message)
        except Exception as error:  # noqa: BLE001 - costs this URL only
            self.blame(error)
            response = self._new_response()
            response.outcome, response.detail = Outcome.INTERNAL_ERROR, self._fault
            return response

    def _new_response(self) -> Response:
        request = self.request
        return Response(request.key, request.url, self.started, cookies=request.cookies)

    def _response(self, code: int, message: str) -> Response:
        if self._head is None and self.lines:
            self._read_head()
        response = self._new_response()
        response.address = self.curl.getinfo(pycurl.PRIMARY_IP) if self.route.proxy is None else self.route.address
        response.wire_bytes = max(self._wire_bytes, self._header_bytes + self._size)
        stop = self._stop
        if stop is not None and stop in _ENDS:
            response.outcome, response.detail = _ENDS[stop], self._explained(stop)
        elif code and not (stop is not None and code == pycurl.E_WRITE_ERROR):
            response.outcome, response.detail = self._failure(code, message)
        else:
            assert self._head is not None
            fill(response, self.route, self._head, self._body)
            response.aborted_by_type = stop is Stop.UNWANTED_TYPE
        return response

    def _explained(self, stop: Stop) -> str:
        assert self.terms is not None
        match stop:
            case Stop.HEADERS_TOO_LARGE:
                return f"the headers exceed {self.terms.max_header_bytes} bytes or {MOST_HEADER_LINES} lines"
            case Stop.NO_ROOM:
                return f"all open pages together exceed {self._room.size} bytes"
            case Stop.PADDED:
                wire = f"{self._wire_bytes} bytes received" if self._wire_bytes else f"{self._pieces} chunks"
                return f"{wire} for {self._size} of the body"
            case Stop.BAD_HEAD if self._head is not None:
                return self._head.fault
        return self._fault

    def _read_head(self) -> None:
        assert self.terms is not None
        head = self._head = Head(self.lines)
        self._header_bytes = sum(map(len, self.lines))
        if self._header_bytes > self.terms.max_header_bytes or len(self.lines) > MOST_HEADER_LINES:
            self._stop = Stop.HEADERS_TOO_LARGE
        elif head.fault:
            self._stop = Stop.BAD_HEAD
        elif not (self.request.any_type or self._keeps_body(head)):
            self._stop = Stop.UNWANTED_TYPE
            self._drained_bytes = DRAINED_BYTES if head.length <= DRAINED_BYTES else 0
        else:
            self._body = body_of(head, self.terms.max_body_bytes)

    def _failure(self, code: int, message: str) -> tuple[Outcome, str]:
        detail = " ".join(message.split()) or f"libcurl's error {code}"
        if self._refused:
            return Outcome.ADDRESS_REFUSED, f"{self._refused} is not a public address"
        if code == pycurl.E_OPERATION_TIMEDOUT:
            return self._timeout(detail), detail
        if self.route.proxy is not None and not self.lines and code in _PROXY_FAILURES:
            return Outcome.CONNECT_FAILED, f"the proxy {self.route.proxy.host}: {detail}"
        return _OUTCOMES.get(code, Outcome.INTERNAL_ERROR), detail

    def _timeout(self, detail: str) -> Outcome:
        if not self.curl.getinfo(pycurl.REQUEST_SIZE):  # the request never went out
            return Outcome.CONNECT_TIMEOUT
        return Outcome.TOO_SLOW if detail.startswith("Operation too slow") and self.lines else Outcome.TIMEOUT
