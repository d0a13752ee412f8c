"""Markdown: headings, paragraphs, lists, tables, code and links. Each pattern reads a line in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pycrawl.convert.blocks import Blocks, Runs
from pycrawl.convert.facts import iso_date
from pycrawl.convert.plain_text import decoded, with_addresses
from pycrawl.convert.simple_page import SimplePage

_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*)$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*$")
_ITEM = re.compile(r"\s{0,12}(?:[-*+]|\d{1,9}[.)])\s+(\S.*)$")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_TABLE_RULE = re.compile(r"[\s|:-]*-[\s|:-]*$")
_DEFINITION = re.compile(r" {0,3}\[([^\[\]]{1,200})\]:\s*<?([^\s<>]{1,2000})")
_RULE = re.compile(r" {0,3}([-*_])[\s*_-]{2,}$")
_FACT = re.compile(r"(title|author|date|lang|language)\s*:\s*[\"']?([^\"']{1,1000})", re.IGNORECASE)
_MOST_FACTS = 200  # lines before the text
_INLINE = re.compile(
    r"(`{1,3})(?P<code>[^`]{1,2000})\1"
    r"|!?\[(?P<text>[^\[\]]{0,1000})\](?:\(\s*<?(?P<href>[^\s<>()]{1,2000}(?:\([^\s<>()]{0,500}\))?)[^()]{0,500}\)"
    r"|\[(?P<key>[^\[\]]{0,200})\])"
    r"|<(?P<address>(?:https?://|mailto:)[^\s<>]{1,2000})>"
)
_EMPHASIS = re.compile(r"(?<![\w*])\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?![\w*])|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,1000}>|<!--")


def convert(data: bytes, page: SimplePage) -> None:
    lines = decoded(data).splitlines()
    lines = lines[_read_facts(lines, page) :]
    reader = _Reader(page, {match[1].casefold(): match[2] for match in map(_DEFINITION.match, lines) if match})
    for line in lines:
        reader.read(line)
    reader.finish()
    page.title = page.title or reader.first_heading


def _read_facts(lines: list[str], page: SimplePage) -> int:
    """Fill in what the lines between two `---` at the beginning say; returns how many lines they are."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:_MOST_FACTS], 1):
        if line.rstrip() in ("---", "..."):
            return number + 1
        match = _FACT.match(line)
        if match:
            _note_fact(match[1].casefold(), match[2].strip(), page)
    return 0


def _note_fact(name: str, value: str, page: SimplePage) -> None:
    if name == "title":
        page.title = value
    elif name == "author":
        page.author = value
    elif name == "date":
        page.date = iso_date(value)
    else:
        page.language = value


class _Reader:
    """Reads line after line; what is held back is the paragraph or item that is not over yet."""

    def __init__(self, page: SimplePage, definitions: dict[str, str]) -> None:
        self.first_heading = ""
        self._page = page
        self._blocks = Blocks(page)
        self._definitions = definitions
        self._held: list[str] = []
        self._is_item = False
        self._fence = ""  # that ends the code which is being read
        self._in_table = False

    def read(self, line: str) -> None:
        fence = _FENCE.match(line)
        if self._fence:
            self._read_code(line, bool(fence) and line.strip() == self._fence)
        elif fence:
            self._flush()
            self._fence = fence[1]
        elif not line.strip():
            self._flush()
        elif heading := _HEADING.match(line):
            self._flush()
            self._heading(len(heading[1]), heading[2].rstrip("# \t"))
        elif self._held and not self._is_item and _UNDERLINE.match(line):
            text, self._held = " ".join(self._held), []
            self._heading(1 if "=" in line else 2, text)
        elif _RULE.match(line) or _DEFINITION.match(line):
            self._flush()
        elif item := _ITEM.match(line):
            self._flush()
            self._held, self._is_item = [item[1]], True
        elif "|" in line and (self._in_table or line.lstrip().startswith("|")):
            self._read_row(line)
        else:
            self._held.append(line.strip().lstrip("> "))

    def finish(self) -> None:
        self._flush()
        self._blocks.finish()

    def _read_code(self, line: str, is_end: bool) -> None:
        if is_end:
            self._fence = ""
            self._flush()
        else:
            self._held.append(line)
            self._write([("\n".join(self._held), "")])
            self._held = []

    def _heading(self, level: int, text: str) -> None:
        runs = list(self._runs(text))
        self.first_heading = self.first_heading or "".join(text for text, _ in runs)
        self._write(runs, level=level)

    def _read_row(self, line: str) -> None:
        if not self._in_table:
            self._flush()
            self._blocks.begin_table()
            self._in_table = True
        if _TABLE_RULE.match(line):
            return
        for cell in line.strip().strip("|").split("|"):
            self._blocks.runs(self._runs(cell))
            self._blocks.end_cell()
        self._blocks.end_row()

    def _flush(self) -> None:
        if self._in_table:
            self._blocks.end_table()
            self._in_table = False
        if self._held:
            text, is_item = " ".join(self._held), self._is_item
            self._held, self._is_item = [], False
            self._write(list(self._runs(text)), is_item=is_item)

    def _write(self, runs: Runs, *, level: int = 0, is_item: bool = False) -> None:
        self._blocks.begin(level=level, is_item=is_item)
        self._blocks.runs(runs)
        self._blocks.end()

    def _runs(self, text: str) -> Iterator[tuple[str, str]]:
        """Yields the pieces of a text with what is marked in it."""
        done = 0
        for match in _INLINE.finditer(text):
            yield from _unmarked(text[done : match.start()])
            done = match.end()
            if match["code"]:
                yield match["code"], ""
            elif match["address"]:
                yield match["address"], match["address"]
            else:
                key = (match["key"] or match["text"] or "").casefold()
                href = match["href"] or self._definitions.get(key, "")
                yield _EMPHASIS.sub("", match["text"]), "" if match[0].startswith("!") else href
        yield from _unmarked(text[done:])


def _unmarked(text: str) -> Runs:
    """Returns a text without emphasis and tags."""
    runs = with_addresses(_TAG.sub(" ", text))
    return [(piece if href else _EMPHASIS.sub("", piece), href) for piece, href in runs]
