"""The interface of a transport: request, response, settings. The fetcher works with any transport.

A transport is constructed with (loop, settings, wants_type, on_done); each `submit` and each `resolve` is answered by
exactly one `on_done(Response)`, on the loop's thread and never from inside the call. It follows no redirect and knows
no politeness: the fetcher and the coordinator see to these.
"""

from __future__ import annotations

import os
import re
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import certifi

from pycrawl.config import Config
from pycrawl.config.headers import merged
from pycrawl.fetch.proxies import NO_PROXIES, Proxies
from pycrawl.model import Outcome
from pycrawl.urls.host_settings import HostSettings

SLOW_SECONDS = 15.0  # a fetch that is below limits.min_bytes_per_second for so long is given up
DRAINED_BYTES = 65_536  # an unwanted body up to this is read and dropped: cheaper for both sides than a new connection
_ROOM_BYTES = 128_000_000
ACCEPT = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5"
ENCODINGS = "gzip, deflate, br"
REDIRECTS = frozenset((301, 302, 303, 307, 308))  # statuses whose Location is followed
TOO_BUSY = frozenset((429, 503))  # statuses that ask for fewer requests
BODILESS = frozenset((204, 304))  # statuses of answers that have no body, whatever their headers say
_COOKIE = "Cookie"
FORM_TYPE = "application/x-www-form-urlencoded"
_BLANKS = b" \t"
_LINE_ENDS = (b"\r\n", b"\n")
_STATUS_LINE = re.compile(rb"HTTP/(?:1\.[01]|2)[ \t]([1-9][0-9]{2})(?![0-9])", re.IGNORECASE)
MOST_HEADER_LINES = 1_000  # of an answer, with those of interim ones
_MOST_LENGTH_DIGITS = 18
_LONGEST_USUAL_LINE = 64  # bytes of a status line that is remembered
_LONGEST_TYPE = 256  # bytes of a Content-Type that are looked at
_CONTROLS = re.compile(r"[\0-\x1f\x7f]")

WantsType = Callable[[str], bool]
Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class RequestTerms:
    """What holds for the requests to a host. Durations in seconds, sizes in bytes.

    Hosts with the same terms share one object: transports keep by it what they make of it.
    """

    user_agent: str
    connect_timeout: float = 10.0  # name look-up, connection and TLS together
    total_timeout: float = 60.0
    min_bytes_per_second: int = 100  # 0: no limit
    slow_seconds: float = SLOW_SECONDS
    max_body_bytes: int = 10_000_000  # after decompression
    max_header_bytes: int = 65_536
    headers: tuple[tuple[str, str], ...] = ()  # the user's; one with an empty value is not sent

    @classmethod
    def for_host(cls, config: Config, settings: HostSettings) -> Self:
        """The terms of hosts with these settings."""
        limits = settings.limits
        return cls(
            user_agent=config.user_agent,
            connect_timeout=limits.connect_timeout,
            total_timeout=limits.total_timeout,
            min_bytes_per_second=limits.min_bytes_per_second,
            max_body_bytes=limits.max_body_bytes,
            max_header_bytes=limits.max_header_bytes,
            headers=settings.headers,
        )


class Request(NamedTuple):
    """One GET, HEAD or POST. `key` is the caller's and comes back unchanged; `headers` are for conditional requests.

    `address` (numeric), if set, is the only address dialled, and only connections made to it are used: politeness
    relies on this. The guard checks it like any other. A proxy that looks names up itself ignores it.
    """

    key: int
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    any_type: bool = False  # the body is wanted whatever its type, as that of robots.txt
    is_head: bool = False  # only the headers are asked for
    form: bytes = b""  # the body of a POST, as a browser sends a form; empty: a GET or HEAD
    address: str = ""
    cookies: str = ""  # the Cookie header; empty: what the jar holds, if there is one
    terms: RequestTerms | None = None  # of its host; None: those of the transport
    connections: int = 0  # idle connections to `address` are closed first, so that no more than this are open; 0: any


