"""What every parser returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from pycrawl.parse.charset import ASCII, Charset


@dataclass(frozen=True, slots=True)
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
    anchors: dict[str, str] = field(default_factory=dict)  # href → the text of the last link to it, where asked for
    feed_hrefs: list[str] = field(default_factory=list)  # of feeds that the page names (<link rel="alternate">)

    @property
    def content(self) -> str:
        """The main content, or all of the text where none was told apart."""
        return self.text if self.content_utf8 is None else self.content_utf8.decode("utf-8", "replace")

    @property
    def content_or_text(self) -> bytes | str:
        """As `content`, without decoding what is in UTF-8 already."""
        return self.text if self.content_utf8 is None else self.content_utf8
