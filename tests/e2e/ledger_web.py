"""A small web for tests of the ledger: five hosts on loopback, faults that come and go, and a log of every request.

It has what makes a ledger hard: pages with the same bytes in two directories and on two hosts, redirects in a chain and
to another host, links that ask not to be followed, pages of other types, a robots.txt that denies, pages that change,
pages to which a longer way is found before a shorter one, and a host that is named by https only and never answers.
"""

from __future__ import annotations

import hashlib
import random
import socket
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import urljoin

HTML = "text/html; charset=utf-8"
ADDRESSES = {"a": "127.1.0.1", "b": "127.1.0.2", "c": "127.1.0.3", "d": "127.1.0.4", "tls": "127.1.0.5"}
ROBOTS = {"c": "User-agent: *\nDisallow: /private/\n"}
ROBOTS_DENIED = {"c": "/private/"}
REFUSED = 0  # as the status of a fault: the host takes no connections
TLS_HELLO = b"\x16"  # the first byte of a TLS connection
_WORDS = "apple brook cedar delta ember frost grove heath inlet jetty knoll ledge marsh north orbit plain quarry ridge"


@dataclass(frozen=True, slots=True)
class Page:
    """A page; hrefs are as written, with `{a}` for "http://" and the authority of host a."""

    links: tuple[str, ...] = ()
    nofollow: tuple[str, ...] = ()  # links with rel="nofollow"
    text_of: str = ""  # pages with the same links and the same `text_of` have the same bytes; empty: its own text
    content_type: str = HTML
    redirect: str = ""
    base: str = ""
    says_nofollow: bool = False  # <meta name="robots" content="nofollow">
    changes: bool = False  # its text is another one in each version of the web


def _page(*links: str, **more: object) -> Page:
    return Page(links, **more)  # type: ignore[arg-type]  # as the caller named them


_TWIN = ("page1.html", "page2.html")  # relative: other pages in each directory

PAGES: dict[str, dict[str, Page]] = {
    "a": {
        "/": _page(
            *("/a/", "/b/", "/deep/1", "/old", "/r1", "/out", "{b}/", "/hub", "/notes.txt", "/logo.png", "/missing"),
            *("/based", "/quiet", "/changes"),
            nofollow=("/hidden", "/later"),
        ),
        "/a/": _page(*_TWIN, text_of="twin"),
        "/b/": _page(*_TWIN, text_of="twin"),
        "/a/page1.html": _page("/"),
        "/a/page2.html": _page("../a/", "page3.html"),
        "/a/page3.html": _page(),
        "/b/page1.html": _page("page4.html"),
        "/b/page2.html": _page("/deep/5"),
        "/b/page4.html": _page("{d}/p/2"),
        "/hub": _page("/b/page1.html", "{c}/", "https://{tls}/secure", *(f"/wide/{number}" for number in range(1, 7))),
        **{f"/wide/{number}": _page(f"/wide/{number + 1}", "/hub", changes=number == 1) for number in (1, 2, 4, 5)},
        "/wide/3": _page("/later", "/wide/data.csv"),
        "/wide/6": _page("{b}/x/2"),
        "/wide/data.csv": _page(content_type="text/csv"),
        **{f"/deep/{number}": _page(f"/deep/{number + 1}") for number in range(1, 6)},
        "/deep/6": _page("{d}/far"),
        "/old": _page(redirect="/new"),
        "/new": _page("/new/leaf"),
        "/new/leaf": _page("{c}/open/1"),
        "/r1": _page(redirect="/r2"),
        "/r2": _page(redirect="/r3"),
        "/r3": _page(redirect="/landed"),
        "/landed": _page("/landed/on"),
        "/landed/on": _page(),
        "/out": _page(redirect="{c}/landing"),
        "/notes.txt": _page(content_type="text/plain"),
        "/logo.png": _page(content_type="image/png"),
        "/based": _page("leaf.html", base="/based/far/"),
        "/based/far/leaf.html": _page(),
        "/quiet": _page("/quiet/secret", "/a/page1.html", says_nofollow=True),
        "/quiet/secret": _page(),
        "/hidden": _page("/hidden/below"),  # only ever named by a link with rel=nofollow
        "/hidden/below": _page(),
        "/later": _page("{b}/x/1"),  # named so as well, and elsewhere by a plain link
        "/changes": _page("/changes/leaf", changes=True),
        "/changes/leaf": _page(changes=True),
    },
    "b": {
        "/": _page("/x/1", "/mirror/", "{a}/b/page2.html", "{c}/"),
        "/x/1": _page("/x/3", "/x/4"),
        "/x/2": _page("{d}/"),
        "/x/3": _page("/x/2"),
        "/x/4": _page(redirect="/x/5"),
        "/x/5": _page("{a}/deep/4"),
        "/mirror/": _page(*_TWIN, text_of="twin"),
        "/mirror/page1.html": _page("{a}/a/page1.html"),
        "/mirror/page2.html": _page("/mirror/page3.html", changes=True),
        "/mirror/page3.html": _page(),
        "/only/seed": _page("/only/leaf", "{a}/deep/6"),
        "/only/leaf": _page(),
    },
    "c": {
        "/": _page("/private/1", "/open/1", "/landing"),
        "/private/1": _page("/private/2"),
        "/private/2": _page(),
        "/open/1": _page("/open/2", "{a}/wide/2"),
        "/open/2": _page("{d}/p/1"),
        "/landing": _page("{d}/", "/open/3"),
        "/open/3": _page(),
    },
    "d": {
        "/": _page("/far", "/p/1"),
        "/far": _page("{b}/x/3", "/far/off"),
        "/far/off": _page(),
        "/p/1": _page("/p/2"),
        "/p/2": _page("/p/3"),
        "/p/3": _page("{a}/hidden/below"),
    },
    "tls": {},
}


