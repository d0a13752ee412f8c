"""Records for the store's tests, numbered so that each is told from the others."""

from __future__ import annotations

import random

from pycrawl.record import trec_web


def body(number: int, size: int = 200) -> bytes:
    """Text that packs, but not to nothing."""
    words = random.Random(number).choices((b"crawl", b"polite", b"frontier", b"</DOC>", b"host", b"\n"), k=size // 6)
    return b"%d " % number + b" ".join(words)


def plain(number: int, size: int = 200) -> bytes:
    """The record of a page without its head."""
    headers = [(b"Content-Type", b"text/html")]
    return trec_web.encode(
        f"http://h/{number}", "127.0.0.1", 0.0, "text/html", b"HTTP/1.1 200 OK", headers, body(number, size), "wt10g"
    )[0]


def record(number: int, compress: bool = True, size: int = 200) -> bytes:
    """The record as a writer takes it."""
    return trec_web.pack(plain(number, size)) if compress else plain(number, size)
