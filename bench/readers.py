"""Whether the compiled reader and the tree reader read pages alike: `python bench/readers.py FOLDER …`.

Reads every `*.html`, `*.htm`, `*.xhtml` and `*.html.gz` below the folders with both: links, titles, texts and main
content. Says how many pages differ in each; `--show N` prints the first N differences. Ends with 1 if there are any.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections import Counter
from collections.abc import Iterator
from difflib import unified_diff
from multiprocessing import Pool
from pathlib import Path

from pycrawl.native import compiled
from pycrawl.parse.html import parse_html
from pycrawl.parse.parsed import Parsed
from pycrawl.urls.link_flags import FRAME

ENDINGS = (".html", ".htm", ".xhtml", ".html.gz")
SHOWN_LINES = 12  # of each difference
SHOWN_LETTERS = 160  # of each line
CHUNK = 64  # pages that a process takes at once

Difference = tuple[str, list[str]]  # what differs, and how


def pages_in(folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(path for path in folder.rglob("*") if path.name.endswith(ENDINGS) and path.is_file())


def read(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def seen(page: Parsed) -> dict[str, list[str]]:
    """What must be the same, in lines."""
    anchors = page.anchors.items() if page.anchors is not None else []
    return {
        "links": page.hrefs,
        "links not to follow": page.nofollow_hrefs,
        "feeds": page.feed_hrefs,
        "base": [page.base_href],
        "robots": sorted(page.robots),
        "language": [page.language],
        "title": [page.title],
        "text": page.text.split("\n"),
        "content": page.content.split("\n"),
        "texts of links": [f"{href} {text}" for href, text, _ in anchors],
        "rel of links": [f"{href} {flags & ~FRAME}" for href, _, flags in anchors],
        "places of links": [f"{href} {flags & FRAME}" for href, _, flags in anchors],
    }


def compare(body: bytes) -> list[Difference]:
    """All that the two readers see differently in a page, with main content as the rules say, and as all text."""
    found = []
    for method in ("auto", "off"):
        ours, theirs = (
            seen(parse_html(body, "text/html", with_text=True, main_content=method, with_anchors=True, by_tree=by_tree))
            for by_tree in (False, True)
        )
        for what, lines in ours.items():
            if lines != theirs[what]:
                diff = unified_diff(theirs[what], lines, "tree", "compiled", lineterm="", n=1)
                found.append((f"{what} ({method})" if what == "content" else what, list(diff)))
    return list({what: (what, diff) for what, diff in found}.values())


def compare_file(path: Path) -> tuple[Path, list[Difference]]:
    return path, compare(read(path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print the first N differences")
    parser.add_argument("--processes", type=int, default=2, metavar="N")
    options = parser.parse_args()
    if compiled is None:
        sys.exit("the compiled reader was not built here: there is nothing to compare")
    pages = shown = differing = 0
    counts: Counter[str] = Counter()
    with Pool(options.processes) as pool:
        for path, differences in pool.imap(compare_file, pages_in(options.folders), CHUNK):
            pages += 1
            differing += bool(differences)
            for what, diff in differences:
                counts[what] += 1
                if shown < options.show:
                    shown += 1
                    print(f"{path}: {what}", *(line[:SHOWN_LETTERS] for line in diff[:SHOWN_LINES]), sep="\n")
    print(f"{pages:,} pages, {differing:,} of them read differently")
    for what, count in counts.most_common():
        print(f"{count:>8,}  {what}")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
