"""What the fingerprints of a text cost, and how well sketches estimate.

python bench/fingerprints.py                 microseconds for each part at 2, 20 and 100 KB; look-ups in the index
python bench/fingerprints.py --error-table   the errors of sketches and bands, into docs/fingerprints.md
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from pycrawl.fingerprint.packed import packed_by_numpy
from pycrawl.fingerprint.page_prints import SKETCH_SIZE, packed
from pycrawl.fingerprint.shingle import shingles, windows
from pycrawl.fingerprint.simhash import simhash
from pycrawl.fingerprint.simhash_index import SimhashIndex
from pycrawl.fingerprint.sketch import BANDS, ROWS, bands, resemblance, resemblances, sketch
from pycrawl.fingerprint.words import split, tokens

DOCS = Path(__file__).parents[1] / "docs/fingerprints.md"
BEGIN, END = "<!-- made by bench/fingerprints.py --error-table -->\n", "<!-- end -->\n"

SIZES = (2_000, 20_000, 100_000)  # characters
ROUNDS = 60  # short ones, of which the best counts: others may use this machine
CALLS = 20
INDEXED = (10_000, 100_000, 1_000_000)
LOOK_UPS = 200
ADDED_AT_ONCE = 1_000
ASKED_AT_ONCE = 5_000

LENGTHS = (100, 200, 500, 1_000, 2_000, 5_000)  # words
SIMILARITIES = (0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
PAIRS = 200
BAND_PAIRS = 2_000
SHINGLE_COUNTS = (50, 200, 2_000)


def make_text(dice: random.Random, size: int) -> str:
    """Words as frequent and as long as those of a language, in sentences."""
    vocabulary = [
        "".join(dice.choices("etaoinshrdlucmfwypvbgk", k=min(14, max(1, round(dice.gauss(6, 2.5))))))
        for _ in range(5_000)
    ]
    words = dice.choices(vocabulary, [1 / rank for rank in range(2, 5_002)], k=size // 4)
    words[::12] = (f"{word}.".capitalize() for word in words[::12])
    return " ".join(words)[:size]


def best(run: Callable[[], object], rounds: int = ROUNDS, calls: int = CALLS) -> float:
    """Microseconds of CPU for one call, in the best round."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(calls):
            run()
        times.append(time.process_time() - started)
    return min(times) / calls * 1e6


def parts(text: str) -> Iterator[tuple[str, Callable[[], object]]]:
    words = split(text)
    hashes = words.hashes
    prints = windows(hashes)
    values = sketch(prints)
    yield "everything, as the crawl does", lambda: packed(text, 0)
    yield "split into words, hash them", lambda: split(text)
    yield "text digest", lambda: words.digest(0)
    yield "by numpy: everything", lambda: packed_by_numpy(text, 0)
    yield "by numpy: windows of 4 words", lambda: windows(hashes)
    yield "by numpy: sketch", lambda: sketch(prints)
    yield "by numpy: simhash", lambda: simhash(hashes)
    yield "keys of the bands", lambda: bands(values)
    yield "resemblance of two", lambda: resemblance(values, values)


def print_costs() -> None:
    plain = [make_text(random.Random(1), size) for size in SIZES]
    texts = [*plain, plain[1].replace("a", "ä")]
    columns = [dict(parts(text)) for text in texts]
    print(f"{'µs of CPU':<32}" + "".join(f"{size // 1_000:>8} KB" for size in SIZES) + "  20 KB, not ASCII")
    for name in columns[0]:
        print(f"{name:<32}" + "".join(f"{best(column[name]):>11.1f}" for column in columns))
    many = np.repeat(sketch(windows(tokens(texts[0])))[np.newaxis], 1_000, axis=0)
    print(f"resemblance of one with 1,000: {best(lambda: resemblances(many[0], many)):.1f}")


def print_look_ups(count: int) -> None:
    source = np.random.default_rng(1)
    index = SimhashIndex()
    values = source.integers(0, 2**64, count, dtype=np.uint64)
    started = time.process_time()
    for begin in range(0, count, ADDED_AT_ONCE):
        part = slice(begin, begin + ADDED_AT_ONCE)
        index.extend(np.arange(begin, part.stop), values[part])
    added = (time.process_time() - started) / count * 1e6
    asked = iter(source.choice(values, LOOK_UPS * ROUNDS).tolist())
    one = best(lambda: index.find(next(asked)), calls=LOOK_UPS)
    many = best(lambda: index.find_many(values[:ASKED_AT_ONCE]), rounds=5, calls=1) / ASKED_AT_ONCE
    print(f"simhash index of {count:>9,}: add {added:.1f}, find {one:.1f}, find_many {many:.2f} µs each")


