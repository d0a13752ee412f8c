"""A loop, the fault server, and a `Client` that waits for a transport's answers."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pycrawl.fetch.curl import CurlTransport
from pycrawl.fetch.dns import Resolver
from pycrawl.fetch.loop import Loop
from pycrawl.fetch.routes import ResolvingTransport
from pycrawl.fetch.transport import Request, Response, TransportSettings
from pycrawl.fetch.urllib3_transport import ThreadTransport
from tests.fetch.faults import FaultServer

TRANSPORTS: dict[str, type[ResolvingTransport]] = {"curl": CurlTransport, "urllib3": ThreadTransport}
GIVE_UP = 90.0  # seconds: no test waits longer
# Limits on time that no answer of a test's server reaches, however busy the machine: a test about one sets its own.
SETTINGS: dict[str, Any] = {
    "user_agent": "test/1.0 (+http://example.com/)",
    "slots": 16,
    "connect_timeout": 60.0,
    "total_timeout": 60.0,
    "min_bytes_per_second": 100,
    "slow_seconds": 60.0,
    "max_body_bytes": 100_000,
    "allow_private": True,
}


def run_until(loop: Loop, condition: Callable[[], object]) -> None:
    end = time.monotonic() + GIVE_UP
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        loop.run_once(0.2)


class Client:
    def __init__(self, transport: type[ResolvingTransport], resolver: Resolver | None = None, **changes: Any) -> None:
        self.loop = Loop()
        self.responses: list[Response] = []
        settings = TransportSettings(**{**SETTINGS, **changes})
        wants_type = {"text/html", ""}.__contains__
        self.transport = transport(self.loop, settings, wants_type, self.responses.append, resolver)

    def submit(self, url: str, *headers: tuple[str, str], **options: Any) -> None:
        self.transport.submit(Request(len(self.responses) + self.transport.in_flight, url, headers, **options))

    def wait(self, count: int) -> list[Response]:
        run_until(self.loop, lambda: len(self.responses) >= count)
        return self.responses

    def get(self, url: str, *headers: tuple[str, str], **options: Any) -> Response:
        self.submit(url, *headers, **options)
        return self.wait(len(self.responses) + 1)[-1]

    def resolve(self, url: str) -> Response:
        self.transport.resolve(0, url)
        return self.wait(len(self.responses) + 1)[-1]

    def close(self) -> None:
        self.transport.close()
        self.loop.close()


@pytest.fixture
def loop() -> Iterator[Loop]:
    loop = Loop()
    yield loop
    loop.close()


@pytest.fixture
def server() -> Iterator[FaultServer]:
    server = FaultServer()
    yield server
    server.close()


@pytest.fixture(params=TRANSPORTS)
def make_client(request: pytest.FixtureRequest) -> Iterator[Callable[..., Client]]:
    clients: list[Client] = []

    def make(**options: Any) -> Client:
        clients.append(Client(TRANSPORTS[request.param], **options))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def client(make_client: Callable[..., Client]) -> Client:
    return make_client()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("the openssl command is missing")
    return folder
