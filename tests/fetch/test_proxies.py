from __future__ import annotations

import base64
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pycrawl.config import parse
from pycrawl.errors import ConfigError
from pycrawl.fetch.origins import Origin
from pycrawl.fetch.proxies import NO_PROXIES, Proxies, Proxy, parse_proxy
from pycrawl.fetch.transport import TransportSettings
from pycrawl.model import Outcome
from tests.fetch.conftest import Client
from tests.fetch.faults import PAGE, FaultServer
from tests.fetch.nameserver import NameServer, Zone
from tests.fetch.proxy import HttpProxy, ProxyServer, SocksProxy
from tests.fetch.tls import TlsServer

MakeClient = Callable[..., Client]


def through(proxy: ProxyServer, scheme: str, login: str = "") -> Proxies:
    one = parse_proxy(f"{scheme}://{login}127.0.0.1:{proxy.port}", "test")
    return Proxies(one, one)


@pytest.fixture
def http_proxy() -> Iterator[HttpProxy]:
    proxy = HttpProxy()
    yield proxy
    proxy.close()


@pytest.fixture
def socks_proxy() -> Iterator[SocksProxy]:
    proxy = SocksProxy()
    yield proxy
    proxy.close()


@pytest.fixture
def nameserver() -> Iterator[NameServer]:
    nameserver = NameServer()
    nameserver.zones["www.test"] = Zone(("127.0.0.1",))
    nameserver.zones["inside.test"] = Zone(("127.0.0.1",))
    yield nameserver
    nameserver.close()


def test_http_is_forwarded(make_client: MakeClient, server: FaultServer, http_proxy: HttpProxy) -> None:
    client = make_client(proxies=through(http_proxy, "http"))
    url = f"http://known-to-the-proxy.test:{server.port}/ok-but-closes?a=b"
    for _ in range(2):
        response = client.get(url)
        assert (response.outcome, response.status, response.body) == (None, 200, PAGE)
        assert response.address == ""  # the proxy knows it; ours is not to be taken for the server's
    assert set(http_proxy.asked) == {f"GET {url}"}
    assert b"\r\nHost: known-to-the-proxy.test:%d\r\n" % server.port in server.requests[0]


def test_https_is_tunnelled(make_client: MakeClient, http_proxy: HttpProxy, certificate: Path) -> None:
    server = TlsServer(certificate)
    client = make_client(proxies=through(http_proxy, "http"), ca_file=str(certificate / "cert.pem"))
    response = client.get(f"https://localhost:{server.port}/")
    assert (response.outcome, response.status, response.body) == (None, 200, PAGE)
    assert b"X-Proxy" not in dict(response.headers)
    assert http_proxy.asked == [f"CONNECT localhost:{server.port}"]
    server.close()


def test_socks_with_names_looked_up_there(
    make_client: MakeClient, server: FaultServer, socks_proxy: SocksProxy
) -> None:
    client = make_client(proxies=through(socks_proxy, "socks5h"), allow_private=False)
    response = client.get(f"http://known-to-the-proxy.test:{server.port}/ok")
    assert (response.outcome, response.status, response.address) == (None, 200, "")
    assert socks_proxy.asked == ["known-to-the-proxy.test"]


def test_socks_with_names_looked_up_here(
    make_client: MakeClient, server: FaultServer, socks_proxy: SocksProxy, nameserver: NameServer
) -> None:
    client = make_client(proxies=through(socks_proxy, "socks5"), nameservers=(nameserver.address,))
    response = client.get(f"http://www.test:{server.port}/ok")
    assert (response.outcome, response.status, response.address) == (None, 200, "127.0.0.1")
    assert socks_proxy.asked == ["127.0.0.1"]
    assert b"\r\nHost: www.test:%d\r\n" % server.port in server.requests[0]


def test_https_through_socks(make_client: MakeClient, socks_proxy: SocksProxy, certificate: Path) -> None:
    server = TlsServer(certificate)
    client = make_client(proxies=through(socks_proxy, "socks5"), ca_file=str(certificate / "cert.pem"))
    assert client.get(f"https://localhost:{server.port}/").body == PAGE
    server.close()


@pytest.mark.parametrize("scheme", ["http", "socks5", "socks5h"])
@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "2130706433", "localhost", "a.localhost", "169.254.169.254"])
def test_a_proxy_is_never_asked_for_inner_addresses(
    make_client: MakeClient, http_proxy: HttpProxy, socks_proxy: SocksProxy, scheme: str, host: str
) -> None:
    proxy = http_proxy if scheme == "http" else socks_proxy
    client = make_client(proxies=through(proxy, scheme), allow_private=False)
    for protocol in ("http", "https"):
        assert client.get(f"{protocol}://{host}/").outcome is Outcome.ADDRESS_REFUSED
    assert proxy.asked == []


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_names_are_looked_up_and_guarded_before_a_proxy_gets_them(
    make_client: MakeClient, http_proxy: HttpProxy, socks_proxy: SocksProxy, nameserver: NameServer, scheme: str
) -> None:
    proxy = http_proxy if scheme == "http" else socks_proxy
    options = {"proxies": through(proxy, scheme), "nameservers": (nameserver.address,)}
    client = make_client(**options, allow_private=False)
    assert client.get("http://inside.test/").outcome is Outcome.ADDRESS_REFUSED
    assert client.get("http://unknown-here.test/").outcome is Outcome.DNS_FAILURE
    pinned = "8.8.8.8" if scheme == "http" else "127.0.0.1"  # where the name is handed on, it alone is judged
    assert client.get("http://inside.test/", address=pinned).outcome is Outcome.ADDRESS_REFUSED
    assert proxy.asked == []


