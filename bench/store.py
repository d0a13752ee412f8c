"""What a page costs in the store: microseconds a record, on a page of 27 KB.

    python bench/store.py [PAGE.html]

Without a file the page is made up, with the tags and words of an ordinary one.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pycrawl.record import trec_web
from pycrawl.store import CompoundWriter, RecordReader

PAGE_BYTES = 27_000
PAGES = 2_000
ROUNDS = 5
HEADERS = [
    (b"Date", b"Wed, 01 Jan 1997 01:31:45 GMT"),
    (b"Server", b"nginx"),
    (b"Content-Type", b"text/html; charset=utf-8"),
    (b"Content-Encoding", b"gzip"),
    (b"Cache-Control", b"max-age=600"),
    (b"Vary", b"Accept-Encoding"),
    (b"ETag", b'"3f80f-1b6-3e1cb03b"'),
    (b"Last-Modified", b"Tue, 31 Dec 1996 23:00:00 GMT"),
]


def made_up_page() -> bytes:
    dice = random.Random(1)
    words = ["".join(dice.choices("etaoinshrdlcum", k=dice.randint(2, 9))) for _ in range(2_000)]
    parts = ["<!DOCTYPE html>\n<html><head><title>A page</title></head><body>\n"]
    while sum(map(len, parts)) < PAGE_BYTES:
        text = " ".join(dice.choices(words, k=40))
        parts.append(
            f'<div class="item"><a href="/docs/{dice.choice(words)}.html">{text[:9]}</a> <p>{text}</p></div>\n'
        )
    return "".join(parts).encode()[:PAGE_BYTES]


def encode(page: bytes) -> bytes:
    record, _ = trec_web.encode(
        "http://www.example.com/a/page.html",
        "204.244.59.33",
        852_082_305.0,
        "text/html",
        b"HTTP/1.1 200 OK",
        HEADERS,
        page,
        "wt10g",
    )
    return record


def report(what: str, work: Callable[[], object], records: int = 1) -> None:
    """The best of some rounds, for the machine may be busy with other things."""
    repeats = max(1, 500 // records)
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for _ in range(repeats):
            work()
        best = min(best, time.perf_counter() - started)
    print(f"{what:<44}{best / repeats / records * 1e6:9.1f} µs")


def main() -> None:
    page = Path(sys.argv[1]).read_bytes() if len(sys.argv) > 1 else made_up_page()
    plain = encode(page)
    packed = trec_web.pack(plain)
    head = trec_web.head("WTX001-B01-17")
    whole = head + plain
    members = trec_web.pack_stored(head) + packed
    print(f"{len(page):,} bytes a page, {len(members):,} stored ({len(page) / len(members):.1f} : 1)")
    report("copy (for comparison)", lambda: b"".join((head, page)))
    report("encode", lambda: encode(page))
    report("pack", lambda: trec_web.pack(plain))
    report("head and pack_stored", lambda: trec_web.pack_stored(trec_web.head("WTX001-B01-17")))
    report("unpack", lambda: trec_web.unpack(members))
    report("decode", lambda: trec_web.decode(whole, b"", len(page)))
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        files(root, packed)


def files(root: Path, packed: bytes) -> None:
    writer = CompoundWriter(root, 100_000_000, True, None)
    report("append (writes included, no fsync)", lambda: [writer.append(packed) for _ in range(PAGES)], PAGES)
    report("append a thousand and sync", lambda: ([writer.append(packed) for _ in range(1_000)], writer.sync()), 1_000)
    place = writer.append(packed)
    file = writer.sync()[-1]
    writer.close()
    with RecordReader(root) as reader:
        report("read by place", lambda: reader.read(file.name, place.offset, place.length))
        report("scan", lambda: sum(1 for _ in reader.records(file.name, file.length)), file.records)


if __name__ == "__main__":
    main()