@dataclass(slots=True)
class Response:
    """The end of a request: an HTTP answer (`outcome` is None), or a failure with its `outcome` and no answer."""

    key: int
    url: str
    started: float  # time.monotonic()
    status: int = 0
    status_line: bytes = b""
    headers: Headers = field(default_factory=list)  # of the last answer; interim ones (1xx) are dropped
    body: bytes = b""  # after transfer and content decoding
    outcome: Outcome | None = None
    detail: str = ""  # one line for people
    address: str = ""  # the server's, as dialled; behind a proxy, the one that the guard saw, if it saw one
    addresses: tuple[str, ...] = ()  # answers `resolve`: all that may be dialled, IPv4 first; `address` is the first
    ended: float = field(default_factory=time.monotonic)
    fetched_at: float = field(default_factory=time.time)  # seconds since the epoch
    wire_bytes: int = 0  # headers and body as they came
    truncated: bool = False  # the body was cut at limits.max_body_bytes
    damaged: bool = False  # the encoding breaks or ends too early; `body` is what could be decoded
    aborted_by_type: bool = False  # 2xx of a type that is not wanted: the body was not kept
    cookies: str = ""  # the Cookie header that went out
    # Lower-case name → its first value, of `headers`, which nobody changes any more once this is there.
    first_values: dict[bytes, bytes] | None = field(default=None, repr=False, compare=False)

    @property
    def set_cookies(self) -> list[bytes]:
        """The values of all Set-Cookie headers."""
        return all_values(self.headers, b"set-cookie")


@dataclass(frozen=True, slots=True)
class TransportSettings(RequestTerms):
    """The part of the configuration that a transport needs: the terms of requests that bring none, and more."""

    slots: int = 128  # fetches open at once
    room_bytes: int = _ROOM_BYTES  # for all bodies that are open, together; at least two of the largest size
    allow_private: bool = False
    allow_networks: tuple[str, ...] = ()
    proxies: Proxies = NO_PROXIES
    cookies: bool = False  # a jar is kept
    nameservers: tuple[str, ...] = ()
    ca_file: str = ""  # empty: the system's, else certifi's

    @classmethod
    def of(cls, config: Config) -> TransportSettings:
        return replace(
            cls.for_host(config, HostSettings.of(config)),
            slots=config.crawl.slots_per_fetcher,
            room_bytes=max(_ROOM_BYTES, 2 * _largest_body(config)),
            allow_private=config.security.allow_private_addresses,
            allow_networks=config.security.allow_networks,
            proxies=Proxies.of(config.crawl.proxy, os.environ),
            cookies=config.crawl.cookies,
            nameservers=config.crawl.nameservers,
        )


def _largest_body(config: Config) -> int:
    """The largest that any host may send, in bytes."""
    sizes: list[int] = [entry.limits.get("max_body_bytes", 0) for entry in config.hosts]
    return max([config.limits.max_body_bytes, *sizes])


class Transport(Protocol):
    @property
    def in_flight(self) -> int:
        """Requests submitted and not yet answered."""

    @property
    def most_slots(self) -> int:
        """Requests that it can have in flight at once, whatever the settings ask for."""

    def submit(self, request: Request) -> None: ...

    def resolve(self, key: int, url: str) -> None:
        """Find out where a request for `url` would be sent, without sending anything to its server.

        Answered with `addresses` (none where a proxy looks the name up), or with DNS_FAILURE or ADDRESS_REFUSED.
        """

    def close(self) -> None:
        """Give up all requests in flight, without answering them, and free sockets and threads."""


def header(response: Response, name: bytes) -> bytes | None:
    """The first value of the header `name` (in lower case), or None."""
    known = response.first_values
    if known is None:
        known = response.first_values = first_values(response.headers)
    return known.get(name)


def first_values(headers: Headers) -> dict[bytes, bytes]:
    """The first value of each header, by its name in lower case. A page's headers are asked for ten times."""
    return {name.lower(): value for name, value in reversed(headers)}


def all_values(headers: Headers, name: bytes) -> list[bytes]:
    length = len(name)  # looked at first: most names differ in it already
    return [value for key, value in headers if len(key) == length and key.lower() == name]


def common_headers(terms: RequestTerms) -> dict[str, str]:
    """The headers of all requests with these terms, User-Agent apart: ours, or the user's in their place. The value of
    one that is not to be sent is empty."""
    headers = merged([("Accept", ACCEPT), ("Accept-Encoding", ENCODINGS)], terms.headers)
    return {_COOKIE if name.lower() == _COOKIE.lower() else name: value for name, value in headers}


