"""XML of any kind: its text, its addresses, and the titles of DocBook, TEI and their like."""

from __future__ import annotations

from pycrawl.convert.blocks import Blocks
from pycrawl.convert.html_text import HtmlText
from pycrawl.convert.safe_xml import Target, known_entities, local_name, read_xml
from pycrawl.convert.simple_page import SimplePage

_TITLES = frozenset(("title", "head"))
_SECTIONS = frozenset(
    "book part chapter article section sect1 sect2 sect3 sect4 sect5 preface appendix refentry div div1 div2".split()
)
_INLINE = frozenset(
    "a abbrev acronym application b citetitle code command constant date em emphasis filename firstterm foreignphrase"
    " function guilabel hi i keycap link literal option parameter persname phrase placeName q quote ref replaceable sc"
    " span strong sub subscript sup superscript symbol systemitem tag term tt type ulink userinput varname xref".split()
)
_ITEMS = frozenset(("listitem", "item", "member", "li"))
_ADDRESSES = ("href", "{http://www.w3.org/1999/xlink}href", "url", "{http://www.w3.org/1999/xlink}url")
_LANGUAGES = ("{http://www.w3.org/XML/1998/namespace}lang", "lang")
_ROOT_BYTES = 2_000  # in which the root element begins


def convert(data: bytes, page: SimplePage) -> None:
    reader = HtmlText(page) if b"<html" in data[:_ROOT_BYTES] else _Reader(page)
    read_xml(known_entities(data), reader, page)
    reader.blocks.finish()


class _Reader(Target):
    """Each element that is not known to stand in a line is a block of its own."""

    def __init__(self, page: SimplePage) -> None:
        self.blocks = Blocks(page)
        self._page = page
        self._hrefs: list[str] = []  # of the elements that are open
        self._sections = 0
        self._title: list[str] | None = None  # of the document, while it is read
        self._is_text = False  # some text came since the last start of an element

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = local_name(tag)
        if not self._hrefs:
            self._page.language = next((attributes[key] for key in _LANGUAGES if key in attributes), "")
        href = next((attributes[key] for key in _ADDRESSES if key in attributes), "")
        inherited = self._hrefs[-1] if self._hrefs else ""
        self._hrefs.append("" if href.startswith("#") else href or inherited)
        self._is_text = False
        if name in _SECTIONS:
            self._sections += 1
        if name in _TITLES:
            self.blocks.begin(level=max(self._sections, 1))
            if not self._page.title and self._title is None:
                self._title = []
        elif name == "keycap":
            self.blocks.text(" ")  # one key after another
        elif name not in _INLINE:
            self.blocks.begin(is_item=name in _ITEMS)
        self.blocks.href = self._hrefs[-1]

    def end(self, tag: str) -> None:
        name = local_name(tag)
        href = self._hrefs.pop()
        inherited = self._hrefs[-1] if self._hrefs else ""
        if href and href != inherited and not self._is_text:
            self._page.link(href)
        if name in _SECTIONS:
            self._sections -= 1
        if name in _TITLES and self._title is not None:
            self._page.title, self._title = " ".join("".join(self._title).split()), None
        if name not in _INLINE:
            self.blocks.end()
        self.blocks.href = inherited
        self._is_text = True

    def data(self, text: str) -> None:
        self._is_text = self._is_text or not text.isspace()
        self.blocks.text(text)
        if self._title is not None:
            self._title.append(text)
