"""Both transports against the same faults: what goes in and comes out must not depend on which one is used."""

from __future__ import annotations

import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pycrawl.config import parse
from pycrawl.fetch.curl import CurlTransport
from pycrawl.fetch.transport import Response, TransportSettings, header
from pycrawl.model import Outcome
from pycrawl.urls.normal_form import UrlRules, normalise
from tests.fetch.conftest import SETTINGS, Client
from tests.fetch.encodings import HUGE_PAGE, LETTERS, NOISE
from tests.fetch.faults import PAGE, STOPPING_BYTES, FaultServer
from tests.fetch.tls import TlsServer

MakeClient = Callable[..., Client]


def is_failure(response: Response, outcome: Outcome) -> bool:
    """`outcome`, said in one line, and nothing of an answer."""
    assert response.outcome is outcome, response
    assert response.detail
    assert "\n" not in response.detail
    return (response.status, response.headers, response.body) == (0, [], b"")


def reset_memory_peak() -> int:
    """Bytes resident now."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory_peak()


def memory_peak() -> int:
    """The most bytes resident since the last reset."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def test_an_answer_is_reported_whole(client: Client, server: FaultServer) -> None:
    before, before_utc = time.monotonic(), time.time()
    response = client.get(f"{server.base}/ok")
    assert (response.status, response.status_line, response.body) == (200, b"HTTP/1.1 200 OK", PAGE)
    assert response.outcome is None
    assert response.headers == [
        (b"Content-Length", b"%d" % len(PAGE)),
        (b"X-Answer", b"one"),
        (b"x-answer", b"two"),
        (b"Content-Type", b"text/html"),
    ]
    assert header(response, b"x-answer") == b"one"
    assert header(response, b"x-missing") is None
    assert response.address == "127.0.0.1"
    assert before <= response.started <= response.ended <= time.monotonic()
    assert before_utc <= response.fetched_at <= time.time()
    assert response.wire_bytes > len(PAGE)
    assert (response.truncated, response.aborted_by_type) == (False, False)
    assert client.transport.in_flight == 0


def test_the_request_says_who_asks_and_what_it_takes(client: Client, server: FaultServer) -> None:
    client.get(f"{server.base}/ok?q=1", ("If-None-Match", '"caf\xe9"'), ("X-Bad", "a\r\nX-Forged: b"))
    client.get(f"{server.base}/ok")
    first, second = server.requests
    assert first.startswith(b"GET /ok?q=1 HTTP/1.1\r\n")
    assert f"User-Agent: {SETTINGS['user_agent']}\r\n".encode() in first
    assert b"Accept-Encoding: gzip, deflate, br\r\n" in first
    assert b"Accept: text/html" in first
    assert b"Host: 127.0.0.1:%d\r\n" % server.port in first
    assert b'If-None-Match: "caf\xe9"\r\n' in first
    assert b"Forged" not in first
    assert b"If-None-Match" not in second  # a handle used again forgets the last request's headers
    assert b"Cookie" not in first + second


@pytest.mark.parametrize(
    "resource",
    [
        "ok",
        "gzipped",
        "brotli-coded",
        "deflated",
        "deflated-raw",
        "gzip-of-two-members",
        "gzip-and-more",
        "encoded-twice",
        "encoded-twice-in-two-lines",
        "encoding-none",
        "chunked",
        "interim-answers",
        "http-1-0",
        "header-folded",
    ],
)
def test_a_body_is_decoded(client: Client, server: FaultServer, resource: str) -> None:
    response = client.get(f"{server.base}/{resource}")
    assert (response.outcome, response.status, response.body) == (None, 200, PAGE)
    assert not response.damaged


@pytest.mark.parametrize("resource", ["brotli-coded-well", "gzipped-well"])
def test_a_little_that_becomes_much_is_whole(make_client: MakeClient, server: FaultServer, resource: str) -> None:
    response = make_client(max_body_bytes=1_000_000).get(f"{server.base}/{resource}")
    assert (response.body, response.truncated, response.damaged) == (HUGE_PAGE, False, False)