def with_own_headers(common: dict[str, str], request: Request) -> dict[str, str]:
    """The headers of this request, in Latin-1: the common ones of its terms and its own.

    A header with control characters is left out, as these could forge further headers.
    """
    headers = dict(common)
    for name, value in request.headers:
        if not _CONTROLS.search(name + value):
            headers[_latin(name)] = _latin(value)
    if request.cookies and not _CONTROLS.search(request.cookies):
        headers[_COOKIE] = "; ".join(filter(None, (common.get(_COOKIE), _latin(request.cookies))))
    return headers


def _latin(text: str) -> str:
    return text if text.isascii() else text.encode("latin-1", "replace").decode("latin-1")


def _opening(line: bytes) -> tuple[bytes, int]:
    """The status line without its end, and the status. Most answers of a crawl begin with the same line."""
    if len(line) > _LONGEST_USUAL_LINE:
        return line.rstrip(), status_of(line)
    return _usual_opening(line)


@lru_cache(maxsize=256)
def _usual_opening(line: bytes) -> tuple[bytes, int]:
    return line.rstrip(), status_of(line)


def status_of(line: bytes) -> int:
    """Returns the status that a status line tells, in the forms that libcurl takes; 0 if it is none."""
    match = _STATUS_LINE.match(line)
    return int(match[1]) if match is not None else 0


class Head:
    """Status and headers of an answer, from its raw lines. `fault` says why it cannot be used, if that is so."""

    __slots__ = ("fault", "first_values", "headers", "status", "status_line")

    def __init__(self, lines: Iterable[bytes]) -> None:
        """Reads the first answer in `lines` that is not an interim one (1xx); trailers after it are ignored."""
        self.status_line = b""
        self.status = 0
        self.headers: Headers = []
        self.fault = ""
        self._read(lines)
        self.first_values = first_values(self.headers)
        if not self.status:
            self.fault = f"not a status line: {self.status_line[:80]!r}"
            return
        for length in self.all_values(b"content-length"):
            if len(length.lstrip(b"0")) > _MOST_LENGTH_DIGITS:
                self.fault = f"a Content-Length of {len(length)} digits"

    @property
    def length(self) -> int:
        """What Content-Length says; -1 if there is none. A head with a fault has none that can be read."""
        length = self.first_values.get(b"content-length", b"")
        return int(length.lstrip(b"0") or b"0") if length.isdigit() and not self.fault else -1

    def all_values(self, name: bytes) -> list[bytes]:
        """The values of all headers of this name (in lower case)."""
        first = self.first_values.get(name)
        if first is None:
            return []
        # As many names as headers: none stands twice.
        return [first] if len(self.first_values) == len(self.headers) else all_values(self.headers, name)

    def _read(self, lines: Iterable[bytes]) -> None:
        rest = iter(lines)
        for line in rest:
            self.status_line, self.status = _opening(line)
            self.headers = []
            if self._read_fields(rest) and not 100 <= self.status < 200:
                return

    def _read_fields(self, lines: Iterator[bytes]) -> bool:
        """Read the headers of one answer. Returns True if their end was there."""
        headers = self.headers
        for line in lines:
            name, colon, value = line.partition(b":")
            if colon and line[0] not in _BLANKS:
                headers.append((name, value.strip()))
            elif line in _LINE_ENDS:
                return True
            elif line and line[0] in _BLANKS and headers:  # obsolete line folding (RFC 9112, 5.2)
                name, value = headers[-1]
                headers[-1] = (name, (value + b" " + line.strip()).strip())
        return False


def type_gate(wants_type: WantsType) -> Callable[[Head], bool]:
    """Returns a function that says whether to keep an answer's body: always, except a 2xx of an unwanted type."""

    @lru_cache(maxsize=1024)
    def wants(value: bytes) -> bool:
        return wants_type(value.partition(b";")[0].strip().lower().decode("latin-1"))

    def keeps(head: Head) -> bool:
        if not 200 <= head.status < 300:
            return True
        return wants(head.first_values.get(b"content-type", b"")[:_LONGEST_TYPE])

    return keeps


def ca_file(settings: TransportSettings) -> str:
    """Returns the file of trusted certificates. libcurl from a wheel would look where its build system keeps them."""
    system = ssl.get_default_verify_paths().cafile
    if settings.ca_file:
        return settings.ca_file
    return system if system is not None and Path(system).is_file() else certifi.where()
