from __future__ import annotations

import select
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pycrawl.config import parse
from pycrawl.fetch.addresses import Guard, is_public
from pycrawl.fetch.dns import MIN_TTL, Resolver
from pycrawl.fetch.origins import Origin
from pycrawl.fetch.routes import Route
from pycrawl.fetch.transport import Request, TransportSettings
from pycrawl.model import Outcome
from pycrawl.urls.normal_form import UrlRules, normalise
from tests.fetch.conftest import GIVE_UP, Client
from tests.fetch.faults import FaultServer
from tests.fetch.nameserver import NameServer, Zone
from tests.fetch.tls import TlsServer

GUARDED: dict[str, Any] = {"allow_private": False}

PUBLIC = """
    1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 169.253.1.1 172.15.255.255 172.32.0.1
    192.0.1.1 192.167.1.1 198.17.255.255 198.20.0.1 223.255.255.255
    2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450:4001:80b::200e 2001:200::1
    ::ffff:8.8.8.8 ::8.8.8.8 64:ff9b::808:808 2002:808:808::1
""".split()

NOT_PUBLIC = """
    0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.255 168.63.129.16 169.254.169.254
    172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1
    203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
    :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a00:1
    64:ff9b:1::808:808 2002:7f00:1::1 2002:a00:1:: 2001:0:4136:e378:8000:63bf:80ff:fffe 100::1 2001:2::1 2001:10::1
    2001:db8::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1
    nonsense 1.2.3 2130706433
""".split()  # the Teredo address (2001:0:…) belongs to 127.0.0.1


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", [*NOT_PUBLIC, ""])
def test_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    ("networks", "address", "permitted"),
    [
        (("10.1.0.0/16",), "10.1.2.3", True),
        (("10.1.0.0/16",), "10.2.0.1", False),
        (("10.1.0.0/16",), "::ffff:10.1.2.3", True),
        (("10.1.0.0/16",), "64:ff9b::a01:203", True),
        (("10.1.0.0/16",), "8.8.8.8", True),
        (("127.0.0.1",), "127.0.0.1", True),
        (("127.0.0.1",), "127.0.0.2", False),
        (("fd00::/8", "127.0.0.0/8"), "fd12::1", True),
        (("fd00::/8", "127.0.0.0/8"), "127.9.9.9", True),
        (("fd00::/8", "127.0.0.0/8"), "::1", False),
        (("0.0.0.0/0",), "nonsense", False),
    ],
)
def test_networks_that_are_opened(networks: tuple[str, ...], address: str, permitted: bool) -> None:
    assert Guard(networks=networks).permits(address) is permitted


def test_a_guard_that_allows_all_still_wants_an_address() -> None:
    guard = Guard(allows_all=True)
    assert guard.permitted(("127.0.0.1", "localhost", "fe80::1%eth0", "")) == ("127.0.0.1", "fe80::1%eth0")


class Wires:
    """Sockets on one port of every local address, IPv4 and IPv6. `touched`: one of them has seen a connection."""

    def __init__(self) -> None:
        self._listeners = [socket.create_server(("0.0.0.0", 0))]
        self.port: int = self._listeners[0].getsockname()[1]
        self._listeners.append(socket.create_server(("::", self.port), family=socket.AF_INET6))

    @property
    def touched(self) -> bool:
        return bool(select.select(self._listeners, [], [], 0.02)[0])

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()


@pytest.fixture
def wires() -> Iterator[Wires]:
    wires = Wires()
    yield wires
    wires.close()


@pytest.fixture
def nameserver() -> Iterator[NameServer]:
    nameserver = NameServer()
    yield nameserver
    nameserver.close()


