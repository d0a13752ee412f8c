"""The tree reader: what `html.py` wants to know of a page, by way of a tree, where there is no compiled reader."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from resiliparse.parse.html import HTMLTree

from pycrawl.parse.bounds import bounded
from pycrawl.parse.content import content_blocks
from pycrawl.parse.text import Block, Outline, clean_text, outline
from pycrawl.urls.link_flags import FRAME, MOST_ANCHORS, cut_anchor

_SELECTOR = "html,a,area,iframe,frame,link,meta,base"
_ATTRIBUTES = ("href", "rel", "type", "src", "name", "content", "http-equiv", "lang")
_FOREIGN_ROOT = re.compile("<(?:svg|math)", re.IGNORECASE)
# Elements that hold HTML again, by the root around them; annotation-xml does only if its encoding says so.
_INTEGRATION_POINTS = {
    "svg": frozenset(("foreignobject", "desc", "title")),
    "math": frozenset(("mi", "mo", "mn", "ms", "mtext", "annotation-xml")),
}
_HTML_ENCODINGS = ("text/html", "application/xhtml+xml")


def read_tree(
    markup: str,
    element: Callable[[str, dict[str, str]], None],
    with_text: bool,
    main_content: str,
    anchors: list[str] | None,
) -> tuple[str, str, str, bytes, bytes]:
    """Title, text, main content, and the texts and flags of links as in `Anchors`, whose URLs go into `anchors` if they
    are wanted; `element` is told of links and of what else may matter to a crawler."""
    markup = bounded(markup)
    tree = HTMLTree.parse(markup)
    may_be_foreign = _FOREIGN_ROOT.search(markup) is not None
    for node in tree.document.query_selector_all(_SELECTOR):  # which looks into no template
        tag = node.tag
        is_foreign = may_be_foreign and _is_foreign(node)
        if is_foreign and tag != "a":
            continue
        attributes = {name: value for name in _ATTRIBUTES if (value := node.getattr(name))}
        if attributes:
            element(tag, attributes)
    page = outline(tree) if with_text or main_content or anchors is not None else Outline()
    text = page.text()
    is_told_apart = main_content not in ("", "off")
    kept = content_blocks(page, main_content) if is_told_apart else page.blocks
    content = "\n".join([block[0] for block in kept])
    texts, flags = _anchors(page, kept, anchors) if anchors is not None else (b"", b"")
    return clean_text(tree.title or ""), text if with_text else "", content if main_content else "", texts, flags


def _anchors(page: Outline, kept: list[Block], anchors: list[str]) -> tuple[bytes, bytes]:
    content = set(map(id, kept))
    in_content = [id(block) in content for block in page.blocks]
    texts, flags = [], bytearray()
    for url, flag, text, block in page.links:
        if len(anchors) < MOST_ANCHORS:
            is_content = in_content[block] if block < len(in_content) else len(kept) == len(page.blocks)
            anchors.append(url)
            texts.append(cut_anchor(text))
            flags.append(flag | (0 if is_content else FRAME))
    return b"\n".join(texts), bytes(flags)


def _is_foreign(node: Any) -> bool:
    """True if the element is one of svg or math, which may have the name of one of HTML, and means something else."""
    around = []
    while (node := node.parent) is not None:
        around.append(node)
    root = ""  # "svg" or "math", whose elements these are; empty: HTML's
    for outer in reversed(around):
        tag = outer.tag.lower()
        if not root:
            root = tag if tag in _INTEGRATION_POINTS else ""
        elif tag in _INTEGRATION_POINTS[root]:
            is_html = tag != "annotation-xml" or (outer.getattr("encoding") or "").lower() in _HTML_ENCODINGS
            root = "" if is_html else root
    return bool(root)
