"""Reads answers for urllib3 within limits, and as libcurl reads them.

http.client is lenient in other ways than libcurl. So it sees only lines that were checked here, and of the headers only
those that say where the body ends; all lines as they came are in `Budget.lines`.
"""

from __future__ import annotations

import io
import re
import socket
import time
from enum import Enum, auto
from http.client import HTTPResponse
from typing import Any

from pycrawl.fetch.transport import BODILESS, MOST_HEADER_LINES, RequestTerms, status_of
from pycrawl.fetch.wire import is_crumbled, is_padded
from pycrawl.model import Outcome

_BUFFER_BYTES = 65_536
_MOST_LINE_BYTES = 65_536  # of a header; more than the limit on all of them allows, by default
_MOST_LENGTH_BYTES = 64  # digits of a Content-Length that are read
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}(?![0-9A-Fa-f])")  # what follows it on its line is an extension
_BLANKS = (b" ", b"\t")
_KEEPING = (
    b"connection",
    b"keep-alive",
    b"proxy-connection",
)  # headers that say whether a connection can be used again
_UNSEEN = bytes(range(33)) + bytes(range(128, 256))  # what libcurl drops at the end of an encoding's name


class FetchError(Exception):
    """Ends a fetch with an outcome. Passes through urllib3 unchanged, which wraps other errors in its own."""

    def __init__(self, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.detail = detail


class Budget:
    """The limits of one fetch on time, speed and size. `read_into` does all reading, and checks them.

    The speed is that of the body: what is sent besides it keeps no fetch alive.
    """

    def __init__(self, terms: RequestTerms, started: float) -> None:
        self.wire_bytes = 0
        self.lines: list[bytes] = []  # the header lines so far
        self._terms = terms
        self._deadline = started + terms.total_timeout
        self._connect_deadline = started + terms.connect_timeout
        self._header_bytes = 0
        self._body_bytes = 0  # still encoded
        self._pieces = 0
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
            if is_padded(self.wire_bytes, self._body_bytes + _BUFFER_BYTES):
                detail = f"{self.wire_bytes} bytes received for {self._body_bytes} of the body"
                raise FetchError(Outcome.BAD_RESPONSE, detail)
            return count

    def take_body(self, length: int) -> None:
        """Count a piece of the body."""
        self._window_bytes += length
        self._body_bytes += length
        self._pieces += 1
        if is_crumbled(self._pieces, self._body_bytes):
            detail = f"{self._pieces} chunks for {self._body_bytes} of the body"
            raise FetchError(Outcome.BAD_RESPONSE, detail)

    def take_line(self, line: bytes, is_status: bool = False) -> None:
        """Check and keep a line of a head or a trailer."""
        self._header_bytes += len(line)
        terms = self._terms
        if self._header_bytes > terms.max_header_bytes or len(self.lines) >= MOST_HEADER_LINES:
            detail = f"the headers exceed {terms.max_header_bytes} bytes or {MOST_HEADER_LINES} lines"
            raise FetchError(Outcome.HEADERS_TOO_LARGE, detail)
        if b"\0" in line:
            raise FetchError(Outcome.BAD_RESPONSE, "NUL byte in header")
        if is_status and not (line[5:6] == b"1" and status_of(line)):
            raise FetchError(Outcome.BAD_RESPONSE, f"not a status line: {line[:80]!r}")
        if not is_status and b":" not in line and line.strip() and line[:1] not in _BLANKS:
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


class _Framing:
    """What the headers of an answer say of where its body ends. Raises FetchError where libcurl does not go on."""

    def __init__(self, has_body: bool) -> None:
        self._has_body = has_body
        self._length = -1
        self._is_encoded = False  # a Transfer-Encoding was named, so that lengths do not count
        self._is_chunked = False
        self._location = b""
        self._keeping: list[bytes] = []

    def take(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name in _KEEPING:
            self._keeping.append(b"%s: %s\r\n" % (name, value.strip()))
        elif name == b"location":
            self._take_location(value.strip())
        elif name == b"content-length" and self._has_body and not self._is_encoded:
            for word in value.split(b","):
                self._take_length(word.strip())
        elif name == b"transfer-encoding" and self._has_body:
            self._is_encoded = True
            for word in value.split(b","):
                self._take_encoding(word.lstrip(b" \t").rstrip(_UNSEEN).lower())

    def lines(self) -> list[bytes]:
        """The headers that http.client is to see."""
        if self._is_chunked:
            return [*self._keeping, b"Transfer-Encoding: chunked\r\n", b"\r\n"]
        if self._length >= 0 and not self._is_encoded:
            return [*self._keeping, b"Content-Length: %d\r\n" % self._length, b"\r\n"]
        return [*self._keeping, b"\r\n"]

    def _take_location(self, value: bytes) -> None:
        if value and self._location not in (b"", value):
            raise FetchError(Outcome.BAD_RESPONSE, "several Location headers")
        self._location = value or self._location

    def _take_length(self, word: bytes) -> None:
        # One that is too long to be read is for the head to tell.
        length = int(word[:_MOST_LENGTH_BYTES]) if word.isdigit() else -1
        if length < 0 or self._length not in (-1, length):
            raise FetchError(Outcome.BAD_RESPONSE, f"invalid Content-Length {word[:40]!r}")
        self._length = length

    def _take_encoding(self, word: bytes) -> None:
        if word not in (b"", b"identity", b"chunked") or (word == b"identity" and self._is_chunked):
            raise FetchError(Outcome.BAD_ENCODING, f"unsolicited Transfer-Encoding {word[:40]!r}")
        self._is_chunked = self._is_chunked or word == b"chunked"


class _Part(Enum):
    """What of an answer is read line by line."""

    STATUS = auto()
    HEADERS = auto()
    CHUNK_SIZES = auto()
    TRAILERS = auto()


class _CheckedReader(io.BufferedReader):
    """Checks each line before http.client gets it."""

    def __init__(self, budget: Budget, is_head: bool, sock: socket.socket) -> None:
        super().__init__(_BudgetedSocket(budget, sock), _BUFFER_BYTES)
        self._is_head = is_head
        self.part = _Part.STATUS
        self._budget = budget
        self._headers: list[bytes] = []  # those that http.client is still to get, last first

    def readline(self, size: int | None = -1, /) -> bytes:
        match self.part:
            case _Part.STATUS:
                return self._status_line(super().readline(size))
            case _Part.HEADERS:
                return self._next_header()
            case _Part.CHUNK_SIZES:
                return self._chunk_size(super().readline(size), size)
        line = super().readline(size)
        if not line:
            raise FetchError(Outcome.CONNECTION_LOST, "closed in the trailers")
        self._budget.take_line(line)
        return line

    def _status_line(self, line: bytes) -> bytes:
        if not line:
            return line
        self._budget.take_line(line, is_status=True)
        self.part = _Part.HEADERS
        status = status_of(line)
        self._headers = self._read_headers(status)[::-1]
        return b"%s %d\r\n" % (line[:8].upper(), status)

    def _read_headers(self, status: int) -> list[bytes]:
        """Read the headers up to their end."""
        framing = _Framing(not self._is_head and status not in BODILESS)
        name = value = b""
        while True:
            line = super().readline(_MOST_LINE_BYTES)
            if not line:
                raise FetchError(Outcome.CONNECTION_LOST, "closed in the headers")
            self._budget.take_line(line)
            if line[:1] in _BLANKS:  # obsolete line folding (RFC 9112, 5.2)
                value += b" " + line.strip()
                continue
            framing.take(name, value)
            if not line.strip(b"\r\n"):
                return framing.lines()
            name, _, value = line.partition(b":")

    def _next_header(self) -> bytes:
        line = self._headers.pop()
        if not self._headers:
            self.part = _Part.STATUS  # unless this was the last head
        return line

    def _chunk_size(self, line: bytes, most_bytes: int | None) -> bytes:
        size = _CHUNK_SIZE.match(line)
        if len(line) == most_bytes:
            raise FetchError(Outcome.BAD_RESPONSE, f"{len(line)} bytes and more in place of a chunk's size")
        if size is None or not line.endswith(b"\n"):
            raise FetchError(Outcome.CONNECTION_LOST, f"not the size of a chunk: {line[:40]!r}")
        if not int(size[0], 16):
            self.part = _Part.TRAILERS
        return size[0] + b"\r\n"


class Answer(HTTPResponse):
    def __init__(self, budget: Budget, is_head: bool, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self.fp.close()
        self.fp = self._reader = _CheckedReader(budget, is_head, sock)

    def begin(self) -> None:
        super().begin()
        while 100 <= self.status < 200:  # http.client passes over 100 only
            self.headers = self.msg = None  # type: ignore[assignment]  # its word for "not read yet"
            super().begin()
        self._reader.part = _Part.CHUNK_SIZES  # if there are chunks: else no more lines are read
