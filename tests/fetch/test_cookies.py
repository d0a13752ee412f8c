from __future__ import annotations

from collections.abc import Callable

import pytest

from pycrawl.config import parse
from pycrawl.fetch.cookies import MAX_HEADER_BYTES, CookieJar, cookie_date, cookies_to_ask_again
from pycrawl.fetch.transport import Response, TransportSettings
from tests.fetch.conftest import Client
from tests.fetch.faults import PAGE, FaultServer

NOW = 1_000_000_000.0
PAGE_URL = "https://www.example.com/a/b/page?q=/x/"


def jar_with(*set_cookies: str, url: str = PAGE_URL) -> CookieJar:
    jar = CookieJar()
    jar.put(url, [value.encode("latin-1") for value in set_cookies], NOW)
    return jar


@pytest.mark.parametrize(
    ("set_cookie", "sent"),
    [
        ("a=b", "a=b"),
        (" a = b ; Path=/; HttpOnly; SameSite=Lax; Unknown", "a=b"),
        ("a=b=c", "a=b=c"),
        ('a="b, c"', 'a="b, c"'),
        ("a=caf\xc3\xa9", "a=caf\xc3\xa9"),
        ("a=", "a="),
        ("b", "b"),
        ("=b", "b"),
        ("", ""),
        ("=", ""),
        (";a=b", ""),
        ("a=b\0c", ""),
        ("a=b\x7f", ""),
        ("a=b\tc", ""),
        ("a=b; Domain=www.example.com", "a=b"),
        ("a=b; Domain=.EXAMPLE.com", "a=b"),
        ("a=b; Domain=", "a=b"),
        ("a=b; Domain=other.com", ""),
        ("a=b; Domain=ww.example.com", ""),
        ("a=b; Domain=sub.www.example.com", ""),
        ("a=b; Secure", "a=b"),
        ("a=b; Path=/a", "a=b"),
        ("a=b; Path=/a/", "a=b"),
        ("a=b; Path=/a/b/page", "a=b"),
        ("a=b; Path=/a/b/pag", ""),
        ("a=b; Path=/x/", ""),
        ("a=b; Path=relative", "a=b"),
        ("a=b; Max-Age=1", "a=b"),
        ("a=b; Max-Age=0", ""),
        ("a=b; Max-Age=-5", ""),
        ("a=b; Max-Age=" + "9" * 400, "a=b"),
        ("a=b; Max-Age=soon", "a=b"),
        ("a=b; Max-Age=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "a=b"),
        ("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", ""),
        ("a=b; Expires=Fri, 31 Dec 2100 23:59:59 GMT", "a=b"),
        ("a=b; Expires=rubbish", "a=b"),
        ("a=" + "v" * 4095, "a=" + "v" * 4095),
        ("a=" + "v" * 4096, ""),
    ],
)
def test_what_is_kept_and_sent_back(set_cookie: str, sent: str) -> None:
    assert jar_with(set_cookie).header(PAGE_URL, NOW) == sent


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://www.example.com/a/b/", "a=b; s=t; r=q"),
        ("https://www.example.com/a/b", "s=t; r=q"),
        ("https://WWW.example.com:8443/a/b/c?x", "a=b; s=t; r=q"),
        ("http://www.example.com/a/b/c", "a=b; r=q"),
        ("https://www.example.com/", "s=t; r=q"),
        ("https://example.com/a/b/", ""),
        ("https://sub.www.example.com/a/b/", ""),
        ("https://evilwww.example.com/a/b/", ""),
        ("https://other.com/a/b/", ""),
    ],
)
def test_where_cookies_go(url: str, sent: str) -> None:
    jar = jar_with("a=b; Path=/a/b/; Domain=example.com", "s=t; Secure; Path=/", "r=q; Path=/")
    assert jar.header(url, NOW) == sent


def test_an_address_is_nobodys_domain() -> None:
    assert jar_with("a=b; Domain=0.0.1", url="http://127.0.0.1/").header("http://127.0.0.1/", NOW) == ""
    assert jar_with("a=b", url="http://[::1]/").header("http://[::1]/", NOW) == "a=b"


def test_a_secure_cookie_is_not_taken_from_a_plain_answer() -> None:
    url = "http://www.example.com/"
    assert jar_with("a=b; Secure", url=url).header("https://www.example.com/", NOW) == ""


def test_cookies_expire() -> None:
    jar = jar_with("a=b; Max-Age=10")
    assert jar.header(PAGE_URL, NOW + 9) == "a=b"
    assert jar.header(PAGE_URL, NOW + 10) == ""


def test_a_cookie_is_replaced_and_deleted_by_name_and_path() -> None:
    jar = jar_with("a=1; Path=/", "a=2; Path=/a", "a=3; Path=/")
    assert jar.header(PAGE_URL, NOW) == "a=2; a=3"
    jar.put(PAGE_URL, [b"a=; Path=/; Max-Age=0"], NOW)
    assert jar.header(PAGE_URL, NOW) == "a=2"


