"""Near-duplicates at scale: `python bench/near.py [--documents N] [--no-look-ups]`.

1. What all fingerprints of a page cost.
2. `pycrawl dups --all` on a collection of made-up texts, a third of them near-duplicates: time and memory.
3. The look-up of a document in the loop, and the start of a crawl, at 10,000, 100,000 and 1,000,000 fingerprints.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from fingerprints import best, make_text

from pycrawl.fingerprint.packed import PACKED, Prints, pack
from pycrawl.fingerprint.page import of_text
from pycrawl.fingerprint.page_prints import SKETCH_SIZE
from pycrawl.state.database import Database
from pycrawl.state.documents import Document, save_documents
from pycrawl.state.near_seen import NearSeen

_PYCRAWL = [sys.executable, "-c", "from pycrawl.cli import main; main()"]
THRESHOLD = 0.9
WORDS = 300
VOCABULARY = 30_000
NEAR_SHARE = 0.3
BASES = 5_000  # texts that near-duplicates are made of
REPLACED = (0.0, 0.005, 0.012, 0.02, 0.05, 0.2)  # share of the words: resemblances of 1, 0.96, 0.91, 0.85, 0.7, 0.26
SIZES = (10_000, 100_000, 1_000_000)
GROUP = 500  # documents judged at once
GROUPS = 20
MADE_AT_ONCE = 5_000
_SKETCH_VALUES = 1 << 7


def print_fingerprints() -> None:
    text = make_text(random.Random(1), 20_000)
    print(f"all fingerprints of 20 KB of text: {best(lambda: of_text(text)) / 1e3:.3f} ms of CPU")


# A whole collection


def texts(count: int) -> Iterator[str]:
    source = np.random.default_rng(1)
    vocabulary = np.array([f"w{number}" for number in range(VOCABULARY)])
    bases: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    for _ in range(count):
        if len(bases) > 1 and source.random() < NEAR_SHARE:
            words = bases[source.integers(len(bases))].copy()
            replaced = source.random(WORDS) < source.choice(REPLACED)
            words[replaced] = source.integers(0, VOCABULARY, int(replaced.sum()))
        else:
            words = source.integers(0, VOCABULARY, WORDS)
            bases.append(words)
            if len(bases) > BASES:
                bases.pop(int(source.integers(BASES)))
        yield " ".join(vocabulary[words])


def fill(directory: Path, count: int) -> None:
    """A crawl's directory, with the documents' rows and without their records: discovery does not read these."""
    subprocess.run([*_PYCRAWL, "init", str(directory)], check=True, capture_output=True)
    database = Database.open(directory / "state.db")
    rows = []
    for number, text in enumerate(texts(count), 1):
        rows.append((number, pack(of_text(text))))
        if len(rows) == MADE_AT_ONCE or number == count:
            ids = [row[0] for row in rows]
            database.write_many("INSERT INTO page_prints VALUES (?, ?)", rows)
            database.write_many(
                "INSERT INTO urls VALUES (?, ?, 1, 0, 0, 1, 0, 0, 0, 0)", ((one, f"http://h/{one}") for one in ids)
            )
            save_documents(
                database, [Document(one, one, one, 0.0, 1, 0, 0, one, 0, b"", "", "", "", b"", 0, 0) for one in ids]
            )
            database.commit()
            rows = []
    database.close()


def print_discovery(count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="pycrawl-bench-") as work:
        directory = Path(work) / "crawl"
        fill(directory, count)
        started = time.monotonic()
        done = subprocess.run(
            [*_PYCRAWL, "dups", "-C", str(directory), "--all", "--json"], check=True, capture_output=True
        )
        seconds = time.monotonic() - started
    facts = json.loads(done.stdout)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    print(
        f"dups --all on {count:,} documents of {WORDS} words: {seconds:.1f} s, {peak:,.0f} MB;"
        f" {len(facts['clusters']):,} clusters, {facts['duplicates_near']:,} near-duplicates"
    )


# Look-ups


def made_prints(source: np.random.Generator, count: int) -> Prints:
    """Fingerprints without texts: a third of the sketches share 60 to 100 % of their places with another."""
    prints = np.zeros(count, PACKED)
    prints["sketch"] = source.integers(0, _SKETCH_VALUES, (count, SKETCH_SIZE))
    near = np.flatnonzero(source.random(count) < NEAR_SHARE)
    kept = source.random((len(near), SKETCH_SIZE)) < source.uniform(0.6, 1.0, len(near))[:, np.newaxis]
    prints["sketch"][near] = np.where(
        kept, prints["sketch"][source.integers(0, count, len(near))], prints["sketch"][near]
    )
    prints["text_digest"] = source.integers(0, 2**63, (count, 2))
    prints["words"] = WORDS
    return prints


def print_look_ups(path: Path, sizes: tuple[int, ...]) -> None:
    source = np.random.default_rng(1)
    database = Database.create(path)
    seen = NearSeen(database, THRESHOLD)
    filled = 0
    for size in sizes:
        while filled < size:
            _judge(seen, database, filled, made_prints(source, min(MADE_AT_ONCE, size - filled)))
            filled += min(MADE_AT_ONCE, size - filled)
        database.commit()
        started = time.process_time()
        seen = NearSeen(database, THRESHOLD)
        _judge(seen, database, filled, made_prints(source, 1))
        begun = time.process_time() - started
        filled += 1
        together, alone = [], []
        for _ in range(GROUPS):
            together.append(_judge(seen, database, filled, made_prints(source, GROUP)))
            filled += GROUP
            alone.append(_judge(seen, database, filled, made_prints(source, 1)))
            filled += 1
        each, one = sorted(together)[GROUPS // 4] / GROUP * 1e3, sorted(alone)[GROUPS // 4] * 1e3
        print(
            f"{size:>9,} fingerprints: {each:.4f} ms of CPU a document in groups of {GROUP}, {one:.2f} ms alone;"
            f" start {begun:.2f} s"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory of all this: {peak / 1e3:,.0f} MB")
    database.close()


def _judge(seen: NearSeen, database: Database, filled: int, prints: Prints) -> float:
    """Seconds of CPU for the look-up of all and their entry into the index; writing them is not counted."""
    for number, one in enumerate(prints, filled + 1):
        seen.add(number, one.tobytes())
    started = time.process_time()
    seen.close_group()
    seconds = time.process_time() - started
    seen.flush()
    database.commit()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--no-look-ups", action="store_true")
    options = parser.parse_args()
    print_fingerprints()
    print_discovery(options.documents)
    if not options.no_look_ups:
        with tempfile.TemporaryDirectory(prefix="pycrawl-bench-") as work:
            print_look_ups(Path(work) / "state.db", SIZES)


if __name__ == "__main__":
    main()
