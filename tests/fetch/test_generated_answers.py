"""Generated answers, odd in several ways at once: both transports make the same of each; none is a fault of ours."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from itertools import count

import brotli
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pycrawl.model import Outcome
from pycrawl.simweb.hostile_answers import MANY_DIGITS, HostileAnswer
from tests.fetch.answer_server import AnswerServer
from tests.fetch.conftest import TRANSPORTS, Client

SHORT = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
LONG = settings(SHORT, max_examples=5_000, derandomize=False)
runs = pytest.mark.parametrize("run", [SHORT, pytest.param(LONG, marks=pytest.mark.slow)], ids=["short", "long"])

TEXT = b"<p>some words that are repeated, " * 3
NUMBERS = (b"0", b"5", b"%d" % len(TEXT), b"-1", b"+5", b"5 5", b"5,5", b"", b"0x10", b"1e3", b"9" * 19, MANY_DIGITS)
VALUES = (
    *NUMBERS,
    b"text/html",
    b"image/png",
    b"\xff\x00",
    b"\xe4\xc3\xa4",
    b"a=b; Max-Age=" + MANY_DIGITS,
    b"chunked",
)
NAMES = (
    b"Content-Length|Content-Type|Transfer-Encoding|Content-Encoding|Connection|Set-Cookie|Retry-After|Age|Location|"
    b"Refresh|Keep-Alive|Trailer|X-Odd|content-LENGTH|Content-Length |X(y)|Proxy-Connection|Upgrade|Alt-Svc|ETag"
).split(b"|")
ENDS = (b"\r\n", b"\r\n", b"\r\n", b"\n")

status_lines = st.one_of(
    st.sampled_from(
        (b"HTTP/1.1 200 OK", b"HTTP/1.1 200 OK: fine", b"HTTP/1.0 200", b"http/1.1 404 no", b"HTTP/1.1 204")
    ),
    st.sampled_from((b"HTTP/1.1 301 Moved", b"HTTP/1.1 304 Not", b"HTTP/1.1 503 Busy", b"HTTP/1.1 999", b"ICY 200 OK")),
    st.sampled_from(
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK", b"HTTP/1.1 103 a: b\r\nX: y\r\n\r\nHTTP/1.1 200")
    ),
)
headers = st.tuples(
    st.sampled_from(NAMES), st.one_of(st.sampled_from(VALUES), st.binary(max_size=12)), st.sampled_from(ENDS)
).map(lambda parts: parts[0] + b": " + parts[1].translate(None, b"\0\r\n") + parts[2])
content = st.one_of(st.just(TEXT), st.just(b""), st.binary(max_size=40), st.just(gzip.compress(TEXT, mtime=0)))


def chunked(body: bytes, extension: bytes, ending: bytes) -> bytes:
    pieces = (body[start : start + 50] for start in range(0, len(body), 50))
    chunks = b"".join(b"%x%s\r\n%s\r\n" % (len(piece), extension, piece) for piece in pieces)
    return b"Transfer-Encoding: chunked\r\n\r\n" + chunks + ending


def sized(body: bytes, length: int) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % max(0, len(body) + length) + body


def encoded(body: bytes, name: bytes, cut: int) -> bytes:
    data = {b"gzip": gzip.compress, b"deflate": zlib.compress, b"br": brotli.compress}[name](body)
    return b"Content-Encoding: " + name + b"\r\n" + sized(data[: max(0, len(data) - cut)], 0)


ENDINGS = (
    b"0\r\n\r\n",
    b"0\r\nX: y\r\n\r\n",
    b"0\r\nodd\r\n\r\n",
    b"",
    b"0",
    b"zz\r\n",
    b"-1\r\n\r\n",
    b"00;x\r\n\r\n",
)
bodies = st.one_of(
    st.builds(chunked, content, st.sampled_from((b"", b";x=y", b" ", b";" + b"z" * 70)), st.sampled_from(ENDINGS)),
    st.builds(sized, content, st.sampled_from((0, 0, -1, 1))),
    st.builds(encoded, content, st.sampled_from((b"gzip", b"deflate", b"br")), st.sampled_from((0, 0, 1, 9))),
    content.map(lambda body: b"\r\n" + body),
)
generated = st.tuples(status_lines, st.lists(headers, max_size=4), bodies).map(
    lambda parts: parts[0] + b"\r\n" + b"".join(parts[1]) + parts[2]
)


@pytest.fixture
def clients() -> Iterator[list[Client]]:
    made = [Client(transport, cookies=True) for transport in TRANSPORTS.values()]
    yield made
    for client in made:
        client.close()


@runs
def test_both_transports_make_the_same_of_an_answer(run: settings, clients: list[Client]) -> None:
    server = AnswerServer(())
    numbers = count()

    @run
    @given(generated)
    def check(wire: bytes) -> None:
        name = f"answer-{next(numbers)}"
        server.answers = {name: HostileAnswer(name, wire, Outcome.FETCHED)}
        first, second = (client.get(f"{server.base}/{name}") for client in clients)
        assert first.outcome is not Outcome.INTERNAL_ERROR, first.detail
        assert (first.outcome, first.status, first.aborted_by_type) == (
            second.outcome,
            second.status,
            second.aborted_by_type,
        ), (first, second)
        assert (first.body, first.damaged, first.headers) == (second.body, second.damaged, second.headers)
        assert clients[0].get(f"{server.base}/honest").status == clients[1].get(f"{server.base}/honest").status == 200

    check()
    server.close()
