"""A TLS server on loopback that answers every connection with one page."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

from tests.fetch.faults import PAGE, FaultServer, Visit


class TlsServer:
    def __init__(self, certificate: Path, host: str = "127.0.0.1") -> None:
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            try:
                with self._context.wrap_socket(plain, server_side=True) as sock:
                    sock.recv(65_536)
                    Visit(FaultServer.__new__(FaultServer), sock, b"").answer(PAGE)
                    sock.unwrap()
            except OSError:
                continue
