"""A web site that puts control characters wherever a server can, and the signs by which they are found again."""

from __future__ import annotations

import re
import socket
import threading
from types import TracebackType

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b31m\x85\u202e\u2066\u200f\u061c\u2028\x7f\x08\U000e0041[/b][red]:smile:"
HEADER = EVIL.encode()
LATIN = b"\x9b31m\x1b[31m"  # a C1 character in Latin-1

# What may stand in any output: neither C0 nor C1, nor what turns or hides text. A newline ends lines, a tab parts
# columns of the log.
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
# What the live view writes: colours, and moves of the cursor. None of them is in EVIL.
OWN_SEQUENCES = re.compile(r"\x1b\[(?:\?25[lh]|[0-9]*[AKJG]|(?!31m)[0-9;]*m)")


def answer(status: bytes, headers: list[bytes], body: bytes = b"") -> bytes:
    head = [b"HTTP/1.1 " + status, *headers, b"Content-Length: %d" % len(body), b"Connection: close", b"", b""]
    return b"\r\n".join(head) + body


def page(title: str, *links: str, text: str = "") -> bytes:
    anchors = "".join(f'<a href="{link}">{EVIL}</a>' for link in links)
    return f"<!DOCTYPE html><meta charset=utf-8><title>{title}</title><p>{text}{anchors}</p>\n".encode()


WORDS = " ".join(f"word{number}" for number in range(200))
HTML = b"Content-Type: text/html; charset=utf-8"
PATHS = (
    "/loc",
    "/loc2",
    "/loc3",
    "/type",
    "/latin",
    "/charset",
    "/denied",
    "/status",
    "/near",
    "/copy",
    "/error",
    "/odd",
)
ANSWERS = {
    "/robots.txt": answer(
        b"200 OK",
        [b"Content-Type: text/plain"],
        b"User-agent: *\nDisallow: /denied # " + HEADER + b"\nSitemap: http://x.example/" + HEADER + b"\n",
    ),
    "/": answer(
        b"200 OK",
        [HTML, b"ETag: " + HEADER, b"Set-Cookie: a=" + HEADER, b"X-Robots-Tag: " + HEADER, b"Server: " + HEADER],
        page(EVIL, *PATHS, f"http://h{EVIL}.example/", f"/path{EVIL}?{EVIL}", text=EVIL + WORDS),
    ),
    "/loc": answer(b"302 Found", [b"Location: http://" + HEADER + b"/"]),
    "/loc2": answer(b"302 Found", [b"Location: gopher://x/" + HEADER]),
    "/loc3": answer(b"302 Found", [b"Location: /to" + HEADER]),
    "/type": answer(b"200 OK", [b"Content-Type: application/" + HEADER], b"x"),
    "/latin": answer(b"200 OK", [b"Content-Type: image/" + LATIN], b"x"),
    "/charset": answer(b"200 OK", [b"Content-Type: text/html; charset=" + HEADER], page("charset", text=WORDS[:300])),
    "/status": answer(b"404 " + HEADER, [HTML]),
    "/near": answer(b"200 OK", [HTML], page("near", text=WORDS + " end")),
    "/copy": answer(b"200 OK", [HTML], page("near", text=WORDS + " end")),
    "/error": answer(b"503 " + HEADER, [HTML, b"Retry-After: " + HEADER]),
    "/odd": HEADER * 3 + b"\r\n\r\n",
}


class EvilSite:
    """Answers each connection with the bytes for its path."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with client:
                data = b""
                while b"\r\n\r\n" not in data and (part := client.recv(10_000)):
                    data += part
                if data:
                    path = data.split(b" ")[1].decode()
                    client.sendall(ANSWERS.get(path, answer(b"404 Not Found", [HTML])))

    def __enter__(self) -> EvilSite:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
