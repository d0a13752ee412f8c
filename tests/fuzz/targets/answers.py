"""What servers send: heads, content encodings, and whole answers, read as a fetcher reads them."""

from __future__ import annotations

import gzip
import pickle
import re
import socket
import threading
import time
import zlib
from contextlib import suppress
from functools import cache
from typing import Any

import brotli

from pycrawl.config import Config, LimitsSection
from pycrawl.fetch.curl import CurlTransport
from pycrawl.fetch.decoding import Body
from pycrawl.fetch.loop import Loop
from pycrawl.fetch.proxies import Proxy
from pycrawl.fetch.routes import ResolvingTransport, body_of
from pycrawl.fetch.transport import Head, Request, Response, TransportSettings, type_gate
from pycrawl.fetch.tunnels import TunnelError, open_tunnel
from pycrawl.fetch.urllib3_transport import ThreadTransport
from pycrawl.fetcher.feed_result import FeedReader
from pycrawl.fetcher.named_links import NamedPacker
from pycrawl.fetcher.page_result import PageReader
from pycrawl.fetcher.probe_result import ProbeReader
from pycrawl.fetcher.process import AnswerReader
from pycrawl.fetcher.result import LONGEST_DETAIL
from pycrawl.fetcher.robots_result import RobotsReader, RulesCache
from pycrawl.fetcher.sitemap_result import SitemapReader
from pycrawl.fetcher.without_body import WithoutBody
from pycrawl.model import FetchJob, FetchResult, Kind, Outcome, Results, Validators
from pycrawl.processes.messages import pack, unpack_results
from pycrawl.urls.normal_form import UrlRules
from pycrawl.urls.scope import Scope
from tests.fuzz.case import Target

URL = "http://example.com/a/b?c=1"
MAX_BODY = 20_000  # bytes
PATIENCE = 10.0  # seconds for an answer whose server has hung up
_HEAD_END = re.compile(rb"\r?\n\r?\n")

HEAD_WORDS = (
    b"HTTP/1.1 200 OK\r\n|HTTP/1.0 200\r\n|HTTP/2 404\r\n|HTTP/1.1 100 Continue\r\n\r\n|HTTP/1.1 103 Early Hints\r\n|"
    b"HTTP/1.1 301 Moved\r\n|HTTP/1.1 304 Not Modified\r\n|HTTP/1.1 429 \r\n|HTTP/1.1 503 Busy\r\n|"
    b"HTTP/1.1 99999 X\r\n|"
    b"Content-Type: |text/html|; charset=|utf-16|application/pdf|Content-Length: |Transfer-Encoding: chunked\r\n|"
    b"Transfer-Encoding: gzip\r\n|Content-Encoding: |gzip|deflate|br|x-gzip|identity|, |Location: |http://|//h.test/|"
    b"Set-Cookie: a=b; Path=/\r\n|Retry-After: |Wed, 21 Oct 2025 07:28:00 GMT|X-Robots-Tag: |noindex|"
    b"unavailable_after: |"
    b"ETag: |Last-Modified: |Refresh: 0; url=/x\r\n|Link: </x>; rel=next\r\n|Cache-Control: max-age=|0\r\n\r\n|"
    b"5\r\nhello\r\n|"
    b";ext=1|\r\n|\n|\r|:|\0|\x1b[31m|\xff| |\t folded\r\n|<a href='/x'>x</a>|<meta name=robots content=noindex>|"
    b"</DOC>\n|"
    b"User-agent: *\nDisallow: /\n|Connection: close\r\n|Trailer: X\r\n"
).split(b"|")


def head(data: bytes) -> None:
    lines = data.splitlines(keepends=True)
    read = Head(lines)
    assert 0 <= read.status < 10**6
    for name, value in read.headers:
        assert b":" not in name
        assert value == value.strip()
    assert sum(len(name) + len(value) for name, value in read.headers) <= len(data) + len(lines)
    type_gate(Scope(Config()).wants_type)(read)
    body_of(read, MAX_BODY)


ENCODINGS = b"gzip|deflate|br|x-gzip|identity|gzip, br|br, gzip|deflate, gzip, br|rot13".split(b"|")


def encoding(data: bytes) -> None:
    """The first byte names the encodings, the second the size of the pieces in which the rest comes."""
    name, step = ENCODINGS[data[0] % len(ENCODINGS)] if data else b"", 1 + (data[1] if len(data) > 1 else 0) * 16
    whole, in_pieces = _decoded(name, data[2:], len(data) or 1), _decoded(name, data[2:], step)
    assert len(whole) <= MAX_BODY
    assert len(in_pieces) <= MAX_BODY
    assert whole.startswith(in_pieces) or in_pieces.startswith(whole)


def _decoded(name: bytes, data: bytes, step: int) -> bytes:
    body = Body(name, MAX_BODY)
    for start in range(0, len(data), step):
        if not body.feed(data[start : start + step]):
            break
    return body.end()


