"""A server on loopback that sends the answers of the table of hostile ones, each at a path of its name."""

from __future__ import annotations

import socket
import threading
import time

from pycrawl.simweb.hostile_answers import HOSTILE_ANSWERS, PAGE, HostileAnswer

PATIENCE = 60.0  # seconds after which a server gives up on its client
HONEST = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(PAGE) + PAGE


class AnswerServer:
    """Answers with what `answers` has for the path, and with an honest page for all else. `sent`: bytes, by name."""

    def __init__(self, answers: tuple[HostileAnswer, ...] = HOSTILE_ANSWERS, host: str = "127.0.0.1") -> None:
        self.answers = {answer.name: answer for answer in answers}
        self.sent: dict[str, int] = {}
        self._closing = False
        self._listener = socket.create_server((host, 0), backlog=512)
        self.port: int = self._listener.getsockname()[1]
        self.base = f"http://{host}:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._closing = True
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with sock:
            try:
                sock.settimeout(PATIENCE)
                while self._serve_one(sock):
                    pass
            except OSError:
                pass  # the client went away, as it may

    def _serve_one(self, sock: socket.socket) -> bool:
        """Returns True if another request may come on the connection."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            data = sock.recv(65_536)
            if not data:
                return False
            head += data
        answer = self.answers.get(head.split()[1].decode().strip("/"))
        if answer is None:
            sock.sendall(HONEST)
            return True
        self._send(sock, answer)
        return False

    def _send(self, sock: socket.socket, answer: HostileAnswer) -> None:
        sock.sendall(answer.first)
        self.sent[answer.name] = len(answer.first)
        end = time.monotonic() + PATIENCE
        while answer.then and time.monotonic() < end and not self._closing:
            time.sleep(answer.pause)
            sock.sendall(answer.then)
            self.sent[answer.name] += len(answer.then)
        sock.shutdown(socket.SHUT_WR)
        sock.recv(1)  # closing with unread input would reset the connection, and the answer might be lost
