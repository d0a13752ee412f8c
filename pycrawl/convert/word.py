"""Word (.docx): paragraphs, headings by style or outline level, lists, tables, links and notes."""

from __future__ import annotations

import re

from pycrawl.convert.archive import Archive
from pycrawl.convert.blocks import Blocks
from pycrawl.convert.open_xml import Relations, main_part, read_facts, relation_id
from pycrawl.convert.safe_xml import Element, Target, local_attributes, local_name, read_xml, tree
from pycrawl.convert.simple_page import SimplePage

_HEADING_NAME = re.compile(r"heading (\d)$", re.IGNORECASE)
_HYPERLINK_FIELD = re.compile(r'\s*HYPERLINK\s+"([^"]{1,4096})"')
_NOTES = ("footnotes", "endnotes")
_BODY_TEXT_LEVEL = 9  # the outline level of what is no heading
_MOST_BASES = 20  # styles that a style is based on, one upon the other
_SPACES = {"tab": "\t", "br": " ", "cr": " ", "noBreakHyphen": "-"}


def convert(data: bytes, page: SimplePage) -> None:
    archive = Archive(data)
    name = main_part(archive, "word/document.xml")
    read_facts(archive, page)
    relations = Relations(archive, name)
    levels = _heading_levels(archive.read_if_there(relations.kinds.get("styles", "")), page)
    reader = _Document(page, relations, levels)
    read_xml(archive.read(name), reader, page)
    reader.blocks.finish()
    for kind in _NOTES:
        part = relations.kinds.get(kind, "")
        if part in archive.names:
            notes = _Document(page, Relations(archive, part), levels)
            read_xml(archive.read(part), notes, page)
            notes.blocks.finish()


def _heading_levels(styles: bytes, page: SimplePage) -> dict[str, int]:
    """Returns the level of heading of each style that is one; notes the language that the styles name."""
    if not styles:
        return {}
    own: dict[str, int] = {}
    bases: dict[str, str] = {}
    root = tree(styles)
    for style in root.iterfind("{*}style"):
        key = local_attributes(style.attrib).get("styleId", "")
        bases[key] = _value(style, "{*}basedOn")
        level = _stated_level(style)
        if level is not None:
            own[key] = level
    page.language = page.language or _value(root, "{*}docDefaults/{*}rPrDefault/{*}rPr/{*}lang")
    return {key: level for key in bases if (level := _inherited(key, own, bases))}


def _stated_level(style: Element) -> int | None:
    name = _value(style, "{*}name")
    match = _HEADING_NAME.match(name)
    if match:
        return int(match[1])
    if name.casefold() == "title":
        return 1
    outline = _value(style, "{*}pPr/{*}outlineLvl")
    return _level_of_outline(outline) if outline else None


def _inherited(key: str, own: dict[str, int], bases: dict[str, str]) -> int:
    for _ in range(_MOST_BASES):
        if key in own:
            return own[key]
        if key not in bases:
            break
        key = bases[key]
    return 0


def _value(element: Element, path: str) -> str:
    found = element.find(path)
    return "" if found is None else local_attributes(found.attrib).get("val", "")


def _level_of_outline(outline: str) -> int:
    return int(outline) + 1 if outline.isdecimal() and int(outline) < _BODY_TEXT_LEVEL else 0


class _Document(Target):
    """Reads the body of a document, or its notes."""

    def __init__(self, page: SimplePage, relations: Relations, levels: dict[str, int]) -> None:
        self.blocks = Blocks(page)
        self._outside = relations.outside
        self._levels = levels
        self._collects = ""  # "t": text of the document; "instrText": of a field's instruction
        self._instruction = ""
        self._skipped = 0  # depth inside of what is said twice

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = local_name(tag)
        if self._skipped or name == "Fallback":  # the same drawing again, for older programs
            self._skipped += 1
        elif name in ("t", "instrText"):
            self._collects = name
        elif name == "p":
            self.blocks.begin()
        elif name in ("pStyle", "outlineLvl", "numId"):
            self._format(name, local_attributes(attributes).get("val", ""))
        elif name in _SPACES:
            self.blocks.text(_SPACES[name])
        elif name == "hyperlink":
            self.blocks.href = self._outside.get(relation_id(attributes), "")
        elif name == "fldChar":
            self._field(local_attributes(attributes).get("fldCharType", ""))
        elif name == "fldSimple":
            self.blocks.href = _field_address(local_attributes(attributes).get("instr", ""))
        elif name == "tbl":
            self.blocks.begin_table()

    def end(self, tag: str) -> None:
        name = local_name(tag)
        if self._skipped:
            self._skipped -= 1
        elif name in ("t", "instrText"):
            self._collects = ""
        elif name == "p":
            self.blocks.end()
        elif name in ("hyperlink", "fldSimple"):
            self.blocks.href = ""
        elif name == "tc":
            self.blocks.end_cell()
        elif name == "tr":
            self.blocks.end_row()
        elif name == "tbl":
            self.blocks.end_table()

    def data(self, text: str) -> None:
        if self._skipped:
            return
        if self._collects == "t":
            self.blocks.text(text)
        elif self._collects:
            self._instruction += text

    def _format(self, name: str, value: str) -> None:
        if name == "pStyle":
            self.blocks.heading(self._levels.get(value, 0))
        elif name == "outlineLvl":
            self.blocks.heading(_level_of_outline(value))
        elif value != "0":  # the number of a list; 0 takes the paragraph out of the list of its style
            self.blocks.item()

    def _field(self, kind: str) -> None:
        if kind == "begin":
            self._instruction = ""
        elif kind == "separate":
            self.blocks.href = _field_address(self._instruction)
        elif kind == "end":
            self.blocks.href = ""


def _field_address(instruction: str) -> str:
    match = _HYPERLINK_FIELD.match(instruction)
    return match[1] if match else ""