INNER = """
    127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7F.1 0177.0.0.1 017700000001 0x7f.0x0.0x0.0x1 00000177.0.0.01
    127.255.255.254 0.0.0.0 0 0x0 10.0.0.1 167772161 192.168.0.1 0xc0a80001 172.16.0.1 100.64.0.1 169.254.169.254
    2852039166 0xA9FEA9FE 0251.0376.0251.0376 [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1]
    [::127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::1] [2002:7f00:1::1] [fe80::1] [fd00:ec2::254]
    [ff02::1] localhost LOCALHOST localhost. www.localhost 127.0.0.1. \uff11\uff12\uff17.0.0.1 127\u30020\u30020\u30021
""".split()


def test_the_list_of_inner_hosts_reaches_this_machine(wires: Wires) -> None:
    """Else the test below would prove nothing."""
    socket.create_connection(("127.0.0.1", wires.port)).close()
    assert wires.touched


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_inner_address_is_dialled_however_it_is_written(
    make_client: Callable[..., Client], wires: Wires, scheme: str
) -> None:
    client = make_client(**GUARDED)
    for host in INNER:
        url = f"{scheme}://{host}:{wires.port}/"
        normal = normalise(url, UrlRules())
        assert normal is not None, url
        response = client.get(normal)
        assert (response.outcome, response.status) == (Outcome.ADDRESS_REFUSED, 0), url
        assert "is a private address; set security.allow_private_addresses" in response.detail
        assert client.resolve(normal).outcome is Outcome.ADDRESS_REFUSED, url
        if host.isascii():
            assert client.get(url).outcome in (Outcome.ADDRESS_REFUSED, Outcome.DNS_FAILURE), url
    assert not wires.touched


INNER_ZONES = {
    "inside.test": Zone(("127.0.0.1",)),
    "unspecified.test": Zone(("0.0.0.0",), ("::",)),
    "private.test": Zone(("10.0.0.1", "192.168.0.1"), ("fd00::1",)),
    "metadata.test": Zone(("169.254.169.254",), ("fd00:ec2::254",)),
    "six.test": Zone(v6=("::1",)),
    "mapped.test": Zone(v6=("::ffff:127.0.0.1",)),
    "nat64.test": Zone(v6=("64:ff9b::7f00:1",)),
    "six-to-four.test": Zone(v6=("2002:7f00:1::1",)),
    "both.test": Zone(("127.0.0.1",), ("::ffff:127.0.0.1",)),
}


def test_no_inner_address_is_dialled_for_a_name(
    make_client: Callable[..., Client], wires: Wires, nameserver: NameServer
) -> None:
    nameserver.zones.update(INNER_ZONES)
    client = make_client(**GUARDED, nameservers=(nameserver.address,))
    for host in INNER_ZONES:
        response = client.get(f"http://{host}:{wires.port}/")
        assert response.outcome is Outcome.ADDRESS_REFUSED, host
        assert client.resolve(f"http://{host}:{wires.port}/").outcome is Outcome.ADDRESS_REFUSED
    assert not wires.touched


def test_a_name_that_changes_its_answer_gains_nothing(
    make_client: Callable[..., Client], nameserver: NameServer
) -> None:
    """127.0.0.2 stands for a public address: the name leaves it for 127.0.0.1 between one look-up and the next."""
    now = [1000.0]
    outside = FaultServer("127.0.0.2")
    inside = FaultServer("127.0.0.1", outside.port)
    client = make_client(**GUARDED, allow_networks=("127.0.0.2",))
    client.transport._resolver.close()
    client.transport._resolver = Resolver(client.loop, (nameserver.address,), GIVE_UP, lambda: now[0])
    nameserver.zones["www.test"] = Zone(("127.0.0.2",), ttl=0)
    url = f"http://www.test:{outside.port}/ok-but-closes"
    assert client.resolve(url).addresses == ("127.0.0.2",)
    nameserver.zones["www.test"] = Zone(("127.0.0.1",), ttl=0)
    assert client.get(url).address == "127.0.0.2"  # the answer that was judged is the one that is dialled
    now[0] += MIN_TTL + 1
    assert client.get(url).outcome is Outcome.ADDRESS_REFUSED
    assert client.get(url, address="127.0.0.1").outcome is Outcome.ADDRESS_REFUSED
    assert client.get(url, address="127.0.0.2").status == 200
    nameserver.zones["www.test"] = Zone(("127.0.0.1", "127.0.0.2"), ttl=0)
    now[0] += MIN_TTL + 1
    assert client.get(url).address == "127.0.0.2"
    assert (inside.connections, outside.connections) == (0, 3)
    outside.close()
    inside.close()