class _Readers:
    """The readers of a fetcher, each used for case after case, as a fetcher uses them."""

    def __init__(self) -> None:
        config = Config(limits=LimitsSection(max_links_per_page=50))
        scope = Scope(config)
        rules = RulesCache(config.crawl.name)
        self.wants = type_gate(scope.wants_type)
        pages = PageReader(config, scope, 1)
        packer = NamedPacker(UrlRules.of(config), scope, 1)
        answers = WithoutBody(UrlRules.of(config), scope, 1)
        feeds = FeedReader(answers, packer, pages, 1)
        pages.feed_reader = feeds
        self.by_kind: dict[Kind, AnswerReader] = {
            Kind.PAGE: pages,
            Kind.PROBE: ProbeReader(config),
            Kind.ROBOTS: RobotsReader(config, scope.settings, rules, packer),
            Kind.SITEMAP: SitemapReader(answers, packer, 1, check_result),
            Kind.FEED: feeds,
        }
        self.jobs = [
            FetchJob(1, URL, 1),
            FetchJob(1, URL, 1, close_look=True, hops=3, cookies="a=b"),
            FetchJob(1, URL, 1, validators=Validators('"e"', "yesterday")),
            FetchJob(1, URL, 1, Kind.PROBE),
            FetchJob(1, "http://example.com/robots.txt", 1, Kind.ROBOTS, site="http://example.com"),
            FetchJob(1, URL, 1, Kind.SITEMAP),
            FetchJob(1, URL, 1, Kind.FEED),
        ]


readers = cache(_Readers)


def answer(data: bytes) -> None:
    """A head and a body, as a transport that is done with them hands them to each reader."""
    parts = _HEAD_END.split(data, maxsplit=1)
    read = Head([*(line + b"\r\n" for line in parts[0].split(b"\n")), b"\r\n"])
    body = body_of(read, MAX_BODY)
    body.feed(parts[-1] if len(parts) > 1 else b"")
    for job in readers().jobs:
        response = Response(1, job.url, 0.0, read.status, read.status_line, read.headers, body.end())
        response.aborted_by_type = not readers().wants(read)
        check_result(readers().by_kind[job.kind].read(job, response))


def check_result(result: FetchResult) -> None:
    assert pickle.loads(pickle.dumps(result)) == result
    assert unpack_results(pack(Results((result,)))).results == (result,)
    assert len(result.detail) <= LONGEST_DETAIL
    assert result.retry_after >= 0
    assert result.robots is None or result.robots.crawl_delay >= 0
    assert len(result.links.hashes) % 8 == 0
    assert result.links.texts_count == len(result.links.verdicts)
    assert result.links.texts_count == (len(result.links.texts.split(b"\n")) if result.links.texts else 0)


class _Wire:
    """A server that answers each connection with the bytes at hand and hangs up, and a transport that asks it."""

    def __init__(self, transport: type[ResolvingTransport]) -> None:
        self.answer = b""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/"
        self._loop = Loop()
        self._responses: list[Response] = []
        settings: dict[str, Any] = {"slots": 1, "max_body_bytes": MAX_BODY, "total_timeout": PATIENCE / 2}
        self._transport = transport(
            self._loop,
            TransportSettings("fuzz/1.0", allow_private=True, cookies=True, **settings),
            Scope(Config()).wants_type,
            self._responses.append,
        )
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection:
                try:
                    connection.recv(65_536)
                    connection.sendall(self.answer)
                    connection.shutdown(socket.SHUT_WR)
                    connection.settimeout(PATIENCE)
                    connection.recv(65_536)  # until the client hangs up: closing first could reset what it has not read
                except OSError:
                    continue

    def get(self, answer: bytes) -> Response:
        self.answer = answer
        self._responses.clear()
        self._transport.submit(Request(1, self.url))
        end = time.monotonic() + PATIENCE
        while not self._responses:
            assert time.monotonic() < end, "the transport never answers"
            self._loop.run_once(0.1)
        assert len(self._responses) == 1
        return self._responses[0]


wire = cache(_Wire)


def through_curl(data: bytes) -> None:
    _through(wire(CurlTransport), data)


def through_urllib3(data: bytes) -> None:
    _through(wire(ThreadTransport), data)


def _through(server: _Wire, data: bytes) -> None:
    response = server.get(data)
    if response.outcome is Outcome.TIMEOUT:  # once may be the fault of a busy machine
        response = server.get(data)
    assert response.outcome is not Outcome.INTERNAL_ERROR, response.detail
    assert response.outcome is not Outcome.TIMEOUT, "waits for a server that has hung up"
    assert response.outcome is not None or 100 <= response.status <= 999, response.status_line
    assert len(response.body) <= MAX_BODY
    assert "\n" not in response.detail
    job = FetchJob(1, server.url, 1)
    check_result(readers().by_kind[Kind.PAGE].read(job, response))


_PROXIES = tuple(Proxy(scheme, "proxy.test", 1, "user", "password") for scheme in ("http", "socks5"))


def tunnel(data: bytes) -> None:
    """What a proxy answers when it is asked for a tunnel."""
    for proxy in _PROXIES:
        ours, theirs = socket.socketpair()
        with ours, theirs, suppress(TunnelError, OSError):
            theirs.sendall(data)
            theirs.shutdown(socket.SHUT_WR)
            open_tunnel(ours, proxy, "h.test", 443, "fuzz/1.0", lambda: PATIENCE)


_WORDS = tuple(HEAD_WORDS)
_ENCODED = tuple(
    [gzip.compress(b"a page", mtime=0), gzip.compress(b"", mtime=0), zlib.compress(b"a page" * 99), b"\0\0\0\xff\xff"]
    + [bytes(brotli.compress(content)) for content in (b"", b"a page", b"\0" * 1_000_000)]
    + [bytes([number, 9]) for number in range(len(ENCODINGS))]
)

TARGETS = [
    Target("head", head, _WORDS),
    Target("encoding", encoding, _ENCODED),
    Target("answer", answer, _WORDS, max_bytes=8_192),
    Target("tunnel", tunnel, (*_WORDS, b"\5\2\1\0", b"\5\0", b"\5\0\0\1", b"\5\0\0\3\xff"), max_bytes=20_000),
    Target("wire-curl", through_curl, _WORDS, max_bytes=8_192),
    Target("wire-urllib3", through_urllib3, _WORDS, max_bytes=8_192),
]
