"""How long does it take to choose the pages of a recrawl, and how much memory? The records of changes are made up and
written to a state as a crawl writes them; then pages are chosen from it, as `crawl --recrawl --max-requests` does.

    python bench/choosing.py --pages 10000000 --most 100000
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from pycrawl.model import Policy
from pycrawl.policy.page_records import RECORD, Bounds, as_pages, importance
from pycrawl.policy.recrawl import chosen
from pycrawl.state.change_rates import ChangeRates
from pycrawl.state.database import Database
from pycrawl.state.runs.fixed_runs import FixedRuns
from pycrawl.state.stores import CHANGES

NOW = 1_800_000_000
PORTION = 500_000  # pages written at once
DAY = 86_400


def write(database: Database, pages: int) -> None:
    """Write records of pages on 1,000 hosts; a third were seen to change."""
    runs = FixedRuns(database, CHANGES)
    random = np.random.default_rng(1)
    for first in range(1, pages + 1, PORTION):
        count = min(PORTION, pages + 1 - first)
        records = np.zeros(count, RECORD)
        records["visited"] = records["asked"] = NOW - random.integers(DAY, 60 * DAY, count)
        records["quiet"] = random.exponential(30 * DAY, count)
        records["changed"] = np.where(random.random(count) < 1 / 3, random.integers(1, 9, count), 0)
        records["logs"] = records["changed"] * 1.5
        records["squares"] = records["changed"] * 3.0
        records["host"] = random.integers(1, 1_001, count)
        records["kind"] = random.integers(1, 20, count)
        keys = np.arange(first, first + count, dtype=np.uint64)
        runs.put(keys, records.view(np.uint8).reshape(count, RECORD.itemsize))
        database.commit()


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def choose(database: Database, pages: int, most: int) -> int:
    """Choose as `crawl/recrawling.py` does, with depths and in-links from arrays as a crawl has them in memory."""
    rates = ChangeRates(database)
    priors = rates.learn_priors()
    depths, inlinks = np.zeros(pages + 1, np.uint8), np.zeros(pages + 1, np.uint8)
    bounds = Bounds(72_000.0, float("inf"))
    batches = (
        as_pages(ids, records, priors, importance(depths[ids], inlinks[ids]), np.zeros(len(ids)), NOW, bounds)
        for ids, records in rates.portions()
    )
    return len(chosen(Policy.AGE, batches, most, room=lambda hosts: np.full(len(hosts), 10_000)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--most", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        database = Database.create(path)
        write(database, options.pages)
        database.close()
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        before = peak()
        database = Database.open(path)
        begun, cpu = time.monotonic(), time.process_time()
        count = choose(database, options.pages, options.most)
        seconds, cpu = time.monotonic() - begun, time.process_time() - cpu
        database.close()
    print(f"{options.pages:,} pages, {size / options.pages:.1f} bytes a page on the disk")
    print(f"{count:,} chosen in {seconds:.1f} s ({cpu:.1f} s of CPU)")
    print(f"memory: {before:.0f} MB before, {peak():.0f} MB after")


if __name__ == "__main__":
    main()
