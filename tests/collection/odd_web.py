"""A site whose bodies are odd in every way that a collection has to survive, and a crawl of it."""

from __future__ import annotations

import gzip
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

from pycrawl import Crawl

HTML = "text/html; charset=utf-8"
_CHANCE = random.Random(5)
_BIG = "<title>Big</title><p>" + " ".join(str(_CHANCE.random()) for _ in range(120_000))

# path → (Content-Type, body, further headers)
PAGES: dict[str, tuple[str, bytes, dict[str, str]]] = {
    "/nul": (HTML, b"<title>NUL</title><p>be\0fore and af\0ter \0\0\0</p>", {}),
    "/utf16": ("text/html; charset=utf-16le", "<title>Zwei</title>Grüße 世界 <DOC> </DOC>".encode("utf-16-le"), {}),
    "/tags": (HTML, b"<title>Tags</title>\n<DOC>\n</DOC>\n</doc>\n<DOCNO>x</DOCNO>\n</DOCHDR>\nend</DOC >\n", {}),
    "/no-newline": (HTML, b"<title>No newline</title><p>the last line is open", {}),
    "/newlines": (HTML, b"<title>Newlines</title><p>many\n\n\n", {}),
    "/crlf": (HTML, b"<title>CRLF</title>\r\n<p>lines of Windows\r\n", {}),
    "/empty": (HTML, b"", {}),
    "/big": ("text/html", _BIG.encode(), {}),
    "/binary": ("text/plain", bytes(range(256)) * 40, {}),
    "/latin": ("text/html; charset=iso-8859-1", "<html lang=de><title>Größe</title><p>Ärger".encode("latin-1"), {}),
    "/zipped": (
        HTML, gzip.compress(b"<html lang=en-GB><title>Zipped</title><p>it was compressed"),
        {"Content-Encoding": "gzip", "X-Odd": "a  b", "Set-Cookie": "a=1; Path=/", "ETag": '"z"'},
    ),
    "/copy": ("text/html", b"<title>Same</title><p>the same bytes", {}),
    "/copied": ("text/html", b"<title>Same</title><p>the same bytes", {}),
}  # fmt: skip


class OddWeb:
    """Serves PAGES; "/" links to all of them."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> OddWeb:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


HOME = (
    "<html lang=en><title>Odd bodies</title><p>"
    + " ".join(f"<a href='{path}'>about {path[1:]}</a>" for path in PAGES)
    + "<a href=/moved rel=nofollow>moved</a><a href=/again>again</a>"
).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/again":
            self.send_response(301)
            self.send_header("Location", "/latin")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        kind, body, headers = {**PAGES, "/": (HTML, HOME, {})}.get(self.path, ("", b"", {}))
        self.send_response(200 if kind else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: object) -> None:
        pass


def body_as_stored(path: str) -> bytes:
    """What a page's body is once its coding is undone."""
    _, body, headers = PAGES[path]
    return gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body


SETTINGS = {
    "crawl": {"fetchers": 1, "proxy": "none", "contact": "test@example.org"},
    "politeness": {"delay": 0},
    "security": {"allow_private_addresses": True},
    "traps": {"soft_404": False},
}


def crawled(path: Path, seed: str) -> Crawl:
    """A crawl of the site, run to its end by the Python API."""
    crawl = Crawl.create(path, [seed], **SETTINGS)
    ended = crawl.run()
    assert ended.reason == "finished"
    return crawl
