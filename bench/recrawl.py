"""CPU of a recrawl in which nothing has changed: `python bench/recrawl.py [--pages N]`.

A static web is crawled, then twice again with `--recrawl`: nginx names validators, so that each page is answered with
status 304. Everything is on; only the politeness delay and recrawl.min_interval are 0.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from crawl import stages
from measure import add_setting_option, crawl, new_crawl
from static_web import nginx
from webs import Web, add_web_options, chosen_web

_RECRAWLS = 2


def measure(web: Web, fetchers: int, settings: dict[str, str]) -> None:
    """Print what each recrawl takes."""
    work = Path(tempfile.mkdtemp(prefix="pycrawl-bench-"))
    try:
        with nginx(web.addresses, web.root, work / "nginx", web.port):
            directory = work / "crawl"
            fixed = {"scope.allow_hosts": json.dumps(web.addresses), "recrawl.min_interval": "0"}
            new_crawl(directory, web.starts, {**fixed, **settings})
            crawl(directory, ["--fetchers", str(fetchers)])
            for _ in range(_RECRAWLS):
                report, spent = crawl(directory, ["--recrawl", "--fetchers", str(fetchers)])
                asked = report["not_modified"]
                print(f"\n{asked:,} answers with status 304, {report['pages']:,} others, in {report['seconds']:.1f} s")
                print(f"peak memory of all processes: {spent.peak / 1e6:,.0f} MB")
                print("CPU, ms an answer:")
                for name, cpu in stages(report).items():
                    print(f"  {name:36} {cpu / asked * 1000:.3f}")
                print(f"  {'all processes, start and end included':36} {spent.cpu / asked * 1000:.3f}")
    finally:
        shutil.rmtree(work, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_web_options(parser)
    parser.add_argument("--fetchers", type=int, default=2)
    add_setting_option(parser)
    options = parser.parse_args()
    with chosen_web(options) as web:
        measure(web, options.fetchers, dict(options.settings))


if __name__ == "__main__":
    main()
