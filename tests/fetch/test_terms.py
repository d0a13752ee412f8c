"""Requests with limits and headers of their own, as `[[host]]` gives them, by both transports."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from pycrawl.config import parse
from pycrawl.fetch.transport import RequestTerms, TransportSettings
from pycrawl.model import Outcome
from pycrawl.urls.host_settings import SettingsByHost
from tests.fetch.conftest import SETTINGS, Client
from tests.fetch.faults import PAGE, FaultServer

MakeClient = Callable[..., Client]


def test_the_terms_of_hosts_come_from_the_configuration() -> None:
    config = parse(
        "[crawl]\nproxy = 'none'\nlanguages = ['de']\nheaders = { DNT = '1' }\n[limits]\ntotal_timeout = 9\n"
        "[[host]]\nname = 'a.example'\nmax_body_bytes = '90 MB'\nconnect_timeout = 3\nmax_header_bytes = 500\n"
        "min_bytes_per_second = 7\nheaders = { dnt = '', X-Key = 'a' }\n"
    )
    terms = RequestTerms.for_host(config, SettingsByHost(config).of("a.example"))
    assert (terms.max_body_bytes, terms.connect_timeout, terms.total_timeout) == (90_000_000, 3.0, 9.0)
    assert (terms.max_header_bytes, terms.min_bytes_per_second) == (500, 7)
    assert terms.headers == (("Accept-Language", "de"), ("dnt", ""), ("X-Key", "a"))
    settings = TransportSettings.of(config)
    assert settings.headers == (("Accept-Language", "de"), ("DNT", "1"))
    assert settings.room_bytes == 180_000_000  # two of the largest


TERMS = RequestTerms(
    user_agent="other/2.0",
    total_timeout=60.0,
    max_body_bytes=1_000,
    headers=(("From", "me@example.org"), ("accept", "text/plain"), ("X-None", "")),
)


def test_requests_with_terms_of_their_own_beside_others(client: Client, server: FaultServer) -> None:
    """A connection or handle that served one of them serves the other next."""
    for _ in range(2):
        client.get(f"{server.base}/ok")
        client.get(f"{server.base}/ok", ("If-None-Match", '"x"'), terms=TERMS)
        client.get(f"{server.base}/ok", terms=TERMS)
    for plain, conditional, own in (server.requests[:3], server.requests[3:]):
        assert b"\r\nFrom: " not in plain
        assert b"\r\nAccept: text/html" in plain
        assert f"User-Agent: {SETTINGS['user_agent']}\r\n".encode() in plain
        for request in (conditional, own):
            assert b"\r\nFrom: me@example.org\r\n" in request
            assert b"\r\naccept: text/plain\r\n" in request.replace(b"Accept: text/plain", b"accept: text/plain")
            assert b"text/html" not in request
            assert b"X-None" not in request
            assert b"User-Agent: other/2.0\r\n" in request
        assert (b"If-None-Match" in plain, b"If-None-Match" in conditional, b"If-None-Match" in own) == (
            False,
            True,
            False,
        )


def test_a_header_without_a_value_is_not_sent(make_client: MakeClient, server: FaultServer) -> None:
    client = make_client(headers=(("Accept", ""), ("From", "")))
    client.get(f"{server.base}/ok")
    assert b"\r\nAccept:" not in server.requests[0]
    assert b"From" not in server.requests[0]


def test_cookies_go_behind_those_of_the_settings(make_client: MakeClient, server: FaultServer) -> None:
    client = make_client(headers=(("cookie", "consent=yes"),))
    client.get(f"{server.base}/ok")
    client.get(f"{server.base}/ok", cookies="a=b")
    client.get(f"{server.base}/ok")
    sent = [re.findall(rb"(?i)\r\ncookie: ([^\r]*)", request) for request in server.requests]
    assert sent == [[b"consent=yes"], [b"consent=yes; a=b"], [b"consent=yes"]]


def test_each_request_has_the_limits_of_its_terms(make_client: MakeClient, server: FaultServer) -> None:
    client = make_client()
    whole = client.get(f"{server.base}/ok")
    assert not whole.truncated
    short = client.get(f"{server.base}/ok", terms=replace(TERMS, max_body_bytes=4))
    assert (short.body, short.truncated) == (PAGE[:4], True)
    tight = client.get(f"{server.base}/ok", terms=replace(TERMS, max_header_bytes=10))
    assert (tight.outcome, tight.body) == (Outcome.HEADERS_TOO_LARGE, b"")
    hasty = client.get(f"{server.base}/never-answers", terms=replace(TERMS, total_timeout=0.2))
    assert (hasty.outcome, hasty.body) == (Outcome.TIMEOUT, b"")
    assert not client.get(f"{server.base}/ok").truncated
