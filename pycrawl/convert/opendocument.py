"""OpenDocument (.odt, .odp, .ods): headings, paragraphs, lists, tables, slides, sheets and links."""

from __future__ import annotations

from pycrawl.convert.archive import Archive
from pycrawl.convert.blocks import Blocks
from pycrawl.convert.facts import iso_date
from pycrawl.convert.safe_xml import Target, local_attributes, local_name, read_xml, tree
from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible

_SLIDE_TITLE_LEVEL = 2
_UNSEEN = ("annotation", "tracked-changes", "forms", "scripts", "font-face-decls", "automatic-styles")
_MOST_SPACES = 100
_MOST_REPEATS = 1_000  # of a cell or row, which is there once for all that are alike


def convert(data: bytes, page: SimplePage) -> None:
    archive = Archive(data)
    if b"encryption-data" in archive.read_if_there("META-INF/manifest.xml"):
        raise Unconvertible(Trouble.ENCRYPTED)
    content = archive.read("content.xml")
    _read_facts(archive.read_if_there("meta.xml"), page)
    reader = _Content(page)
    read_xml(content, reader, page)
    reader.blocks.finish()


def _read_facts(meta: bytes, page: SimplePage) -> None:
    if not meta:
        return
    stated: dict[str, str] = {}
    for fact in tree(meta).iterfind("{*}meta/*"):
        name = local_name(fact.tag)
        stated.setdefault(name, fact.text or "")
        if name == "document-statistic":
            count = local_attributes(fact.attrib).get("page-count", "")
            page.pages = int(count) if count.isdecimal() and len(count) < 7 else 0
    page.title = stated.get("title", "")
    page.author = stated.get("initial-creator", "") or stated.get("creator", "")
    page.language = stated.get("language", "")
    page.date = iso_date(stated.get("creation-date", "")) or iso_date(stated.get("date", ""))


class _Content(Target):
    """Reads content.xml of each of the three kinds."""

    def __init__(self, page: SimplePage) -> None:
        self.blocks = Blocks(page)
        self._page = page
        self._items = 0  # depth of lists
        self._kind = ""  # "text", "presentation" or "spreadsheet"
        self._is_title = False
        self._in_text = 0  # depth of headings and paragraphs: text elsewhere is not shown
        self._unseen = 0
        self._tables = 0
        self._columns = self._rows = 1  # how often the cell and the row that are open are there

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = local_name(tag)
        if self._unseen or name in _UNSEEN:
            self._unseen += 1
        elif name in ("h", "p"):
            self._begin_text(name, local_attributes(attributes))
        elif name == "list-item":
            self._items += 1
        elif name == "a":
            self.blocks.href = local_attributes(attributes).get("href", "")
        elif name in ("tab", "line-break"):
            self.blocks.text(" ")
        elif name == "s":
            count = local_attributes(attributes).get("c", "1")
            self.blocks.text(" " * min(int(count) if count.isdecimal() else 1, _MOST_SPACES))
        elif name == "frame":
            self._is_title = local_attributes(attributes).get("class") == "title"
        elif name == "page":
            self.blocks.finish()
            self._count_page()
            self._page.begin("section")
        elif name == "table":
            self._begin_table(local_attributes(attributes).get("name", ""))
        elif name == "table-cell":
            self._columns = _repeats(attributes, "number-columns-repeated")
        elif name == "table-row":
            self._rows = _repeats(attributes, "number-rows-repeated")
        elif name in ("text", "presentation", "spreadsheet") and not self._kind:
            self._kind = name
            self._page.pages = self._page.pages if name == "text" else 0

    def end(self, tag: str) -> None:
        name = local_name(tag)
        if self._unseen:
            self._unseen -= 1
        elif name in ("h", "p"):
            self._in_text -= 1
            self.blocks.end()
        elif name == "list-item":
            self._items -= 1
        elif name == "a":
            self.blocks.href = ""
        elif name == "frame":
            self._is_title = False
        elif name == "page":
            self.blocks.finish()
            self._page.end("section")
        elif name in ("table-cell", "covered-table-cell"):
            self.blocks.end_cell(self._columns)
        elif name == "table-row":
            self.blocks.end_row(self._rows)
        elif name == "table":
            self._tables -= 1
            self.blocks.end_table()

    def data(self, text: str) -> None:
        if self._in_text and not self._unseen:
            self.blocks.text(text)

    def _begin_text(self, name: str, attributes: dict[str, str]) -> None:
        self._in_text += 1
        level = 0
        if name == "h":
            stated = attributes.get("outline-level", "1")
            level = int(stated) if stated.isdecimal() else 1
        elif self._is_title:
            level = _SLIDE_TITLE_LEVEL
        self.blocks.begin(level=level, is_item=self._items > 0 and not level)

    def _begin_table(self, name: str) -> None:
        if self._kind == "spreadsheet" and not self._tables:
            self._count_page()
            self.blocks.begin(level=2)
            self.blocks.text(name)
        self._tables += 1
        self.blocks.begin_table()

    def _count_page(self) -> None:
        self._page.pages += 1


def _repeats(attributes: dict[str, str], name: str) -> int:
    stated = local_attributes(attributes).get(name, "1")
    return min(int(stated), _MOST_REPEATS) if stated.isdecimal() and len(stated) < 10 else 1