@pytest.mark.parametrize(
    ("resource", "outcome"),
    [
        ("gzip-garbage", Outcome.BAD_ENCODING),
        ("deflate-garbage", Outcome.BAD_ENCODING),
        ("brotli-garbage", Outcome.BAD_ENCODING),
        ("encoding-unknown", Outcome.BAD_ENCODING),
        ("encoded-once-said-twice", Outcome.BAD_ENCODING),
        ("six-encodings", Outcome.BAD_ENCODING),
        ("hollow-bomb", Outcome.BAD_ENCODING),
        ("gzip-endless-and-empty", Outcome.BAD_ENCODING),
        ("length-negative", Outcome.BAD_RESPONSE),
        ("length-is-a-word", Outcome.BAD_RESPONSE),
        ("length-twice", Outcome.BAD_RESPONSE),
        ("length-too-long", Outcome.CONNECTION_LOST),
        ("chunked-cut", Outcome.CONNECTION_LOST),
        ("chunked-garbage", Outcome.CONNECTION_LOST),
        ("reset-in-the-middle", Outcome.CONNECTION_LOST),
        ("closes-at-once", Outcome.CONNECTION_LOST),
        ("header-without-colon", Outcome.BAD_RESPONSE),
        ("header-with-nul", Outcome.BAD_RESPONSE),
        ("not-http", Outcome.BAD_RESPONSE),
        ("headers-100-kb", Outcome.HEADERS_TOO_LARGE),
        ("headers-endless", Outcome.HEADERS_TOO_LARGE),
    ],
)
def test_a_fault_has_its_name(client: Client, server: FaultServer, resource: str, outcome: Outcome) -> None:
    assert is_failure(client.get(f"{server.base}/{resource}"), outcome)


def test_slow_ones_are_given_up_side_by_side(make_client: MakeClient, server: FaultServer) -> None:
    # Long enough for a busy server to send its first bytes, and far apart: silence ends at the later one with libcurl.
    client = make_client(slow_seconds=2.0, total_timeout=8.0)
    expected = {
        "byte-by-byte": Outcome.TOO_SLOW,
        "headers-slow": Outcome.TOO_SLOW,
        "never-answers": Outcome.TIMEOUT,
    }
    for resource in expected:
        client.submit(f"{server.base}/{resource}")
    assert client.transport.in_flight == 3
    responses = client.wait(3)
    assert {response.url.rpartition("/")[2]: response.outcome for response in responses} == expected
    assert all(is_failure(response, expected[response.url.rpartition("/")[2]]) for response in responses)


@pytest.mark.parametrize("resource", ["byte-by-byte", "headers-slow", "never-answers"])
def test_the_whole_fetch_has_a_deadline(make_client: MakeClient, server: FaultServer, resource: str) -> None:
    client = make_client(min_bytes_per_second=0, total_timeout=2.0)
    response = client.get(f"{server.base}/{resource}")
    assert is_failure(response, Outcome.TIMEOUT)
    assert response.ended - response.started > 1.9


@pytest.mark.parametrize("resource", ["gzip-bomb", "deflate-bomb", "brotli-bomb", "nested-bomb", "body-endless"])
def test_a_body_is_cut_at_the_limit(client: Client, server: FaultServer, resource: str) -> None:
    response = client.get(f"{server.base}/{resource}")
    assert (response.outcome, response.status, response.truncated) == (None, 200, True)
    assert len(response.body) == SETTINGS["max_body_bytes"]


def test_a_body_of_the_limit_is_whole(make_client: MakeClient, server: FaultServer) -> None:
    client = make_client(max_body_bytes=len(PAGE))
    response = client.get(f"{server.base}/ok")
    assert (response.body, response.truncated) == (PAGE, False)


