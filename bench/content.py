"""How well, and at what cost, pages are freed from what frames them: `python bench/content.py [FOLDER]` prints a table.

FOLDER (by default ../shared/data/content beside this repository) has `ground-truth.json`, from a page's name to its
{"articleBody": text}, and `html/NAME.html.gz`. Scored are word 4-grams as multisets: precision, recall and F1 of each
page, averaged over the pages; "F1 of means" is that of the two averages, which published results give. Milliseconds are
CPU time for a page, in the best round, of these pages, and of the plain ones of `static_web.py`, which are mostly text;
methods that work on the tree take it parsed; "auto" is all that the crawl does with a page, from its bytes to links and
content. Libraries are compared where they are installed (`pip install trafilatura`).

Where `content-segments` lies beside FOLDER, its pages are scored too: each has segments of text that its content has
(`with`) and has not (`without`). Our rules were tuned on the first half of them, the second half was held out.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import detect_encoding
from resiliparse.parse.html import HTMLTree
from static_web import StaticWeb, build

from pycrawl.parse.content import main_content
from pycrawl.parse.html import parse_html
from pycrawl.parse.slope import flattest
from pycrawl.parse.text import outline, word_count

DEFAULT_FOLDER = Path(__file__).parents[2] / "shared" / "data" / "content"
GRAM = 4  # words
ROUNDS = 5
PLAIN_PAGES = 50
_WORD = re.compile(r"\w+")

Scores = tuple[float, float, float]  # precision, recall, F1


def grams(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    if len(words) < GRAM:
        return Counter([tuple(words)] if words else [])
    return Counter(zip(*(words[start:] for start in range(GRAM)), strict=False))


def score(found: str, true: str) -> Scores:
    found_grams, true_grams = grams(found), grams(true)
    both = (found_grams & true_grams).total()
    precision = both / found_grams.total() if found_grams else 0.0
    recall = both / true_grams.total() if true_grams else 0.0
    return precision, recall, harmonic(precision, recall)


def harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@dataclass(frozen=True, slots=True)
class Page:
    markup: str
    tree: Any


def slope_without_windows(page: Page) -> str:
    blocks = outline(page.tree).blocks
    first, behind = flattest([block[2] for block in blocks], [word_count(block[0]) for block in blocks])
    return "\n".join(block[0] for block in blocks[first:behind])


def of_resiliparse(page: Page) -> str:
    return str(extract_plain_text(page.tree, main_content=True, links=False, list_bullets=False, comments=False))


def methods() -> dict[str, Callable[[Page], str]]:
    found: dict[str, Callable[[Page], str]] = {
        "all text": lambda page: outline(page.tree).text(),
        "slope curve": slope_without_windows,
        "slope curve, low windows": lambda page: main_content(outline(page.tree), "slope"),
        "dom": lambda page: main_content(outline(page.tree), "dom"),
        "auto": lambda page: parse_html(page.markup.encode(), "text/html; charset=utf-8", main_content="auto").content,
        "resiliparse": of_resiliparse,
    }
    if importlib.util.find_spec("trafilatura"):
        import trafilatura  # type: ignore[import-not-found,unused-ignore]  # not a dependency

        found["trafilatura"] = lambda page: trafilatura.extract(page.markup) or ""
        found["trafilatura, fast"] = lambda page: trafilatura.extract(page.markup, fast=True) or ""
    return found


def score_segments(folder: Path) -> None:
    """Prints precision, recall and F1 of the segments, of the half that was tuned on, of the other one, and of all."""
    pages = []
    for name, entry in json.loads((folder / "segments.json").read_text()).items():
        raw = gzip.decompress((folder / "html" / entry["file"]).read_bytes())
        markup = raw.decode(detect_encoding(raw), "replace")
        is_held_out = hashlib.md5(name.encode(), usedforsecurity=False).digest()[0] % 2
        pages.append((parsed(markup), entry["with"], entry["without"], is_held_out))
    print(f"\n{len(pages)} pages with segments\n")
    print(f"{'method':<26}{'tuned on':>24}{'held out':>24}{'all':>24}")
    for name, extract in methods().items():
        texts = [_folded(extract(page)) for page, _, _, _ in pages]
        rows = []
        for halves in ((0,), (1,), (0, 1)):
            chosen = [(text, page) for text, page in zip(texts, pages, strict=True) if page[3] in halves]
            found = sum(_folded(segment) in text for text, page in chosen for segment in page[1])
            false = sum(_folded(segment) in text for text, page in chosen for segment in page[2])
            precision, recall = found / ((found + false) or 1), found / sum(len(page[1]) for _, page in chosen)
            rows.append(f"{precision:>10.3f}{recall:>7.3f}{harmonic(precision, recall):>7.3f}")
        print(f"{name:<26}{''.join(rows)}")


def _folded(text: str) -> str:
    return "".join(text.split())


def plain_pages() -> list[Page]:
    with tempfile.TemporaryDirectory() as folder:
        build(StaticWeb(hosts=1, pages=PLAIN_PAGES), Path(folder), 80)
        return [parsed(path.read_text("ascii")) for path in sorted(Path(folder).rglob("*.html"))]


def parsed(markup: str) -> Page:
    return Page(markup, HTMLTree.parse(markup))


def milliseconds(extract: Callable[[Page], object], pages: list[Page]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for page in pages:
            extract(page)
        times.append(time.process_time() - started)
    return min(times) / len(pages) * 1e3


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_FOLDER
    if not folder.exists():
        sys.exit(f"{folder} is not there: name the folder with the pages")
    truth: dict[str, str] = {
        name: page["articleBody"] for name, page in json.loads((folder / "ground-truth.json").read_text()).items()
    }
    markup = [gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes()) for name in truth]
    pages = [parsed(page.decode("utf-8", "replace")) for page in markup]
    plain = plain_pages()
    size = sum(map(len, markup)) / len(markup)
    parsing = milliseconds(lambda page: HTMLTree.parse(page.markup), pages)
    print(f"{len(truth)} pages of {size / 1000:.0f} KB on average; to parse one takes {parsing:.2f} ms\n")
    print(f"{'method':<26}{'precision':>10}{'recall':>8}{'F1':>8}{'F1 of means':>13}{'ms a page':>11}{'plain one':>11}")
    for name, extract in methods().items():
        scores = [score(extract(page), true) for page, true in zip(pages, truth.values(), strict=True)]
        precision, recall, f1 = (sum(column) / len(scores) for column in zip(*scores, strict=True))
        quality = f"{precision:>10.3f}{recall:>8.3f}{f1:>8.3f}{harmonic(precision, recall):>13.3f}"
        print(f"{name:<26}{quality}{milliseconds(extract, pages):>11.2f}{milliseconds(extract, plain):>11.3f}")
    segments = folder.parent / "content-segments"
    if segments.exists():
        score_segments(segments)


if __name__ == "__main__":
    main()