@dataclass(frozen=True, slots=True)
class Request:
    """One request as a server saw it; `status` 0: something that is no plain HTTP, such as TLS."""

    url: str
    status: int
    epoch: int  # `LedgerWeb.epoch` at that moment: the number of the step, and so of the settings
    at: float  # seconds since the epoch


@dataclass(frozen=True, slots=True)
class Fault:
    host: str
    prefix: str  # of paths
    status: int  # or REFUSED


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients are killed in these tests; what matters of a request is in the log."""


class LedgerWeb:
    """`with LedgerWeb() as web:` serves all hosts on one port."""

    def __init__(self) -> None:
        self.port = _free_port()
        self.origins = {name: f"http://{address}:{self.port}" for name, address in ADDRESSES.items()}
        self.pages = {self.origins[name] + path: page for name, pages in PAGES.items() for path, page in pages.items()}
        self.log: list[Request] = []
        self.epoch = 0
        self.version = 0
        self.faults: list[Fault] = []
        self._servers: dict[str, tuple[_Server, threading.Thread]] = {}
        self._connections = 0
        self._lock = threading.Lock()

    # What it is made of

    def url(self, name: str, path: str) -> str:
        return self.origins[name] + path

    def host(self, name: str) -> str:
        """The host as settings name it."""
        return f"{ADDRESSES[name]}:{self.port}"

    def targets(self, url: str, hrefs: tuple[str, ...]) -> list[str]:
        """The hrefs of the page at `url`, resolved."""
        base = urljoin(url, self.pages[url].base)
        return [urljoin(base, self._written(href)) for href in hrefs]

    def _written(self, href: str) -> str:
        bare = {"tls": self.host("tls")}
        return href.format(**{**self.origins, **bare})

    def body(self, url: str) -> bytes:
        page = self.pages[url]
        version = self.version if page.changes else 0
        dice = random.Random(f"{page.text_of or url.replace(str(self.port), '')} {version}")  # whatever the port is
        text = " ".join(dice.choices(_WORDS.split(), k=60))
        if not page.content_type.startswith("text/html"):
            return text.encode()
        head = f'<base href="{page.base}">' if page.base else ""
        head += '<meta name="robots" content="nofollow">' if page.says_nofollow else ""
        anchors = [f'<a href="{self._written(href)}">on</a>' for href in page.links]
        anchors += [f'<a rel="nofollow" href="{self._written(href)}">on</a>' for href in page.nofollow]
        return f"<!DOCTYPE html><title>A page</title>{head}<p>{text}</p>{' '.join(anchors)}\n".encode()

    # Faults

    def set_fault(self, fault: Fault) -> None:
        self.faults.append(fault)
        if fault.status == REFUSED:
            self._stop(fault.host)

    def end_faults(self) -> None:
        self.faults.clear()
        for name in ADDRESSES:
            self._start(name)

    def wait_until_quiet(self) -> None:
        """Return when no connection is open any more, so that nothing is logged later."""
        deadline = time.monotonic() + 5.0
        while self._connections and time.monotonic() < deadline:
            time.sleep(0.005)

    # Answers

    def answer(self, name: str, path: str, etag: str) -> tuple[int, dict[str, str], bytes]:
        url = self.origins[name] + path
        if path == "/robots.txt":
            return (200, {"Content-Type": "text/plain"}, ROBOTS[name].encode()) if name in ROBOTS else (404, {}, b"")
        for fault in self.faults:
            if fault.host == name and path.startswith(fault.prefix):
                return fault.status, {"Content-Type": HTML}, b"out of order"
        page = self.pages.get(url)
        if page is None:
            return 404, {"Content-Type": HTML}, b"there is no such page"
        if page.redirect:
            return 301, {"Location": self._written(page.redirect)}, b""
        body = self.body(url)
        own_etag = f'"{hashlib.md5(body).hexdigest()}"'
        if etag == own_etag:
            return 304, {"ETag": own_etag}, b""
        return 200, {"Content-Type": page.content_type, "ETag": own_etag}, body

    def note(self, url: str, status: int) -> None:
        with self._lock:
            self.log.append(Request(url, status, self.epoch, time.time()))

    def count_connection(self, change: int) -> None:
        with self._lock:
            self._connections += change

    # Serving

    def __enter__(self) -> LedgerWeb:
        for name in ADDRESSES:
            self._start(name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in ADDRESSES:
            self._stop(name)

    def _start(self, name: str) -> None:
        if name not in self._servers:
            server = _Server((ADDRESSES[name], self.port), _handler(self, name))
            thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
            thread.start()
            self._servers[name] = (server, thread)

    def _stop(self, name: str) -> None:
        if name in self._servers:
            server, thread = self._servers.pop(name)
            server.shutdown()
            server.server_close()
            thread.join()


def _handler(web: LedgerWeb, name: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet: the client would wait 40 ms to acknowledge the first

        def handle(self) -> None:
            web.count_connection(+1)
            try:
                if self.connection.recv(1, socket.MSG_PEEK) == TLS_HELLO:
                    web.note(web.origins[name].replace("http:", "https:") + "/", 0)
                    return
                super().handle()
            except OSError:  # the client has gone
                self.close_connection = True
            finally:
                web.count_connection(-1)

        def do_GET(self) -> None:
            status, headers, body = web.answer(name, self.path, self.headers.get("If-None-Match", ""))
            web.note(web.origins[name] + self.path, status)
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *values: object) -> None:
            pass

    return Handler


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
