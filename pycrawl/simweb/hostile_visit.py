"""One request to a host of the hostile web, and the means to answer it as no server should."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

PATIENCE = 120.0  # seconds after which a host gives up on its client
RATE = 20_000_000  # bytes a second that one connection is sent at most, so that one client cannot take the machine
_MOST_HEAD_BYTES = 65_536
_POLL_SECONDS = 0.2


class ClientGone(Exception):
    """The client has hung up, or the host has lost patience with it."""


class Visit:
    """A request: its path with the query, and its connection. `keep_alive` is set by who answers in full."""

    def __init__(self, sock: socket.socket, head: bytes, authority: str) -> None:
        self.sock = sock
        self.head = head
        self.authority = authority  # of the host, with its port
        words = head.split(None, 2)
        self.path = words[1].decode("latin-1") if len(words) > 1 else "/"
        self.keep_alive = False

    def send(self, *parts: bytes) -> None:
        try:
            self.sock.sendall(b"".join(parts))
        except OSError as error:
            raise ClientGone from error

    def send_for_ever(self, data: bytes, pause: float = 0.0) -> None:
        """Until the client goes away."""
        begun = time.monotonic()
        sent = 0
        while time.monotonic() < begun + PATIENCE:
            self.send(data)
            sent += len(data)
            time.sleep(max(pause, begun + sent / RATE - time.monotonic(), 0))
        raise ClientGone

    def answer(self, body: bytes, *headers: bytes, status: bytes = b"200 OK") -> None:
        """A whole answer, after which the connection stays open."""
        lines = [b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *headers]
        if not any(line.lower().startswith(b"content-type:") for line in headers):
            lines.append(b"Content-Type: text/html; charset=utf-8")
        self.keep_alive = True
        self.send(b"\r\n".join(lines), b"\r\n\r\n", body)

    def redirect(self, location: bytes, *headers: bytes, status: bytes = b"302 Found") -> None:
        self.answer(b"", b"Location: " + location, *headers, status=status)

    def wait(self) -> None:
        """Say nothing until the client goes away."""
        self.sock.settimeout(_POLL_SECONDS)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if not self.sock.recv(65_536):
                    return
            except TimeoutError:
                continue
            except OSError:
                return

    def reset(self) -> None:
        """Close the connection so that the client is told of an error."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


Serve = Callable[[Visit], None]


@dataclass(frozen=True, slots=True)
class HostileHost:
    """A host with one fault. `serve` answers its requests; those for robots.txt only if `own_robots`."""

    name: str  # words with hyphens
    does: str  # what it does to its clients, in one line
    should: str  # what a crawler should make of it, in one line
    serve: Serve
    own_robots: bool = False
    scheme: str = "http"  # "https": behind TLS
    greets: bool = False  # it acts as soon as it is connected to, before any request


def read_head(sock: socket.socket) -> bytes:
    """Returns the head of the next request; empty if there is none."""
    head = b""
    sock.settimeout(PATIENCE)
    while not head.endswith(b"\r\n\r\n"):
        data = sock.recv(_MOST_HEAD_BYTES)
        if not data or len(head) > _MOST_HEAD_BYTES:
            return b""
        head += data
    return head


def page(title: str, *links: str, text: str = "") -> bytes:
    """A page with links, as the honest parts of hostile hosts have it."""
    anchors = "".join(f'<li><a href="{link}">{link}</a>\n' for link in links)
    return f"<!DOCTYPE html>\n<html lang=en><title>{title}</title>\n<p>{text}</p>\n<ul>\n{anchors}</ul>\n".encode()
