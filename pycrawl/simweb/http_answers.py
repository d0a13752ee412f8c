"""HTTP answers as bytes that are ready to send, and a bounded cache of them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from functools import cache, lru_cache
from http import HTTPStatus

from pycrawl.simweb.hosts import Host, PageKind
from pycrawl.simweb.sources import source
from pycrawl.simweb.web import Page, SimWeb

_ENTRY_BYTES = 600  # what an answer takes in memory, apart from its bytes on the wire
_HTML = "Content-Type: text/html; charset=utf-8\r\n"
_PLAIN = "Content-Type: text/plain; charset=utf-8\r\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """One whole answer. A HEAD request gets `wire[:head_bytes]`, a GET all of `wire`."""

    status: int
    wire: bytes
    head_bytes: int
    latency: float = 0.0
    etag: str = ""
    modified_at: int = 0
    not_modified: bytes = b""  # the 304 answer for a client that has this version already


def answer(status: int, headers: str = "", body: bytes = b"", *, latency: float = 0.0) -> Answer:
    head = f"{_status_line(status)}{headers}Content-Length: {len(body)}\r\n\r\n".encode("ascii")
    return Answer(status, head + body, len(head), latency)


def fault(status: int, *, close: bool = False, latency: float = 0.0, headers: str = "") -> Answer:
    """Returns an answer with a status and a short body that names it."""
    body = f"<!DOCTYPE html>\n<title>{status} {HTTPStatus(status).phrase}</title>\n".encode("ascii")
    return answer(status, headers + _HTML + ("Connection: close\r\n" if close else ""), body, latency=latency)


def is_fresh(found: Answer, if_none_match: str, if_modified_since: str) -> bool:
    """True if the client has this very version. If-None-Match overrides If-Modified-Since (RFC 9110, 13.1.3)."""
    if if_none_match:
        return if_none_match == "*" or found.etag in if_none_match
    try:
        since = parsedate_to_datetime(if_modified_since).timestamp()
    except ValueError:
        return False  # RFC 9110, 13.1.3: a date that is none is ignored
    return found.modified_at <= since


class Answers:
    """The answers of one worker's hosts. Each host belongs to one worker, so a flaky page fails only once."""

    def __init__(self, web: SimWeb, cache_bytes: int) -> None:
        self._web = web
        self._spare = cache_bytes  # what the cache may still grow by
        self._ready: OrderedDict[tuple[int, bytes], Answer] = OrderedDict()  # oldest use first
        self._recovered: set[int] = set()  # flaky pages that had their 503
        self._version = 0

    def set_version(self, version: int) -> None:
        """Serve this version of all pages from now on."""
        while self._ready:
            self._forget_oldest()
        self._version = version

    def find(self, host: int, target: bytes) -> Answer:
        """The answer to a GET of a request target (path and query)."""
        key = (host, target)
        ready = self._ready.get(key)
        if ready is not None:
            self._ready.move_to_end(key)
            return ready
        made = self._make(self._web.hosts.host(host), target.decode("latin-1"))
        if made.status != HTTPStatus.SERVICE_UNAVAILABLE:
            self._keep(key, made)
        return made

    def _keep(self, key: tuple[int, bytes], made: Answer) -> None:
        self._ready[key] = made
        self._spare -= _cost(key, made)
        while self._spare < 0 and self._ready:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        self._spare += _cost(*self._ready.popitem(last=False))

    def _make(self, host: Host, target: str) -> Answer:
        if target == "/robots.txt":
            text = host.robots_txt()
            return fault(404) if text is None else answer(200, _PLAIN, text.encode("ascii"))
        page = self._web.find(host, target)
        if page is None:
            found = source(self._web, host, target, self._version)
            return fault(404) if found is None else answer(200, f"Content-Type: {found[0]}\r\n", found[1])
        match page.kind:
            case PageKind.REDIRECT:
                return fault(page.status, latency=page.latency, headers=f"Location: {page.redirect_target}\r\n")
            case PageKind.MISSING | PageKind.BROKEN:
                return fault(page.status, latency=page.latency)
            case PageKind.FLAKY if page.number not in self._recovered:
                self._recovered.add(page.number)
                return fault(503, latency=page.latency, headers=f"Retry-After: {self._web.settings.retry_after}\r\n")
            case _:
                return self._document(page)

    def _document(self, page: Page) -> Answer:
        etag = page.etag(self._version)
        modified_at = page.modified_at(self._version)
        validators = f"ETag: {etag}\r\nLast-Modified: {_http_date(modified_at)}\r\n"
        whole = answer(200, validators + _HTML, page.body(self._version))
        not_modified = f"{_status_line(304)}{validators}\r\n".encode("ascii")
        return Answer(200, whole.wire, whole.head_bytes, page.latency, etag, modified_at, not_modified)


@lru_cache(1_024)  # pages change at midnight: there are few dates
def _http_date(moment: int) -> str:
    return formatdate(moment, usegmt=True)


@cache
def _status_line(status: int) -> str:
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nServer: simweb\r\n"


def _cost(key: tuple[int, bytes], made: Answer) -> int:
    return len(key[1]) + len(made.wire) + _ENTRY_BYTES
