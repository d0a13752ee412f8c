"""Text on its way into a page: pieces are collected into the block that is open, and written when it ends."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pycrawl.convert.simple_page import SimplePage

Runs = list[tuple[str, str]]  # (text, href or "")
_SPACE = re.compile(r"\s+")


class Blocks:
    """Headings, paragraphs, list items and tables of a document that is read from its beginning to its end.

    A block is open until the next one begins. Items that follow each other are one list. Inside of a cell of a table,
    blocks are parts of the cell; a table in a cell is a part of it too.
    """

    def __init__(self, page: SimplePage) -> None:
        self.page = page
        self.href = ""  # of the text that comes
        self._runs: Runs = []
        self._level = 0  # of the heading that is open; 0: none
        self._is_item = False
        self._in_list = False
        self._tables = 0  # that are open
        self._cells: list[Runs] = []  # of the row that is open

    def text(self, text: str) -> None:
        if text:
            self._runs.append((text, self.href))

    def runs(self, runs: Iterable[tuple[str, str]]) -> None:
        """Add pieces (text, href or "") to the block that is open."""
        self._runs.extend(runs)

    def begin(self, *, level: int = 0, is_item: bool = False) -> None:
        """End the block that is open and begin one: a heading of `level`, an item of a list, or a paragraph."""
        self.end()
        self._level, self._is_item = level, is_item

    def heading(self, level: int) -> None:
        """Make the block that is open a heading."""
        self._level = level

    def item(self) -> None:
        """Make the block that is open an item of a list."""
        self._is_item = True

    def end(self) -> None:
        """Write the block that is open."""
        if self._tables:
            self._runs.append((" ", ""))
            return
        runs, self._runs = tidied(self._runs), []
        level, is_item = self._level, self._is_item
        self._level, self._is_item = 0, False
        if not runs:
            return
        if level:
            self._end_list()
            self.page.heading(level, "".join(text for text, _ in runs))
            for text, href in runs:
                if href:
                    self.page.link(href, text)
        elif is_item:
            if not self._in_list:
                self.page.begin("ul")
                self._in_list = True
            self.page.item(runs)
        else:
            self._end_list()
            self.page.runs(runs)

    def begin_table(self) -> None:
        if not self._tables:
            self.end()
            self._end_list()
            self.page.begin("table")
        self._tables += 1

    def end_cell(self, times: int = 1) -> None:
        """End a cell, which is there so many `times`, side by side; an empty one is written once."""
        if self._tables == 1:
            runs = tidied(self._runs)
            self._cells += [runs] * (times if runs else 1)
            self._runs = []

    def end_row(self, times: int = 1) -> None:
        """End a row, which is there so many `times`; an empty one is not written."""
        if self._tables == 1:
            if any(self._cells):
                for _ in range(times):
                    self.page.row(self._cells)
            self._cells = []

    def end_table(self) -> None:
        if self._tables == 1:
            if tidied(self._runs):  # text between the cells, in a document that is not as it should be
                self.end_cell()
            self.end_row()
            self._runs = []
            self.page.end("table")
        self._tables = max(self._tables - 1, 0)

    def finish(self) -> None:
        """Write what is left, at the end of the document."""
        while self._tables:
            self.end_table()
        self.end()
        self._end_list()

    def _end_list(self) -> None:
        if self._in_list:
            self.page.end("ul")
            self._in_list = False


def tidied(runs: Runs) -> Runs:
    """Returns the runs with single spaces, none at both ends, and neighbours of one address joined; empty: no text."""
    joined: list[tuple[list[str], str]] = []
    for text, href in runs:
        if joined and joined[-1][1] == href:
            joined[-1][0].append(text)
        else:
            joined.append(([text], href))
    result = [(_SPACE.sub(" ", "".join(texts)), href) for texts, href in joined]
    if not any(text.strip() or href for text, href in result):
        return []
    result[0] = (result[0][0].lstrip(), result[0][1])
    result[-1] = (result[-1][0].rstrip(), result[-1][1])
    return [run for run in result if run[0] or run[1]]
