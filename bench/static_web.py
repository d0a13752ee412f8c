"""A static web on disk for benchmarks, and nginx to serve it on loopback addresses.

Seeded: English-like words, log-normal page sizes, links within the host and to others; every page is reachable from the
first one. Each host is a loopback address of its own, so that politeness treats them as different machines.
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

_SYLLABLES = "an be con de er fi gra hol in ka lo mu ner or pa qui re sto ti un ver wa xi yo zen".split()
ACCESS_LOG = "access.log"
ROBOTS = "User-agent: *\nDisallow: /private/\nDisallow: /*.cgi\n"


@dataclass(frozen=True, slots=True)
class StaticWeb:
    hosts: int = 100
    pages: int = 10_000
    page_bytes: int = 27_000
    links: int = 45
    paragraphs: int = 2_000  # different ones; with few, pages have much of their text in common
    seed: int = 1

    def address(self, host: int) -> str:
        return f"127.2.{host // 250}.{host % 250 + 1}"

    @property
    def addresses(self) -> list[str]:
        return [self.address(host) for host in range(self.hosts)]

    def url(self, page: int, port: int) -> str:
        host, number = page % self.hosts, page // self.hosts
        return f"http://{self.address(host)}:{port}/p{number}.html"


def build(web: StaticWeb, root: Path, port: int) -> None:
    """Write all pages below `root`, one folder for each address."""
    chance = random.Random(web.seed)
    paragraphs = make_paragraphs(chance, web.paragraphs)
    for address in web.addresses:
        (root / address).mkdir(parents=True)
        (root / address / "robots.txt").write_text(ROBOTS, "ascii")
    for page in range(web.pages):
        host, number = page % web.hosts, page // web.hosts
        body = make_page(web, page, port, chance, paragraphs)
        (root / web.address(host) / f"p{number}.html").write_text(body, "ascii")


def make_paragraphs(chance: random.Random, count: int) -> list[str]:
    """Text in which, as in real ones, few words are frequent and most are rare."""
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(5_000)]
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    return [" ".join(chance.choices(words, cum_weights=weights, k=80)) for _ in range(count)]


def make_page(web: StaticWeb, page: int, port: int, chance: random.Random, paragraphs: list[str]) -> str:
    wanted = web.page_bytes * chance.lognormvariate(-0.08, 0.4)
    # A chain over all pages, the host's first pages as navigation, the rest anywhere.
    targets = [(page + 1) % web.pages, *(page % web.hosts + web.hosts * step for step in range(10))]
    targets = [target for target in targets if target < web.pages]
    targets += [chance.randrange(web.pages) for _ in range(web.links - len(targets))]
    links = [f'<li><a href="{_href(web, page, target, port)}">page {target}</a></li>' for target in targets]
    parts = [f"<!DOCTYPE html><html><head><title>Page {page}</title></head><body><h1>Page {page}</h1><ul>"]
    parts += [*links, "</ul>"]
    length = sum(map(len, parts))
    while length < wanted:
        parts.append(f"<p>{chance.choice(paragraphs)}</p>\n")
        length += len(parts[-1])
    return "".join([*parts, "</body></html>\n"])


def _href(web: StaticWeb, page: int, target: int, port: int) -> str:
    if target % web.hosts == page % web.hosts:
        return f"/p{target // web.hosts}.html"
    return web.url(target, port)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


_TYPES = "text/html html htm; text/plain txt;"
_CONFIG = """
daemon off; master_process on; worker_processes 1; pid {run}/nginx.pid; error_log {run}/error.log crit; {user}
worker_rlimit_nofile 20000;
events {{ worker_connections 10000; }}
http {{
  log_format lines '$msec $status $server_addr $sent_http_content_type $uri';
  access_log {log}; sendfile on; keepalive_timeout 60; keepalive_requests 1000000; etag on;
  types {{ {types} }}
  client_body_temp_path {run}/b; proxy_temp_path {run}/p; fastcgi_temp_path {run}/f; uwsgi_temp_path {run}/u; scgi_temp_path {run}/s;
  server {{ {listens} root {root}/$server_addr; }}
}}
"""  # noqa: E501


@contextmanager
def nginx(
    addresses: Sequence[str], root: Path, run: Path, port: int, log: bool = False, types: str = _TYPES
) -> Iterator[int]:
    """Serve `root`, which has a folder for each address; gives the process id of nginx's master.

    `types`: which Content-Type files have by the end of their names, as nginx writes it.
    """
    run.mkdir(parents=True, exist_ok=True)
    config = _CONFIG.format(
        run=run,
        root=root,
        types=types,
        log=f"{run / ACCESS_LOG} lines buffer=32k flush=1s" if log else "off",
        # Started by root, its workers would else be somebody who may not read the pages.
        user="user root;" if os.getuid() == 0 else "",
        listens=" ".join(f"listen {address}:{port};" for address in addresses),
    )
    (run / "nginx.conf").write_text(config)
    process = subprocess.Popen([nginx_program(), "-p", str(run), "-c", str(run / "nginx.conf")])
    try:
        _wait_for(addresses[0], port)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def nginx_program() -> str:
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not Path(program).exists():
        raise SystemExit("nginx is missing: apt-get install nginx-light")
    return program


@dataclass(frozen=True, slots=True)
class Served:
    """What nginx says that it gave out."""

    pages: int  # different ones
    page_requests: int
    requests: int
    failures: int  # of the server itself, 5xx
    last_page_at: float  # seconds since the epoch


def served(run: Path) -> Served:
    pages: set[tuple[str, str]] = set()
    page_requests = requests = failures = 0
    last = 0.0
    with open(run / ACCESS_LOG, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            moment, status, address, content_type, path = line.rstrip("\n").split(" ", 4)
            requests += 1
            failures += status.startswith("5")
            if status == "200" and content_type.startswith("text/html"):
                page_requests += 1
                pages.add((address, path))
                last = float(moment)
    return Served(len(pages), page_requests, requests, failures, last)


def _wait_for(address: str, port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection((address, port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("nginx does not answer")
