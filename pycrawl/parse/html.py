"""HTML into what the crawl needs of it: links as they stand, and what the page says about being followed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from typing import Any

from resiliparse.parse.html import HTMLTree

from pycrawl.parse.bounds import bounded
from pycrawl.parse.charset import ASCII, Charset, read
from pycrawl.parse.content import page_text

_SPACE = " \t\n\f\r"  # of HTML; str.strip() takes more
_LINE_BREAKS = {ord(character): None for character in "\t\n\r"}
_SELECTOR = "a,area,iframe,frame,link,meta,base"
_ANCHORS = ("a", "area")
_FOLLOWED_RELS = frozenset(("next", "canonical", "alternate"))
_REFRESH = re.compile(r"""[\s\d.]*[;,\s]\s*(?:url\s*=\s*)?(["']?)(.+)""", re.IGNORECASE | re.DOTALL)
_MOST_MARKUP = 200_000  # characters that a text is taken from
# Scripts and styles with what is in them, comments, tags. No part goes back, so that hostile markup costs no more.
_MARKUP = re.compile(
    r"<(?:(script|style)\b[^<]*+(?:<(?!/\1)[^<]*+)*+|!--[^-]*+(?:-(?!->)[^-]*+)*+|[/!?a-z][^>]*+>?)", re.IGNORECASE
)

KEPT_MEMORY = 16 << 20  # bytes; glibc takes no more than 32 MiB into account


def _keep_freed_memory() -> None:
    """Lets glibc keep what one page's tree used for the next one's, instead of giving it back to the system.

    The pages of memory would be faulted in again for each tree: 50 faults and half the time of parsing. Freeing one
    large block raises the limit (mallopt(3), M_MMAP_THRESHOLD: "dynamic"); elsewhere this does nothing.
    """
    bytes(KEPT_MEMORY)


_keep_freed_memory()


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """What was read off a page; links are unresolved, distinct and in the document's order."""

    hrefs: list[str]
    nofollow_hrefs: list[str]  # of anchors with rel=nofollow
    base_href: str
    robots: frozenset[str]  # the words of <meta name=robots>: "noindex", "nofollow" …
    text: str = ""  # all of it, scripts and styles apart; only where it was asked for
    charset: Charset = ASCII
    content: str = ""  # the main content, or all of the text if the method is "off"; likewise


class _Reader:
    """Fills in a `ParsedPage`, element by element."""

    def __init__(self, agent: str) -> None:
        self._addressed = ("robots", agent.lower())
        self.hrefs: dict[str, None] = {}  # as they stand, white space and all
        self.nofollow_hrefs: dict[str, None] = {}
        self.base_href = ""
        self.robots: set[str] = set()

    def read(self, tree: HTMLTree) -> None:
        hrefs = self.hrefs
        for node in tree.document.query_selector_all(_SELECTOR):
            tag = node.tag
            if tag not in _ANCHORS:
                _READ[tag](self, node)
            elif href := node.getattr("href"):
                rel = node.getattr("rel")
                if rel is None or "nofollow" not in rel.lower().split():
                    hrefs[href] = None
                else:
                    self.nofollow_hrefs[href] = None

    def frame(self, node: Any) -> None:
        if src := node.getattr("src"):
            self.hrefs[src] = None

    def link(self, node: Any) -> None:
        rels = (node.getattr("rel") or "").lower().split()
        # "alternate stylesheet" is a stylesheet.
        if not _FOLLOWED_RELS.isdisjoint(rels) and "stylesheet" not in rels and (href := node.getattr("href")):
            self.hrefs[href] = None

    def base(self, node: Any) -> None:
        self.base_href = self.base_href or _clean(node.getattr("href") or "")

    def meta(self, node: Any) -> None:
        content = node.getattr("content") or ""
        if (node.getattr("name") or "").strip().lower() in self._addressed:
            self.robots.update(content.lower().replace(",", " ").split())
        if (node.getattr("http-equiv") or "").strip().lower() == "refresh" and (match := _REFRESH.match(content)):
            quote, target = match[1], match[2]
            if href := target.partition(quote)[0] if quote else target:
                self.hrefs[href] = None


_READ: dict[str, Callable[[_Reader, Any], None]] = {
    "iframe": _Reader.frame,
    "frame": _Reader.frame,
    "link": _Reader.link,
    "meta": _Reader.meta,
    "base": _Reader.base,
}


def parse_html(
    body: bytes, content_type: str, agent: str = "robots", with_text: bool = False, main_content: str = ""
) -> ParsedPage:
    """Any bytes give a page; in hostile markup, the part that is affordable (`bounds.py`).

    `agent` is the robot's name: what a page says to it counts like what it says to all robots. `main_content` names
    the method by which that is found (`content.py`), if it is wanted.
    """
    text, charset = read(body, content_type)
    markup = bounded(text)
    tree = HTMLTree.parse(markup)
    reader = _Reader(agent)
    reader.read(tree)
    text = plain_text(markup) if with_text or main_content == "off" else ""
    return ParsedPage(
        hrefs=_clean_all(reader.hrefs),
        nofollow_hrefs=_clean_all(reader.nofollow_hrefs),
        base_href=reader.base_href,
        robots=frozenset(reader.robots),
        text=text if with_text else "",
        charset=charset,
        content=text if main_content == "off" else page_text(tree, main_content, markup) if main_content else "",
    )


def plain_text(markup: str) -> str:
    """What stands between the tags, for fingerprints: ten times as fast as to ask the tree for it in reading order."""
    text = _MARKUP.sub(" ", markup[:_MOST_MARKUP])
    return unescape(text) if "&" in text else text


def _clean_all(hrefs: dict[str, None]) -> list[str]:
    """What is left of them, distinct; most pages have none with white space in it, which one look at all tells."""
    joined = "".join(hrefs)
    if not any(map(joined.__contains__, _SPACE)):
        return [*hrefs]
    return [href for href in dict.fromkeys(map(_clean, hrefs)) if href]


def _clean(href: str) -> str:
    """An attribute's URL as the URL standard reads it: no white space around it, no line breaks or tabs inside."""
    return href.strip(_SPACE).translate(_LINE_BREAKS)
