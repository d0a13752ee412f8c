"""What it costs to judge all known URLs anew: `python bench/judging.py [URLS]` prints a table (default: 10^6).

The URLs are added to a new crawl by `pycrawl add`, on 20,000 hosts. Then the settings change again and again, and after
each change a process of its own judges all URLs as the next `pycrawl crawl` would.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

URLS = 1_000_000
HOSTS = 20_000
# What is written into [scope], one after another: each pass starts from what the one before has left.
PASSES = (
    ("few change", 'deny_prefixes = ["http://h7.example/a"]'),
    ("a prefix: a seventh leaves", f"deny_prefixes = {[f'http://h{host}.example/' for host in range(0, HOSTS, 7)]}"),
    ("all leave", 'allow_hosts = ["nowhere.example"]'),
    ("all come back", ""),
    ("a pattern: half leave", 'deny_patterns = ["[02468]$"]'),
    ("a pattern: the other half", 'deny_patterns = ["[13579]$"]'),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("urls", nargs="?", type=int, default=URLS)
    parser.add_argument("--judge", type=Path, help=argparse.SUPPRESS)  # a pass, in a process of its own
    arguments = parser.parse_args()
    if arguments.judge:
        print(*_judge(arguments.judge), sep="\t")
        return
    print(f"{'settings':<28} {'URLs/s':>10} {'URLs/s of CPU':>14} {'MB':>6} {'queued':>10}")
    with tempfile.TemporaryDirectory() as folder:
        crawl = _crawl_with(Path(folder), arguments.urls)
        for name, scope in PASSES:
            (crawl / "pycrawl.toml").write_text(f"[scope]\n{scope}\n")
            words = subprocess.run(
                [sys.executable, __file__, "--judge", str(crawl)], check=True, capture_output=True, text=True
            )
            wall, cpu, megabytes, queued = words.stdout.split()
            rates = [arguments.urls / float(seconds) for seconds in (wall, cpu)]
            print(f"{name:<28} {rates[0]:>10,.0f} {rates[1]:>14,.0f} {megabytes:>6} {int(queued):>10,}", flush=True)


def _crawl_with(folder: Path, urls: int) -> Path:
    seeds = folder / "urls.txt"
    with seeds.open("w") as file:
        file.writelines(f"http://h{number % HOSTS}.example/a/page/{number}\n" for number in range(urls))
    crawl = folder / "crawl"
    for command in (["init", str(crawl)], ["add", "-C", str(crawl), "--file", str(seeds)]):
        subprocess.run([sys.executable, "-m", "pycrawl", *command], check=True, stdout=subprocess.DEVNULL)
    return crawl


def _judge(crawl: Path) -> tuple[str, str, int, int]:
    """Do one pass. Returns its seconds, its CPU seconds, the most memory the process had, and the URLs queued then."""
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.crawl.judging import judge_anew
    from pycrawl.frontier.judge import Judge
    from pycrawl.state import meta
    from pycrawl.state.database import Database
    from pycrawl.state.unwanted import Unwanted

    directory = CrawlDirectory(crawl)
    config = directory.config()
    database = Database.open(directory.state)
    judge = Judge(config, Unwanted(database, meta.hash_seed(database)))
    begun, begun_cpu = time.perf_counter(), time.process_time()
    judge_anew(database, config, judge, lambda done, total: None)
    wall, cpu = time.perf_counter() - begun, time.process_time() - begun_cpu
    (queued,) = database.query("SELECT count(*) FROM front").fetchone()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return f"{wall:.3f}", f"{cpu:.3f}", most, queued


if __name__ == "__main__":
    main()
