"""Serves the hostile web: a host for every fault, on a loopback address of its own, and an index that lists them.

Every connection has a thread: most of them wait, and the others end when their client has had enough.
"""

from __future__ import annotations

import html
import itertools
import selectors
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from pycrawl.errors import PycrawlError
from pycrawl.model import Outcome
from pycrawl.simweb.hostile_answers import HOSTILE_ANSWERS, HostileAnswer
from pycrawl.simweb.hostile_hosts import CONNECTIONS, REDIRECTS, robots_hosts
from pycrawl.simweb.hostile_pages import PAGES, TRAPS
from pycrawl.simweb.hostile_visit import ClientGone, HostileHost, Visit, page, read_head

PORT = 8966
_BACKLOG = 128
_TLS_SECONDS = 20.0  # for a client to shake hands
_ROBOTS = "/robots.txt"

_SHOULD = {
    Outcome.FETCHED: "Take it for a page, as far as its own limits allow.",
    Outcome.TOO_BUSY: "Ask again later, not at once.",
    Outcome.UNWANTED_TYPE: "Not read it to its end, as it is no page.",
}
_FAILS = "The URL fails, by its name ({}); other hosts notice nothing."


def address(number: int) -> str:
    """The address of a host; that of the index is the first."""
    return f"127.66.{number // 250}.{number % 250 + 1}"


def _from_answer(answer: HostileAnswer) -> HostileHost:
    def serve(visit: Visit) -> None:
        visit.send(answer.first)
        if answer.then:
            visit.send_for_ever(answer.then, answer.pause)

    does = answer.name.replace("-", " ").capitalize() + "."
    return HostileHost(answer.name, does, _SHOULD.get(answer.outcome, _FAILS.format(answer.outcome)), serve)


def _hello(visit: Visit) -> None:
    visit.answer(page("behind TLS"))


