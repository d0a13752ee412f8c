"""HTML inside of other documents (chapters of books, parts of mails): its text, headings, lists, tables and links."""

from __future__ import annotations

from collections.abc import Callable

from pycrawl.convert.blocks import Blocks
from pycrawl.convert.safe_xml import Target, local_name
from pycrawl.convert.simple_page import SimplePage

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_BLOCKS = frozenset(
    "p div dt dd pre blockquote section article aside header footer nav main figure figcaption address ul ol dl body"
    " center form fieldset".split()
)
_UNSEEN = frozenset("head script style template noscript svg math".split())


class HtmlText(Target):
    """Writes the visible text of HTML into a page."""

    def __init__(self, page: SimplePage, address: Callable[[str], str] = str) -> None:
        """`address` gets each href and returns what to write for it; empty: no link."""
        self.blocks = Blocks(page)
        self._address = address
        self._unseen = 0  # depth inside of what is not shown

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = local_name(tag)
        if self._unseen or name in _UNSEEN:
            self._unseen += 1
        elif name in _BLOCKS:
            self.blocks.begin()
        elif name in _HEADINGS:
            self.blocks.begin(level=_HEADINGS[name])
        elif name == "li":
            self.blocks.begin(is_item=True)
        elif name == "a":
            self.blocks.href = self._address(attributes.get("href", ""))
        elif name == "br":
            self.blocks.text(" ")
        elif name == "table":
            self.blocks.begin_table()

    def end(self, tag: str) -> None:
        name = local_name(tag)
        if self._unseen:
            self._unseen -= 1
        elif name in _BLOCKS or name in _HEADINGS or name == "li":
            self.blocks.end()
        elif name == "a":
            self.blocks.href = ""
        elif name in ("td", "th"):
            self.blocks.end_cell()
        elif name == "tr":
            self.blocks.end_row()
        elif name == "table":
            self.blocks.end_table()

    def data(self, text: str) -> None:
        if not self._unseen:
            self.blocks.text(text)
