"""The HTML that converters write: headings, paragraphs, lists, tables and links, and nothing else.

A `SimplePage` is bounded: it refuses to grow beyond `most_letters` and to go on after `deadline` (of the CPU's clock),
by raising `Unconvertible`. What was written until then is kept, and is what becomes of the document.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from html import escape

CONVERSION_FAILED = "conversion-failed: "  # what is said of a document with a `Trouble` begins like this
NOT_READ = "not read: "  # … and like this, if what reads it is not installed
MOST_LETTERS = 10_000_000  # of the HTML of one document
_CHECKED_EVERY = 64  # writes between two looks at the clock
_LONGEST_FACT = 1_000  # characters of a title or an author
# What may not stand in HTML, or could not be encoded: control characters, and halves of surrogate pairs.
_UNUSABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Trouble(StrEnum):
    """What can be wrong with a document, as the user reads it."""

    DAMAGED = "damaged"  # it is not what it says it is, or breaks off
    ENCRYPTED = "encrypted"
    NO_TEXT = "no-text"  # pages without text, as of a scanner
    EMPTY = "empty"
    TOO_LARGE = "too-large"  # unpacked, or as text
    TOO_SLOW = "too-slow"
    TOO_MUCH_MEMORY = "too-much-memory"
    DIED = "converter-died"
    NO_CONVERTER = "no-converter"  # what reads it is not installed


def lacks_reader(detail: str) -> bool:
    """True if what is said of a visit's document is that nothing that reads it was installed."""
    return detail.startswith((NOT_READ, CONVERSION_FAILED + Trouble.NO_CONVERTER))


class Unconvertible(Exception):
    """The document cannot be converted, or not to its end; what was written before this stays."""

    def __init__(self, trouble: Trouble, detail: str = "") -> None:
        super().__init__(f"{trouble}: {detail}" if detail else str(trouble))
        self.trouble = trouble
        self.detail = detail


class SimplePage:
    """One document as HTML. Texts are escaped here; converters never write markup themselves."""

    def __init__(
        self,
        most_letters: int = MOST_LETTERS,
        deadline: float = float("inf"),
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self.title = ""
        self.author = ""
        self.language = ""
        self.date = ""  # of the document, as it says: "2024-05-01"
        self.pages = 0  # pages, slides or sheets; 0: it has none
        self._parts: list[str] = []
        self._room = most_letters
        self._deadline = deadline
        self._clock = clock
        self._writes = 0
        self._has_text = False

    def heading(self, level: int, text: str) -> None:
        level = min(max(level, 1), 6)
        self._write(f"<h{level}>", self._shown(text), f"</h{level}>\n")

    def paragraph(self, text: str, href: str = "") -> None:
        """Write a paragraph; with `href`, all of it is a link."""
        self.runs([(text, href)])

    def runs(self, runs: Sequence[tuple[str, str]]) -> None:
        """Write a paragraph of pieces (text, href); a piece with an empty href is plain text."""
        self._write("<p>", self._linked(runs), "</p>\n")

    def item(self, runs: Sequence[tuple[str, str]]) -> None:
        """Write an item of a list, of pieces as in `runs`."""
        self._write("<li>", self._linked(runs), "</li>\n")

    def row(self, cells: Sequence[str | Sequence[tuple[str, str]]]) -> None:
        """Write a row of a table; a cell is a text, or pieces as in `runs`."""
        shown = (self._shown(cell) if isinstance(cell, str) else self._linked(cell) for cell in cells)
        self._write("<tr>", *(f"<td>{cell}</td>" for cell in shown), "</tr>\n")

    def begin(self, name: str) -> None:
        """Begin a "ul", "ol", "table" or "section"; `end` ends it."""
        self._write(f"<{name}>\n")

    def end(self, name: str) -> None:
        self._write(f"</{name}>\n")

    def link(self, href: str, text: str = "") -> None:
        """Write a link that belongs to no paragraph, as the annotations of a PDF."""
        self._write(f'<a href="{escape(_usable(href))}">', self._shown(text), "</a>\n")

    def check(self) -> None:
        """Raises Unconvertible if the time is over: to be called in loops that write nothing for long."""
        if self._clock() > self._deadline:
            raise Unconvertible(Trouble.TOO_SLOW)

    @property
    def has_text(self) -> bool:
        return self._has_text

    def html(self) -> str:
        """Returns the whole page."""
        facts = [f'<meta name="{name}" content="{escape(_fact(value))}">' for name, value in self._facts() if value]
        language = f' lang="{escape(_fact(self.language))}"' if self.language else ""
        head = f"<title>{escape(_fact(self.title), quote=False)}</title>{''.join(facts)}"
        return f"<!doctype html>\n<html{language}><head>{head}</head>\n<body>\n{''.join(self._parts)}</body></html>\n"

    def _facts(self) -> list[tuple[str, str]]:
        return [("author", self.author), ("date", self.date)]

    def _linked(self, runs: Sequence[tuple[str, str]]) -> str:
        return "".join(
            f'<a href="{escape(_usable(href))}">{self._shown(text)}</a>' if href else self._shown(text)
            for text, href in runs
        )

    def _shown(self, text: str) -> str:
        self._has_text = self._has_text or (not text.isspace() and bool(text))
        return escape(_usable(text), quote=False)

    def _write(self, *parts: str) -> None:
        self._writes += 1
        if self._writes % _CHECKED_EVERY == 0:
            self.check()
        self._room -= sum(map(len, parts))
        if self._room < 0:
            raise Unconvertible(Trouble.TOO_LARGE, "more text than is kept of one document")
        self._parts += parts


def _usable(text: str) -> str:
    return _UNUSABLE.sub(" ", text)


def _fact(text: str) -> str:
    return " ".join(_usable(text).split())[:_LONGEST_FACT]
