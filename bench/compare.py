"""pycrawl beside Scrapy and wget2, on the same webs, in one run: `python bench/compare.py` prints a table for each web.

Two webs are served by nginx on loopback addresses: pages made up from a seed, and real manuals of Debian's packages.
pycrawl runs as users have it, but for the delay, which is none. CPU time and memory (peak of the proportional set
sizes) are those of a crawler's whole process tree; how many pages it got is read from nginx's log.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from crawlers import CRAWLERS, SCRAPY_SECONDS, Crawler, Missing, check_programs
from manuals import NoManuals
from measure import tree_cpu
from static_web import nginx, served
from webs import DEFAULT_CACHE, Web, real, synthetic

PARAGRAPHS = 20_000  # of the synthetic web, different ones
_HEADS = ("", "pages", "pages/s", "CPU ms/page", "peak MB", "nginx ms/page")
_RATIOS = ("speed", "CPU", "memory")


@dataclass(frozen=True, slots=True)
class Figures:
    """One run of a crawler."""

    pages: int  # different ones
    page_requests: int
    seconds: float
    cpu: float  # seconds
    server_cpu: float  # seconds
    peak: int  # bytes
    was_stopped: bool

    @property
    def rate(self) -> float:
        return self.pages / self.seconds

    @property
    def cpu_ms(self) -> float:
        return self.cpu / self.pages * 1000


@dataclass(frozen=True, slots=True)
class Row:
    """The medians of a crawler's runs."""

    pages: float
    rate: float
    cpu_ms: float
    peak_mb: float
    server_ms: float

    @staticmethod
    def of(runs: list[Figures]) -> Row:
        return Row(
            median(one.pages for one in runs),
            median(one.rate for one in runs),
            median(one.cpu_ms for one in runs),
            median(one.peak / 1e6 for one in runs),
            median(one.server_cpu / one.pages * 1000 for one in runs),
        )


def measure(crawler: Crawler, web: Web) -> Figures:
    work = Path(tempfile.mkdtemp(prefix="pycrawl-bench-"))
    try:
        server = work / "nginx"
        with nginx(web.addresses, web.root, server, web.port, log=True) as pid:
            begun = time.time()
            spent = crawler.crawl(web, work, server)
            server_cpu = tree_cpu(pid)
        found = served(server)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if found.failures:
        raise SystemExit(
            f"nginx failed {found.failures:,} of {found.requests:,} requests of {crawler.name}: no fair run"
        )
    if not found.pages:
        raise SystemExit(f"{crawler.name} got no page (exit code {spent.code})")
    seconds = spent.seconds if crawler.ends_by_itself else found.last_page_at - begun
    if found.pages < web.pages:
        seconds = max(seconds, crawler.limit)  # at the end of its time it may have worked on pages, and got none
    return Figures(found.pages, found.page_requests, seconds, spent.cpu, server_cpu, spent.peak, spent.was_stopped)


def compare(crawlers: list[Crawler], web: Web, runs: int) -> dict[str, list[Figures]]:
    """Turn by turn, so that what else the machine does hits all of them."""
    results: dict[str, list[Figures]] = {crawler.name: [] for crawler in crawlers}
    for turn in range(runs):
        for crawler in crawlers:
            if turn and crawler.limit:
                continue
            found = measure(crawler, web)
            results[crawler.name].append(found)
            print(
                f"  {web.name}, run {turn + 1}: {crawler.name} {found.rate:,.0f} pages/s", file=sys.stderr, flush=True
            )
    return results


# The output


def show(web: Web, results: dict[str, list[Figures]]) -> None:
    rows = {name: Row.of(runs) for name, runs in results.items()}
    ours = rows.get("pycrawl")
    size = sum(file.stat().st_size for file in web.root.rglob("*.htm*")) / sum(1 for _ in web.root.rglob("*.htm*"))
    print(f"\n{web.name}: {web.pages:,} pages of {size / 1000:.0f} KB on {len(web.addresses)} hosts")
    line = f"{_HEADS[0]:<10}" + "".join(f"{head:>14}" for head in _HEADS[1:])
    print(line + ("  |" + "".join(f"{head:>9}" for head in _RATIOS) if ours else ""))
    for name, row in rows.items():
        line = f"{name:<10}{row.pages:>14,.0f}{row.rate:>14,.0f}{row.cpu_ms:>14.3f}"
        line += f"{row.peak_mb:>14,.0f}{row.server_ms:>14.3f}"
        if ours:
            ratios = (ours.rate / row.rate, row.cpu_ms / ours.cpu_ms, row.peak_mb / ours.peak_mb)
            line += "  |" + "".join(f"{ratio:>8.2f}×" for ratio in ratios)
        print(line)
    for note in notes(web, results):
        print(f"  {note}")


def notes(web: Web, results: dict[str, list[Figures]]) -> Iterator[str]:
    yield "Speed: how many times as fast pycrawl is; CPU and memory: how many times as much the other takes."
    for name, runs in results.items():
        least = min(one.pages for one in runs)
        if name == "scrapy" and least < web.pages:
            yield f"scrapy: one run, stopped after {SCRAPY_SECONDS:.0f} s; its figures are over the pages it had got."
        else:
            yield f"{name}: median of {len(runs)} run{'s' * (len(runs) > 1)}."
        if name != "scrapy" and least < web.pages:
            yield f"{name} got {least:,} of {web.pages:,} pages; its figures are over what it got."
        stopped = sum(one.was_stopped for one in runs)
        if stopped:
            yield f"{name} did not end by itself in {stopped} of {len(runs)} runs; timed until its last page."
        again = max(one.page_requests - one.pages for one in runs)
        if again:
            yield f"{name} asked for {again:,} pages more than once (by other URLs, or again)."


def as_json(web: Web, results: dict[str, list[Figures]]) -> dict[str, object]:
    return {
        "web": web.name,
        "pages": web.pages,
        "hosts": len(web.addresses),
        "crawlers": {
            name: {"median": asdict(Row.of(runs)), "runs": [asdict(one) for one in runs]}
            for name, runs in results.items()
        },
    }


def main() -> None:
    options = _options()
    check_programs(options.only)
    crawlers = []
    for name in options.only:
        try:
            crawlers.append(CRAWLERS[name](options.cache))
        except Missing as reason:
            print(reason, file=sys.stderr)
    written = []
    for name in ("synthetic", "manuals") if options.web == "both" else (options.web,):
        source = synthetic(options.pages, options.hosts, PARAGRAPHS) if name == "synthetic" else real(options.cache)
        try:
            with source as web:
                results = compare(crawlers, web, options.runs)
                show(web, results)
                written.append(as_json(web, results))
        except NoManuals as reason:
            print(f"\nmanuals: left out: {reason}")
    if options.json:
        options.json.write_text(json.dumps(written, indent=1), "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--web", choices=("synthetic", "manuals", "both"), default="both")
    parser.add_argument("--pages", type=int, default=20_000, help="of the synthetic web (default: 20000)")
    parser.add_argument("--hosts", type=int, default=200, help="of the synthetic web (default: 200)")
    parser.add_argument("--runs", type=int, default=5, help="of each crawler but Scrapy (default: 5)")
    parser.add_argument("--only", type=_names, default=list(CRAWLERS), help="crawlers, with commas between")
    parser.add_argument(
        "--cache", type=Path, default=DEFAULT_CACHE, help="for manuals and Scrapy (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all runs here")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in CRAWLERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no crawler {', '.join(unknown)}; there are {', '.join(CRAWLERS)}")
    return names


if __name__ == "__main__":
    main()