def test_a_network_may_be_opened_behind_a_proxy(
    make_client: MakeClient, server: FaultServer, http_proxy: HttpProxy, nameserver: NameServer
) -> None:
    client = make_client(
        proxies=through(http_proxy, "http"),
        nameservers=(nameserver.address,),
        allow_private=False,
        allow_networks=("127.0.0.0/8",),
    )
    response = client.get(f"http://inside.test:{server.port}/ok")
    assert (response.status, response.address) == (200, "127.0.0.1")
    assert http_proxy.asked == [f"GET http://inside.test:{server.port}/ok"]


LOGIN = "us%3Aer:pass%40word@"


def test_credentials_for_an_http_proxy(make_client: MakeClient, server: FaultServer, certificate: Path) -> None:
    proxy = HttpProxy(base64.b64encode(b"us:er:pass@word"))
    tls = TlsServer(certificate)
    url = f"http://www.test:{server.port}/ok"
    client = make_client(proxies=through(proxy, "http", LOGIN), ca_file=str(certificate / "cert.pem"))
    assert client.get(url).status == 200
    assert client.get(f"https://localhost:{tls.port}/").status == 200
    assert b"Authorization" not in server.requests[0].replace(b"Proxy-Authorization", b"")
    wrong = make_client(proxies=through(proxy, "http", "someone:else@"))
    for refused in (wrong.get(url), wrong.get(f"https://localhost:{tls.port}/")):
        assert refused.outcome is Outcome.CONNECT_FAILED
        assert "407" in refused.detail
        assert "else" not in refused.detail
    proxy.close()
    tls.close()


def test_credentials_for_a_socks_proxy(make_client: MakeClient, server: FaultServer) -> None:
    proxy = SocksProxy(b"us:er:pass@word")
    url = f"http://www.test:{server.port}/ok"
    assert make_client(proxies=through(proxy, "socks5h", LOGIN)).get(url).status == 200
    for login in ("", "someone:else@"):
        assert make_client(proxies=through(proxy, "socks5h", login)).get(url).outcome is Outcome.CONNECT_FAILED
    proxy.close()


