"""Many slow hosts, politely: how near does a crawl come to what the rules allow? `python bench/latency.py`

Each of 2,000 hosts (loopback addresses) answers after 300 ms, and the delay is 1 s. It may be asked again 1 s after its
answer, so it gives a page in 1.3 s at the best; where politeness.delay_from is "start", 1 s after the request before.
Both are tried. The server itself checks that the rules were kept: never two requests open at one host, and never a
pause too short, robots.txt included.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import random
import resource
import tempfile
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from measure import Spent, add_setting_option, crawl, new_crawl
from static_web import make_paragraphs

from pycrawl import config

_PARAGRAPHS = 5_000  # different ones
_CLOCK_SLACK = 0.001  # seconds
_ARRIVAL_SLACK = 0.1  # seconds: a fetch starts before the server reads its request, by the time of connecting
_LEAST_REST = 0.5  # of the delay, after an answer, where it counts from the start
_MIDDLE = 0.8  # of the run: without its start and its end, when not all hosts take part
_DESCRIPTORS = 20_000


@dataclass(frozen=True, slots=True)
class Hosts:
    hosts: int
    pages: int  # of each
    latency: float  # seconds
    delay: float  # seconds
    page_bytes: int
    delay_from: str

    @property
    def period(self) -> float:
        """Seconds from a request to the next one on its host, at the least."""
        if self.delay_from == "start":
            return max(self.delay, self.latency + _LEAST_REST * self.delay)
        return self.delay + self.latency

    @property
    def rule(self) -> str:
        if self.delay_from == "start":
            return "hosts ÷ delay"
        return "hosts ÷ (delay + latency)"

    def address(self, host: int) -> str:
        return f"127.{10 + host // 62_500}.{host // 250 % 250}.{host % 250 + 1}"


@dataclass(slots=True)
class Checked:
    """What the server saw."""

    page_times: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)  # of all requests
    most_open: int = 0  # over all hosts
    two_at_once: int = 0
    too_soon: int = 0
    least_gap: float = float("inf")  # seconds from an answer to the next request on its host
    least_period: float = float("inf")  # seconds from a request to the next one
    cpu: float = 0.0  # seconds, of the server


class Site:
    """One host, as the server sees it."""

    __slots__ = ("ended", "open", "started")

    def __init__(self) -> None:
        self.open = 0
        self.started = float("-inf")
        self.ended = float("-inf")


class Server:
    """Answers on all loopback addresses through one socket; a host is the address that was dialled."""

    def __init__(self, web: Hosts) -> None:
        self.web = web
        self.checked = Checked()
        self.sites: dict[str, Site] = {}
        self.open = 0
        self._chance = random.Random(1)
        self._paragraphs = make_paragraphs(self._chance, _PARAGRAPHS)
        self._links = "".join(f'<a href="/{page}.html">page {page}</a> ' for page in range(web.pages))

    def arrived(self, site: Site) -> None:
        checked = self.checked
        now = time.monotonic()
        checked.times.append(now)
        checked.two_at_once += site.open > 0
        gap, period = now - site.ended, now - site.started
        checked.least_gap = min(checked.least_gap, gap)
        checked.least_period = min(checked.least_period, period)
        checked.too_soon += self._is_too_soon(gap, period)
        site.started = now
        site.open += 1
        self.open += 1
        checked.most_open = max(checked.most_open, self.open)

    def _is_too_soon(self, gap: float, period: float) -> bool:
        delay = self.web.delay
        if self.web.delay_from == "start":
            return gap < _LEAST_REST * delay - _CLOCK_SLACK or period < delay - _ARRIVAL_SLACK
        return gap < delay - _CLOCK_SLACK

    def answer(self, site: Site, address: str, path: str) -> bytes:
        now = time.monotonic()
        site.open -= 1
        site.ended = now
        self.open -= 1
        if not path.endswith(".html"):
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        self.checked.page_times.append(now)
        body = self._page(address + path)
        return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    def _page(self, title: str) -> bytes:
        parts = [f"<!DOCTYPE html><title>{title}</title><h1>{title}</h1><p>{self._links}</p>"]
        length = len(parts[0])
        while length < self.web.page_bytes:
            parts.append(f"<p>{self._chance.choice(self._paragraphs)}</p>")
            length += len(parts[-1])
        return "".join(parts).encode()


class Conversation(asyncio.Protocol):
    def __init__(self, server: Server) -> None:
        self._server = server
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._address = transport.get_extra_info("sockname")[0]
        self._site = self._server.sites.setdefault(self._address, Site())

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            self._server.arrived(self._site)
            path = head.split(b" ", 2)[1].decode("ascii", "replace")
            asyncio.get_running_loop().call_later(self._server.web.latency, self._answer, path)

    def _answer(self, path: str) -> None:
        answer = self._server.answer(self._site, self._address, path)
        if not self._transport.is_closing():
            self._transport.write(answer)


def serve(web: Hosts, pipe: Connection) -> None:
    """In a process of its own: send the port, serve until asked, send what was seen."""
    allow_descriptors()
    server = Server(web)
    asyncio.run(_serve(server, pipe))
    server.checked.cpu = time.process_time()
    pipe.send(server.checked)


async def _serve(server: Server, pipe: Connection) -> None:
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: Conversation(server), "0.0.0.0", 0, backlog=4_096)
    pipe.send(listening.sockets[0].getsockname()[1])
    asked = asyncio.Event()
    loop.add_reader(pipe.fileno(), asked.set)
    await asked.wait()
    loop.remove_reader(pipe.fileno())


def allow_descriptors() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = _DESCRIPTORS if most == resource.RLIM_INFINITY else min(_DESCRIPTORS, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def measure(web: Hosts, settings: dict[str, str]) -> tuple[Spent, Checked]:
    context = multiprocessing.get_context("spawn")
    ours, its = context.Pipe()
    server = context.Process(target=serve, args=(web, its), daemon=True)
    server.start()
    port = ours.recv()
    with tempfile.TemporaryDirectory(prefix="pycrawl-bench-") as folder:
        directory = Path(folder, "crawl")
        seeds = [f"http://{web.address(host)}:{port}/0.html" for host in range(web.hosts)]
        rules = {"politeness.delay": str(web.delay), "politeness.delay_from": f'"{web.delay_from}"'}
        new_crawl(directory, seeds, {**rules, **settings})
        slots = slots_of(directory)
        needed = web.hosts * web.latency / web.period
        print(f"politeness.delay_from = {web.delay_from!r}: {web.rule} = {web.hosts / web.period:,.0f} pages/s allowed")
        print(
            f"{slots} slots (crawl.fetchers × crawl.slots_per_fetcher); {needed:,.0f} needed for all hosts", flush=True
        )
        _, spent = crawl(directory)
    ours.send("end")
    checked: Checked = ours.recv()
    server.join()
    return spent, checked


def slots_of(directory: Path) -> int:
    chosen = config.load(directory / "pycrawl.toml").crawl
    return (chosen.fetchers or min(os.cpu_count() or 1, 8)) * chosen.slots_per_fetcher


def middle_rate(times: list[float]) -> float:
    """Pages a second without the start and the end of the run."""
    times = sorted(times)
    cut = round(len(times) * (1 - _MIDDLE) / 2)
    inner = times[cut : len(times) - cut]
    return (len(inner) - 1) / (inner[-1] - inner[0])


def show(web: Hosts, spent: Spent, checked: Checked) -> None:
    pages = len(checked.page_times)
    rate = middle_rate(checked.page_times)
    allowed = web.hosts / web.period
    print(
        f"{pages:,} of {web.hosts * web.pages:,} pages in {spent.seconds:.1f} s; {checked.most_open} open at the most"
    )
    print(f"{rate:>8,.0f} pages/s in the middle of the run ({pages / spent.seconds:,.0f} from start to end)")
    print(f"{rate / allowed:>8.0%} of what the rule allows, {rate / (web.hosts / web.delay):.0%} of hosts ÷ delay")
    requests = middle_rate(checked.times)
    print(f"{requests:>8,.0f} requests/s with robots.txt and what else was asked for: {requests / allowed:.0%} of it")
    print(f"CPU {spent.cpu / pages * 1000:.3f} ms a page, memory {spent.peak / 1e6:,.0f} MB at the most", end="; ")
    print(f"server {checked.cpu / pages * 1000:.3f} ms a page")
    verdict = "BROKEN" if checked.two_at_once or checked.too_soon else "kept"
    print(
        f"politeness {verdict}: {len(checked.times):,} requests, {checked.two_at_once} while another was open, "
        f"{checked.too_soon} too soon;\n  least time from an answer to the next request {checked.least_gap:.3f} s, "
        f"from request to request {checked.least_period:.3f} s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=2_000)
    parser.add_argument("--pages", type=int, default=20, help="of each host (default: 20)")
    parser.add_argument("--latency", type=float, default=0.3, help="seconds (default: 0.3)")
    parser.add_argument("--delay", type=float, default=1.0, help="seconds (default: 1)")
    parser.add_argument("--page-bytes", type=int, default=5_000)
    parser.add_argument("--delay-from", choices=["end", "start", "both"], default="both", help="(default: both)")
    add_setting_option(parser)
    options = parser.parse_args()
    for rule in ["end", "start"] if options.delay_from == "both" else [options.delay_from]:
        web = Hosts(options.hosts, options.pages, options.latency, options.delay, options.page_bytes, rule)
        show(web, *measure(web, dict(options.settings)))


if __name__ == "__main__":
    main()