def test_a_host_has_a_bounded_number_of_cookies() -> None:
    jar = jar_with("first=1; Max-Age=5", *(f"c{n}=v" for n in range(60)))
    names = [pair.partition("=")[0] for pair in jar.header(PAGE_URL, NOW).split("; ")]
    assert names == [f"c{n}" for n in range(10, 60)]


def test_the_header_is_bounded() -> None:
    jar = jar_with(*(f"c{n}={'v' * 4000}" for n in range(50)))
    assert len(jar.header(PAGE_URL, NOW)) <= MAX_HEADER_BYTES


def test_hosts_are_bounded_and_the_least_used_is_forgotten() -> None:
    jar = CookieJar(max_hosts=3)
    for name in "abcd":
        jar.put(f"http://{name}.org/", [b"k=v"], NOW)
        jar.header("http://a.org/", NOW)
    assert [jar.header(f"http://{name}.org/", NOW) for name in "abcd"] == ["k=v", "", "k=v", "k=v"]


def test_all_cookies_together_are_bounded() -> None:
    jar = CookieJar(max_bytes=10_000)
    for n in range(100):
        jar.put(f"http://h{n % 20}.org/", [b"k=%s" % (b"v" * 1000)], NOW)
    kept = [n for n in range(20) if jar.header(f"http://h{n}.org/", NOW)]
    assert kept == list(range(13, 20))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784111777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784111777),
        ("Sun Nov  6 08:49:37 1994", 784111777),
        ("Sun, 06-Nov-1994 08:49:37 UTC", 784111777),
        ("1 Jan 69 0:0:0", 3124224000),
    ],
)
def test_dates(text: str, seconds: int) -> None:
    assert cookie_date(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "0", "1 Jan 2020", "32 Jan 2020 00:00:00", "1 Jan 2020 24:00:00", "1 Foo 2020 1:1:1"]
)
def test_what_is_no_date(text: str) -> None:
    assert cookie_date(text) == float("inf")


def answer(sent: str, *set_cookies: bytes) -> Response:
    return Response(1, PAGE_URL, 0.0, headers=[(b"set-cookie", value) for value in set_cookies], cookies=sent)


@pytest.mark.parametrize(
    ("sent", "set_cookies", "again"),
    [
        ("", [b"a=b"], "a=b"),
        ("", [b"a=b; Path=/", b"c=d"], "c=d; a=b"),
        ("", [], ""),
        ("", [b"a=b; Max-Age=0"], ""),
        ("", [b"a=b; Domain=other.com"], ""),
        ("a=b", [b"a=b"], ""),
        ("a=b", [b"a=c"], "a=c"),
        ("a=b; x=y", [b"c=d"], "a=b; x=y; c=d"),
    ],
)
def test_whether_to_ask_again(sent: str, set_cookies: list[bytes], again: str) -> None:
    assert cookies_to_ask_again(answer(sent, *set_cookies)) == again


def test_a_redirect_to_itself_that_sets_a_cookie(client: Client, server: FaultServer) -> None:
    url = f"{server.base}/cookie-then-page"
    first = client.get(url)
    assert (first.status, first.set_cookies) == (302, [b"seen=yes; Path=/; HttpOnly"])
    again = cookies_to_ask_again(first)
    second = client.get(url, cookies=again)
    assert (second.status, second.body, second.cookies) == (200, PAGE, "seen=yes")
    assert client.get(url).status == 302  # nothing is kept
    assert b"Cookie" not in server.requests[-1]


def test_a_jar_keeps_cookies_for_their_host(make_client: Callable[..., Client], server: FaultServer) -> None:
    client = make_client(cookies=True)
    url = f"{server.base}/cookie-then-page"
    assert [client.get(url).status for _ in range(3)] == [302, 200, 200]
    assert client.get(f"http://localhost:{server.port}/cookie-then-page").status == 302
    assert client.get("nonsense").outcome is not None
    assert client.get(url, cookies="mine=1").cookies == "mine=1"


def test_a_cookie_cannot_forge_a_header(client: Client, server: FaultServer) -> None:
    client.get(f"{server.base}/ok", cookies="a=b\r\nX-Forged: yes")
    client.get(f"{server.base}/ok", cookies="a=\u4e16")
    assert b"Forged" not in server.requests[0]
    assert b"\r\nCookie: a=?\r\n" in server.requests[1]


def test_the_configuration_decides() -> None:
    assert not TransportSettings.of(parse("[crawl]\nproxy = 'none'")).cookies
    assert TransportSettings.of(parse("[crawl]\nproxy = 'none'\ncookies = true")).cookies
