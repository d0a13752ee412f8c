"""Proxies on loopback: HTTP (forwarding and CONNECT) and SOCKS 5, which note what they are asked for."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress


def close(sock: socket.socket) -> None:
    """Also for a thread that waits for it."""
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
    sock.close()


def pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
    for sock in (source, sink):
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


class ProxyServer:
    """`asked` holds what clients asked for. Names under .test are at 127.0.0.1, as only the proxy knows."""

    def __init__(self, login: bytes = b"") -> None:
        self.asked: list[str] = []
        self.heads: list[bytes] = []
        self.login = login
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._sockets:
            close(sock)
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self._sockets.append(sock)
            self._start(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        with suppress(OSError, EOFError):
            self._handle(sock)
        close(sock)

    def _handle(self, sock: socket.socket) -> None:
        raise NotImplementedError

    def _join(self, client: socket.socket, server: socket.socket) -> None:
        self._sockets.append(server)
        self._start(pump, server, client)
        pump(client, server)
        server.close()

    def _start(self, target: Callable[..., None], *arguments: socket.socket) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    @staticmethod
    def _dial(host: str, port: int) -> socket.socket:
        return socket.create_connection(("127.0.0.1" if host.endswith(".test") else host, port))


def read_exactly(sock: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = sock.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


class HttpProxy(ProxyServer):
    """Forwards one request per connection: let the server close it."""

    refusal = b""

    def _handle(self, sock: socket.socket) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += read_exactly(sock, 1)
        self.heads.append(head)
        method, target, _ = head.decode().split(" ", 2)
        self.asked.append(f"{method} {target}")
        if self.login and b"Proxy-Authorization: Basic " + self.login not in head:
            sock.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        elif self.refusal:
            sock.sendall(b"HTTP/1.1 " + self.refusal + b"\r\nContent-Length: 0\r\n\r\n")
        elif method == "CONNECT":
            host, _, port = target.rpartition(":")
            server = self._dial(host.strip("[]"), int(port))
            sock.sendall(b"HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n")
            self._join(sock, server)
        else:
            self._forward(sock, head, target)

    def _forward(self, sock: socket.socket, head: bytes, target: str) -> None:
        authority, _, path = target.removeprefix("http://").partition("/")
        host, _, port = authority.partition(":")
        server = self._dial(host, int(port or 80))
        server.sendall(head.replace(target.encode(), b"/" + path.encode(), 1))
        self._join(sock, server)


class SocksProxy(ProxyServer):
    def _handle(self, sock: socket.socket) -> None:
        version, count = read_exactly(sock, 2)
        methods = read_exactly(sock, count)
        assert version == 5
        if self.login and 2 not in methods:
            sock.sendall(b"\x05\xff")
            return
        sock.sendall(b"\x05\x02" if self.login else b"\x05\x00")
        if self.login:
            user = read_exactly(sock, read_exactly(sock, 2)[1])
            password = read_exactly(sock, read_exactly(sock, 1)[0])
            sock.sendall(b"\x01\x00" if user + b":" + password == self.login else b"\x01\x01")
        kind = read_exactly(sock, 4)[3]
        host = self._host(sock, kind)
        port = int.from_bytes(read_exactly(sock, 2), "big")
        self.asked.append(host)
        try:
            server = self._dial(host, port)
        except OSError:
            sock.sendall(b"\x05\x05\x00\x01" + bytes(6))
            raise
        sock.sendall(b"\x05\x00\x00\x01" + bytes(6))
        self._join(sock, server)

    @staticmethod
    def _host(sock: socket.socket, kind: int) -> str:
        if kind == 3:
            return read_exactly(sock, read_exactly(sock, 1)[0]).decode()
        family, length = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
        return socket.inet_ntop(family, read_exactly(sock, length))