def _plain_text(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


_TLS = (
    HostileHost("tls-self-signed", "A certificate that nobody knows.", "Not trust it.", _hello, scheme="https"),
    HostileHost(
        "tls-plain-text",
        "Speaks HTTP where TLS is expected.",
        "The URL fails.",
        _plain_text,
        scheme="https",
        greets=True,
    ),
    HostileHost(
        "tls-never-shakes-hands",
        "Never answers a TLS greeting.",
        "Give up by its limit.",
        Visit.wait,
        scheme="https",
        greets=True,
    ),
    HostileHost(
        "tls-hangs-up", "Hangs up on a TLS greeting.", "The URL fails.", Visit.reset, scheme="https", greets=True
    ),
)


def all_hosts() -> tuple[HostileHost, ...]:
    """Every fault once; hosts that remember something are new."""
    own = (*CONNECTIONS, *robots_hosts(), *REDIRECTS, *PAGES, *TRAPS, *_TLS)
    return (*own, *map(_from_answer, HOSTILE_ANSWERS))


class HostileWeb:
    """`with HostileWeb() as web:` serves all hosts; `web.index` is the URL of the page that lists them."""

    def __init__(self, port: int = 0, hosts: tuple[HostileHost, ...] | None = None) -> None:
        """`port` is that of all hosts; 0: any that is free on the index's address."""
        self.hosts = all_hosts() if hosts is None else hosts
        self.requests: list[tuple[str, str]] = []  # name of the host and path, as they came
        self._certificate = _certificate() if any(host.scheme == "https" for host in self.hosts) else None
        if self._certificate is None:
            self.hosts = tuple(host for host in self.hosts if host.name != "tls-self-signed")
        self._selector = selectors.DefaultSelector()
        self._listeners: list[socket.socket] = []
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.port = self._listen(port)
        self.index = f"http://{address(0)}:{self.port}/"
        self._closing = False
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def url(self, number: int) -> str:
        """The home page of the host with this number."""
        return f"{self.hosts[number].scheme}://{address(number + 1)}:{self.port}/"

    def serve(self) -> None:
        """Until `close`."""
        self._accept()

    def close(self) -> None:
        self._closing = True
        for listener in self._listeners:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        with self._lock:
            for sock in self._open:
                with suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> HostileWeb:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self._thread.join()

    def _listen(self, port: int) -> int:
        index = HostileHost("index", "", "", self._serve_index)
        for number, host in enumerate((index, *self.hosts)):
            try:
                listener = socket.create_server((address(number), port), backlog=_BACKLOG)
            except OSError as error:
                raise PycrawlError(f"simweb: {address(number)}:{port}: {error.strerror}") from None
            port = port or listener.getsockname()[1]
            listener.setblocking(False)
            self._listeners.append(listener)
            self._selector.register(listener, selectors.EVENT_READ, (host, f"{address(number)}:{port}"))
        return port

    def _accept(self) -> None:
        while not self._closing:
            for key, _ in self._selector.select(0.2):
                host, authority = key.data
                assert isinstance(key.fileobj, socket.socket)
                try:
                    sock, _ = key.fileobj.accept()
                except OSError:
                    continue  # the client has gone already, or we are closing
                threading.Thread(target=self._serve, args=(host, authority, sock), daemon=True).start()

    def _serve(self, host: HostileHost, authority: str, sock: socket.socket) -> None:
        with self._lock:
            self._open.add(sock)
        try:
            if host.greets:
                self.requests.append((host.name, ""))
                host.serve(Visit(sock, b"", authority))
            else:
                self._answer_all(host, authority, self._in_tls(sock) if host.scheme == "https" else sock)
        except (OSError, ClientGone):
            pass  # the client went away, as it may
        finally:
            with self._lock:
                self._open.discard(sock)
            sock.close()

    def _in_tls(self, sock: socket.socket) -> socket.socket:
        assert self._certificate is not None
        sock.settimeout(_TLS_SECONDS)
        return self._certificate.wrap_socket(sock, server_side=True)

    def _answer_all(self, host: HostileHost, authority: str, sock: socket.socket) -> None:
        while head := read_head(sock):
            visit = Visit(sock, head, authority)
            self.requests.append((host.name, visit.path))
            if visit.path == _ROBOTS and not host.own_robots:
                visit.answer(b"", b"Content-Type: text/plain", status=b"404 Not Found")
            else:
                host.serve(visit)
            if not visit.keep_alive:
                break
        sock.close()

    def _serve_index(self, visit: Visit) -> None:
        if visit.path == "/":
            visit.answer(self.index_page())
        else:
            visit.answer(page("not here"), status=b"404 Not Found")

    def index_page(self) -> bytes:
        rows = "".join(
            f'<tr><td><a href="{self.url(number)}">{html.escape(host.name)}</a>'
            f"<td>{html.escape(host.does)}<td>{html.escape(host.should)}\n"
            for number, host in enumerate(self.hosts)
        )
        closed = f"http://{address(len(self.hosts) + 1)}:{self.port}/"
        rows += f'<tr><td><a href="{closed}">refused</a><td>Nobody listens.<td>The URL fails.\n'
        return (
            "<!DOCTYPE html>\n<html lang=en><title>A hostile web</title>\n<h1>A hostile web</h1>\n"
            "<p>Each of these hosts has one fault. A good crawler loses the host's own pages by it, and nothing else: "
            "no other host waits, no process ends, memory stays bounded.</p>\n"
            f"<table>\n<tr><th>host<th>what it does<th>what a crawler should do\n{rows}</table>\n"
        ).encode()


def _certificate() -> ssl.SSLContext | None:
    """A certificate that was just made; None where there is no `openssl` to make it."""
    if shutil.which("openssl") is None:
        return None
    with tempfile.TemporaryDirectory(prefix="simweb-") as folder:
        key, certificate = Path(folder, "key.pem"), Path(folder, "certificate.pem")
        command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost".split()
        subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, key)
        return context


def serve_hostile(port: int, until_eof: bool, announce: Callable[[str], None]) -> None:
    """Serve the hostile web until SIGINT, or, if asked so, until standard input ends. The index's URL is announced."""
    with HostileWeb(port) as web, suppress(KeyboardInterrupt):
        announce(web.index)
        if until_eof:
            sys.stdin.read()
        else:
            threading.Event().wait()


def print_hosts(port: int, announce: Callable[[str], None]) -> None:
    """A line for each host: its URL, its name, what it does, what a crawler should do."""
    for number, host in zip(itertools.count(1), all_hosts(), strict=False):
        announce(f"{host.scheme}://{address(number)}:{port}/\t{host.name}\t{host.does}\t{host.should}")
