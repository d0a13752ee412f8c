"""What a page costs in a long crawl and in a short one: `python bench/growth.py [PAGES…]` (default: 10000 100000).

Each size is crawled in a synthetic web of its own (`pycrawl.simweb`: pages of 6 KB, a host for each 250), so that a
million pages need no disk but the crawl's. Shown are CPU a page, without what the programs take to start; the bytes
written to the disk by all processes, divided by those that are kept (`state.db` and `docs/`); `state.db` by page and by
known URL, after what belongs to each; and the peak of all processes' memory. The ratio of CPU is to the first size,
which is crawled again after each other one, as processors are not equally fast from one minute to the next.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import statistics
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from measure import add_setting_option, crawl, new_crawl

from pycrawl.simweb import SimServer, SimWebSettings

PAGES_PER_HOST = 250
PAGE_BYTES = 6_000
STARTS = 3  # crawls of one page, to know what a start costs
# The tables that grow with known URLs; all others grow with pages, or hardly.
URL_TABLES = {
    "urls",
    "url_hashes",
    "url_sorted",
    "url_inlinks",
    "url_standings",
    "url_changes",
    "urls_external",
    "front",
    "back",
}


@dataclass(frozen=True, slots=True)
class Measured:
    pages: int
    seconds: float
    cpu: float  # seconds
    written: int  # bytes
    kept: int  # bytes
    page_bytes: float  # of state.db, for each stored page
    url_bytes: float  # of state.db, for each known URL
    peak: int  # bytes


def crawled(pages: int, fetchers: int, settings: Mapping[str, str], keep: Path | None = None) -> Measured:
    web = SimWebSettings.plain(
        pages=pages, hosts=max(1, pages // PAGES_PER_HOST), mean_page_bytes=PAGE_BYTES, host_skew=0.3, port=0
    )
    work = Path(tempfile.mkdtemp(prefix="pycrawl-bench-"))
    directory = keep or work / "crawl"
    try:
        with SimServer(web, log=False) as server:
            new_crawl(directory, [server.seed], {"scope.follow_external": "true", **settings})
            report, spent = crawl(directory, ["--fetchers", str(fetchers)])
        kept = sum(file.stat().st_size for file in [directory / "state.db", *directory.glob("docs/*/*")])
        page_bytes, url_bytes = by_table(directory / "state.db")
        return Measured(
            report["pages"], report["seconds"], spent.cpu, spent.written, kept, page_bytes, url_bytes, spent.peak
        )
    finally:
        shutil.rmtree(work, ignore_errors=True)


def by_table(path: Path) -> tuple[float, float]:
    """Bytes for each stored page and for each known URL, free pages included with the former."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        used = dict(database.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
        (pages,) = database.execute("SELECT max(1, count(*)) FROM documents WHERE duplicate_of = 0").fetchone()
        (urls,) = database.execute("SELECT max(1, count(*)) FROM urls").fetchone()
    for_urls = sum(size for name, size in used.items() if name in URL_TABLES)
    return (path.stat().st_size - for_urls) / pages, for_urls / urls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--fetchers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="leave the last and largest crawl here")
    add_setting_option(parser)
    options = parser.parse_args()
    settings = dict(options.settings)
    start = statistics.median(crawled(1, options.fetchers, settings).cpu for _ in range(STARTS))
    print(f"to start takes {start:.2f} s of CPU time")
    print(
        f"{'pages':>10}{'pages/s':>9}{'CPU ms/page':>13}{'written MB':>12}{'kept MB':>9}{'ratio':>7}"
        f"{'B/page':>8}{'B/URL':>7}{'peak MB':>9}",
        flush=True,
    )

    def show(pages: int, keep: Path | None = None) -> float:
        found = crawled(pages, options.fetchers, settings, keep)
        cost = (found.cpu - start) / found.pages * 1000
        print(
            f"{found.pages:>10,}{found.pages / found.seconds:>9,.0f}{cost:>13.3f}{found.written / 1e6:>12,.0f}"
            f"{found.kept / 1e6:>9,.0f}{found.written / found.kept:>7.2f}{found.page_bytes:>8,.0f}"
            f"{found.url_bytes:>7,.0f}{found.peak / 1e6:>9,.0f}",
            flush=True,
        )
        return cost

    smallest, *others = options.pages
    costs = [show(smallest)]
    for number, pages in enumerate(others, 1):
        large = show(pages, options.keep if number == len(others) else None)
        costs.append(show(smallest))
        print(f"{pages:,} pages: {large / statistics.median(costs):.2f} times the CPU of {smallest:,}", flush=True)


if __name__ == "__main__":
    main()
