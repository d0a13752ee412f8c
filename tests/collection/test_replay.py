"""pywb replays what was exported: it is heavy, so this runs where it is installed, with the slow tests."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

from tests.collection.conftest import Odd, module

pytestmark = pytest.mark.slow
DEADLINE = 120.0  # seconds, for the server to begin


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_pywb_replays_pages_and_revisits(odd: Odd, tmp_path: Path) -> None:
    module("pywb")
    programs = Path(sys.executable).parent
    odd.collection.export(tmp_path / "pages.warc.gz", "warc", cdxj=True)
    for words in (["init", "pages"], ["add", "pages", "pages.warc.gz"]):
        subprocess.run([programs / "wb-manager", *words], cwd=tmp_path, check=True, capture_output=True)
    port = free_port()
    server = subprocess.Popen(
        [programs / "wayback", "-p", str(port), "-b", "127.0.0.1"],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        ends = time.monotonic() + DEADLINE
        while True:
            try:
                requests.get(f"http://127.0.0.1:{port}/pages/", timeout=5)
                break
            except requests.ConnectionError:
                assert time.monotonic() < ends
                time.sleep(0.2)
        for line in (tmp_path / "pages.cdxj").read_text("ascii").splitlines():
            _, moment, told = line.split(" ", 2)
            url = json.loads(told)["url"]
            answer = requests.get(f"http://127.0.0.1:{port}/pages/{moment}id_/{url}", timeout=60)
            assert (answer.status_code, answer.content) == (200, odd.collection[url].body), url
    finally:
        server.terminate()
        server.wait()
