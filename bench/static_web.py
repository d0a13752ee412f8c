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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_SYLLABLES = "an be con de er fi gra hol in ka lo mu ner or pa qui re sto ti un ver wa xi yo zen".split()


@dataclass(frozen=True, slots=True)
class StaticWeb:
    hosts: int = 100
    pages: int = 10_000
    page_bytes: int = 27_000
    links: int = 45
    seed: int = 1

    def address(self, host: int) -> str:
        return f"127.2.{host // 250}.{host % 250 + 1}"

    def url(self, page: int, port: int) -> str:
        host, number = page % self.hosts, page // self.hosts
        return f"http://{self.address(host)}:{port}/p{number}.html"


def build(web: StaticWeb, root: Path, port: int) -> None:
    """Write all pages below `root`, one folder for each address."""
    chance = random.Random(web.seed)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(5_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    paragraphs = [" ".join(chance.choices(words, weights, k=80)) for _ in range(2_000)]
    for host in range(web.hosts):
        (root / web.address(host)).mkdir(parents=True)
    for page in range(web.pages):
        host, number = page % web.hosts, page // web.hosts
        body = _page(web, page, port, chance, paragraphs)
        (root / web.address(host) / f"p{number}.html").write_text(body, "ascii")


def _page(web: StaticWeb, page: int, port: int, chance: random.Random, paragraphs: list[str]) -> str:
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


_CONFIG = """
daemon off; master_process on; worker_processes 1; pid {run}/nginx.pid; error_log {run}/error.log crit;
worker_rlimit_nofile 20000;
events {{ worker_connections 10000; }}
http {{
  access_log off; sendfile on; keepalive_timeout 60; keepalive_requests 1000000; etag on;
  types {{ text/html html; text/plain txt; }}
  client_body_temp_path {run}/b; proxy_temp_path {run}/p; fastcgi_temp_path {run}/f; uwsgi_temp_path {run}/u; scgi_temp_path {run}/s;
  open_file_cache max=200000 inactive=600s; open_file_cache_valid 600s;
  server {{ {listens} root {root}/$server_addr; }}
}}
"""  # noqa: E501


@contextmanager
def nginx(web: StaticWeb, root: Path, run: Path, port: int) -> Iterator[int]:
    """Serve `root`; gives the process id of nginx's master."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not Path(program).exists():
        raise SystemExit("nginx is missing: apt-get install nginx-light")
    run.mkdir(parents=True, exist_ok=True)
    listens = " ".join(f"listen {web.address(host)}:{port};" for host in range(web.hosts))
    (run / "nginx.conf").write_text(_CONFIG.format(run=run, root=root, listens=listens))
    os.chmod(root, 0o755)
    process = subprocess.Popen([program, "-p", str(run), "-c", str(run / "nginx.conf")])
    try:
        _wait_for(web.address(0), port)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def _wait_for(address: str, port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection((address, port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("nginx does not answer")
