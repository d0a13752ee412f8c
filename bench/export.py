"""How fast a collection is taken in and out: import, exports, iteration, and a page by its URL.

    python bench/export.py [--documents 100000] [--small 1000] [--large 1000000]

Exports and iteration read pages of 27 KB. Each export runs as a command of its own; its CPU time and memory are those
of all its processes together. A page is got by its URL from two collections of pages of 6 KB, a small and a large
one, in turns.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil
from store import made_up_page

from pycrawl import Collection, Crawl

GETS = 2_000
TURNS = 5  # each with as many gets from both collections
SHORT = 800  # words of a page of 6 KB
CPU_CORES = 2
FORMATS = (("trec", "out.trec.gz"), ("warc", "out.warc.gz"), ("jsonl", "out.jsonl"))


def write_warc(path: Path, documents: int, most_words: int) -> None:
    words = made_up_page().decode().split(" ")[:most_words]
    dice = random.Random(7)
    with path.open("wb") as file:
        for number in range(documents):
            start = dice.randrange(len(words))
            body = f"<title>Page {number}</title>{' '.join(words[start:] + words[:start])} {number}".encode()
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body
            head = (
                f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h{number % 100}.example/{number}\r\n"
                f"WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Length: {len(block)}\r\n\r\n"
            )
            file.write(head.encode() + block + b"\r\n\r\n")


class Ran(NamedTuple):
    seconds: float
    cpu: float  # seconds
    memory: float  # MB, the most of it and its children together

    def told(self, documents: int) -> str:
        return (
            f"{documents / self.seconds:,.0f} documents/s, {self.cpu / documents * 1000:.3f} ms of CPU each"
            f" ({CPU_CORES * documents / self.cpu:,.0f}/s if {CPU_CORES} cores did nothing else),"
            f" {self.memory:,.0f} MB"
        )


def run(*arguments: str | Path) -> Ran:
    """Run a command to its end."""
    begun, cpu = time.perf_counter(), children_cpu()
    process = subprocess.Popen([sys.executable, "-m", "pycrawl", *map(str, arguments)], stdout=subprocess.DEVNULL)
    most = 0
    whole = psutil.Process(process.pid)
    while process.poll() is None:
        try:
            family = [whole, *whole.children(recursive=True)]
            most = max(most, sum(one.memory_full_info().pss for one in family))
        except psutil.Error:
            pass
        time.sleep(0.2)
    assert process.returncode == 0
    return Ran(time.perf_counter() - begun, children_cpu() - cpu, most / 1e6)


def children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def collection_of(folder: Path, documents: int, most_words: int = 1_000_000) -> Path:
    path = folder / f"crawl-{documents}-{most_words}"
    if path.exists():
        return path
    Crawl.create(path, content={"near_duplicates": False})
    write_warc(folder / "in.warc", documents, most_words)
    ran = run("import", "-C", path, folder / "in.warc")
    (folder / "in.warc").unlink()
    print(f"import of {documents:,}: {ran.told(documents)}", flush=True)
    return path


class Gets:
    """Reads pages at random from a collection."""

    def __init__(self, path: Path) -> None:
        self._collection = Collection(path)
        self._count = len(self._collection)
        self._dice = random.Random(3)
        self.microseconds: list[float] = []  # of CPU for a page, in each turn

    def turn(self) -> None:
        numbers = [self._dice.randrange(self._count) for _ in range(GETS)]
        begun = time.process_time()
        for number in numbers:
            self._collection[f"http://h{number % 100}.example/{number}"].body  # noqa: B018  # reads it
        self.microseconds.append((time.process_time() - begun) / GETS * 1e6)


def show_gets(small: Path, large: Path) -> None:
    few, many = Gets(small), Gets(large)
    for _ in range(TURNS + 1):
        few.turn()
        many.turn()
    low, high = (statistics.median(one.microseconds[1:]) for one in (few, many))  # the first reads the filters
    print(f"get: {low:.0f} and {high:.0f} µs of CPU from the small and the large collection: {high / low:.2f} times")


def show_iteration(path: Path) -> None:
    with Collection(path) as collection:
        begun, cpu = time.perf_counter(), time.process_time()
        read = sum(len(document.body) for document in collection)
        count = len(collection)
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    print(
        f"iteration with bodies: {count / seconds:,.0f} documents/s, {count / cpu:,.0f}/s of CPU ({read / 1e6:,.0f} MB)"
    )
    print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:,.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000, help="that are exported (default: 100,000)")
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path, help="a folder for the collections, to be used again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.keep or Path(name)
        folder.mkdir(exist_ok=True)
        exported = collection_of(folder, options.documents)
        for format_name, file in FORMATS:
            ran = run("export", "-C", exported, "--format", format_name, "-o", folder / file)
            (folder / file).unlink()
            print(f"{format_name}: {ran.told(options.documents)}", flush=True)
        show_iteration(exported)
        show_gets(*(collection_of(folder, count, SHORT) for count in (options.small, options.large)))


if __name__ == "__main__":
    main()
