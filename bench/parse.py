"""What parsing a page and packing its links cost: `python bench/parse.py` prints microseconds per page."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator

from pycrawl.config import Config
from pycrawl.parse.html import parse_html
from pycrawl.parse.links import LinkPacker
from pycrawl.urls.normal_form import UrlRules
from pycrawl.urls.scope import Scope

PAGE_BYTES = 27_000
LINKS = 45
PAGES = 1_000
ROUNDS = 5  # the best one counts: others may use this machine
HOST = "http://www.example.com"
CONTENT_TYPE = "text/html; charset=utf-8"


def hrefs(page: int) -> Iterator[str]:
    """Half the links are those of every page; the others are new, some of them with a query or on another host."""
    for link in range(LINKS):
        if link % 2:
            yield f"/section/{link}/index.html"
        elif link % 10 == 0:
            yield f"/item?id={page * LINKS + link}&utm_source=front"
        elif link % 10 == 2:
            yield f"http://host{page % 50}.example.org/story/{page}/{link}.html"
        elif link % 10 == 4:
            yield f"{page}-{link}.html"
        else:
            yield f"/archive/{page}/{link}/an-ordinary-title-of-a-page"


def make_page(page: int, source: random.Random) -> bytes:
    words = ["".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randint(2, 9))) for _ in range(500)]
    parts = ['<!DOCTYPE html><html><head><meta charset="utf-8"><title>A page</title></head><body>']
    filling = PAGE_BYTES // LINKS - 130
    for href in hrefs(page):
        text = " ".join(source.choices(words, k=120))[:filling]
        parts.append(f'<div class="entry"><p>{text} <a class="more" href="{href}">more of <b>this</b></a></p></div>\n')
    return "".join(parts).encode()


def best(run: Callable[[], object]) -> float:
    """Seconds of CPU, in the best round."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        run()
        times.append(time.process_time() - started)
    return min(times)


def report(name: str, seconds: float, pages: int) -> None:
    print(f"{name:<28}{seconds / pages * 1e6:8.1f} µs a page")


def exhaust(items: Iterable[object]) -> None:
    for _ in items:
        pass


def main() -> None:
    source = random.Random(1)
    bodies = [make_page(page, source) for page in range(PAGES)]
    pages = [parse_html(body, CONTENT_TYPE) for body in bodies]
    size, links = len(bodies[0]), len(pages[0].hrefs)
    print(f"{PAGES} pages of {size} bytes with {links} links, half of them on every page")
    report("parse", best(lambda: exhaust(parse_html(body, CONTENT_TYPE) for body in bodies)), PAGES)
    report("parse, no charset in header", best(lambda: exhaust(parse_html(body, "") for body in bodies)), PAGES)

    def pack_all() -> None:
        packer = LinkPacker(UrlRules.of(Config()), Scope(Config()), seed=1)
        exhaust(packer.pack(page, f"{HOST}/archive/page{n}.html", 0) for n, page in enumerate(pages))

    report("pack", best(pack_all), PAGES)


if __name__ == "__main__":
    main()