def test_bodies_that_are_too_large_together_end_and_make_room(server: FaultServer) -> None:
    client = Client(CurlTransport, max_body_bytes=1_000_000, room_bytes=1)  # at least twice the largest body
    for _ in range(16):
        client.submit(f"{server.base}/body-that-stops")
    crowded_out = client.wait(14)
    assert all(is_failure(one, Outcome.NO_ROOM) and "exceed" in one.detail for one in crowded_out)
    server.release.set()
    stayed = client.wait(16)[14:]
    assert [(one.outcome, len(one.body)) for one in stayed] == [(None, STOPPING_BYTES)] * 2
    assert client.get(f"{server.base}/body-endless").truncated, "there is room again"
    client.close()


BOMBS = ["gzip-bomb", "deflate-bomb", "brotli-bomb", "nested-bomb", "hollow-bomb"]


@pytest.mark.parametrize("resource", BOMBS)
def test_a_bomb_of_a_gigabyte_takes_little_memory(make_client: MakeClient, server: FaultServer, resource: str) -> None:
    client = make_client(max_body_bytes=10_000_000)
    client.get(f"{server.base}/{resource}")  # the server has made its bomb
    before = reset_memory_peak()
    client.get(f"{server.base}/{resource}")
    assert memory_peak() - before < 60_000_000


@pytest.mark.parametrize(
    ("resource", "whole", "least"),
    [
        ("gzip-truncated", PAGE, 4_000),
        ("deflate-truncated", NOISE, 29_000),
        ("brotli-truncated", NOISE, 29_000),
        ("gzip-wrong-checksum", NOISE, len(NOISE)),
        ("gzip-broken", LETTERS, 19_000),
        ("brotli-broken", LETTERS, 19_000),
    ],
)
def test_a_broken_encoding_counts_as_far_as_it_goes_and_is_marked(
    client: Client, server: FaultServer, resource: str, whole: bytes, least: int
) -> None:
    response = client.get(f"{server.base}/{resource}")
    assert (response.outcome, response.status, response.damaged, response.truncated) == (None, 200, True, False)
    assert response.detail
    assert len(response.body) >= least
    assert response.body[:least] == whole[:least]


def test_a_body_that_cannot_be_decoded_does_not_hide_a_redirect(client: Client, server: FaultServer) -> None:
    response = client.get(f"{server.base}/encoded-redirect-garbage")
    assert (response.outcome, response.status, response.body, response.damaged) == (None, 302, b"", True)
    assert header(response, b"location") == b"/ok"


def test_an_empty_body_needs_no_decoding(client: Client, server: FaultServer) -> None:
    response = client.get(f"{server.base}/encoded-nothing")
    assert (response.outcome, response.status, response.body, response.damaged) == (None, 200, b"", False)


def test_a_length_too_short_cuts_the_body(client: Client, server: FaultServer) -> None:
    assert client.get(f"{server.base}/length-too-short").body == PAGE[:100]
    assert client.get(f"{server.base}/length-beside-chunks").body == b"hello"


def test_what_follows_a_body_answers_nothing(client: Client, server: FaultServer) -> None:
    for _ in range(3):
        assert client.get(f"{server.base}/length-too-short-and-a-forged-answer").body == PAGE[:100]
        assert client.get(f"{server.base}/ok").body == PAGE


@pytest.mark.parametrize(
    "url",
    [
        "http://user:password@127.0.0.1:{}/ok",
        "http://user@127.0.0.1:{}/ok",
        "http://example.com\\@127.0.0.1:{}/ok",
        "http://example.com%40127.0.0.1:{}/ok",
        "http://[127.0.0.1]@127.0.0.1:{}/ok",
    ],
)
def test_credentials_and_what_two_parsers_read_differently_never_go_out(
    client: Client, server: FaultServer, url: str
) -> None:
    assert is_failure(client.get(url.format(server.port)), Outcome.INTERNAL_ERROR)
    assert server.connections == 0
    normal = normalise(url.format(server.port), UrlRules())
    assert normal is None or "@" not in normal.split("/")[2]


