"""What URL-seen and the frontier cost: `python bench/frontier.py [URLS…]` prints a table (default: 10^5, 10^6, 10^7).

Each crawl is grown to so many known URLs from pages of 45 links, half of them new, sieved and committed in batches as
the coordinator does; then it is opened by a process of its own, which sieves and chooses URLs some more.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil

from pycrawl.config import Config, PolitenessSection
from pycrawl.frontier.discovered import Discovered
from pycrawl.frontier.frontier import Frontier
from pycrawl.frontier.judge import Judge
from pycrawl.model import PackedLinks
from pycrawl.processes.allocation import give_freed_memory_back
from pycrawl.state.counters import Counters
from pycrawl.state.database import Database
from pycrawl.state.hosts import Hosts
from pycrawl.state.sources import Sources
from pycrawl.state.standings import Standings
from pycrawl.state.unwanted import Unwanted
from pycrawl.state.url_seen import UrlSeen
from pycrawl.urls.parts import url_hash

SEED = 1
LINKS = 45  # of a page
BATCH_PAGES = 1_100  # about 50,000 links
MEASURED_BATCHES = 16
URLS_PER_HOST = 100
COMMIT_PAGES = 1_000
CHOSEN = 20_000
SLOTS = 1_024
CONFIG = Config(politeness=PolitenessSection(delay=0.0))


class State:
    """The frontier and what it stands on."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.counters = Counters(database)
        self.hosts = Hosts(database)
        self.seen = UrlSeen(database, SEED)
        self.standings = Standings(database)
        judge = Judge(CONFIG, Unwanted(database, SEED))
        self.frontier = Frontier(
            database, self.hosts, self.counters, self.seen, self.standings, judge, Sources(database, CONFIG),
            CONFIG, random.Random(1),
        )  # fmt: skip
        database.empty_cache()  # as `Session` does
        give_freed_memory_back()

    def commit(self) -> None:
        self.frontier.flush()
        self.counters.flush()
        self.database.commit()


def url(number: int) -> str:
    return f"https://www.host{number // URLS_PER_HOST * 7_919 % 1_000_003}.example/section/{number}/page.html"


def batches(known: int, chance: random.Random) -> Iterator[Discovered]:
    """Without end; the first URL that is new has the number `known`."""
    while True:
        batch = Discovered()
        for _ in range(BATCH_PAGES):
            numbers = [*range(known, known + LINKS // 2)]
            known += len(numbers)
            numbers += [chance.randrange(known) for _ in range(LINKS - len(numbers))]
            texts = [url(number) for number in numbers]
            hashes = np.array([url_hash(text, SEED) for text in texts], np.uint64)
            # A fetcher leaves out the text of what it sent before: here, of half of the known ones.
            cut = LINKS * 3 // 4
            batch.add_links(
                1, chance.randrange(1, 8), PackedLinks(hashes.tobytes(), "\n".join(texts[:cut]).encode(), cut)
            )
        yield batch


def sieve(state: State, source: Iterator[Discovered], most_batches: int, until: int) -> float:
    """Links a second, commits included."""
    links = 0
    seconds = 0.0
    for _ in range(most_batches):
        if len(state.seen) >= until:
            break
        batch = next(source)
        links += batch.count
        begun = time.perf_counter()
        state.frontier.add(batch, 0.0)
        state.commit()
        seconds += time.perf_counter() - begun
    return links / seconds


def choose(state: State) -> tuple[float, float]:
    """URLs a second pulled into back queues, and leased and finished, in the same time; commits included."""
    state.frontier.open_queues(1, SLOTS)
    waiting = state.frontier.sizes().front
    begun = time.perf_counter()
    for number in range(1, CHOSEN + 1):
        leased = state.frontier.lease(0, 1.0)
        if leased is None:
            state.frontier.fill(True)
            leased = state.frontier.lease(0, 1.0)
        assert leased is not None
        state.frontier.finish(*leased)
        state.frontier.release(leased[0], 1.0)
        if number % COMMIT_PAGES == 0:
            state.frontier.fill(False)
            state.commit()
    seconds = time.perf_counter() - begun
    return (waiting - state.frontier.sizes().front) / seconds, CHOSEN / seconds


def grow(path: Path, urls: int) -> None:
    state = State(Database.create(path))
    sieve(state, batches(0, random.Random(2)), urls, urls)
    state.seen.flush_inlinks()
    state.seen.save_sorted(1)
    state.standings.save(1)
    state.commit()
    state.database.close()


def peak_resident() -> int:
    # Not getrusage: its figure starts with that of the process that this one was made by.
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def measure(path: Path) -> None:
    process = psutil.Process()
    before = process.memory_info().rss
    begun = time.perf_counter()
    state = State(Database.open(path))
    opened = time.perf_counter() - begun
    urls = len(state.seen)
    resident = (process.memory_info().rss - before) / urls
    peak = (peak_resident() - before) / urls
    on_disk = path.stat().st_size / urls
    sieved = sieve(state, batches(urls, random.Random(3)), MEASURED_BATCHES, 2 * urls)
    pulled, chosen = choose(state)
    print(
        f"{urls:>12,}{sieved:>12,.0f}{pulled:>12,.0f}{chosen:>12,.0f}"
        f"{on_disk:>12.0f}{resident:>12.1f}{peak:>12.1f}{opened:>10.2f}",
        flush=True,
    )
    state.database.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("urls", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--directory", help="where to put state.db for the time being")
    arguments = parser.parse_args()
    heads = ("known URLs", "links/s", "pulled/s", "chosen/s", "disk B/URL", "RAM B/URL", "peak B/URL")
    print("".join(f"{head:>12}" for head in heads) + f"{'open s':>10}")
    for urls in arguments.urls:
        with tempfile.TemporaryDirectory(dir=arguments.directory) as folder:
            path = Path(folder) / "state.db"
            grow(path, urls)
            child = multiprocessing.get_context("spawn").Process(target=measure, args=(path,))
            child.start()
            child.join()


if __name__ == "__main__":
    main()
