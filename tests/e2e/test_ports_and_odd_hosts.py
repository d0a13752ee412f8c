"""Ports of other services are not asked, and hosts that no DNS has fail by their name; both end to end."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.e2e.conftest import MakeCrawl
from tests.e2e.site import Reply, Site, page
from tests.fetch.nameserver import NameServer

ODD_HOSTS = ('http://a"b.test/', "http://a`b.test/", "http://a{b}.test/", "http://a'b.test/", "http://-a_.test/")
BAD_PORT = 6_000


class Listener:
    """A service at a port that browsers refuse; `asked`: how many have connected."""

    def __init__(self, address: str, port: int) -> None:
        self.asked = 0
        self._socket = socket.create_server((address, port))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            self.asked += 1
            with client:
                client.recv(10_000)
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p>x")

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    try:
        listener = Listener("127.0.83.7", BAD_PORT)
    except OSError:
        pytest.skip(f"port {BAD_PORT} is in use")
    yield listener
    listener.close()


def test_ports_of_other_services_are_not_asked_unless_allowed(make_crawl: MakeCrawl, listener: Listener) -> None:
    target = f"http://127.0.83.7:{BAD_PORT}/"
    pages = {
        "/": page(f"{target}linked", "http://127.0.83.7:22/", "/moved"),
        "/moved": Reply(status=302, headers={"Location": f"{target}moved"}),
    }
    with Site(pages) as site:
        crawl = make_crawl([site.url + "/", f"{target}seed"], {"traps": {"soft_404": False}})
        assert crawl.run("crawl").returncode == 0
        assert listener.asked == 0
        assert crawl.stats()["urls_aside"] == {"port": 4}
        for name in ("linked", "moved", "seed"):
            why = crawl.why(target + name)
            assert (why["state"], why["reason"]) == ("aside", "port")
        said = crawl.run("why", f"{target}linked").stdout
        assert "security.allow_ports" in said
        assert "browsers refuse" in said
        crawl.configure({"security": {"allow_private_addresses": True, "allow_ports": [BAD_PORT]}})
        assert crawl.run("crawl").returncode == 0
        assert listener.asked
        assert crawl.stats()["urls_aside"] == {"port": 1}
        assert {f"{target}{name}" for name in ("linked", "moved", "seed")} & set(crawl.documents_by_url())


def test_a_robots_txt_does_not_lead_to_another_service(make_crawl: MakeCrawl, listener: Listener) -> None:
    redirect = Reply(status=302, headers={"Location": f"http://127.0.83.7:{BAD_PORT}/robots.txt"})
    with Site({"/robots.txt": redirect, "/": page(text="a page")}) as site:
        crawl = make_crawl([site.url + "/"], {"traps": {"soft_404": False}})
        assert crawl.run("crawl").returncode == 0
        assert site.times()["/"] == 1
    assert listener.asked == 0


@pytest.mark.parametrize("transport", ["curl", "urllib3"])
def test_odd_hosts_have_a_named_outcome(make_crawl: MakeCrawl, transport: str) -> None:
    nameserver = NameServer()
    with Site(
        {"/": Reply("".join(f'<a href="{host.replace(chr(34), "&quot;")}">x</a>' for host in ODD_HOSTS))}
    ) as site:
        crawl = make_crawl(
            [site.url + "/"],
            {
                "crawl": {"transport": transport, "nameservers": [nameserver.address]},
                "limits": {"max_tries": 1},
                "traps": {"soft_404": False},
            },
        )
        running = crawl.start("crawl")
        assert running.wait() == 0, running.output()
    nameserver.close()
    assert set(crawl.stats()["errors"]) == {"robots-unreachable"}
    for host in ODD_HOSTS:
        assert "dns-failure" in crawl.run("why", host).stdout
    assert not (crawl.directory.log / "fetchers.log").read_bytes()
