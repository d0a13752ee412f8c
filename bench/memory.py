"""Bytes of memory for a known URL, a queued URL, a host and a document: `python bench/memory.py [SIZE…]`.

For each size (default: 100000 300000 1000000) and each of the four, a state is made through the crawl's own session,
in a process of its own: so many of one thing, and hardly any of the others. Then it is opened in another process, and
what that process takes in memory is compared with one that has opened an empty state. The last columns are what is held
for each thing after the state was opened, and while its maker was still running.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
from measure import PYCRAWL

from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.session import Session
from pycrawl.fingerprint.page_prints import RECORD
from pycrawl.model import StoredBody
from pycrawl.processes.allocation import give_freed_memory_back

AT_ONCE = 10_000  # things that are entered before a commit
PASSAGES = 40  # of a page of 6 KB
KINDS = ("known URL", "queued URL", "host", "document")
SETTINGS = '[scope]\nallow_hosts = ["queued.example", "many.example", "*.many.example"]\n'


def make(directory: Path, kind: str, count: int) -> int:
    """Enters `count` things of a kind. Returns the bytes that the process takes then."""
    source = np.random.default_rng(1)
    crawl = CrawlDirectory(directory)
    with crawl.hold(), Session(crawl, crawl.config()) as session:
        for begin in range(0, count, AT_ONCE):
            numbers = range(begin, min(begin + AT_ONCE, count))
            if kind == "document":
                for number in numbers:
                    store(session, number, source)
            else:
                session.discovered.add_seeds(*urls_of(session, kind, numbers))
            session.commit(time.time())
        session.commit_last(time.time())
        return used()


def urls_of(session: Session, kind: str, numbers: range) -> tuple[list[str], list[int]]:
    from pycrawl.urls.parts import url_hash

    names = {
        "known URL": "http://aside.example/page/{}",
        "queued URL": "http://queued.example/page/{}",
        "host": "http://h{}.many.example/",
    }
    urls = [names[kind].format(number) for number in numbers]
    return urls, [url_hash(url, session.seed) for url in urls]


def store(session: Session, number: int, source: np.random.Generator) -> None:
    prints = source.bytes(RECORD.size)
    passages = (source.integers(0, 1 << 60, PASSAGES, dtype=np.uint64) * np.uint64(16)).tobytes()
    body = StoredBody(
        record=b"<DOC>", body_length=1, digest=source.bytes(16), content_type="text/html", charset="",
        declared_charset="", escapes=b"", truncated=False, prints=prints, passages=passages,
    )  # fmt: skip
    session.store(1, f"http://d.example/{number}", 0.0, body)


def opened(directory: Path) -> int:
    """The bytes that a process takes which has opened the state."""
    crawl = CrawlDirectory(directory)
    with crawl.hold(), Session(crawl, crawl.config()) as session:
        session.content_seen.look([bytes(16)])
        return used()


def used() -> int:
    give_freed_memory_back()
    return int(psutil.Process().memory_full_info().uss)


def in_a_process(function: object, *arguments: object) -> int:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return int(pool.apply(function, arguments))  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    print(f"{'kind':<14}{'count':>12}{'opened B each':>15}{'making B each':>15}{'state.db B each':>17}", flush=True)
    for kind in options.kinds.split(","):
        for size in options.sizes:
            work = Path(tempfile.mkdtemp(prefix="pycrawl-bench-"))
            try:
                for name in ("empty", "filled"):
                    subprocess.run([*PYCRAWL, "init", str(work / name)], check=True, capture_output=True)
                    (work / name / "pycrawl.toml").write_text(SETTINGS, "utf-8")
                empty = in_a_process(opened, work / "empty")
                made = in_a_process(make, work / "filled", kind, size)
                again = in_a_process(opened, work / "filled")
                kept = (work / "filled" / "state.db").stat().st_size
                print(
                    f"{kind:<14}{size:>12,}{(again - empty) / size:>15.1f}{(made - empty) / size:>15.1f}"
                    f"{kept / size:>17.1f}",
                    flush=True,
                )
            finally:
                shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
