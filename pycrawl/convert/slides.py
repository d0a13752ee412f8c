"""PowerPoint (.pptx): slides in their order, with titles, text, tables, links and notes."""

from __future__ import annotations

from pycrawl.convert.archive import Archive
from pycrawl.convert.blocks import Blocks
from pycrawl.convert.open_xml import Relations, main_part, read_facts, relation_id
from pycrawl.convert.safe_xml import Target, local_name, read_xml, tree
from pycrawl.convert.simple_page import SimplePage

_TITLES = ("title", "ctrTitle")
_TITLE_LEVEL = 2
_NOT_OF_THE_TEXT = ("sldNum", "dt", "ftr", "hdr", "sldImg")  # placeholders: number, date, footer, header, picture


def convert(data: bytes, page: SimplePage) -> None:
    archive = Archive(data)
    name = main_part(archive, "ppt/presentation.xml")
    read_facts(archive, page)
    relations = Relations(archive, name)
    order = [relation_id(slide.attrib) for slide in tree(archive.read(name)).iterfind("{*}sldIdLst/{*}sldId")]
    slides = [relations.parts[key] for key in order if key in relations.parts]
    page.pages = len(slides)
    for slide in slides:
        slide_relations = Relations(archive, slide)
        page.begin("section")
        _read(archive, slide, slide_relations, page)
        notes = slide_relations.kinds.get("notesSlide", "")
        if notes in archive.names:
            _read(archive, notes, Relations(archive, notes), page)
        page.end("section")


def _read(archive: Archive, part: str, relations: Relations, page: SimplePage) -> None:
    reader = _Slide(page, relations)
    read_xml(archive.read(part), reader, page)
    reader.blocks.finish()


class _Slide(Target):
    """Reads one slide, or its notes."""

    def __init__(self, page: SimplePage, relations: Relations) -> None:
        self.blocks = Blocks(page)
        self._outside = relations.outside
        self._placeholder = ""  # what the shape holds: "title", "body" …
        self._is_text = False
        self._skipped = 0  # depth inside of what is said twice

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = local_name(tag)
        if self._skipped or name == "Fallback":
            self._skipped += 1
        elif name == "sp":
            self._placeholder = ""
        elif name == "ph":
            self._placeholder = attributes.get("type", "body")
        elif name == "p":
            self.blocks.begin(level=_TITLE_LEVEL if self._placeholder in _TITLES else 0)
        elif name == "t":
            self._is_text = self._placeholder not in _NOT_OF_THE_TEXT
        elif name == "br":
            self.blocks.text(" ")
        elif name == "hlinkClick":
            self.blocks.href = self._outside.get(relation_id(attributes), "")
        elif name == "tbl":
            self._placeholder = ""
            self.blocks.begin_table()

    def end(self, tag: str) -> None:
        name = local_name(tag)
        if self._skipped:
            self._skipped -= 1
        elif name == "t":
            self._is_text = False
        elif name == "r":
            self.blocks.href = ""
        elif name == "cNvPr" and self.blocks.href:  # all of a shape or picture is the link
            self.blocks.page.link(self.blocks.href)
            self.blocks.href = ""
        elif name == "p":
            self.blocks.end()
        elif name == "tc":
            self.blocks.end_cell()
        elif name == "tr":
            self.blocks.end_row()
        elif name == "tbl":
            self.blocks.end_table()

    def data(self, text: str) -> None:
        if self._is_text and not self._skipped:
            self.blocks.text(text)
