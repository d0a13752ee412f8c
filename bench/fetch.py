"""Requests per second and CPU per request of each transport, against nginx on loopback with pages of 27 KB.

    python bench/fetch.py [--requests N] [--in-flight N] [--hosts N]

`--hosts` spreads the requests over so many names under .localhost, each with connections of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pycrawl.fetch.curl import CurlTransport
from pycrawl.fetch.loop import Loop
from pycrawl.fetch.routes import ResolvingTransport
from pycrawl.fetch.transport import Request, Response, TransportSettings
from pycrawl.fetch.urllib3_transport import ThreadTransport

PAGES = 50
PAGE_BYTES = 27_000
URLLIB3_SHARE = 10  # it is so much slower that a tenth of the requests will do

_CONFIG = """
worker_processes 1;
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 8192; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 100000000;
    open_file_cache max=1000;
    types {{ text/html html; }}
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{port} backlog=4096; root {folder}/pages; }}
}}
"""


def _write_pages(folder: Path) -> None:
    folder.mkdir()
    letters = random.Random(27)
    for number in range(PAGES):
        words = b" ".join(letters.choice((b"crawl", b"page", b"link", b"host")) for _ in range(PAGE_BYTES))
        (folder / f"{number}.html").write_bytes(words[:PAGE_BYTES])


@contextlib.contextmanager
def nginx(program: str) -> Iterator[int]:
    """A server of our own; gives its port."""
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as placeholder:
        folder = Path(name)
        folder.chmod(0o755)
        port: int = placeholder.getsockname()[1]
        placeholder.close()
        _write_pages(folder / "pages")
        (folder / "nginx.conf").write_text(_CONFIG.format(folder=folder, port=port))
        process = subprocess.Popen([program, "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"])
        try:
            _await_port(port)
            yield port
        finally:
            process.terminate()
            process.wait()


def _await_port(port: int) -> None:
    end = time.monotonic() + 5
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def measure(kind: type[ResolvingTransport], port: int, requests: int, in_flight: int, hosts: int) -> None:
    loop = Loop()
    todo = iter(
        Request(n, f"http://{f'h{n % hosts}.' if hosts > 1 else ''}localhost:{port}/{n % PAGES}.html")
        for n in range(requests)
    )

    def on_done(response: Response) -> None:
        if response.status != 200 or len(response.body) != PAGE_BYTES:
            raise SystemExit(f"unexpected answer: {response.status} {response.outcome} {response.detail}")
        for request in islice(todo, 1):
            transport.submit(request)

    settings = TransportSettings(user_agent="bench", slots=in_flight, allow_private=True)
    transport = kind(loop, settings, lambda content_type: True, on_done)
    wall, cpu = time.perf_counter(), time.process_time()
    for request in islice(todo, in_flight):
        transport.submit(request)
    while transport.in_flight:
        loop.run_once()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    transport.close()
    loop.close()
    print(
        f"{kind.__name__:16} {requests / wall:8,.0f} requests/s {cpu / requests * 1e6:8.1f} µs CPU/request", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--hosts", type=int, default=1)
    arguments = parser.parse_args()
    program = shutil.which("nginx")
    if program is None:
        print("skipped: nginx is not installed")
        return
    with nginx(program) as port:
        for kind, share in ((CurlTransport, 1), (ThreadTransport, URLLIB3_SHARE)):
            measure(kind, port, arguments.requests // share, arguments.in_flight, arguments.hosts)


if __name__ == "__main__":
    main()