def test_the_last_guard_stands_at_the_socket(make_client: Callable[..., Client], server: FaultServer) -> None:
    """Whatever led there: an address that is about to be dialled is looked at once more."""
    client = make_client(**GUARDED)
    origin = Origin("http", "www.test", server.port)
    for pinned in ("", "127.0.0.1"):
        client.transport.in_flight += 1
        request = Request(1, f"http://www.test:{server.port}/ok")
        client.transport._start(request, 0.0, 0.0, Route(origin, ("127.0.0.1",), pinned))
        assert client.wait(len(client.responses) + 1)[-1].outcome is Outcome.ADDRESS_REFUSED
    assert server.connections == 0


def test_resolving_gives_every_address_that_may_be_dialled(
    make_client: Callable[..., Client], nameserver: NameServer
) -> None:
    nameserver.zones["www.test"] = Zone(("10.0.0.1", "8.8.8.8", "1.1.1.1"), ("::1", "2606:4700:4700::1111"))
    client = make_client(**GUARDED, nameservers=(nameserver.address,))
    response = client.resolve("https://www.test/a/b")
    assert (response.outcome, response.status, response.url) == (None, 0, "https://www.test/a/b")
    assert response.addresses == ("8.8.8.8", "1.1.1.1", "2606:4700:4700::1111")
    assert response.address == "8.8.8.8"
    assert client.resolve("https://nowhere.test/").outcome is Outcome.DNS_FAILURE
    assert client.resolve("nonsense").outcome is Outcome.INTERNAL_ERROR
    assert client.transport.in_flight == 0


def test_only_the_pinned_address_is_dialled(make_client: Callable[..., Client], nameserver: NameServer) -> None:
    first = FaultServer("127.0.0.2")
    second = FaultServer("127.0.0.3", first.port)
    nameserver.zones["www.test"] = Zone(("127.0.0.2", "127.0.0.3"))
    client = make_client(nameservers=(nameserver.address,))
    url = f"http://www.test:{first.port}/ok"
    for address in ("127.0.0.3", "127.0.0.2", "127.0.0.3", "127.0.0.3", "127.0.0.2"):
        response = client.get(url, address=address)
        assert (response.status, response.address) == (200, address)
    assert (first.connections, second.connections) == (1, 1)  # kept, each for its address
    assert (len(first.requests), len(second.requests)) == (2, 3)
    assert b"\r\nHost: www.test:%d\r\n" % first.port in second.requests[0]
    assert nameserver.queries == []
    first.close()
    assert client.get(url, address="127.0.0.2").outcome is not None  # and no other one is tried
    assert client.get(url, address="not-an-address").outcome is Outcome.ADDRESS_REFUSED
    second.close()


def test_a_pinned_ipv6_address_with_tls_is_verified_by_name(
    make_client: Callable[..., Client], certificate: Path
) -> None:
    server = TlsServer(certificate, "::1")
    client = make_client(ca_file=str(certificate / "cert.pem"))
    assert client.get(f"https://www.test:{server.port}/", address="::1").outcome is Outcome.TLS_FAILURE
    response = client.get(f"https://localhost:{server.port}/", address="::1")
    assert (response.status, response.address) == (200, "::1")
    server.close()


def test_networks_come_from_the_configuration() -> None:
    settings = TransportSettings.of(parse("[security]\nallow_networks = ['10.1.0.0/16']\n[crawl]\nproxy = 'none'"))
    assert (settings.allow_private, settings.allow_networks) == (False, ("10.1.0.0/16",))
