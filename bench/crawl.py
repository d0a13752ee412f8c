"""Pages a second, CPU by stage, and memory of a whole crawl of a static web: `python bench/crawl.py [--pages N]`.

Everything is on (robots.txt, durable frontier, links, TREC Web store); only the politeness delay is 0. The web is
served by nginx on the same machine, so its CPU is shown too.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
from static_web import StaticWeb, build, free_port, nginx

_PYCRAWL = [sys.executable, "-c", "from pycrawl.cli import main; main()"]
_CONFIG = """
[crawl]
proxy = "none"
[politeness]
delay = 0
[security]
allow_private_addresses = true
"""


class Watch(threading.Thread):
    """Peak memory of a process tree, as the sum of its parts' proportional sizes."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._root = psutil.Process(pid)
        self.peak: dict[str, int] = {}
        self.peak_total = 0

    def run(self) -> None:
        while True:
            sizes = self._sizes()
            if not sizes:
                return
            self.peak_total = max(self.peak_total, sum(sizes.values()))
            for name, amount in sizes.items():
                self.peak[name] = max(self.peak.get(name, 0), amount)
            time.sleep(0.5)

    def _sizes(self) -> dict[str, int]:
        sizes = {}
        try:
            for process in [self._root, *self._root.children(recursive=True)]:
                sizes[str(process.pid)] = process.memory_full_info().pss
        except psutil.Error:
            pass
        return sizes


def crawl(directory: Path, seed: str, extra: list[str]) -> tuple[dict[str, float], int]:
    subprocess.run([*_PYCRAWL, "init", str(directory), "--seed", seed], check=True, capture_output=True)
    (directory / "pycrawl.toml").write_text(_CONFIG)
    report = directory / "run.json"
    process = subprocess.Popen([*_PYCRAWL, "crawl", "-C", str(directory), "--report", str(report), *extra])
    watch = Watch(process.pid)
    watch.start()
    if process.wait() != 0:
        raise SystemExit("the crawl failed")
    return json.loads(report.read_text()), watch.peak_total


def show(run: dict[str, float], peak: int, server_cpu: float) -> None:
    pages = run["pages"]
    print(f"\n{pages:,} pages in {run['seconds']:.2f} s: {pages / run['seconds']:,.0f} pages/s")
    print(f"peak memory of all processes: {peak / 1e6:,.0f} MB")
    cpu: dict[str, float] = dict(run["cpu_seconds"])  # type: ignore[call-overload]  # the report nests one object
    total = cpu.pop("total", 0.0)
    coordinator = cpu.pop("coordinator")
    rows = {**cpu, "fetch and the rest of the fetchers": total - sum(cpu.values()), "coordinator": coordinator}
    print("CPU, ms a page:")
    for name, seconds in rows.items():
        print(f"  {name:36} {seconds / pages * 1000:.3f}")
    print(f"  {'all of pycrawl':36} {(total + coordinator) / pages * 1000:.3f}")
    print(f"  {'nginx':36} {server_cpu / pages * 1000:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--fetchers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="leave the crawl here")
    options = parser.parse_args()
    web = StaticWeb(hosts=options.hosts, pages=options.pages)
    work = Path(tempfile.mkdtemp(prefix="pycrawl-bench-"))
    work.chmod(0o755)
    try:
        port = free_port()
        print(f"building {web.pages:,} pages on {web.hosts} hosts …", file=sys.stderr)
        build(web, work / "web", port)
        with nginx(web, work / "web", work / "nginx", port) as pid:
            run, peak = crawl(options.keep or work / "crawl", web.url(0, port), ["--fetchers", str(options.fetchers)])
            server = psutil.Process(pid)
            times = [process.cpu_times() for process in [server, *server.children()]]
            show(run, peak, sum(one.user + one.system for one in times))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
