"""The index of passages at scale: `python bench/passages.py [--documents N]`.

1. How many passages of a length have enough fingerprints to be found.
2. Adding: entries a second, in groups as the crawl commits them, and the longest group; bytes an entry on disk.
3. Looking 100 fingerprints up at 10,000 and at all documents, every eighth of them one that many documents share.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fingerprints import make_text
from numpy.typing import NDArray

from pycrawl.fingerprint.page_prints import ONE_IN, packed
from pycrawl.state.database import Database
from pycrawl.state.passages import Passages, sharing

PRINTS = 60  # of a document, on average
GROUP = 500  # documents committed at once
SHARED = 0.1  # of the fingerprints are of passages that many documents have
PASSAGES = 20_000  # such fingerprints
FIRST_SIZE = 10_000
ASKED = 100
LOOK_UPS = 50
MOST = 1_000  # documents, as `dups` has it
LEAST_SHARED = 3  # fingerprints, likewise
PASSAGE_WORDS = (50, 100, 200, 400)
PRINT_BYTES = 8

Prints = NDArray[np.uint64]


@dataclass(slots=True)
class Spent:
    entries: int = 0
    seconds: float = 0.0  # of CPU
    longest: float = 0.0  # of one group


class Collection:
    """Documents without texts: fingerprints of chance, some of them shared."""

    def __init__(self, path: Path) -> None:
        self._source = np.random.default_rng(1)
        self._shared = self._drawn(PASSAGES)
        self._path = path
        self.database = Database.create(path)
        self._passages = Passages(self.database)
        self.documents = 0
        self._last: Prints = self._shared

    def _drawn(self, count: int) -> Prints:
        return self._source.integers(0, 2**64 // ONE_IN, count, dtype=np.uint64) * np.uint64(ONE_IN)

    def add_group(self, spent: Spent) -> None:
        counts = self._source.poisson(PRINTS, GROUP)
        prints = self._drawn(int(counts.sum()))
        is_shared = self._source.random(len(prints)) < SHARED
        prints[is_shared] = self._source.choice(self._shared, int(is_shared.sum()))
        pages = [part.tobytes() for part in np.split(prints, np.cumsum(counts)[:-1])]
        started = time.process_time()
        for page in pages:
            self.documents += 1
            self._passages.add(self.documents, page)
        self._passages.close_group()
        self._passages.flush()
        self.database.commit()
        seconds = time.process_time() - started
        spent.entries += len(prints)
        spent.seconds += seconds
        spent.longest = max(spent.longest, seconds)
        self._last = prints

    def look_up(self) -> tuple[float, int]:
        """Seconds, the middle of many, by a reader just opened; and the runs that were asked."""
        seconds = []
        for _ in range(LOOK_UPS):
            asked = self._drawn(ASKED)
            asked[::8] = self._source.choice(self._shared, len(asked[::8]))
            asked[1::8] = self._source.choice(self._last, len(asked[1::8]))
            reader = Database.open_readonly(self._path)
            started = time.perf_counter()
            sharing(reader, asked, MOST)
            seconds.append(time.perf_counter() - started)
            reader.close()
        (runs,) = self.database.query("SELECT count(*) FROM sorted_runs").fetchone()
        return sorted(seconds)[LOOK_UPS // 2], int(runs)

    def bytes_used(self) -> int:
        """On disk, without the pages that are free for what comes next."""
        pages, free, size = (
            int(self.database.query(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size


def print_recall() -> None:
    words = make_text(random.Random(2), 1_000_000).split()
    for length in PASSAGE_WORDS:
        passages = [" ".join(words[begin : begin + length]) for begin in range(0, len(words) - length, length)]
        enough = sum(len(packed(text, 0)[1]) >= LEAST_SHARED * PRINT_BYTES for text in passages)
        print(
            f"passages of {length} words with {LEAST_SHARED} or more: {enough / len(passages):.1%} of {len(passages):,}"
        )


def print_index(sizes: tuple[int, ...]) -> None:
    with tempfile.TemporaryDirectory(prefix="pycrawl-bench-") as work:
        collection = Collection(Path(work) / "state.db")
        empty = collection.bytes_used()
        spent = Spent()
        for size in sizes:
            while collection.documents < size:
                collection.add_group(spent)
            seconds, runs = collection.look_up()
            print(
                f"{collection.documents:>9,} documents, {spent.entries:,} entries: added at"
                f" {spent.entries / spent.seconds:,.0f}/s ({spent.seconds / collection.documents * 1e3:.3f} ms of CPU a"
                f" document, the longest group of {GROUP}: {spent.longest * 1e3:.0f} ms);"
                f" {(collection.bytes_used() - empty) / spent.entries:.2f} bytes an entry;"
                f" {ASKED} looked up in {seconds * 1e3:.1f} ms, {runs} runs"
            )
        collection.database.close()
    print(f"peak memory of all this: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:,.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    options = parser.parse_args()
    print_recall()
    print_index((min(FIRST_SIZE, options.documents), options.documents))


if __name__ == "__main__":
    main()
