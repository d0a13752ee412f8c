"""A web server on loopback whose resources are named after what is wrong with them."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable

PAGE = b"<html><body>" + b"All is well. " * 500 + b"</body></html>"
PATIENCE = 120.0  # seconds after which a resource gives up on its client
STOPPING_BYTES = 900_000

Fault = Callable[["Visit"], None]
FAULTS: dict[str, Fault] = {}


def fault(handler: Fault) -> Fault:
    FAULTS["/" + handler.__name__.replace("_", "-")] = handler
    return handler


class Visit:
    """One request: its raw head, and the means to answer it."""

    def __init__(self, server: FaultServer, sock: socket.socket, head: bytes) -> None:
        self.server = server
        self.sock = sock
        self.head = head
        self.keep_alive = False

    def send(self, *parts: bytes) -> None:
        self.sock.sendall(b"".join(parts))

    def answer(self, body: bytes, *headers: bytes, status: bytes = b"200 OK", length: int | None = None) -> None:
        lines = [b"HTTP/1.1 " + status, b"Content-Length: %d" % (len(body) if length is None else length), *headers]
        if not any(line.lower().startswith(b"content-type") for line in headers):
            lines.append(b"Content-Type: text/html")
        self.send(b"\r\n".join(lines), b"\r\n\r\n", body)

    def wait(self) -> None:
        """Until the client has gone or the server is closed."""
        self.sock.settimeout(0.1)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not self.server.closing:
            try:
                if not self.sock.recv(65_536):
                    return
            except TimeoutError:
                continue

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


class FaultServer:
    """`connections` and `requests` count what arrived; `release` lets bodies go on that have stopped."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.connections = 0
        self.requests: list[bytes] = []
        self.closing = False
        self.release = threading.Event()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), family=family, backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self.base = f"http://{f'[{host}]' if ':' in host else host}:{self.port}"
        self._sockets: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.closing = True
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in list(self._sockets):
            sock.close()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._sockets.add(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        try:
            while self._serve_one(sock):
                pass
        except OSError:
            pass  # the client went away, as it may
        finally:
            sock.close()
            self._sockets.discard(sock)

    def _serve_one(self, sock: socket.socket) -> bool:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            data = sock.recv(65_536)
            if not data:
                return False
            head += data
        self.requests.append(head)
        visit = Visit(self, sock, head)
        FAULTS[head.split()[1].decode().partition("?")[0]](visit)
        return visit.keep_alive


@fault
def ok(visit: Visit) -> None:
    visit.keep_alive = True
    visit.answer(PAGE, b"X-Answer: one", b"x-answer: two")


@fault
def ok_head(visit: Visit) -> None:
    """As `ok`, and without a body for HEAD, as it should be."""
    visit.keep_alive = True
    visit.answer(b"" if visit.head.startswith(b"HEAD ") else PAGE, length=len(PAGE))


@fault
def chunked_head(visit: Visit) -> None:
    """Says that there are chunks, of which a HEAD gets none."""
    visit.keep_alive = True
    visit.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html\r\n\r\n")


@fault
def ok_but_closes(visit: Visit) -> None:
    """Keep-alive is promised, and the connection closed after the answer: the next request meets a dead one."""
    visit.answer(PAGE)


@fault
def length_too_long(visit: Visit) -> None:
    visit.answer(PAGE, length=len(PAGE) + 1000)


@fault
def length_too_short(visit: Visit) -> None:
    visit.answer(PAGE, length=100)


@fault
def length_too_short_and_a_forged_answer(visit: Visit) -> None:
    """What is left over looks like the answer to the next request."""
    visit.keep_alive = True
    forged = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\nforged"
    visit.answer(PAGE[:100] + forged * 3, length=100)


@fault
def length_negative(visit: Visit) -> None:
    visit.answer(PAGE, length=-5)


@fault
def length_is_a_word(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: many\r\n\r\n", PAGE)


@fault
def length_twice(visit: Visit) -> None:
    visit.answer(PAGE, b"Content-Length: 7")


@fault
def length_beside_chunks(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n")
    visit.send(b"5\r\nhello\r\n0\r\n\r\n")


@fault
def chunked(visit: Visit) -> None:
    visit.keep_alive = True
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
    visit.send(
        b"".join(b"%x\r\n%s\r\n" % (len(PAGE[i : i + 999]), PAGE[i : i + 999]) for i in range(0, len(PAGE), 999))
    )
    visit.send(b"0\r\nX-Trailer: late\r\n\r\n")


@fault
def chunked_cut(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n", b"ff\r\nabc")


@fault
def chunked_garbage(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n", b"xyz\r\nabc\r\n")


@fault
def header_without_colon(visit: Visit) -> None:
    visit.answer(PAGE, b"X-First: 1", b"what is this", b"X-Last: 2")


@fault
def header_with_nul(visit: Visit) -> None:
    visit.answer(PAGE, b"X-Odd: a\0b")


@fault
def header_folded(visit: Visit) -> None:
    visit.answer(PAGE, b"X-Folded: one\r\n two")


@fault
def headers_100_kb(visit: Visit) -> None:
    visit.answer(PAGE, *(b"X-%03d: %s" % (i, b"v" * 1010) for i in range(99)))


@fault
def headers_endless(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\n")
    while not visit.server.closing:
        visit.send(b"X-Header: " + b"v" * 500 + b"\r\n")


@fault
def headers_slow(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\n")
    for _ in range(100):
        visit.send(b"X")
        time.sleep(0.2)


@fault
def body_endless(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    while not visit.server.closing:
        visit.send(b"more and more " * 1000)


@fault
def body_that_stops(visit: Visit) -> None:
    """All but the last byte, and that when the test says so."""
    visit.answer(b"x" * (STOPPING_BYTES - 1), length=STOPPING_BYTES)
    visit.server.release.wait(PATIENCE)
    visit.send(b"x")


@fault
def byte_by_byte(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(100):
        visit.send(b"x")
        time.sleep(0.2)


@fault
def never_answers(visit: Visit) -> None:
    visit.wait()


@fault
def reset_in_the_middle(visit: Visit) -> None:
    visit.answer(PAGE[:100], length=len(PAGE))
    time.sleep(0.05)
    visit.reset()


@fault
def closes_at_once(visit: Visit) -> None:
    pass


@fault
def not_http(visit: Visit) -> None:
    visit.send(b"SSH-2.0-OpenSSH_9.2p1\r\nProtocol mismatch.\r\n")


@fault
def no_content(visit: Visit) -> None:
    visit.keep_alive = True
    visit.send(b"HTTP/1.1 204 No Content\r\n\r\n")


@fault
def not_modified(visit: Visit) -> None:
    visit.keep_alive = True
    visit.send(b'HTTP/1.1 304 Not Modified\r\nETag: "e"\r\n\r\n')


@fault
def redirect(visit: Visit) -> None:
    visit.keep_alive = True
    visit.answer(b"gone there", b"Location: /ok", status=b"301 Moved Permanently")


@fault
def cookie_then_page(visit: Visit) -> None:
    """Serves the page to who brings back the cookie, and redirects others to itself."""
    visit.keep_alive = True
    if b"\r\nCookie: seen=yes" in visit.head:
        visit.answer(PAGE)
    else:
        visit.answer(
            b"", b"Set-Cookie: seen=yes; Path=/; HttpOnly", b"Location: /cookie-then-page", status=b"302 Found"
        )


@fault
def error_500(visit: Visit) -> None:
    visit.answer(b"sorry", b"Content-Type: application/json", status=b"500 Internal Server Error")


@fault
def interim_answers(visit: Visit) -> None:
    visit.keep_alive = True
    visit.send(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: </x.css>\r\n\r\n")
    visit.answer(PAGE, b"X-Final: yes")


@fault
def http_1_0(visit: Visit) -> None:
    visit.send(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n", PAGE)


@fault
def bare_newlines(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 5\n\nhello")


@fault
def image(visit: Visit) -> None:
    visit.keep_alive = True
    visit.answer(b"\x89PNG" + bytes(2000), b"Content-Type: image/png")


@fault
def image_endless(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
    while not visit.server.closing:
        visit.send(bytes(10_000))


import tests.fetch.encodings  # noqa: E402, F401  # more resources, which need what stands above
