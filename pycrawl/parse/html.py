"""HTML into what the crawl needs of it: links as they stand, what the page says about being followed, text.

The compiled module reads it in one pass, or, where there is none, or another method is asked for, a tree is made of it
(`tree.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html.entities import html5

from pycrawl.native import compiled
from pycrawl.native.body_scan import scan_body
from pycrawl.parse import frame_names, frames
from pycrawl.parse import text as text_rules
from pycrawl.parse.charset import ASCII, Charset, charset_of, in_utf8
from pycrawl.parse.feed_types import FEED_TYPES, media_type_of
from pycrawl.parse.link_encoding import in_page_encoding
from pycrawl.parse.parsed import Anchors, Parsed
from pycrawl.parse.text import clean_url
from pycrawl.urls.link_flags import LONGEST_ANCHOR, MOST_ANCHORS

_FOLLOWED_RELS = frozenset(("next", "canonical", "alternate"))
_COMPILED_METHODS = {"": 0, "auto": 1, "off": 2}  # of main content, with their number there
_REFRESH = re.compile(r"""[\s\d.]*[;,\s]\s*(?:url\s*=\s*)?(["']?)(.+)""", re.IGNORECASE | re.DOTALL)
if compiled is not None:
    compiled.set_entities(html5)
    compiled.set_content_rules(
        frames.SHARES,
        frames.SHARES_AGAIN,
        (frames.LITTLE, frames.SMALL_PART, frames.FEW_WORDS, frames.FAIR_PART, frames.PROSE_WORDS),
        frames.MANY_LINKS,
        frames.SOME_LINKS,
        frames.SHORT_PROSE,
        frames.LITTER,
        frames.LINK_LIST,
        frames.FLOOR,
        frames.SHORT_WORDS,
        frames.FEWEST_WORDS,
        text_rules.LONG_WORD,
        text_rules.CHARACTERS_OF_WORD,
        (text_rules.INLINE_TAGS, text_rules.VOID_TAGS, text_rules.UNSEEN_TAGS),
        (sorted(frames.HEADINGS), sorted(frames.ITEMS), sorted(frames.PROSE)),
    )
    compiled.set_frame_names(
        frame_names.LONGEST_NAME,
        sorted(frame_names.CONTENT_TAGS),
        sorted(frame_names.TAGS.items()),
        [(word, level, flags) for word, (level, flags) in sorted(frame_names.WORDS.items())],
        frame_names.SURE_STARTS,
        frame_names.STEADY_STARTS,
    )


class _Reader:
    """Fills in a `Parsed`, element by element."""

    def __init__(self, agent: str) -> None:
        self._addressed = ("robots", agent.lower())
        self.hrefs: dict[str, None] = {}
        self.nofollow_hrefs: dict[str, None] = {}
        self.feed_hrefs: dict[str, None] = {}
        self.base_href = ""
        self.robots: set[str] = set()
        self.language = ""

    def element(self, tag: str, attributes: dict[str, str]) -> None:
        _READ[tag](self, attributes)

    def anchor(self, attributes: dict[str, str]) -> None:
        if href := clean_url(attributes.get("href", "")):
            is_nofollow = "nofollow" in attributes.get("rel", "").lower().split()
            (self.nofollow_hrefs if is_nofollow else self.hrefs)[href] = None

    def frame(self, attributes: dict[str, str]) -> None:
        self._follow(attributes.get("src", ""))

    def link(self, attributes: dict[str, str]) -> None:
        rels = attributes.get("rel", "").lower().split()
        # "alternate stylesheet" is a stylesheet.
        if not _FOLLOWED_RELS.isdisjoint(rels) and "stylesheet" not in rels:
            href = attributes.get("href", "")
            if "alternate" in rels and media_type_of(attributes.get("type", "")) in FEED_TYPES:
                if cleaned := clean_url(href):
                    self.feed_hrefs[cleaned] = None
            else:
                self._follow(href)

    def base(self, attributes: dict[str, str]) -> None:
        self.base_href = self.base_href or clean_url(attributes.get("href", ""))

    def html(self, attributes: dict[str, str]) -> None:
        self.language = self.language or attributes.get("lang", "")

    def meta(self, attributes: dict[str, str]) -> None:
        content = attributes.get("content", "")
        if attributes.get("name", "").strip().lower() in self._addressed:
            self.robots.update(content.lower().replace(",", " ").split())
        pragma = attributes.get("http-equiv", "").strip().lower()
        if pragma == "content-language" and "," not in content:
            self.language = self.language or content.strip()
        elif pragma == "refresh" and (match := _REFRESH.match(content)):
            quote, target = match[1], match[2]
            self._follow(target.partition(quote)[0] if quote else target)

    def _follow(self, href: str) -> None:
        if cleaned := clean_url(href):
            self.hrefs[cleaned] = None


_READ: dict[str, Callable[[_Reader, dict[str, str]], None]] = {
    "html": _Reader.html,
    "a": _Reader.anchor,
    "area": _Reader.anchor,
    "iframe": _Reader.frame,
    "frame": _Reader.frame,
    "link": _Reader.link,
    "meta": _Reader.meta,
    "base": _Reader.base,
}


def parse_html(
    body: bytes,
    content_type: str,
    agent: str = "robots",
    with_text: bool = False,
    main_content: str = "",
    with_anchors: bool = False,
    seen: int | None = None,
    by_tree: bool = False,
) -> Parsed:
    """Any bytes give a page; in hostile markup, the part that is affordable.

    `agent` is the robot's name: what a page says to it counts like what it says to all robots. `main_content` names
    the method by which that is found (`content.py`), if it is wanted. `seen` is what `scan_body` found in the body, if
    there was one. `by_tree`: as if there were no compiled reader, for comparison.
    """
    markup, charset = in_utf8(body, content_type, scan_body(body) if seen is None else seen)
    reader = _Reader(agent)
    anchored: list[str] | None = [] if with_anchors else None
    method = _COMPILED_METHODS.get(main_content)
    if compiled is not None and method is not None and not by_tree:
        title, text, content, anchor_texts, anchor_flags = compiled.scan(
            markup,
            reader.hrefs,
            reader.element,
            with_text,
            method,
            anchored,
            MOST_ANCHORS,
            LONGEST_ANCHOR,
        )
    else:
        from pycrawl.parse.tree import read_tree

        if isinstance(markup, bytes):
            markup = markup.decode()
        title, text, main_text, anchor_texts, anchor_flags = read_tree(
            markup, reader.element, with_text, main_content, anchored
        )
        content = main_text.encode("utf-8", "replace")
    hrefs, nofollow_hrefs, base_href = [*reader.hrefs], [*reader.nofollow_hrefs], reader.base_href
    feed_hrefs = [*reader.feed_hrefs]
    if charset.used != "utf-8":
        links = [*hrefs, *nofollow_hrefs, *feed_hrefs, base_href]
        if not "".join(links).isascii():
            changed = in_page_encoding(links, _encoding_of_links(body, content_type, charset))
            if changed:
                hrefs, nofollow_hrefs = _changed(hrefs, changed), _changed(nofollow_hrefs, changed)
                feed_hrefs = _changed(feed_hrefs, changed)
                base_href = changed.get(base_href, base_href)
                anchored = [changed.get(href, href) for href in anchored] if anchored else anchored
    return Parsed(
        hrefs=hrefs,
        nofollow_hrefs=nofollow_hrefs,
        feed_hrefs=feed_hrefs,
        base_href=base_href,
        robots=frozenset(reader.robots),
        text=f"{title}\n{text}" if with_text else "",
        charset=charset,
        content_utf8=content if main_content else None,
        title=title,
        language=reader.language,
        anchors=None if anchored is None else Anchors(anchored, anchor_texts, anchor_flags),
    )


def _encoding_of_links(body: bytes, content_type: str, charset: Charset) -> str:
    """The encoding that queries of links are in. A page of ASCII alone has one too, for its character references."""
    return charset_of(body, content_type).used if charset is ASCII else charset.used


def _changed(hrefs: list[str], changed: dict[str, str]) -> list[str]:
    return [*dict.fromkeys([changed.get(href, href) for href in hrefs])]
