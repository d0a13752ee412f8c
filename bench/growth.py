"""Does a page cost more in a long crawl than in a short one? `python bench/growth.py [PAGES…]` (default: 5000 100000).

Each size is crawled in a web of its own, with a host for each hundred pages. What the programs take to start, which is
measured with a web of one page, is taken off, as it would weigh more in the short crawl; the ratio is to the first one.
"""

from __future__ import annotations

import argparse

from crawl import measure
from measure import add_setting_option
from static_web import StaticWeb

PAGES_PER_HOST = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", type=int, nargs="*", default=[5_000, 100_000])
    parser.add_argument("--fetchers", type=int, default=2)
    add_setting_option(parser)
    options = parser.parse_args()
    settings = dict(options.settings)
    start = measure(StaticWeb(hosts=1, pages=1), options.fetchers, settings).spent.cpu
    print(f"to start takes {start:.2f} s of CPU time\n")
    print(f"{'pages':>10}{'pages/s':>10}{'CPU ms/page':>13}{'ratio':>8}{'peak MB':>9}", flush=True)
    first = 0.0
    for pages in options.pages:
        web = StaticWeb(hosts=max(1, pages // PAGES_PER_HOST), pages=pages)
        found = measure(web, options.fetchers, settings)
        cost = (found.spent.cpu - start) / found.pages * 1000
        first = first or cost
        rate, peak = found.pages / found.report["seconds"], found.spent.peak / 1e6
        print(f"{found.pages:>10,}{rate:>10,.0f}{cost:>13.3f}{cost / first:>8.2f}{peak:>9,.0f}", flush=True)


if __name__ == "__main__":
    main()
