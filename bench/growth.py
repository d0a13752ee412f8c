"""Does a page cost more in a long crawl than in a short one? `python bench/growth.py [PAGES…]` (default: 5000 100000).

Each size is crawled in a web of its own, with a host for each hundred pages. What the programs take to start, which is
measured five times with a web of one page, is taken off: it would weigh more in the short crawl. The first size is
crawled three times before and three times after each other one, as processors are not equally fast from one minute to
the next; the ratio is to the median of these.
"""

from __future__ import annotations

import argparse
import statistics

from crawl import measure
from measure import add_setting_option
from webs import synthetic

PAGES_PER_HOST = 100
REPEATED = 3
STARTS = 5  # an error of theirs weighs twenty times as much in the small crawl as in the large one


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", type=int, nargs="*", default=[5_000, 100_000])
    parser.add_argument("--fetchers", type=int, default=2)
    add_setting_option(parser)
    options = parser.parse_args()
    settings = dict(options.settings)
    with synthetic(1, 1) as web:
        starts = [measure(web, options.fetchers, settings).spent.cpu for _ in range(STARTS)]
    start = statistics.median(starts)
    print(f"to start takes {start:.2f} s of CPU time\n")
    print(f"{'pages':>10}{'pages/s':>10}{'CPU ms/page':>13}", flush=True)

    def crawled(pages: int) -> tuple[float, str]:
        with synthetic(pages, max(1, pages // PAGES_PER_HOST)) as web:
            found = measure(web, options.fetchers, settings)
        cost = (found.spent.cpu - start) / found.pages * 1000
        return cost, f"{found.pages:>10,}{found.pages / found.report['seconds']:>10,.0f}{cost:>13.3f}"

    smallest, *others = options.pages
    for pages in others:
        costs = []
        for _ in range(REPEATED):
            cost, line = crawled(smallest)
            costs.append(cost)
            print(line, flush=True)
        large, large_line = crawled(pages)
        print(large_line, flush=True)
        for _ in range(REPEATED):
            cost, line = crawled(smallest)
            costs.append(cost)
            print(line, flush=True)
        small = statistics.median(costs)
        with_start = (large + start / pages * 1000) / (small + start / smallest * 1000)
        print(f"{pages:,} pages: {large / small:.2f} times as much as {smallest:,}", end="")
        print(f" ({with_start:.2f} with what it takes to start)", flush=True)


if __name__ == "__main__":
    main()
