"""A page by way of its tree: what `html.py` wants to know of it, where the compiled module cannot say."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

from resiliparse.parse.html import HTMLTree

from pycrawl.parse.bounds import bounded
from pycrawl.parse.content import page_text
from pycrawl.parse.html import clean_url

_SELECTOR = "html,a,area,iframe,frame,link,meta,base"
_ATTRIBUTES = ("href", "rel", "src", "name", "content", "http-equiv", "lang")
_MOST_MARKUP = 200_000  # characters that a text is taken from
# Scripts and styles with what is in them, comments, tags. No part goes back, so that hostile markup costs no more.
_MARKUP = re.compile(
    r"<(?:(script|style)\b[^<]*+(?:<(?!/\1)[^<]*+)*+|!--[^-]*+(?:-(?!->)[^-]*+)*+|[/!?a-z][^>]*+>?)", re.IGNORECASE
)


def read_tree(
    markup: str,
    element: Callable[[str, dict[str, str]], None],
    with_text: bool,
    main_content: str,
    anchors: dict[str, str] | None,
) -> tuple[str, str, str]:
    """Title, text and main content; `element` is told of links and of what else may matter to a crawler."""
    markup = bounded(markup)
    tree = HTMLTree.parse(markup)
    for node in tree.document.query_selector_all(_SELECTOR):
        tag = node.tag
        attributes = {name: value for name in _ATTRIBUTES if (value := node.getattr(name))}
        if attributes:
            element(tag, attributes)
        if anchors is not None and tag == "a" and "href" in attributes and (words := node.text.split()):
            anchors[clean_url(attributes["href"])] = " ".join(words)
    text = plain_text(markup) if with_text or main_content == "off" else ""
    content = text if main_content == "off" else page_text(tree, main_content) if main_content else ""
    return _title(tree), text, content


def _title(tree: Any) -> str:
    return " ".join((tree.title or "").split())


def plain_text(markup: str) -> str:
    """What stands between the tags, for fingerprints: ten times as fast as to ask the tree for it in reading order."""
    text = _MARKUP.sub(" ", markup[:_MOST_MARKUP])
    return unescape(text) if "&" in text else text
