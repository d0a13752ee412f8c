"""Trouble to connect belongs to an origin, which is a scheme, a host and a port: what the same host answers by its
other scheme goes on as if nothing were wrong."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from pycrawl.policy.politeness import PolitenessRules, retry_pause
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import RUN_SECONDS, Crawl, Settings
from tests.e2e.site import Reply, Site, page

PORTS = {"http": 80, "https": 443}
PAGES = [f"/{number}" for number in range(6)]
BACKOFF = 0.2  # seconds
RULES = PolitenessRules(delay=0.0, delay_factor=0.0, max_crawl_delay=60.0, max_backoff=BACKOFF)
CLOCK_ERROR = 0.01  # seconds
SETTINGS: Settings = {"politeness": {"max_backoff": BACKOFF}}
TRIES = 5  # until an origin is put off
HANDSHAKE = b"\x16"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for all addresses that are used here, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("the openssl command is missing")
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    names = ",".join(f"IP:127.0.71.{number}" for number in range(1, 10))
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test".split()
    subprocess.run(
        [*command, "-addext", f"subjectAltName={names}", "-keyout", path, "-out", path], check=True, capture_output=True
    )
    return path


class Host:
    """An address whose two origins have the same pages, and can each be opened and closed."""

    def __init__(self, address: str, certificate: Path) -> None:
        self._address = address
        self._certificate = certificate
        self._open: dict[str, ExitStack] = {}
        self.asked: dict[str, list[str]] = {scheme: [] for scheme in PORTS}
        self.urls = {scheme: [f"{scheme}://{address}{path}" for path in PAGES] for scheme in PORTS}

    def open(self, scheme: str) -> None:
        pages: dict[str, Reply] = {path: page(*PAGES, text=f"{scheme} {path}") for path in PAGES}
        site = Site(pages, self._address, PORTS[scheme])
        site.asked = self.asked[scheme]
        if scheme == "https":
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(self._certificate)
            site.wrap(lambda plain: context.wrap_socket(plain, server_side=True))
        self._open[scheme] = ExitStack()
        self._open[scheme].enter_context(site)

    def close(self, scheme: str) -> None:
        self._open.pop(scheme).close()

    def close_all(self) -> None:
        for scheme in list(self._open):
            self.close(scheme)

    def pages_of(self, scheme: str) -> list[str]:
        return sorted(path for path in self.asked[scheme] if path != "/robots.txt")


@contextmanager
def host_at(address: str, certificate: Path) -> Iterator[Host]:
    host = Host(address, certificate)
    try:
        for scheme in PORTS:
            host.open(scheme)
        yield host
    except PermissionError:
        pytest.skip("needs the right to listen on ports 80 and 443")
    finally:
        host.close_all()


def crawl_on(crawl: Crawl, certificate: Path, *arguments: str) -> str:
    """Crawl to the end, with this certificate as the only one that is trusted."""
    running = crawl.start("crawl", *arguments, before=["env", f"SSL_CERT_FILE={certificate}"])
    assert running.wait(RUN_SECONDS) == 0, running.output()
    return running.output()


def check_all_fetched(crawl: Crawl, host: Host) -> None:
    assert {scheme: host.pages_of(scheme) for scheme in PORTS} == dict.fromkeys(PORTS, PAGES)
    assert {outcome for (outcome,) in crawl.query("SELECT outcome FROM visits")} == {"fetched"}
    assert crawl.query("SELECT * FROM origin_failures") == []
    assert crawl.query("SELECT 1 FROM hosts WHERE failures > 0 OR failing_since > 0") == []
    crawl.verify()


@pytest.mark.parametrize(("broken", "sound", "number"), [("http", "https", 1), ("https", "http", 2)])
def test_a_port_that_refuses_puts_off_its_own_pages_only(
    make_crawl: MakeCrawl, certificate: Path, broken: str, sound: str, number: int
) -> None:
    """Its robots.txt is known from a time when it answered. Later it is back."""
    with host_at(f"127.0.71.{number}", certificate) as host:
        crawl = make_crawl([host.urls[broken][0], host.urls[sound][0]], SETTINGS)
        crawl_on(crawl, certificate, "--max-pages", "2")
        assert host.asked == {broken: ["/robots.txt", "/0"], sound: ["/robots.txt", "/0"]}
        host.close(broken)
        output = crawl_on(crawl, certificate)
        assert "5 URLs wait; no connection to 1 origin can be made, the next try is at 20" in output
        assert host.pages_of(sound) == PAGES
        assert crawl.query("SELECT failures FROM hosts") == [(0,)]
        facts = crawl.stats()
        assert facts["errors"] == {"connect-failed": TRIES}
        (failure,) = facts["origins_unreachable"]["first"]
        assert (failure["origin"], failure["reason"]) == (f"{broken}://127.0.71.{number}", "connect-failed")
        assert failure["failures"] == TRIES
        assert failure["next_try_at"] > time.time() + 500
        assert facts["robots_unreachable"]["origins"] == 0
        told = crawl.why(host.urls[broken][1])
        assert (told["state"], told["reason"]) == ("queued", "connect-failed")
        assert told["host_ready_at"] == told["unconnected"]["next_try_at"] == failure["next_try_at"]
        assert told["robots"]["allowed"]
        shown = crawl.run("why", host.urls[broken][1]).stdout
        assert f"no connection to {broken}://127.0.71.{number} can be made since 20" in shown
        assert f"no connection to 1 origin, whose URLs wait:\n            {broken}://" in crawl.run("stats").stdout

        host.open(broken)
        assert "5 URLs wait" in crawl_on(crawl, certificate)
        assert host.pages_of(broken) == ["/0"]
        assert "1 failing host to be asked again" in crawl.run("retry", "--reason", "connect-failed").stdout
        crawl_on(crawl, certificate)
        check_all_fetched(crawl, host)
        assert host.asked[broken].count("/robots.txt") == 1


class NoTls:
    """A listener that knows no TLS; it notes when a handshake was begun."""

    def __init__(self, address: str, port: int = 0) -> None:
        self._listener = socket.create_server((address, port), backlog=64)
        self.url = f"https://{address}:{self._listener.getsockname()[1]}"
        self.times: list[float] = []
        self._thread = threading.Thread(target=self._serve)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # it was shut down
                return
            with client:
                if client.recv(65_536).startswith(HANDSHAKE):
                    self.times.append(time.time())
                client.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    def check_intervals(self, tries: int) -> None:
        assert len(self.times) == tries
        for number, (before, after) in enumerate(pairwise(self.times), 1):
            assert after - before >= retry_pause(RULES, number, 0.0) - CLOCK_ERROR

    def __enter__(self) -> NoTls:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


def test_a_broken_handshake_outlives_the_process(make_crawl: MakeCrawl, certificate: Path) -> None:
    """Killed while https pages wait: the next run keeps to the intervals. Meanwhile http pages are asked for."""
    with host_at("127.0.71.3", certificate) as host:
        crawl = make_crawl([host.urls["https"][0], host.urls["http"][0]], SETTINGS)
        crawl_on(crawl, certificate, "--max-pages", "2")
        host.close("https")
        with NoTls("127.0.71.3", 443) as broken:
            crawl.configure({"politeness": {"max_backoff": 4 * BACKOFF}})
            running = crawl.start("crawl")
            assert running.until(lambda: crawl.query("SELECT 1 FROM origin_failures") != [])
            running.kill_tree()
            ((failures, next_at),) = crawl.query("SELECT failures, next_at FROM origin_failures")
            tried = len(broken.times)
            output = crawl_on(crawl, certificate)
            assert "5 URLs wait; no connection to 1 origin can be made" in output
            assert len(broken.times) - tried == TRIES - failures
            assert broken.times[tried] >= next_at - CLOCK_ERROR
        assert host.pages_of("http") == PAGES
        assert crawl.query("SELECT outcome, of_robots FROM origin_failures") == [("tls-failure", 0)]
        host.open("https")
        crawl.run("retry")
        crawl_on(crawl, certificate)
        check_all_fetched(crawl, host)


def test_robots_txt_need_not_be_obeyed_for_an_origin_to_wait(make_crawl: MakeCrawl) -> None:
    settings: Settings = {"politeness": {"max_backoff": BACKOFF, "obey_robots": False}}
    with NoTls("127.0.71.4") as broken:
        crawl = make_crawl([f"{broken.url}/{number}" for number in range(3)], settings)
        for _ in range(2):
            assert "3 URLs wait; no connection to 1 origin can be made" in crawl.run("crawl", exit_code=5).stdout
        broken.check_intervals(TRIES)
        assert crawl.query("SELECT * FROM visits") == []
        crawl.verify()


def test_a_guest_that_cannot_be_connected_to_is_tried_for_all_who_need_it(make_crawl: MakeCrawl) -> None:
    """The robots.txt of three hosts is at a fourth one, whose TLS is broken: its intervals hold for all of them."""
    with NoTls("127.0.71.5") as guest, ExitStack() as stack:
        moved = Reply(status=302, headers={"Location": f"{guest.url}/robots.txt"})
        sites = [
            stack.enter_context(Site({"/robots.txt": moved, "/": page()}, f"127.0.71.{number}")) for number in (6, 7, 8)
        ]
        crawl = make_crawl([f"{site.url}/" for site in sites], SETTINGS)
        assert "3 URLs wait; robots.txt of 3 origins is unreachable" in crawl.run("crawl", exit_code=5).stdout
        guest.check_intervals(TRIES)
        assert all(set(site.asked) == {"/robots.txt"} and len(site.asked) <= TRIES for site in sites)
        failures = crawl.query("SELECT failures FROM origin_failures WHERE NOT of_robots")
        assert failures == [(TRIES,)]
