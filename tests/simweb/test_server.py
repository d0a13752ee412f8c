"""The server over real sockets."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urljoin, urlsplit

import pytest
from protego import Protego

from pycrawl.errors import PycrawlError
from pycrawl.simweb import ABORTED, Page, PageKind, SimServer, SimWeb, SimWebSettings
from pycrawl.simweb.worker import MAX_HEAD_BYTES
from tests.simweb.conftest import SETTINGS
from tests.simweb.test_web import Anchors

AGENT = "testbot/1.0"
PATIENCE = 120.0  # seconds for what takes none on an idle machine


class Client:
    """One keep-alive connection per host, as a polite crawler has."""

    def __init__(self) -> None:
        self._connections: dict[str, http.client.HTTPConnection] = {}

    def get(self, url: str, method: str = "GET", **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        parts = urlsplit(url)
        connection = self._connections.setdefault(
            parts.netloc, http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
        )
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, target, headers={"User-Agent": AGENT, **names})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()


@pytest.fixture
def client() -> Iterator[Client]:
    client = Client()
    yield client
    client.close()


def first(server: SimServer, kind: PageKind) -> Page:
    return next(server.web.pages(kind))


@contextmanager
def raw_connection(server: SimServer) -> Iterator[socket.socket]:
    parts = urlsplit(server.seed)
    with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=PATIENCE) as sock:
        yield sock


def until_closed(sock: socket.socket) -> bytes:
    data = b""
    try:
        while chunk := sock.recv(65_536):
            data += chunk
    except ConnectionResetError:
        pass  # the server closed with bytes of ours unread
    return data


class Walk:
    """An independent crawler: robots.txt by Protego, links by `html.parser`, breadth first."""

    def __init__(self, client: Client, web: SimWeb) -> None:
        self.client = client
        self.web = web
        self.rules: dict[str, Protego] = {}
        self.fetched: set[str] = set()
        self.requests = 0

    def run(self) -> None:
        seen, level = set(self.web.seeds), list(self.web.seeds)
        while level:
            found = [link for url in level for link in self.visit(url)]
            level = list(dict.fromkeys(link for link in found if link not in seen))
            seen.update(level)

    def visit(self, url: str) -> list[str]:
        if not self.allowed(url):
            return []
        for _ in range(3):
            status, headers, body = self.get(url)
            if status < 500:
                break
        if 300 <= status < 400:
            return [urljoin(url, headers["Location"])]
        if status != 200:
            return []
        self.fetched.add(url)
        page = self.web.page(url)
        assert body == page.body()
        return [normal(link) for link in Anchors(page).urls]

    def allowed(self, url: str) -> bool:
        root = urljoin(url, "/robots.txt")
        if root not in self.rules:
            status, _, body = self.get(root)
            self.rules[root] = Protego.parse(body.decode() if status == 200 else "")
        return bool(self.rules[root].can_fetch(url, AGENT))

    def get(self, url: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        self.requests += 1
        return self.client.get(url)


def normal(url: str) -> str:
    url = url.partition("#")[0]
    for tracking in ("?utm_source=feed", "&utm_source=feed"):
        url = url.removesuffix(tracking)
    return "http" + url[4:]


def test_a_walk_over_http_finds_what_the_web_says(client: Client) -> None:
    with SimServer(SETTINGS) as server:  # its own: flaky pages must not have had their 503
        walk = Walk(client, server.web)
        walk.run()
        assert walk.fetched == server.web.reachable()
        assert walk.requests == server.web.expected_requests() == len(server.log())
        assert {page.kind for page in server.web.pages()} == set(PageKind)
        kinds = Counter(entry.status for entry in server.log() if not entry.is_robots)
        assert kinds[200] == len(walk.fetched)
        assert kinds[404] == len(list(server.web.pages(PageKind.MISSING)))


@pytest.mark.parametrize("kind", [PageKind.CONTENT, PageKind.DUPLICATE, PageKind.DISALLOWED])
def test_pages_are_served_as_the_web_says(server: SimServer, client: Client, kind: PageKind) -> None:
    page = first(server, kind)
    status, headers, body = client.get(page.url)
    assert (status, body) == (200, page.body())
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["ETag"] == page.etag()
    assert headers["Last-Modified"] == page.last_modified()


def test_head_has_the_headers_and_no_body(server: SimServer, client: Client) -> None:
    whole = client.get(server.seed)
    head = client.get(server.seed, "HEAD")
    assert head[0] == 200
    assert head[1].items() == whole[1].items()
    assert head[2] == b""
    assert client.get(server.seed)[2] == whole[2]


def test_redirects_and_errors(server: SimServer, client: Client) -> None:
    for page in server.web.pages(PageKind.REDIRECT, PageKind.MISSING, PageKind.BROKEN):
        status, headers, _ = client.get(page.url)
        assert status == page.status
        assert headers["Location"] == page.redirect_target
    assert client.get(server.seed + "no/such-page.html")[0] == 404


def test_a_flaky_page_fails_once(server: SimServer, client: Client) -> None:
    page = first(server, PageKind.FLAKY)
    status, headers, _ = client.get(page.url)
    assert (status, headers["Retry-After"]) == (503, "0")
    assert client.get(page.url)[0] == 200
    assert client.get(page.url)[2] == page.body()


def test_robots_txt(server: SimServer, client: Client) -> None:
    statuses: Counter[int] = Counter()
    for host in server.web.hosts:
        status, _, body = client.get(host.url + "robots.txt")
        statuses[status] += 1
        rules = Protego.parse(body.decode() if status == 200 else "")
        pages = [page for page in server.web.pages() if page.host == host]
        assert all(rules.can_fetch(page.url, AGENT) is page.allowed for page in pages)
        assert (rules.crawl_delay(AGENT) or 0) == host.crawl_delay
    assert statuses[200] > 0
    assert statuses[404] > 0
    assert any(host.crawl_delay for host in server.web.hosts)


def test_conditional_requests(server: SimServer, client: Client) -> None:
    page = first(server, PageKind.CONTENT)
    etag, date = page.etag(), page.last_modified()
    for headers, expected in [
        ({"If_None_Match": etag}, 304),
        ({"if_none_match": f'"x", W/{etag}'}, 304),
        ({"If_None_Match": "*"}, 304),
        ({"If_None_Match": '"x"'}, 200),
        ({"If_Modified_Since": date}, 304),
        ({"If_Modified_Since": "Sat, 01 Jan 2050 00:00:00 GMT"}, 304),
        ({"If_Modified_Since": "Sat, 01 Jan 2000 00:00:00 GMT"}, 200),
        ({"If_Modified_Since": "yesterday"}, 200),
        ({"If_None_Match": '"x"', "If_Modified_Since": date}, 200),
    ]:
        status, answer, body = client.get(page.url, **headers)
        assert status == expected, headers
        assert answer["ETag"] == etag
        assert body == (b"" if expected == 304 else page.body())


def test_a_new_version_changes_the_pages_it_says(server: SimServer, client: Client) -> None:
    pages = list(server.web.pages(PageKind.CONTENT))
    etags = {page.url: client.get(page.url)[1]["ETag"] for page in pages}
    server.set_version(1)
    answers = {page.url: client.get(page.url, If_None_Match=etags[page.url]) for page in pages}
    changed = {url for url, answer in answers.items() if answer[0] == 200}
    assert changed == server.web.changed(0, 1) & set(etags)
    assert changed
    assert all(answers[page.url][2] == page.body(1) for page in pages if page.url in changed)


def test_latency_is_kept_and_does_not_block_others() -> None:
    with SimServer(SimWebSettings.plain(hosts=1, pages=60, port=0, latency=0.3)) as server:
        pages = sorted(server.web.pages(), key=lambda page: page.latency)[-20:]
        clients = [http.client.HTTPConnection(urlsplit(server.seed).netloc, timeout=PATIENCE) for _ in pages]
        started = time.monotonic()
        for page, connection in zip(pages, clients, strict=True):
            connection.request("GET", page.host.path(page.local))
        for page, connection in zip(pages, clients, strict=True):
            assert connection.getresponse().read() == page.body()
            connection.close()
        took = time.monotonic() - started
        waits = {entry.path: entry.ended - entry.started for entry in server.log()}
        assert all(waits[page.host.path(page.local)] >= page.latency - 0.002 for page in pages)
        assert took < sum(page.latency for page in pages) / 2


def test_the_log_tells_what_happened(server: SimServer) -> None:
    before = time.monotonic()
    one, two = Client(), Client()
    one.get(server.seed)
    one.get(server.seed + "robots.txt")
    two.get(server.seed + "missing", User_Agent="other")
    one.close()
    two.close()
    entries = server.log()
    assert [entry.path for entry in entries] == ["/", "/robots.txt", "/missing"]
    assert [entry.status for entry in entries] == [200, 200, 404]
    assert [entry.user_agent for entry in entries] == [AGENT, AGENT, "other"]
    assert {entry.address for entry in entries} == {"127.1.0.1"}
    assert entries[0].connection == entries[1].connection != entries[2].connection
    times = [before, *(moment for entry in entries for moment in (entry.started, entry.ended)), time.monotonic()]
    assert times == sorted(times)
    server.clear_log()
    assert server.log() == []


def test_requests_open_at_once_show_in_the_log() -> None:
    with SimServer(SimWebSettings.plain(hosts=1, pages=10, port=0, latency=0.5)) as server:
        slow = max(server.web.pages(), key=lambda page: page.latency)
        path = slow.host.path(slow.local).encode()
        with raw_connection(server) as one, raw_connection(server) as two:
            for sock in (one, two):
                sock.sendall(b"GET %s HTTP/1.1\r\nConnection: close\r\n\r\n" % path)
            assert until_closed(one) == until_closed(two)
        early, late = server.log()
        assert late.started < early.ended


def test_a_client_that_leaves_is_logged_as_aborted() -> None:
    with SimServer(SimWebSettings.plain(hosts=1, pages=30, port=0, latency=10.0)) as server:
        slow = max(server.web.pages(), key=lambda page: page.latency)
        with raw_connection(server) as sock:
            sock.sendall(b"GET %s HTTP/1.1\r\n\r\n" % slow.host.path(slow.local).encode())
        deadline = time.monotonic() + PATIENCE
        while not (entries := server.log()) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert [entry.status for entry in entries] == [ABORTED]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"\x00\xff\x16\x03\x01\r\n\r\n", 400),
        (b"GET http://example.com/ HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 400),
        (b"GET /\r\n\r\n", 400),
        (b"\r\n\r\n\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", 405),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * MAX_HEAD_BYTES, 431),
    ],
)
def test_bad_requests_are_refused_and_the_server_lives(
    server: SimServer, client: Client, sent: bytes, status: int
) -> None:
    with raw_connection(server) as sock:
        sock.sendall(sent)
        assert until_closed(sock).startswith(b"HTTP/1.1 %d " % status)
    assert client.get(server.seed)[0] == 200


def test_a_flood_of_headers_ends_the_connection_only(server: SimServer, client: Client) -> None:
    with raw_connection(server) as sock:
        try:
            for _ in range(1_000):
                sock.sendall(b"X: " + b"y" * 10_000 + b"\r\n")
        except (ConnectionResetError, BrokenPipeError):
            pass
        else:
            pytest.fail("the server took 10 MB of headers")
    assert client.get(server.seed)[0] == 200


def test_requests_in_pieces_and_in_one_piece(server: SimServer) -> None:
    request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET / HTTP/1.0\r\n\r\n"
    with raw_connection(server) as sock:
        for byte in request:
            sock.sendall(bytes([byte]))
        sock.sendall(request * 50 + last)
        data = until_closed(sock)
    assert data.count(b"HTTP/1.1 200 OK\r\n") == 52
    assert len(server.log()) == 52


def test_a_slow_reader_gets_every_byte() -> None:
    with SimServer(SimWebSettings.plain(hosts=1, pages=3, port=0, mean_page_bytes=8_000_000)) as server:
        page = max(server.web.pages(), key=lambda page: len(page.body()))
        with raw_connection(server) as sock:
            sock.sendall(b"GET %s HTTP/1.1\r\nConnection: close\r\n\r\n" % page.host.path(page.local).encode())
            time.sleep(0.05)
            assert until_closed(sock).partition(b"\r\n\r\n")[2] == page.body()


def test_a_small_cache_changes_nothing(client: Client) -> None:
    with SimServer(SimWebSettings.plain(hosts=1, pages=50, port=0), cache_bytes=30_000) as server:
        for _ in range(2):
            assert all(client.get(page.url)[2] == page.body() for page in server.web.pages())


def test_workers_share_the_hosts(client: Client) -> None:
    with SimServer(SimWebSettings.plain(hosts=5, pages=50, port=0), workers=3) as server:
        assert all(client.get(page.url)[2] == page.body() for page in server.web.pages())
        entries = server.log()
        assert len(entries) == 50
        assert len({(entry.address, entry.connection) for entry in entries}) == 5
        assert len({entry.connection for entry in entries}) == 5
        server.set_version(1)
        changed = server.web.changed(0, 1)
        assert all((client.get(page.url)[2] == page.body()) is (page.url not in changed) for page in server.web.pages())


def test_a_taken_port_is_reported(server: SimServer, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PycrawlError):
        SimServer(server.web.settings)
    assert "Address already in use" in capfd.readouterr().err


def started(*options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pycrawl.simweb", "--hosts=2", "--pages=10", *options]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def refuses(url: str) -> bool:
    """Nobody listens any more: workers end a moment after their parent, if that was killed."""
    parts = urlsplit(url)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with socket.socket() as sock:
            if sock.connect_ex((parts.hostname or "", parts.port or 80)):
                return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_the_command_serves_until_a_signal(client: Client, number: int, code: int) -> None:
    with started("--port=0", "--workers=2") as process:
        assert process.stdout
        seed = process.stdout.readline().strip()
        assert client.get(seed)[0] == 200
        os.kill(process.pid, number)
        assert process.wait(PATIENCE) == code
        assert refuses(seed)


def test_the_command_ends_with_its_input() -> None:
    with started("--port=0", "--until-eof") as process:
        assert process.stdin
        assert process.stdout
        seed = process.stdout.readline().strip()
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
        assert refuses(seed)


def test_an_unknown_command_does_no_harm(client: Client) -> None:
    with started("--port=0", "--until-eof") as process:
        assert process.stdin
        assert process.stdout
        seed = process.stdout.readline().strip()
        for line in ("", "nonsense", "version x", "flush", "version 2"):
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            assert process.stdout.readline().strip() == ("ok" if line == "version 2" else "unknown command")
        assert client.get(seed)[2] == SimWeb(SimWebSettings(hosts=2, pages=10, port=urlsplit(seed).port or 0)).page(
            seed
        ).body(2)


def test_the_command_prints_urls() -> None:
    with started("--print-urls", "--seed=4") as process:
        assert process.stdout
        printed = process.stdout.read().split()
    assert set(printed) == SimWeb(SimWebSettings(hosts=2, pages=10, seed=4)).reachable()


@pytest.mark.parametrize("wrong", ["--hosts=0", "--workers=0", "--cache-bytes=much", "--pages=one"])
def test_the_command_refuses_wrong_options(wrong: str) -> None:
    command = [sys.executable, "-m", "pycrawl.simweb", wrong]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "expected" in done.stderr or "invalid" in done.stderr