@pytest.mark.parametrize(
    ("resource", "status", "body"),
    [
        ("no-content", 204, b""),
        ("not-modified", 304, b""),
        ("redirect", 301, b"gone there"),
        ("error-500", 500, b"sorry"),
        ("bare-newlines", 200, b"hello"),
    ],
)
def test_other_answers(client: Client, server: FaultServer, resource: str, status: int, body: bytes) -> None:
    response = client.get(f"{server.base}/{resource}")
    assert (response.outcome, response.status, response.body) == (None, status, body)
    assert not response.aborted_by_type
    assert len(server.requests) == 1  # redirects are not followed
    assert header(response, b"location") == (b"/ok" if resource == "redirect" else None)


def test_interim_answers_are_dropped(client: Client, server: FaultServer) -> None:
    response = client.get(f"{server.base}/interim-answers")
    assert response.status_line == b"HTTP/1.1 200 OK"
    assert header(response, b"link") is None
    assert header(response, b"x-final") == b"yes"


def test_folded_headers_are_unfolded_and_trailers_dropped(client: Client, server: FaultServer) -> None:
    assert header(client.get(f"{server.base}/header-folded"), b"x-folded") == b"one two"
    assert header(client.get(f"{server.base}/chunked"), b"x-trailer") is None


def test_unwanted_types_are_not_read(client: Client, server: FaultServer) -> None:
    response = client.get(f"{server.base}/image-endless")
    assert (response.outcome, response.status, response.body) == (None, 200, b"")
    assert response.aborted_by_type
    assert response.wire_bytes < 500_000
    assert client.get(f"{server.base}/error-500").body == b"sorry"  # JSON, but not a 2xx


def test_small_unwanted_bodies_do_not_cost_the_connection(client: Client, server: FaultServer) -> None:
    response = client.get(f"{server.base}/image")
    assert (response.aborted_by_type, response.body, header(response, b"content-type")) == (True, b"", b"image/png")
    client.get(f"{server.base}/ok")
    assert server.connections == 1


def test_connections_are_kept(client: Client, server: FaultServer) -> None:
    for resource in ("ok", "redirect", "chunked", "no-content", "not-modified", "interim-answers", "ok"):
        client.get(f"{server.base}/{resource}")
    assert server.connections == 1


def test_a_head_brings_no_body(client: Client, server: FaultServer) -> None:
    for resource in ("ok-head", "chunked-head", "ok-head"):
        response = client.get(f"{server.base}/{resource}", is_head=True)
        assert (response.outcome, response.status, response.body) == (None, 200, b"")
        assert (header(response, b"content-length") == b"%d" % len(PAGE)) == (resource == "ok-head")
        assert client.get(f"{server.base}/ok-head").body == PAGE
    assert [request.split()[0] for request in server.requests] == [b"HEAD", b"GET"] * 3
    assert server.connections == 1


def test_a_body_after_a_head_is_no_answer(client: Client, server: FaultServer) -> None:
    for _ in range(3):
        assert client.get(f"{server.base}/ok", is_head=True).body == b""
        assert client.get(f"{server.base}/ok").body == PAGE


def test_connections_are_kept_by_name_too(client: Client, server: FaultServer) -> None:
    for _ in range(3):
        assert client.get(f"http://localhost:{server.port}/ok").status == 200
        assert client.get(f"http://other.localhost:{server.port}/ok").status == 200
    assert server.connections == 2


def test_a_kept_connection_that_died_is_replaced(client: Client, server: FaultServer) -> None:
    for _ in range(3):
        assert client.get(f"{server.base}/ok-but-closes").status == 200


def test_many_at_once(client: Client, server: FaultServer) -> None:
    for _ in range(60):
        client.submit(f"{server.base}/ok")
    responses = client.wait(60)
    assert {response.status for response in responses} == {200}
    assert sorted(response.key for response in responses) == list(range(60))
    assert client.transport.in_flight == 0


def test_answers_never_come_from_inside_submit(client: Client) -> None:
    for url in ("http://127.0.0.1:1/", "http://[::1]:1/", "http://a b/", "nonsense", "http://localhost:x/", "ftp://a/"):
        count = len(client.responses)
        client.submit(url)
        assert len(client.responses) == count
        client.wait(count + 1)
        assert client.responses[-1].outcome is not None


