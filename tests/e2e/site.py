"""A small web site on loopback whose pages are given by the test, with a list of what it was asked for."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a path answers; `before` is called with the client's port before it does."""

    body: str = ""
    status: int = 200
    content_type: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    before: Callable[[int], None] | None = None
    encoding: str = "utf-8"  # of the body


NOT_FOUND = Reply(status=404)


def page(*links: str, text: str = "") -> Reply:
    anchors = "".join(f'<a href="{link}">a link</a>' for link in links)
    return Reply(f"<!DOCTYPE html><title>A page</title><p>{text}{anchors}</p>\n")


def after(event: threading.Event, most_seconds: float) -> Callable[[int], None]:
    """For `Reply.before`: the answer is not sent before the event."""

    def wait(port: int) -> None:
        event.wait(most_seconds)

    return wait


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed is what tests are about; anything else is for them to see."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # as it came


class Site:
    """`with Site({"/": page("/a"), …}) as site:`; what is not listed is answered `otherwise`."""

    def __init__(
        self, pages: Mapping[str, Reply], address: str = "127.0.0.1", port: int = 0, otherwise: Reply = NOT_FOUND
    ) -> None:
        self.otherwise = otherwise
        self.pages = dict(pages)
        self.asked: list[str] = []  # paths, in the order in which they were asked for …
        self.headers: list[Message] = []  # … the headers of each of these requests …
        self.asked_at: list[float] = []  # … and when each came: time.monotonic()
        self.heads: dict[str, Reply] = {}  # what a HEAD is answered, where that is not what a GET is
        self.asked_heads: list[str] = []  # paths of HEADs, which are not in `asked`
        self.lock = threading.Lock()  # held while a request is noted
        self._server = _Server((address, port), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self.port: int = self._server.server_address[1]
        self.url = f"http://{address}:{self.port}"

    def wrap(self, wrapped: Callable[[socket.socket], socket.socket]) -> None:
        """Listen by another socket in place of the plain one: that of TLS. To be called before the site is entered."""
        self._server.socket = wrapped(self._server.socket)

    def times(self) -> Counter[str]:
        return Counter(path for path in self.asked if path != "/robots.txt")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # headers and body in one packet: the client would wait 40 ms to acknowledge the first

            def do_HEAD(self) -> None:
                with site.lock:
                    site.asked_heads.append(self.path)
                self.answer(site.heads.get(self.path) or site.pages.get(self.path, site.otherwise), has_body=False)

            def do_GET(self) -> None:
                with site.lock:
                    site.asked.append(self.path)
                    site.headers.append(self.headers)
                    site.asked_at.append(time.monotonic())
                self.answer(site.pages.get(self.path, site.otherwise), has_body=True)

            def answer(self, reply: Reply, has_body: bool) -> None:
                if reply.before is not None:
                    reply.before(self.client_address[1])
                time.sleep(reply.seconds)
                tag = self.headers.get("If-None-Match")
                date = self.headers.get("If-Modified-Since") if tag is None else None  # RFC 9110, 13.1.3
                is_same = tag is not None and tag == reply.headers.get("ETag")
                if is_same or (date is not None and date == reply.headers.get("Last-Modified")):
                    reply = Reply(status=304, headers=reply.headers)
                body = reply.body.encode(reply.encoding)
                try:
                    self.send_response(reply.status)
                    self.send_header("Content-Type", reply.content_type)
                    if "Content-Length" not in reply.headers:
                        self.send_header("Content-Length", str(len(body)))
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    if has_body:
                        self.wfile.write(body)
                except OSError:  # the client has gone
                    self.close_connection = True

            def log_message(self, format: str, *values: object) -> None:
                pass

        return Handler

    def __enter__(self) -> Site:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
