from __future__ import annotations

import gzip
import time
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest

from pycrawl.parse.bounds import HARMLESS_LENGTH, HARMLESS_TAGS, bounded
from pycrawl.parse.html import parse_html

SIZE = 3_000_000  # bytes; the time hardly depends on it, for most is cut off
SECONDS = 15.0  # of CPU; no more than 1.5 are used on an idle machine, and minutes without the bounds
PAGES = Path(__file__).parents[3] / "shared/data/content/html"


def repeated(piece: str) -> str:
    return (piece * (SIZE // len(piece) + 1))[:SIZE]


def numbered(template: str, most: int = SIZE) -> str:
    def pieces() -> Iterable[str]:
        length = 0
        for number in count():
            yield (piece := template % number)
            length += len(piece)
            if length > most:
                return

    return "".join(pieces())


HOSTILE = {
    "nesting": lambda: repeated("<div>"),
    "nesting that looks closed": lambda: repeated("<div></x>"),
    "lists in lists": lambda: repeated("<li><ul>"),
    "definitions in definitions": lambda: repeated("<dd><dl>"),
    "attributes": lambda: "<div " + numbered(" %x") + ">",
    "attributes with >": lambda: "<div " + numbered('a%d=">"') + ">",
    "attributes with <": lambda: "<div " + numbered("<a%d ") + ">",
    "tags of many attributes": lambda: repeated("<div " + numbered("a%d ", 600) + "></div>"),
    "attributes of one body": lambda: numbered("<body a%d>"),
    "formatting opened again": lambda: "<p>" + numbered("<b a%d>", 20_000) + repeated("</p><p>x"),
    "few formatting opened often": lambda: "<p>" + numbered("<b a%d>", 3_000) + repeated("</p><p>x"),
    "end tags in deep nesting": lambda: "<div>" * 5_000 + repeated("</p>"),
    "more end tags in deeper nesting": lambda: "<div>" * 19_000 + repeated("</p>"),
    "formatting closed out of reach": lambda: (
        "<p>" + numbered("<b a%d>", 9_000) + "<table><td>" + "</b>" * 1_200 + "</table>" + repeated("</p><p>x")[:90_000]
    ),
    "small elements": lambda: repeated("<p>x"),
    "links": lambda: repeated("<a href=x>"),
    "open quotes": lambda: repeated('<a x="'),
    "open tags": lambda: repeated("<a/x="),
    "open comments": lambda: repeated("<!--"),
    "open scripts": lambda: repeated("<script>"),
    "angle brackets": lambda: repeated("<"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_is_parsed_in_bounded_time_and_gives_the_links_before_it(name: str) -> None:
    body = ("<a href=/before>x</a>" + HOSTILE[name]()).encode()
    started = time.process_time()
    page = parse_html(body, "text/html; charset=utf-8")
    assert time.process_time() - started < SECONDS
    assert page.hrefs[0] == "/before"


@pytest.mark.parametrize(
    "text",
    [
        "<p>" + "".join(f"<b a{n}>" for n in range(HARMLESS_TAGS // 3)) + "</p><p>x" * (HARMLESS_TAGS // 3),
        "<div " + numbered(" %x", HARMLESS_LENGTH - 10) + ">",
        "<div>" * HARMLESS_TAGS,
    ],
)
def test_what_counts_as_harmless_is(text: str) -> None:
    assert bounded(text) == text
    started = time.process_time()
    parse_html(text.encode(), "text/html; charset=utf-8")
    assert time.process_time() - started < SECONDS


def test_large_ordinary_pages_are_not_cut() -> None:
    entry = '<li class="e"><a href="/%d" title="a > b">x</a> <br><img src=x> <i class=f></i><p>text\n'
    script = "<script>for (i=0;i<a.length;i++) { document.write('<div><div>') }</script>" * 500
    for text in ("<ul>" + numbered(entry, 3_000_000), script + numbered(entry, 300_000), numbered(entry, 90_000)):
        assert bounded(text) == text


def test_real_pages_are_not_cut() -> None:
    if not PAGES.exists():
        pytest.skip(f"{PAGES} is not there")
    for path in PAGES.glob("*.gz"):
        text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        assert bounded(text) == text, path
