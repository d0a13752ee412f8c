"""Pages a second, CPU by stage, and memory of a whole crawl of a static web: `python bench/crawl.py [--pages N]`.

Everything is on (robots.txt, durable frontier, links, TREC Web store); only the politeness delay is 0. The web is
served by nginx on the same machine, so its CPU is shown too. `--set content.near_duplicates=false` (or another setting)
shows what that costs.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import Spent, add_setting_option, crawl, new_crawl, tree_cpu
from static_web import nginx
from webs import Web, add_web_options, chosen_web


@dataclass(frozen=True, slots=True)
class Measured:
    report: dict[str, Any]  # the run's own
    spent: Spent
    server_cpu: float  # seconds

    @property
    def pages(self) -> int:
        return int(self.report["pages"])

    @property
    def cpu_ms(self) -> float:
        """For a page, all processes of pycrawl."""
        cpu = self.report["cpu_seconds"]
        return float(cpu.get("total", 0.0) + cpu["coordinator"]) / self.pages * 1000


def measure(
    web: Web,
    fetchers: int,
    settings: Mapping[str, str],
    keep: Path | None = None,
    wrapper: Sequence[str] = (),
) -> Measured:
    """Crawl the whole of a web; `wrapper` is a command that starts the crawl's."""
    work = Path(tempfile.mkdtemp(prefix="pycrawl-bench-"))
    try:
        with nginx(web.addresses, web.root, work / "nginx", web.port) as pid:
            directory = keep or work / "crawl"
            new_crawl(directory, web.starts, {"scope.allow_hosts": json.dumps(web.addresses), **settings})
            report, spent = crawl(directory, ["--fetchers", str(fetchers)], wrapper)
            return Measured(report, spent, tree_cpu(pid))
    finally:
        shutil.rmtree(work, ignore_errors=True)


def show(measured: Measured) -> None:
    pages, seconds = measured.pages, measured.report["seconds"]
    print(f"\n{pages:,} pages in {seconds:.2f} s: {pages / seconds:,.0f} pages/s")
    print(f"peak memory of all processes: {measured.spent.peak / 1e6:,.0f} MB")
    print("CPU, ms a page:")
    for name, cpu in stages(measured.report).items():
        print(f"  {name:36} {cpu / pages * 1000:.3f}")
    print(f"  {'all of pycrawl':36} {measured.cpu_ms:.3f}")
    print(f"  {'nginx':36} {measured.server_cpu / pages * 1000:.3f}")


def stages(report: Mapping[str, Any]) -> dict[str, float]:
    """CPU seconds by stage, the fetchers' first."""
    cpu: dict[str, float] = dict(report["cpu_seconds"])
    total, coordinator = cpu.pop("total", 0.0), cpu.pop("coordinator")
    return {**cpu, "fetch and the rest of the fetchers": total - sum(cpu.values()), "coordinator": coordinator}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_web_options(parser)
    parser.add_argument("--fetchers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="leave the crawl here")
    add_setting_option(parser)
    options = parser.parse_args()
    with chosen_web(options) as web:
        show(measure(web, options.fetchers, dict(options.settings), options.keep))


if __name__ == "__main__":
    main()