def test_connection_refused(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert is_failure(client.get(f"http://127.0.0.1:{port}/"), Outcome.CONNECT_FAILED)


def test_a_server_that_does_not_accept(make_client: MakeClient) -> None:
    client = make_client(connect_timeout=0.3)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        fillers = [socket.socket() for _ in range(4)]  # they fill the backlog: further SYNs are dropped
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        response = client.get(f"http://127.0.0.1:{address[1]}/")
        for filler in fillers:
            filler.close()
    assert is_failure(response, Outcome.CONNECT_TIMEOUT)


def test_ipv6(client: Client) -> None:
    server = FaultServer("::1")
    response = client.get(f"{server.base}/ok")
    assert (response.status, response.address) == (200, "::1")
    assert client.get(f"http://localhost:{server.port}/ok").address == "::1"  # after 127.0.0.1 has refused
    server.close()


def test_closing_with_fetches_under_way(make_client: MakeClient, server: FaultServer) -> None:
    client = make_client()
    client.get(f"{server.base}/ok")
    client.submit(f"{server.base}/never-answers")
    client.submit(f"{server.base}/ok")
    client.loop.run_once(0.05)
    client.transport.close()
    count = len(client.responses)
    client.loop.run_once(0.05)
    assert len(client.responses) == count


def test_settings_come_from_the_configuration() -> None:
    config = parse(
        "[crawl]\nslots_per_fetcher = 7\nnameservers = ['127.0.0.1:5353']\n"
        "[limits]\nmax_body_bytes = '1 KB'\ntotal_timeout = '9s'\n[security]\nallow_private_addresses = true\n"
    )
    settings = TransportSettings.of(config)
    assert (settings.slots, settings.max_body_bytes, settings.total_timeout) == (7, 1000, 9.0)
    assert (settings.nameservers, settings.allow_private) == (("127.0.0.1:5353",), True)
    assert settings.user_agent == config.user_agent


@pytest.fixture
def tls_port(certificate: Path) -> Iterator[int]:
    server = TlsServer(certificate)
    yield server.port
    server.close()


def test_tls_with_a_trusted_certificate(make_client: MakeClient, tls_port: int, certificate: Path) -> None:
    client = make_client(ca_file=str(certificate / "cert.pem"))
    response = client.get(f"https://localhost:{tls_port}/")
    assert (response.outcome, response.status, response.body) == (None, 200, PAGE)


def test_tls_with_an_unknown_certificate(client: Client, tls_port: int) -> None:
    assert is_failure(client.get(f"https://localhost:{tls_port}/"), Outcome.TLS_FAILURE)


def test_tls_with_another_hosts_certificate(make_client: MakeClient, tls_port: int, certificate: Path) -> None:
    client = make_client(ca_file=str(certificate / "cert.pem"))
    assert is_failure(client.get(f"https://127.0.0.1:{tls_port}/"), Outcome.TLS_FAILURE)


@pytest.mark.parametrize("is_reset", [False, True])
def test_tls_with_a_server_that_hangs_up_on_the_greeting(client: Client, is_reset: bool) -> None:
    def hang_up() -> None:
        sock, _ = listener.accept()
        with sock:
            sock.recv(65_536)
            if is_reset:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=hang_up)
        thread.start()
        response = client.get(f"https://127.0.0.1:{listener.getsockname()[1]}/")
        thread.join()
    assert is_failure(response, Outcome.TLS_FAILURE)


def test_tls_with_a_server_that_speaks_none(make_client: MakeClient, server: FaultServer) -> None:
    client = make_client(connect_timeout=0.5)  # the server waits for the rest of a request
    response = client.get(f"https://127.0.0.1:{server.port}/ok")
    assert response.outcome in (Outcome.TLS_FAILURE, Outcome.CONNECT_TIMEOUT)