def edited(source: np.random.Generator, words: int, similarity: float) -> tuple[str, str]:
    """Two texts; words of the second are replaced here and there, so that the shingles' Jaccard coefficient is about
    `similarity`: each of two sets of one size has the share 2s / (1 + s) in common, and a shingle is four words."""
    replaced = 1 - (2 * similarity / (1 + similarity)) ** 0.25
    one = source.integers(0, 20_000, words)
    two = np.where(source.random(words) < replaced, source.integers(20_000, 40_000, words), one)
    return " ".join(map(str, one.tolist())), " ".join(map(str, two.tolist()))


def error(source: np.random.Generator, words: int, similarity: float) -> float:
    one, two = (shingles(tokens(text)) for text in edited(source, words, similarity))
    shared = len(np.intersect1d(one, two, assume_unique=True))
    return resemblance(sketch(one), sketch(two)) - shared / (len(one) + len(two) - shared)


def permutations_error(similarity: float) -> float:
    """The mean absolute error of as many independent permutations: of a binomial distribution."""
    return sum(
        math.comb(SKETCH_SIZE, hits)
        * similarity**hits
        * (1 - similarity) ** (SKETCH_SIZE - hits)
        * abs(hits / SKETCH_SIZE - similarity)
        for hits in range(SKETCH_SIZE + 1)
    )


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---:"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def error_table() -> str:
    source = np.random.default_rng(1)
    rows, everything = [], []
    for words in LENGTHS:
        errors = np.array([[error(source, words, wanted) for _ in range(PAIRS)] for wanted in SIMILARITIES])
        everything.append(errors)
        means = np.abs(errors).mean(axis=1)
        rows.append([f"{words:,}", *(f"{mean:.3f}" for mean in means), f"**{means.mean():.3f}**"])
    theory = [permutations_error(similarity) for similarity in SIMILARITIES]
    rows.append([f"{SKETCH_SIZE} permutations", *(f"{one:.3f}" for one in theory), f"{np.mean(theory):.3f}"])
    total = np.array(everything)
    near = total[:, SIMILARITIES.index(0.9)]
    return (
        f"Mean absolute error, {PAIRS} pairs a cell:\n\n"
        + table(["words", *(f"J ≈ {one}" for one in SIMILARITIES), "all"], rows)
        + f"\nOver all {total.size:,} pairs: mean absolute error {np.abs(total).mean():.3f}, mean error"
        f" {total.mean():+.4f}, 95 % within {np.quantile(np.abs(total), 0.95):.3f}.\n"
        f"At J ≈ 0.9 the standard deviation of the error is {near.std():.3f}.\n"
    )


def candidate_share(source: np.random.Generator, union: int, similarity: float) -> float:
    shared = round(similarity * union)
    middle = (shared + union) // 2
    found = 0
    for _ in range(BAND_PAIRS):
        members = source.integers(0, 2**64, union, dtype=np.uint64)
        one, two = members[:middle], np.concatenate((members[:shared], members[middle:]))
        found += bool((bands(sketch(one)) == bands(sketch(two))).any())
    return found / BAND_PAIRS


def band_table() -> str:
    source = np.random.default_rng(2)
    rows = []
    for similarity in SIMILARITIES:
        theory = 1 - (1 - similarity**ROWS) ** BANDS
        measured = [candidate_share(source, union, similarity) for union in SHINGLE_COUNTS]
        rows.append([f"{similarity}", *(f"{share:.4f}" for share in (theory, *measured))])
    head = ["J", "1 − (1 − J^r)^b", *(f"{count:,} shingles" for count in SHINGLE_COUNTS)]
    return (
        f"Share of pairs that become candidates, {BANDS} bands of {ROWS} rows, {BAND_PAIRS:,} pairs a cell:\n\n"
        + table(head, rows)
    )


def write_tables() -> None:
    before, _, rest = DOCS.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    made = f"\n{error_table()}\n{band_table()}\n"
    DOCS.write_text(before + BEGIN + made + END + after, "utf-8")
    print(made)


if __name__ == "__main__":
    if "--error-table" in sys.argv[1:]:
        write_tables()
    else:
        print_costs()
        for count in INDEXED:
            print_look_ups(count)
