"""A small WebSub hub on loopback: it takes subscriptions, checks them, and pushes what the test says."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections.abc import Callable
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import parse_qsl, urlencode, urlsplit

CHALLENGE = "challenge-42"


def call(url: str, method: str = "GET", body: bytes | None = None, **headers: str) -> tuple[int, str]:
    """Send a request to a callback. Returns status and body; status 0: nobody answers."""
    parts = urlsplit(url)
    connection = HTTPConnection(str(parts.hostname), int(parts.port or 80), timeout=10)
    try:
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.request(method, target, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except OSError:
        return 0, ""
    finally:
        connection.close()


class Hub:
    """`with Hub() as hub:`; `asked` has what it was asked for, `checks` what the callbacks answered to its checks."""

    def __init__(self, lease: int = 864_000, address: str = "127.0.0.1", status: int = 202) -> None:
        self.lease = lease
        self.status = status
        self.checks_now = False  # before it answers the request
        self.asked: list[dict[str, str]] = []
        self.checks: list[tuple[int, str]] = []
        self.robots = ""
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.answer(200 if hub.robots else 404, hub.robots.encode())

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.headers["Content-Type"] == "application/x-www-form-urlencoded"
                fields = dict(parse_qsl(body.decode(), strict_parsing=True))
                if hub.checks_now:
                    hub.check(fields)
                self.answer(hub.status, b"")
                if not hub.checks_now and hub.status == 202:
                    threading.Thread(target=hub.check, args=(fields,)).start()
                hub.asked.append(fields)

            def answer(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "text/plain")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *values: object) -> None:
                pass

        self._server = ThreadingHTTPServer((address, 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self.url = f"http://{address}:{self._server.server_address[1]}/hub"

    def check(self, fields: dict[str, str], **changed: str) -> tuple[int, str]:
        """Ask the callback whether it wants what it seems to have asked for."""
        query = {"hub.mode": fields["hub.mode"], "hub.topic": fields["hub.topic"], "hub.challenge": CHALLENGE}
        if fields["hub.mode"] == "subscribe":
            query["hub.lease_seconds"] = str(self.lease)
        query |= {f"hub.{name}": value for name, value in changed.items()}
        answer = call(f"{fields['hub.callback']}?{urlencode(query)}")
        self.checks.append(answer)
        return answer

    def push(self, body: bytes, method: str = "sha256", secret: str = "", **headers: str) -> tuple[int, str]:
        """Push to the callback that was subscribed last."""
        fields = next(one for one in reversed(self.asked) if one["hub.mode"] == "subscribe")
        digest = hmac.new((secret or fields["hub.secret"]).encode(), body, getattr(hashlib, method)).hexdigest()
        headers = {"X_Hub_Signature": f"{method}={digest}"} | headers
        return call(fields["hub.callback"], "POST", body, **headers)

    def __enter__(self) -> Hub:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
