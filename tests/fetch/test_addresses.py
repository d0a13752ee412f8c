from __future__ import annotations

from collections.abc import Callable

import pytest

from pycrawl.fetch.addresses import is_public
from pycrawl.fetch.base import Route
from pycrawl.fetch.origins import Origin
from pycrawl.fetch.transport import Request
from pycrawl.model import Outcome
from tests.fetch.conftest import Client
from tests.fetch.faults import FaultServer
from tests.fetch.nameserver import NameServer, Zone

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
    "host",
    "127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 0.0.0.0 [::ffff:127.0.0.1] localhost www.localhost inside.test "
    "both.test".split(),
)
def test_no_connection_arrives_from_a_guarded_client(
    make_client: Callable[..., Client], server: FaultServer, host: str
) -> None:
    nameserver = NameServer()
    nameserver.zones["inside.test"] = Zone(("127.0.0.1",))
    nameserver.zones["both.test"] = Zone(("127.0.0.1",), ("::ffff:127.0.0.1",))
    client = make_client(allow_private=False, nameservers=(nameserver.address,))
    response = client.get(f"http://{host}:{server.port}/ok")
    assert (response.outcome, response.status) == (Outcome.ADDRESS_REFUSED, 0)
    assert "not public" in response.detail
    assert server.connections == 0
    nameserver.close()


def test_ipv6_loopback_is_refused(make_client: Callable[..., Client]) -> None:
    server = FaultServer("::1")
    client = make_client(allow_private=False)
    assert client.get(f"{server.base}/ok").outcome is Outcome.ADDRESS_REFUSED
    assert server.connections == 0
    server.close()


def test_the_last_guard_stands_at_the_socket(make_client: Callable[..., Client], server: FaultServer) -> None:
    """Whatever led there: an address that is about to be dialled is looked at once more."""
    client = make_client(allow_private=False)
    origin = Origin("http", "www.test", server.port)
    client.transport.in_flight += 1
    client.transport._start(Request(1, f"http://www.test:{server.port}/ok"), 0.0, 0.0, Route(origin, ("127.0.0.1",)))
    assert client.wait(1)[0].outcome is Outcome.ADDRESS_REFUSED
    assert server.connections == 0
