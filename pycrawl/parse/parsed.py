"""What every parser returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from pycrawl.parse.charset import ASCII, Charset
from pycrawl.urls.link_flags import LONGEST_ANCHOR, MOST_ANCHORS, OF_PAGES


class Anchors(NamedTuple):
    """The links that have a place in a page's text, in its order, repetitions included, as columns."""

    hrefs: list[str]
    texts: bytes = b""  # one for each, UTF-8, joined by line breaks; empty where there is none, as for a picture
    flags: bytes = b""  # one byte for each: bits of `urls/link_flags.py`

    def items(self) -> list[tuple[str, str, int]]:
        """Returns (href, text, flags) of each."""
        texts = self.texts.decode("utf-8", "replace").split("\n")
        return list(zip(self.hrefs, texts, self.flags, strict=True)) if self.hrefs else []

    @property
    def are_well_formed(self) -> bool:
        """True if the columns are of one length, and within the bounds."""
        if not self.hrefs:
            return not self.texts and not self.flags
        texts = self.texts.split(b"\n")
        return (
            len(self.hrefs) == len(self.flags) == len(texts) <= MOST_ANCHORS
            and max(map(len, texts)) <= LONGEST_ANCHOR
            and max(self.flags) <= OF_PAGES
        )


@dataclass(slots=True)  # not frozen, which takes a fetcher a microsecond for each page; it never leaves the process
class Parsed:
    """What was read off a body. Links are as they stand there: distinct, unresolved, in the document's order."""

    hrefs: list[str] = field(default_factory=list)
    nofollow_hrefs: list[str] = field(default_factory=list)  # of links that ask not to be followed
    base_href: str = ""  # what links are resolved against, if that is not the document's own URL
    robots: frozenset[str] = frozenset()  # what the document asks of robots: "noindex", "nofollow" …
    text: str = ""  # the title and all that is shown; only where it was asked for
    charset: Charset = ASCII
    content_utf8: bytes | None = None  # the main content, likewise; None: all of the text counts
    title: str = ""
    language: str = ""  # as declared: "en", "pt-BR"
    anchors: Anchors | None = None  # the links with their texts and places; None: they were not asked for
    fault: str = ""  # why the document could not be read, or not to its end, in the user's words
    feed_hrefs: list[str] = field(default_factory=list)  # of feeds that the page names (<link rel="alternate">)

    @property
    def content(self) -> str:
        """The main content, or all of the text where none was told apart."""
        return self.text if self.content_utf8 is None else self.content_utf8.decode("utf-8", "replace")

    @property
    def content_or_text(self) -> bytes | str:
        """As `content`, without decoding what is in UTF-8 already."""
        return self.text if self.content_utf8 is None else self.content_utf8
