"""The hostile web: every fault is a host, the index tells of all of them, and none of them breaks the server."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from pycrawl.simweb.hostile_answers import HOSTILE_ANSWERS
from pycrawl.simweb.hostile_server import HostileWeb, all_hosts

COMMAND = [sys.executable, "-m", "pycrawl.simweb", "--hostile"]
PATIENCE = 2.0  # seconds that a client waits for the next bytes
LONGEST = 4.0  # seconds that it waits for all of them
CLIENTS = 64
MOST_BYTES = 1_000_000  # that a client reads of an answer


@pytest.fixture(scope="module")
def web() -> Iterator[HostileWeb]:
    with HostileWeb() as web:
        yield web


def ask(url: str, path: str = "/") -> bytes:
    """What comes within a short time; empty if the connection is closed or reset at once."""
    host, port = re.fullmatch(r"https?://([0-9.]+):([0-9]+)/", url).groups()  # type: ignore[union-attr]  # all are such
    answer = b""
    with suppress(OSError), socket.create_connection((host, int(port)), timeout=PATIENCE) as sock:
        sock.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        end = time.monotonic() + LONGEST
        while not is_whole(answer) and time.monotonic() < end and (data := sock.recv(65_536)):
            answer += data
    return answer


def is_whole(answer: bytes) -> bool:
    head, _, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"Content-Length: ([0-9]{1,8})(?:\r\n|$)", head)
    return len(answer) >= MOST_BYTES or (length is not None and len(body) >= int(length[1]))


def test_every_fault_has_a_name_and_says_what_it_is() -> None:
    hosts = all_hosts()
    assert len({host.name for host in hosts}) == len(hosts) > 150
    assert {answer.name for answer in HOSTILE_ANSWERS} <= {host.name for host in hosts}
    for host in hosts:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", host.name)
        assert host.does.isprintable()
        assert host.should.isprintable()
        assert host.should.endswith(".")


def test_the_index_lists_every_host(web: HostileWeb) -> None:
    with urllib.request.urlopen(web.index) as answer:
        index = answer.read().decode()
    for number, host in enumerate(web.hosts):
        assert f'<a href="{web.url(number)}">{host.name}</a>' in index
    assert index.count("<tr>") == len(web.hosts) + 2  # and the heading, and a port that nobody listens on
    (refused,) = re.findall('href="([^"]+)">refused<', index)
    assert ask(refused) == b""


def test_every_host_answers_in_its_way_and_none_breaks_the_server(
    web: HostileWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda problem: broken.append(repr(problem.exc_value)))
    urls = [web.url(number) for number in range(len(web.hosts))]
    with ThreadPoolExecutor(CLIENTS) as clients:
        answers = dict(zip([host.name for host in web.hosts], clients.map(ask, urls), strict=True))
        rules = dict(
            zip([host.name for host in web.hosts], clients.map(ask, urls, ["/robots.txt"] * len(urls)), strict=True)
        )
    assert not broken
    assert {name for name, answer in answers.items() if not answer} == {
        "never-answers", "closes", "resets", "tls-self-signed", "tls-never-shakes-hands", "tls-hangs-up",
    }  # fmt: skip
    for host in web.hosts:
        if not host.own_robots and host.scheme == "http":
            assert rules[host.name].startswith(b"HTTP/1.1 404 ")
    for answer in HOSTILE_ANSWERS:
        assert answers[answer.name].startswith(answer.first[:MOST_BYTES])
    assert ask(web.index).startswith(b"HTTP/1.1 200 OK")
    assert ("calendar", "/") in web.requests


def test_a_trap_goes_on(web: HostileWeb) -> None:
    number = next(number for number, host in enumerate(web.hosts) if host.name == "calendar")
    seen = set()
    path = "/"
    for _ in range(20):
        answer = ask(web.url(number), path)
        seen.add(answer)
        path = re.findall(rb'href="(/[0-9]+)"', answer)[0].decode()
    assert len(seen) == 20


def test_the_command_serves_until_it_is_told_to_end() -> None:
    with subprocess.Popen(
        [*COMMAND, "--port", "0", "--until-eof"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        index = process.stdout.readline().strip()
        assert b"A hostile web" in ask(index)
        process.stdin.close()
        assert process.wait(60) == 0


def test_the_command_lists_the_hosts() -> None:
    lines = subprocess.run([*COMMAND, "--print-urls"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert [line.split("\t")[1] for line in lines] == [host.name for host in all_hosts()]
    assert all(line.split("\t")[0].startswith(("http://127.66.", "https://127.66.")) for line in lines)
