from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import pytest

from pycrawl.errors import ConfigError
from pycrawl.fetch.dns import FAILURE_TTL, MAX_TTL, MIN_TTL, Answer, Resolver
from pycrawl.fetch.loop import Loop
from pycrawl.model import Outcome
from tests.fetch.conftest import GIVE_UP, Client, run_until
from tests.fetch.faults import FaultServer
from tests.fetch.nameserver import TYPE_AAAA, NameServer, Zone


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def nameserver() -> Iterator[NameServer]:
    nameserver = NameServer()
    yield nameserver
    nameserver.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def resolver(loop: Loop, nameserver: NameServer, clock: Clock) -> Iterator[Resolver]:
    resolver = Resolver(loop, (nameserver.address,), timeout=GIVE_UP, clock=clock, capacity=3)
    yield resolver
    resolver.close()


@pytest.fixture
def look_up(loop: Loop, resolver: Resolver) -> Callable[[str], Answer]:
    def look_up(host: str) -> Answer:
        answers: list[Answer] = []
        resolver.resolve(host, answers.append)
        assert not answers  # never from inside resolve
        run_until(loop, lambda: answers)
        return answers[0]

    return look_up


LookUp = Callable[[str], Answer]


def test_both_families_ipv4_first(look_up: LookUp, nameserver: NameServer) -> None:
    nameserver.zones["www.test"] = Zone(("192.0.2.1", "192.0.2.2"), ("2001:db8::1",))
    assert look_up("www.test").addresses == ("192.0.2.1", "192.0.2.2", "2001:db8::1")
    nameserver.zones["six.test"] = Zone(v6=("2001:db8::6",))
    assert look_up("six.test").addresses == ("2001:db8::6",)


@pytest.mark.parametrize(("ttl", "believed"), [(0, MIN_TTL), (5, MIN_TTL), (300, 300.0), (10**6, MAX_TTL)])
def test_the_ttl_is_obeyed_within_bounds(
    look_up: LookUp, resolver: Resolver, nameserver: NameServer, clock: Clock, ttl: int, believed: float
) -> None:
    nameserver.zones["www.test"] = Zone(("192.0.2.1",), ttl=ttl)
    assert look_up("www.test").expires == clock.now + believed
    clock.now += believed - 1
    assert resolver.cached("www.test") is not None
    clock.now += 2
    assert resolver.cached("www.test") is None


def test_an_expired_answer_is_asked_for_again(look_up: LookUp, nameserver: NameServer, clock: Clock) -> None:
    nameserver.zones["www.test"] = Zone(("192.0.2.1",), ttl=0)
    look_up("www.test")
    look_up("www.test")
    assert nameserver.asked("www.test") == 1
    clock.now += MIN_TTL + 1
    nameserver.zones["www.test"] = Zone(("192.0.2.99",), ttl=0)
    assert look_up("www.test").addresses == ("192.0.2.99",)
    assert nameserver.asked("www.test") == 2


def test_a_name_that_does_not_exist_is_remembered_briefly(
    look_up: LookUp, nameserver: NameServer, clock: Clock
) -> None:
    answer = look_up("nowhere.test")
    assert (answer.addresses, answer.error) == ((), "Domain name not found")
    look_up("nowhere.test")
    assert nameserver.asked("nowhere.test") == 1
    clock.now += FAILURE_TTL + 1
    nameserver.zones["nowhere.test"] = Zone(("192.0.2.1",))
    assert look_up("nowhere.test").addresses == ("192.0.2.1",)


def test_a_name_without_addresses_fails(look_up: LookUp, nameserver: NameServer) -> None:
    nameserver.zones["empty.test"] = Zone()
    answer = look_up("empty.test")
    assert answer.addresses == ()
    assert answer.error


def test_identical_look_ups_are_joined(loop: Loop, resolver: Resolver, nameserver: NameServer) -> None:
    nameserver.zones["www.test"] = Zone(("192.0.2.1",))
    answers: list[Answer] = []
    for _ in range(10):
        resolver.resolve("www.test", answers.append)
    run_until(loop, lambda: len(answers) == 10)
    assert (nameserver.asked("www.test"), nameserver.asked("www.test", TYPE_AAAA)) == (1, 1)


def test_silence_ends_at_the_time_out(loop: Loop, nameserver: NameServer) -> None:
    nameserver.zones["dead.test"] = Zone(silent=True)
    resolver = Resolver(loop, (nameserver.address,), timeout=0.5)
    answers: list[Answer] = []
    resolver.resolve("dead.test", answers.append)
    run_until(loop, lambda: answers)
    resolver.close()
    assert answers[0].addresses == ()
    assert answers[0].error


def test_the_cache_is_bounded_and_forgets_the_least_used(
    look_up: LookUp, resolver: Resolver, nameserver: NameServer
) -> None:
    for name in ("a.test", "b.test", "c.test", "d.test"):
        nameserver.zones[name] = Zone(("192.0.2.1",), ttl=300)
        look_up(name)
        resolver.cached("a.test")
    assert [resolver.cached(name) is not None for name in ("a.test", "b.test", "c.test", "d.test")] == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("host", "addresses"),
    [
        ("127.0.0.1", ("127.0.0.1",)),
        ("::1", ("::1",)),
        ("0:0::1", ("::1",)),
        ("::ffff:127.0.0.1", ("::ffff:127.0.0.1",)),
        ("2130706433", ("127.0.0.1",)),
        ("0x7f.1", ("127.0.0.1",)),
        ("0177.0.0.1", ("127.0.0.1",)),
        ("localhost", ("127.0.0.1", "::1")),
        ("LocalHost.", ("127.0.0.1", "::1")),
        ("a.b.localhost", ("127.0.0.1", "::1")),
    ],
)
def test_literals_and_localhost_are_not_asked_for(
    look_up: LookUp, nameserver: NameServer, host: str, addresses: tuple[str, ...]
) -> None:
    assert look_up(host).addresses == addresses
    assert nameserver.queries == []


