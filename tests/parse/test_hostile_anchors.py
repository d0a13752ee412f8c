"""Texts of links on hostile pages: bounded in number and length, whichever reader reads them."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from pycrawl.native import compiled
from pycrawl.parse.html import parse_html
from pycrawl.parse.parsed import Anchors
from pycrawl.urls.link_flags import LONGEST_ANCHOR, MOST_ANCHORS

MOST_SECONDS = 10.0  # on a busy machine; it takes a tenth of that


def anchors(body: bytes, by_tree: bool = False) -> Anchors:
    began = time.thread_time()
    found = parse_html(
        body, "text/html; charset=utf-8", with_anchors=True, main_content="auto", by_tree=by_tree
    ).anchors
    assert time.thread_time() - began < MOST_SECONDS
    assert found is not None
    assert found.are_well_formed
    return found


PAGES = {
    "a million links": b"".join(b"<a href=/%d>%d</a> " % (one, one) for one in range(1_000_000)),
    "a text of megabytes": b"<a href=/x>" + "\u00fcber ".encode() * 500_000 + b"</a>",
    "a text that never ends": b"<a href=/x>" + b"word <b>" * 300_000,
    "links in links": b"<a href=/x>a" * 300_000,
    "line breaks and control characters": b"<a href=/x>a\r\n\x0b\x0c\x00\x1b[31m&#10;&#13;&#x85;&#x2028;b</a>" * 50,
    "half characters": b"<a href=/x>" + b"\xc3" * 1_000 + b"</a><a href=/y>\xed\xa0\x80&#xd800;</a>",
}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("by_tree", [False, True])
def test_hostile_pages(name: str, by_tree: bool) -> None:
    if not by_tree and compiled is None:
        pytest.skip("the compiled module was not built")
    found = anchors(PAGES[name], by_tree)
    assert 0 < len(found.hrefs) <= MOST_ANCHORS
    assert max(len(text) for text in found.texts.split(b"\n")) <= LONGEST_ANCHOR
    found.texts.decode()  # no half character


@pytest.mark.skipif(compiled is None, reason="the compiled module was not built")
def test_what_is_held_of_a_million_links_is_bounded() -> None:
    tracemalloc.start()
    found = anchors(PAGES["a million links"])
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.hrefs) == MOST_ANCHORS
    assert len(found.texts) < MOST_ANCHORS * 8
    del found
    assert held < 400_000_000