def test_a_proxy_that_refuses(make_client: MakeClient, http_proxy: HttpProxy, socks_proxy: SocksProxy) -> None:
    http_proxy.refusal = b"403 Forbidden"
    refused = make_client(proxies=through(http_proxy, "http")).get("https://www.test/")
    assert refused.outcome is Outcome.CONNECT_FAILED
    assert "403" in refused.detail
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    refused = make_client(proxies=through(socks_proxy, "socks5h")).get(f"http://www.test:{port}/")
    assert refused.outcome is Outcome.CONNECT_FAILED


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
def test_a_proxy_that_is_not_there(make_client: MakeClient, scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    gone = Proxy(scheme, "127.0.0.1", port)
    response = make_client(proxies=Proxies(gone, gone)).get("http://www.test/")
    assert (response.outcome, response.status) == (Outcome.CONNECT_FAILED, 0)


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
def test_a_proxy_that_never_answers(make_client: MakeClient, scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        silent = Proxy(scheme, "127.0.0.1", listener.getsockname()[1])
        client = make_client(proxies=Proxies(silent, silent), connect_timeout=0.4)
        response = client.get("https://www.test/")
    assert response.outcome is Outcome.CONNECT_TIMEOUT


def test_a_proxy_by_name_that_does_not_exist(make_client: MakeClient, nameserver: NameServer) -> None:
    proxy = Proxy("socks5h", "no-proxy.test", 1080)
    client = make_client(proxies=Proxies(proxy, proxy), nameservers=(nameserver.address,))
    response = client.get("http://www.test/")
    assert response.outcome is Outcome.CONNECT_FAILED
    assert "no-proxy.test" in response.detail


def test_a_proxy_by_name(
    make_client: MakeClient, server: FaultServer, http_proxy: HttpProxy, nameserver: NameServer
) -> None:
    nameserver.zones["proxy.test"] = Zone(("127.0.0.1",))
    proxy = Proxy("http", "proxy.test", http_proxy.port)
    client = make_client(
        proxies=Proxies(proxy, proxy), nameservers=(nameserver.address,), allow_private=False, allow_networks=("::/0",)
    )
    assert client.get("http://inside.test/").outcome is Outcome.ADDRESS_REFUSED
    assert client.get(f"http://www.test:{server.port}/ok").outcome is Outcome.ADDRESS_REFUSED
    assert http_proxy.asked == []
    allowed = make_client(proxies=Proxies(proxy, proxy), nameservers=(nameserver.address,))
    assert allowed.get(f"http://www.test:{server.port}/ok").status == 200


def test_hosts_without_a_proxy_are_dialled(make_client: MakeClient, server: FaultServer, http_proxy: HttpProxy) -> None:
    proxy = Proxy("http", "127.0.0.1", http_proxy.port)
    client = make_client(proxies=Proxies(proxy, proxy, ("127.0.0.0/8",)))
    assert client.get(f"{server.base}/ok").address == "127.0.0.1"
    assert http_proxy.asked == []
    assert client.get(f"http://www.test:{server.port}/ok").status == 200
    assert len(http_proxy.asked) == 1


def test_where_a_request_behind_a_proxy_would_go(
    make_client: MakeClient, http_proxy: HttpProxy, nameserver: NameServer
) -> None:
    options = {"proxies": through(http_proxy, "http"), "nameservers": (nameserver.address,)}
    guarded = make_client(**options, allow_private=False, allow_networks=("127.0.0.0/8",))
    assert guarded.resolve("http://www.test/").addresses == ("127.0.0.1",)
    left_to_the_proxy = make_client(**options).resolve("http://www.test/")
    assert (left_to_the_proxy.outcome, left_to_the_proxy.addresses) == (None, ())
    assert http_proxy.asked == []


@pytest.mark.parametrize(
    ("text", "proxy"),
    [
        ("http://proxy:3128", Proxy("http", "proxy", 3128)),
        ("http://proxy/", Proxy("http", "proxy", 80)),
        ("proxy:3128", Proxy("http", "proxy", 3128)),
        ("socks5://[::1]:9", Proxy("socks5", "::1", 9)),
        ("socks5h://a:b%20c@proxy", Proxy("socks5h", "proxy", 1080, "a", "b c")),
    ],
)
def test_proxies_are_read(text: str, proxy: Proxy) -> None:
    assert parse_proxy(text, "x") == proxy
    assert proxy.password == "" or proxy.password not in proxy.url


@pytest.mark.parametrize(
    "text", ["https://proxy:1", "socks4://p:1", "http://", "http://a b", "http://p:99999", "http://p/x"]
)
def test_other_proxies_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^https_proxy: expected"):
        parse_proxy(text, "https_proxy")


A, B = Proxy("http", "a", 80), Proxy("http", "b", 80)


@pytest.mark.parametrize(
    ("setting", "environment", "proxies"),
    [
        ("", {}, NO_PROXIES),
        ("none", {"http_proxy": "http://a"}, NO_PROXIES),
        ("http://b", {"http_proxy": "http://a", "no_proxy": "*"}, Proxies(B, B)),
        ("", {"http_proxy": "http://a"}, Proxies(A, None)),
        ("", {"HTTP_PROXY": "http://a"}, NO_PROXIES),
        ("", {"HTTPS_PROXY": "http://a", "http_proxy": " "}, Proxies(None, A)),
        ("", {"all_proxy": "http://a", "https_proxy": "b"}, Proxies(A, B)),
        ("", {"ALL_PROXY": "a", "NO_PROXY": "X.org, .y.org z"}, Proxies(A, A, ("x.org", ".y.org", "z"))),
    ],
)
def test_the_setting_and_the_environment(setting: str, environment: dict[str, str], proxies: Proxies) -> None:
    assert Proxies.of(setting, environment) == proxies


@pytest.mark.parametrize(
    ("exceptions", "url_host", "port", "direct"),
    [
        ("*", "a.org", 80, True),
        ("a.org", "a.org", 80, True),
        ("a.org", "A.ORG.", 80, True),
        ("a.org", "www.a.org", 80, True),
        (".a.org", "www.a.org", 80, True),
        ("*.a.org", "www.a.org", 80, True),
        ("a.org", "ba.org", 80, False),
        ("a.org:8080", "a.org", 80, False),
        ("a.org:8080", "a.org", 8080, True),
        ("10.0.0.0/8", "10.1.2.3", 80, True),
        ("10.0.0.0/8", "11.1.2.3", 80, False),
        ("10.1.2.3", "10.1.2.3", 80, True),
        ("::1", "::1", 80, True),
        ("[::1]", "::1", 80, True),
        ("10.0.0.0/8", "a.org", 80, False),
        ("", "a.org", 80, False),
        (".", "a.org", 80, False),
    ],
)
def test_hosts_that_need_no_proxy(exceptions: str, url_host: str, port: int, direct: bool) -> None:
    proxies = Proxies.of("", {"http_proxy": "http://a", "no_proxy": exceptions})
    assert (proxies.for_origin(Origin("http", url_host, port)) is None) is direct


def test_the_configuration_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://a:80")
    monkeypatch.delenv("no_proxy", raising=False)
    assert TransportSettings.of(parse("")).proxies.http == A
    assert TransportSettings.of(parse("[crawl]\nproxy = 'none'")).proxies == NO_PROXIES
    monkeypatch.setenv("http_proxy", "gopher://a:80")
    with pytest.raises(ConfigError, match=r"^http_proxy: expected"):
        TransportSettings.of(parse(""))
