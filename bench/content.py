"""How well, and at what cost, pages are freed from what frames them: `python bench/content.py [FOLDER]` prints a table.

FOLDER (by default ../shared/data/content beside this repository) has `ground-truth.json`, from a page's name to its
{"articleBody": text}, and `html/NAME.html.gz`. Scored are word 4-grams as multisets: precision, recall and F1 of each
page, averaged over the pages; "F1 of means" is that of the two averages, which published results give. Milliseconds are
CPU time for a page, in the best round; methods that work on the tree take it parsed, as the crawl has it anyway.
Libraries are compared where they are installed (`pip install trafilatura`).
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

from pycrawl.parse.content import main_content, page_text
from pycrawl.parse.slope import flattest
from pycrawl.parse.text import outline, word_count

DEFAULT_FOLDER = Path(__file__).parents[2] / "shared" / "data" / "content"
GRAM = 4  # words
ROUNDS = 3
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


def slope_without_windows(tree: Any) -> str:
    blocks = outline(tree).blocks
    first, behind = flattest([block[2] for block in blocks], [word_count(block[0]) for block in blocks])
    return "\n".join(block[0] for block in blocks[first:behind])


def of_resiliparse(tree: Any) -> str:
    return str(extract_plain_text(tree, main_content=True, links=False, list_bullets=False, comments=False))


def methods() -> dict[str, tuple[bool, Callable[[Any], str]]]:
    """By name: whether it takes the parsed tree, and what makes text of tree or markup."""
    found: dict[str, tuple[bool, Callable[[Any], str]]] = {
        "all text": (True, lambda tree: page_text(tree, "off")),
        "slope curve": (True, slope_without_windows),
        "slope curve, low windows": (True, lambda tree: main_content(tree, "slope")),
        "dom": (True, lambda tree: main_content(tree, "dom")),
        "resiliparse": (True, of_resiliparse),
    }
    if importlib.util.find_spec("trafilatura"):
        import trafilatura  # type: ignore[import-not-found,unused-ignore]  # not a dependency

        found["trafilatura"] = (False, lambda markup: trafilatura.extract(markup) or "")
        found["trafilatura, fast"] = (False, lambda markup: trafilatura.extract(markup, fast=True) or "")
    return found


def cpu_seconds(extract: Callable[[Any], str], pages: list[Any]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for page in pages:
            extract(page)
        times.append(time.process_time() - started)
    return min(times)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_FOLDER
    if not folder.exists():
        sys.exit(f"{folder} is not there: name the folder with the pages")
    truth: dict[str, str] = {
        name: page["articleBody"] for name, page in json.loads((folder / "ground-truth.json").read_text()).items()
    }
    markup = [gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes()) for name in truth]
    texts = [page.decode("utf-8", "replace") for page in markup]
    trees = [HTMLTree.parse(text) for text in texts]
    size = sum(map(len, markup)) / len(markup)
    parsing = cpu_seconds(HTMLTree.parse, texts) / len(texts) * 1e3
    print(f"{len(truth)} pages of {size / 1000:.0f} KB on average; to parse one takes {parsing:.2f} ms\n")
    print(f"{'method':<26}{'precision':>10}{'recall':>8}{'F1':>8}{'F1 of means':>13}{'ms a page':>11}")
    for name, (takes_tree, extract) in methods().items():
        pages: list[Any] = trees if takes_tree else texts
        scores = [score(extract(page), true) for page, true in zip(pages, truth.values(), strict=True)]
        precision, recall, f1 = (sum(column) / len(scores) for column in zip(*scores, strict=True))
        cost = cpu_seconds(extract, pages) / len(pages) * 1e3
        print(f"{name:<26}{precision:>10.3f}{recall:>8.3f}{f1:>8.3f}{harmonic(precision, recall):>13.3f}{cost:>11.2f}")


if __name__ == "__main__":
    main()
