"""In-links with their texts, as a crawl of Debian's HTML manuals keeps them, against those that lxml finds in files.

For each stored page, the pages that link to it and the texts of these links must be the same; and each link that lxml
finds must be there. Texts are compared without white space, and by their first letters, as long ones are cut.
Differences are listed; the exit code is 1 if there are more than one in ten thousand, as lxml mends broken markup in
its own way. Also prints the bytes that links take on the disk.

With --cost N it says instead what texts, rel and places of links cost a crawl: N crawls with content.anchors and N
without, in turns.

    python bench/anchors.py [--cache FOLDER] [--crawl FOLDER] [--cost N]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from crawl import measure
from lxml import etree, html
from measure import crawl, new_crawl
from static_web import nginx
from webs import DEFAULT_CACHE, real

from pycrawl import Collection
from pycrawl.config import Config
from pycrawl.parse.text import UNSEEN_TAGS
from pycrawl.state import links as link_store
from pycrawl.state import stores
from pycrawl.urls.link_flags import rel_flags
from pycrawl.urls.normal_form import UrlRules, normalise

COMPARED_LETTERS = 60  # of a text, white space apart
SHOWN = 20
ALLOWED_SHARE = 0.0001
RULES = UrlRules.of(Config())
UNSEEN = frozenset(UNSEEN_TAGS)

Link = tuple[str, str]  # URL of the page, compared letters of the text


def compared(text: str) -> str:
    return "".join(text.replace("\xad", "").split())[:COMPARED_LETTERS]


def links_of(body: etree._Element) -> Iterator[tuple[str, str]]:
    """Yields (href, text) of the links that are shown. Two in a row with the same attributes and nothing between them
    are one."""
    last: tuple[str, int] | None = None  # the link that is open, or nothing but white space stands behind it
    is_open = False
    texts: list[str] = []

    def see(text: str | None) -> Iterator[tuple[str, str]]:
        nonlocal last
        if is_open or not (text or "").strip():
            texts.append(text or "")
        elif last is not None:
            yield last[0], "".join(texts)
            last = None

    walk = etree.iterwalk(body, events=("start", "end"))
    for event, element in walk:
        if not isinstance(element.tag, str) or element.tag in UNSEEN:
            if event == "start":
                walk.skip_subtree()
            else:
                yield from see(element.tail)
            continue
        if event == "start":
            if element.tag == "a":
                href, rel = element.get("href", "").strip(), rel_flags(element.get("rel", ""))
                if href and last != (href, rel):
                    if last is not None:
                        yield last[0], "".join(texts)
                    last, texts = (href, rel), []
                is_open = bool(href)
            yield from see(element.text)
        else:
            if element.tag == "a":
                is_open = False
            if element is not body:
                yield from see(element.tail)
    if last is not None:
        yield last[0], "".join(texts)


def by_lxml(root: Path, pages: list[str]) -> dict[str, set[Link]]:
    """Returns target → its in-links."""
    found: dict[str, set[Link]] = defaultdict(set)
    for url in pages:
        parts = urlsplit(url)
        file = root / (parts.hostname or "") / unquote(parts.path).lstrip("/")
        file = file / "index.html" if file.is_dir() else file
        tree = html.document_fromstring(file.read_bytes())
        base = tree.find(".//base[@href]")
        against = (normalise(base.get("href"), RULES, url) if base is not None else None) or url
        body = tree.find("body")
        for href, text in links_of(body) if body is not None else ():
            target = normalise(href, RULES, against)
            if target is not None and target != url:
                found[target].add((url, compared(text)))
    return found


def show_sizes(collection: Collection) -> None:
    database = collection.database
    links = sum(len(portion.pages) for portion in link_store.portions(database))
    for store in (stores.LINKS, stores.INLINKS, stores.ANCHOR_HASHES, stores.ANCHOR_TEXTS):
        (size,) = database.query(
            "SELECT sum(length(data)) FROM sorted_blocks JOIN sorted_segments ON sorted_segments.id ="
            " sorted_blocks.id >> 12 JOIN sorted_runs ON run_id = sorted_runs.id WHERE store = ?",
            (store.number,),
        ).fetchone()
        print(f"{store.name}: {(size or 0) / max(1, links):.2f} bytes a link")
    print(f"{links:,} links")


def show_cost(cache: Path, turns: int) -> None:
    ratios = []
    with real(cache) as web:
        for _ in range(turns):
            wanted, unwanted = (measure(web, 2, {"content.anchors": value}).cpu_ms for value in ("true", "false"))
            ratios.append(wanted / unwanted)
            print(f"{wanted:.3f} ms of CPU a page with content.anchors, {unwanted:.3f} without", flush=True)
    print(f"median of the ratios: {statistics.median(ratios):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument(
        "--crawl", type=Path, metavar="FOLDER", help="leave the crawl here, or read the one that is there"
    )
    parser.add_argument(
        "--cost", type=int, metavar="N", help="crawl N times with the texts of links, and N times without"
    )
    options = parser.parse_args()
    if options.cost:
        show_cost(options.cache, options.cost)
        return
    with tempfile.TemporaryDirectory() as folder:
        directory = options.crawl or Path(folder, "crawl")
        if not directory.exists():
            with (
                real(options.cache) as web,
                nginx(web.addresses, web.root, Path(folder, "nginx"), web.port),
            ):
                new_crawl(directory, web.starts, {})
                crawl(directory)
        with Collection(directory) as collection:
            sys.exit(compare(collection, options.cache / "manuals" / "web"))


def compare(collection: Collection, root: Path) -> bool:
    pages = [page.url for page in collection.documents(newest=True) if "html" in page.content_type]
    theirs = by_lxml(root, pages)
    links = different = 0
    for target in pages:
        ours = {(one.url, compared(one.anchor)) for one in collection.links.into(target) if one.via == "link"}
        named = {link for link in ours if link[1]}
        expected = theirs.get(target, set())
        links += len(expected)
        sources = {source for source, _ in ours}
        lost = [link for link in expected if link not in named and (link[1] or link[0] not in sources)]
        for link in [*lost, *(named - expected)]:
            different += 1
            if different <= SHOWN:
                print(f"{target}: {link} only by {'lxml' if link in lost else 'pycrawl'}")
    print(f"{len(pages):,} pages, {links:,} distinct in-links by lxml, {different:,} different")
    show_sizes(collection)
    return different > links * ALLOWED_SHARE


if __name__ == "__main__":
    main()
