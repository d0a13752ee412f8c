"""HTTP/2 over TLS, against nginx where it is installed."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pycrawl.fetch.curl import CurlTransport
from pycrawl.fetch.transport import header
from tests.fetch.conftest import Client
from tests.fetch.faults import PAGE

_CONFIG = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{ }}
http {{
    access_log off; types {{ text/html html; }}
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} ssl http2; root {folder};
        ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
        location /connection {{ return 200 "$connection"; default_type text/html; }}
    }}
}}
"""


@pytest.fixture
def nginx(certificate: Path) -> Iterator[int]:
    program = shutil.which("nginx")
    if program is None:
        pytest.skip("nginx is not installed")
    with socket.create_server(("127.0.0.1", 0)) as placeholder:
        port: int = placeholder.getsockname()[1]
    (certificate / "page.html").write_bytes(PAGE)
    (certificate / "nginx.conf").write_text(_CONFIG.format(folder=certificate, port=port))
    command = [program, "-e", f"{certificate}/error.log", "-c", f"{certificate}/nginx.conf"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except ConnectionRefusedError:
            time.sleep(0.02)
    yield port
    process.terminate()
    process.wait()


def test_requests_of_one_host_share_an_http2_connection(nginx: int, certificate: Path) -> None:
    client = Client(CurlTransport, ca_file=str(certificate / "cert.pem"))
    first = client.get(f"https://localhost:{nginx}/connection")
    assert (first.outcome, first.status, first.status_line) == (None, 200, b"HTTP/2 200")
    assert header(first, b"server") is not None
    for _ in range(20):
        client.submit(f"https://localhost:{nginx}/connection")
        client.submit(f"https://localhost:{nginx}/page.html")
    bodies = {response.body for response in client.wait(41)}
    assert bodies == {first.body, PAGE}
    assert client.get(f"https://localhost:{nginx}/nowhere").status == 404
    client.close()
