"""How fast is the synthetic web's server: requests a second and CPU time per answer, from memory and made anew.

    python bench/simweb.py [--seconds 3] [--connections 32]

Load comes from wrk, or, where it is missing, from pycurl, which is slower: then read the CPU time, not the rate.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from pycrawl.simweb import SimServer, SimWebSettings

HOST_PAGES = 2_000


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    page_bytes: int
    links: int
    cache_bytes: int
    log: bool = False


CASES = (
    Case("12 KB, from memory", 12_000, 20, 200_000_000),
    Case("12 KB, from memory, with log", 12_000, 20, 200_000_000, log=True),
    Case("27 KB, 45 links, from memory", 27_000, 45, 200_000_000),
    Case("12 KB, made anew", 12_000, 20, 0),
    Case("27 KB, 20 links, made anew", 27_000, 20, 0),
    Case("27 KB, 45 links, made anew", 27_000, 45, 0),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3, help="length of each measurement (default: 3)")
    parser.add_argument("--connections", type=int, default=32, help="connections at once (default: 32)")
    options = parser.parse_args()
    load = load_with_wrk if shutil.which("wrk") else load_with_pycurl
    print(f"{'case':32} {'req/s':>8} {'CPU us/answer':>14} {'answers/s of one core':>22}")
    for case in CASES:
        rate, cpu = measure(case, load, options.seconds, options.connections)
        print(f"{case.name:32} {rate:8.0f} {cpu * 1e6:14.1f} {1 / cpu:22.0f}", flush=True)


def measure(case: Case, load, seconds: float, connections: int) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    """Requests a second, and the server's CPU seconds for one."""
    settings = SimWebSettings.plain(
        hosts=1, pages=HOST_PAGES, port=0, mean_page_bytes=case.page_bytes, links_per_page=case.links
    )
    with SimServer(settings, cache_bytes=case.cache_bytes, log=case.log) as server:
        urls = [page.url for page in server.web.pages()]
        load(urls, min(seconds, 1), connections)
        before = cpu_seconds(server.pid)
        requests, elapsed = load(urls, seconds, connections)
        return requests / elapsed, (cpu_seconds(server.pid) - before) / requests


def cpu_seconds(pid: int) -> float:
    """Of the server's worker."""
    return sum(sum(child.cpu_times()[:2]) for child in psutil.Process(pid).children())


def load_with_wrk(urls: list[str], seconds: float, connections: int) -> tuple[int, float]:
    home, paths = urls[0], ["/" + url.split("/", 3)[3] for url in urls]
    with TemporaryDirectory() as folder:
        script = Path(folder, "paths.lua")
        script.write_text(
            f"local requests, i = {{}}, 0\nlocal paths = {{{', '.join(map(json.dumps, paths))}}}\n"
            "init = function() for n, path in ipairs(paths) do requests[n] = wrk.format('GET', path) end end\n"
            "request = function() i = i % #requests + 1 return requests[i] end\n",
            "utf-8",
        )
        command = ["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "-s", str(script), home]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+) requests in ([0-9.]+)s", output)
    if found is None or "Non-2xx" in output or "Socket errors" in output:
        raise SystemExit(f"wrk: {output}")
    return int(found[1]), float(found[2])


def load_with_pycurl(urls: list[str], seconds: float, connections: int) -> tuple[int, float]:
    import pycurl

    multi = pycurl.CurlMulti()
    targets, done = cycle(urls), 0
    started = time.monotonic()
    for _ in range(connections):
        handle = pycurl.Curl()
        handle.setopt(pycurl.URL, next(targets))
        handle.setopt(pycurl.WRITEFUNCTION, len)
        multi.add_handle(handle)
    while time.monotonic() - started < seconds:
        multi.perform()
        _, finished, failed = multi.info_read()
        if failed:
            raise SystemExit(f"pycurl: {failed[0][2]}")
        done += len(finished)
        for handle in finished:
            multi.remove_handle(handle)
            handle.setopt(pycurl.URL, next(targets))
            multi.add_handle(handle)
        if not finished:
            multi.select(0.01)
    return done, time.monotonic() - started


if __name__ == "__main__":
    main()
