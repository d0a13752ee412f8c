"""How fast a collection is taken in and out: import, exports, iteration, and a page by its URL.

    python bench/export.py [--documents 20000] [--small 1000]

Pages are of 27 KB. Each export runs as a command of its own; the memory is the most that one of its processes took.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from store import made_up_page

from pycrawl import Collection, Crawl

GETS = 2_000
RAW = 10_000  # documents that are iterated over
FORMATS = (("trec", "out.trec.gz"), ("warc", "out.warc.gz"), ("jsonl", "out.jsonl"))


def write_warc(path: Path, documents: int) -> None:
    words = made_up_page().decode().split(" ")
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


def run(*arguments: str | Path) -> tuple[float, float]:
    """Run a command. Returns its seconds, and the most memory of it and its children together, in MB."""
    begun = time.perf_counter()
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
    return time.perf_counter() - begun, most / 1e6


def collection_of(folder: Path, documents: int) -> Path:
    path = folder / f"crawl-{documents}"
    Crawl.create(path, content={"near_duplicates": False})
    write_warc(folder / "in.warc", documents)
    seconds, memory = run("import", "-C", path, folder / "in.warc")
    (folder / "in.warc").unlink()
    print(f"import {documents:,}: {documents / seconds:,.0f}/s, {memory:,.0f} MB")
    return path


def get_microseconds(path: Path) -> float:
    dice = random.Random(3)
    with Collection(path) as collection:
        count = len(collection)
        numbers = [dice.randrange(count) for _ in range(GETS)]
        for number in numbers[:100]:
            collection[f"http://h{number % 100}.example/{number}"].body  # noqa: B018  # reads it
        begun = time.process_time()
        for number in numbers:
            collection[f"http://h{number % 100}.example/{number}"].body  # noqa: B018
        return (time.process_time() - begun) / GETS * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--small", type=int, default=1_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = (collection_of(folder, count) for count in (options.small, options.documents))
        for format_name, file in FORMATS:
            seconds, memory = run("export", "-C", large, "--format", format_name, "-o", folder / file)
            (folder / file).unlink()
            print(f"{format_name}: {options.documents / seconds:,.0f} documents/s, {memory:,.0f} MB")
        with Collection(large) as collection:
            begun = time.perf_counter()
            read = sum(len(document.body) for document, _ in zip(collection, range(RAW), strict=False))
            rate = min(RAW, options.documents) / (time.perf_counter() - begun)
            print(f"iteration with bodies: {rate:,.0f} documents/s ({read / 1e6:,.0f} MB)")
        few, many = get_microseconds(small), get_microseconds(large)
        print(f"get: {few:.0f} µs of {options.small:,}, {many:.0f} µs of {options.documents:,} ({many / few:.2f})")
        print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:,.0f} MB")


if __name__ == "__main__":
    main()