@pytest.mark.parametrize("host", ["", "a b", "x" * 64 + ".test", "1.2.3.4.5.6", "::zz", "\udcff", "."])
def test_what_is_no_name_fails(look_up: LookUp, host: str) -> None:
    assert look_up(host).addresses == ()


def test_bad_nameservers_are_said(loop: Loop) -> None:
    with pytest.raises(ConfigError, match=r"nameservers.*not-an-address"):
        Resolver(loop, ("not-an-address",))


def test_nobody_is_called_after_closing(loop: Loop, nameserver: NameServer) -> None:
    resolver = Resolver(loop, (nameserver.address,), timeout=0.2)
    answers: list[Answer] = []
    resolver.resolve("www.test", answers.append)
    resolver.close()
    loop.run_once(0.3)
    assert answers == []


def test_a_name_is_fetched_from_where_dns_says(
    make_client: Callable[..., Client], server: FaultServer, nameserver: NameServer
) -> None:
    nameserver.zones["www.test"] = Zone(("127.0.0.1",), ttl=300)
    client = make_client(nameservers=(nameserver.address,))
    for _ in range(3):
        response = client.get(f"http://www.test:{server.port}/ok")
        assert (response.status, response.address) == (200, "127.0.0.1"), (response, nameserver.queries)
    assert server.connections == 1
    assert nameserver.asked("www.test") == 1
    assert b"Host: www.test:%d\r\n" % server.port in server.requests[0]


def test_the_next_address_is_tried(
    make_client: Callable[..., Client], server: FaultServer, nameserver: NameServer
) -> None:
    nameserver.zones["www.test"] = Zone(("127.0.0.2", "127.0.0.1"))  # the server listens at the second only
    client = make_client(nameservers=(nameserver.address,))
    assert client.get(f"http://www.test:{server.port}/ok").address == "127.0.0.1"


def test_a_moved_host_is_dialled_at_its_new_address(
    make_client: Callable[..., Client], server: FaultServer, nameserver: NameServer, clock: Clock
) -> None:
    client = make_client()
    resolver = Resolver(client.loop, (nameserver.address,), timeout=GIVE_UP, clock=clock)
    client.transport._resolver.close()
    client.transport._resolver = resolver
    nameserver.zones["www.test"] = Zone(("127.0.0.2",))
    url = f"http://www.test:{server.port}/ok-but-closes"
    assert client.get(url).outcome is Outcome.CONNECT_FAILED
    nameserver.zones["www.test"] = Zone(("127.0.0.1",))
    assert client.get(url).outcome is Outcome.CONNECT_FAILED
    clock.now += MIN_TTL + 1
    assert client.get(url).status == 200


def test_a_nameserver_that_never_answers_blocks_nobody_else(
    make_client: Callable[..., Client], server: FaultServer, nameserver: NameServer
) -> None:
    nameserver.zones["dead.test"] = Zone(silent=True)
    client = make_client(nameservers=(nameserver.address,))
    client.submit(f"http://dead.test:{server.port}/ok")
    for _ in range(5):
        assert client.get(f"{server.base}/ok").status == 200
    assert client.transport.in_flight == 1


def test_a_look_up_without_an_answer_ends_with_the_time_to_connect(
    make_client: Callable[..., Client], nameserver: NameServer
) -> None:
    nameserver.zones["dead.test"] = Zone(silent=True)
    failed = make_client(nameservers=(nameserver.address,), connect_timeout=0.5).get("http://dead.test/")
    assert failed.outcome is Outcome.DNS_FAILURE
    assert "dead.test" in failed.detail


def test_the_time_out_decides_how_long_a_slow_nameserver_has(
    loop: Loop, resolver: Resolver, look_up: LookUp, nameserver: NameServer
) -> None:
    for number in range(5):  # c-ares learns that this server answers at once
        nameserver.zones[f"{number}.test"] = Zone(("192.0.2.1",))
        look_up(f"{number}.test")
    nameserver.zones["slow.test"] = Zone(("192.0.2.2",), silent=True)
    answers: list[Answer] = []
    resolver.resolve("slow.test", answers.append)
    run_until(loop, lambda: answers or nameserver.asked("slow.test") > 3)  # more often than c-ares tries
    nameserver.zones["slow.test"] = Zone(("192.0.2.2",))
    run_until(loop, lambda: answers)
    assert answers[0].addresses == ("192.0.2.2",)


def test_a_server_that_could_not_be_contacted_once_is_asked_again(loop: Loop) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    resolver = Resolver(loop, (f"127.0.0.1:{port}",), timeout=GIVE_UP)
    answers: list[Answer] = []
    resolver.resolve("www.test", answers.append)
    run_until(loop, lambda: answers or resolver._lookups["www.test"].refusals)
    nameserver = NameServer(port)
    nameserver.zones["www.test"] = Zone(("192.0.2.1",))
    run_until(loop, lambda: answers)
    assert answers[0].addresses == ("192.0.2.1",)
    nameserver.close()
    resolver.close()


def test_a_server_that_cannot_be_contacted_is_given_up_soon(loop: Loop) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        resolver = Resolver(loop, (f"127.0.0.1:{free.getsockname()[1]}",), timeout=GIVE_UP)
    answers: list[Answer] = []
    resolver.resolve("www.test", answers.append)
    run_until(loop, lambda: answers)
    assert not answers[0].addresses
    assert "contact" in answers[0].error
    resolver.close()
