"""What a start costs: `python bench/start.py` times short crawls and short commands, each from its start to its exit.

A crawl of one page shows what it takes to start and to end; one of 1,000 small pages on 20 hosts, what somebody waits
for who tries pycrawl out; `stats`, `why` and `get` are asked about the latter. Medians, with the best run beside them:
on a machine that does other things too, wall time says little and the best says most.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from measure import PYCRAWL, Spent, crawl, new_crawl, run
from static_web import StaticWeb, build, free_port, nginx

SMALL = StaticWeb(hosts=20, pages=1_000, page_bytes=2_000, links=12)
ONE = StaticWeb(hosts=1, pages=1, page_bytes=2_000, links=1)
COMMANDS = ("stats", "why", "get")


def small_crawl(web: StaticWeb, root: Path, port: int, directory: Path, fetchers: int) -> Spent:
    """Crawl a whole web anew, from the first page of each host."""
    shutil.rmtree(directory, ignore_errors=True)
    starts = [web.url(page, port) for page in range(web.hosts)]
    new_crawl(directory, starts, {"scope.allow_hosts": json.dumps(web.addresses)})
    report, spent = crawl(directory, ["--fetchers", str(fetchers)])
    if report["pages"] != web.pages:
        raise SystemExit(f"{report['pages']:,} pages of {web.pages:,}")
    return spent


def command(name: str, directory: Path, url: str) -> Spent:
    arguments = [] if name == "stats" else [url]
    spent = run([*PYCRAWL, name, "-C", str(directory), *arguments], stdout=subprocess.DEVNULL)
    if spent.code:
        raise SystemExit(f"{name} failed with exit code {spent.code}")
    return spent


def show(name: str, runs: list[Spent]) -> None:
    seconds, cpu = [one.seconds for one in runs], [one.cpu for one in runs]
    line = f"{name:<28}{statistics.median(seconds):>9.2f}{min(seconds):>9.2f}"
    print(f"{line}{statistics.median(cpu):>9.2f}{min(cpu):>9.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--fetchers", type=int, default=2)
    options = parser.parse_args()

    def repeated(once: Callable[[], Spent]) -> list[Spent]:
        return [once() for _ in range(options.runs)]

    print(f"{'seconds':<28}{'wall':>9}{'best':>9}{'CPU':>9}{'best':>9}")
    with tempfile.TemporaryDirectory(prefix="pycrawl-bench-") as folder:
        work = Path(folder)
        for name, web in (("a crawl of one page", ONE), (f"a crawl of {SMALL.pages:,} pages", SMALL)):
            place = work / str(web.pages)
            root, port, directory = place / "web", free_port(), place / "crawl"
            build(web, root, port)
            with nginx(web.addresses, root, place / "nginx", port):
                show(name, repeated(lambda: small_crawl(web, root, port, directory, options.fetchers)))  # noqa: B023
        for name in COMMANDS:
            show(name, repeated(lambda: command(name, directory, SMALL.url(0, port))))  # noqa: B023


if __name__ == "__main__":
    main()
