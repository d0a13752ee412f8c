"""Whatever a server sends, the parts that read it hold on to what they promise. The longer runs are marked slow."""

from __future__ import annotations

import gzip
import string
import zlib
from collections.abc import Callable
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import brotli
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pycrawl.fetch.addresses import Guard, is_public
from pycrawl.fetch.cookies import MAX_COOKIE_BYTES, CookieJar, cookie_date, parse_cookie
from pycrawl.fetch.decoding import Body
from pycrawl.fetch.origins import Origin, origin_of
from pycrawl.fetch.transport import Head

NOW = 1_000_000_000.0
LONG = settings(max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SHORT = settings(max_examples=100, deadline=None)

runs = pytest.mark.parametrize("run", [SHORT, pytest.param(LONG, marks=pytest.mark.slow)], ids=["short", "long"])

header_lines = st.lists(
    st.one_of(
        st.binary(max_size=30),
        st.sampled_from([b"\r\n", b"\n", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Continue\r\n", b"HTTP/2 404\r\n"]),
        st.binary(max_size=20).map(lambda value: b"Name: " + value + b"\r\n"),
        st.binary(max_size=20).map(lambda value: b" " + value + b"\r\n"),
    ),
    max_size=12,
)


@runs
def test_heads(run: settings) -> None:
    @run
    @given(header_lines)
    def check(lines: list[bytes]) -> None:
        head = Head(lines)
        assert head.status >= 0
        for name, value in head.headers:
            assert b":" not in name
            assert value == value.strip()
        assert sum(len(name) + len(value) for name, value in head.headers) <= sum(map(len, lines)) + len(lines)

    check()


@runs
def test_a_head_is_read_back(run: settings) -> None:
    token = st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=12).map(str.encode)
    value = st.binary(max_size=30).map(lambda data: data.translate(None, b"\r\n\0").strip())

    @run
    @given(st.integers(200, 599), st.lists(st.tuples(token, value), max_size=10))
    def check(status: int, headers: list[tuple[bytes, bytes]]) -> None:
        lines = [
            b"HTTP/1.1 %d Word\r\n" % status,
            *(b"%s: %s\r\n" % pair for pair in headers),
            b"\r\n",
            b"X: trailer\r\n",
        ]
        head = Head(lines)
        assert (head.status, head.headers) == (status, headers)

    check()


ATTRIBUTES = (
    b"a=b|=|\xff=\xff|Path=/|Path=/x|Domain=.example.com|Domain=com|Secure|HttpOnly|Max-Age=5|Max-Age=-|"
    b"Expires=Thu, 01 Jan 1970 00:00:00 GMT|Expires=0:0:0 31 feb 99"
).split(b"|")
set_cookies = st.one_of(
    st.binary(max_size=200),
    st.lists(
        st.sampled_from(ATTRIBUTES),
        max_size=6,
    ).map(b"; ".join),
)
cookie_urls = st.sampled_from(
    [
        "http://www.example.com/",
        "https://www.example.com/x/y",
        "https://example.com/",
        "http://127.0.0.1/",
        "https://com/",
    ]
)


@runs
def test_cookies(run: settings) -> None:
    @run
    @given(st.lists(st.tuples(cookie_urls, set_cookies), max_size=8), cookie_urls)
    def check(answers: list[tuple[str, bytes]], url: str) -> None:
        jar = CookieJar()
        own = CookieJar()
        host = origin_of(url).host
        for answered, value in answers:
            jar.put(answered, [value], NOW)
            if origin_of(answered).host == host:
                own.put(answered, [value], NOW)
            cookie = parse_cookie(value, origin_of(answered), "/", NOW)
            assert cookie is None or len(cookie.name) + len(cookie.value) <= MAX_COOKIE_BYTES
        header = jar.header(url, NOW)
        assert header == own.header(url, NOW)  # other hosts' cookies change nothing
        assert not any(ord(character) < 32 or ord(character) == 127 for character in header)

    check()


@runs
def test_cookie_dates(run: settings) -> None:
    @run
    @given(st.one_of(st.text(max_size=60), st.text("0123456789: -janfebmardec,GMT", max_size=60)))
    def check(text: str) -> None:
        assert cookie_date(text) > -12_000_000_000  # the year 1601

    check()


addresses = st.one_of(
    st.ip_addresses(v=4),
    st.ip_addresses(v=6),
    st.ip_addresses(v=4).map(lambda v4: IPv6Address(f"::ffff:{v4}")),
    st.ip_addresses(v=4).map(lambda v4: IPv6Address(f"64:ff9b::{v4}")),
    st.ip_addresses(v=4).map(lambda v4: IPv6Address((0x2002 << 112) | (int(v4) << 80))),
)


@runs
def test_addresses(run: settings) -> None:
    @run
    @given(addresses)
    def check(address: IPv4Address | IPv6Address) -> None:
        text = str(address)
        embedded = address.ipv4_mapped or address.sixtofour if isinstance(address, IPv6Address) else None
        judged = embedded or address
        if judged.is_private or judged.is_loopback or judged.is_link_local or judged.is_multicast or judged.is_reserved:
            inner = judged in ip_network("64:ff9b::/96") or judged in ip_network("::/96")  # judged by their IPv4 one
            assert inner or not is_public(text)
        assert is_public(text) == Guard().permits(text)
        assert Guard(networks=(text,)).permits(text)
        assert is_public(address.exploded) == is_public(text)

    check()


@runs
def test_what_is_not_an_address_is_refused(run: settings) -> None:
    @run
    @given(st.text(max_size=40))
    def check(text: str) -> None:
        try:
            ip_address(text.partition("%")[0])
        except ValueError:
            assert not is_public(text)
            assert not Guard(allows_all=True).permits(text)

    check()


@runs
def test_origins(run: settings) -> None:
    @run
    @given(st.one_of(st.text(max_size=40), st.text(string.ascii_lowercase + "0123456789@:/\\#?[]%. ", max_size=40)))
    def check(authority: str) -> None:
        url = f"http://{authority}/"
        try:
            origin = origin_of(url)
        except ValueError:
            return
        assert isinstance(origin, Origin)
        assert origin.host
        assert not set(origin.host) & set("@/\\#?[]% ")

    check()


ENCODERS: dict[bytes, Callable[[bytes], bytes]] = {
    b"gzip": partial(gzip.compress, mtime=0),
    b"deflate": zlib.compress,
    b"br": lambda data: bytes(brotli.compress(data)),
}


@runs
def test_encodings(run: settings) -> None:
    times = st.sampled_from([1, 1, 2, 5000])
    encodings = st.lists(st.sampled_from(sorted(ENCODERS)), max_size=3)

    @run
    @given(st.binary(max_size=20), times, encodings, st.integers(1, 5000), st.data())
    def check(unit: bytes, times: int, names: list[bytes], step: int, data: st.DataObject) -> None:
        encoded = content = unit * times
        for name in names:
            encoded = ENCODERS[name](encoded)
        whole = feed(Body(b", ".join(names), 200_000), encoded, step)
        assert whole == (content, "")
        if names:
            cut = encoded[: data.draw(st.integers(0, len(encoded) - 1))]
            body, damage = feed(Body(b", ".join(names), 200_000), cut, step)
            assert content.startswith(body)
            assert damage or not cut
            at = data.draw(st.integers(0, len(encoded) - 1))
            wrong = encoded[:at] + bytes([encoded[at] ^ data.draw(st.integers(1, 255))]) + encoded[at + 1 :]
            assert len(feed(Body(b", ".join(names), 200_000), wrong, step)[0]) <= 200_000

    check()


def feed(body: Body, data: bytes, step: int) -> tuple[bytes, str]:
    for start in range(0, len(data), step):
        if not body.feed(data[start : start + step]):
            break
    return body.end(), body.damage
