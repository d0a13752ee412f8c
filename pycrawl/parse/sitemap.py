"""Sitemaps: XML (lists and indexes), text, and RSS or Atom in their place; plain or compressed.

Read as a stream within the bounds of `xml_guard.py`. Whatever breaks later, what was read before it counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from pycrawl.parse.dates import NO_MOMENT, Moment, read_date
from pycrawl.parse.xml_guard import MOST_BYTES, Unreadable, chunks, parse
from pycrawl.urls.hints import CHANGE_FREQUENCIES, NO_PRIORITY

MOST_URLS = 50_000  # of one sitemap: the limit of the protocol
_MOST_ALTERNATES = 200_000
_LONGEST_TEXT = 4_096  # characters of an element that is read
_LINES_LOOKED_AT = 20  # of a text: if none of the first is a URL, it is no sitemap
_LISTS = {"urlset": "url", "sitemapindex": "sitemap"}  # root → element of an entry
_FEEDS = {"rss": "item", "rdf": "item", "feed": "entry"}
_FIELDS = {  # name of an element in an entry → field of the entry
    "loc": "loc", "lastmod": "lastmod", "changefreq": "changefreq", "priority": "priority",
}  # fmt: skip
_FEED_FIELDS = {"link": "loc", "pubdate": "lastmod", "updated": "lastmod", "date": "lastmod", "published": "lastmod"}
_PAGE_RELS = ("", "alternate")
_URL_STARTS = ("http://", "https://")


class Entry(NamedTuple):
    """A URL that a sitemap lists, as it stands there, and what is said of it."""

    loc: str
    lastmod: Moment = NO_MOMENT
    changefreq: int = 0  # an index of `CHANGE_FREQUENCIES`
    priority: int = NO_PRIORITY  # percent


@dataclass(slots=True)
class Sitemap:
    """What was read off a sitemap."""

    entries: list[Entry] = field(default_factory=list)  # of a list
    sitemaps: list[Entry] = field(default_factory=list)  # of an index
    alternates: list[str] = field(default_factory=list)  # the same pages in other languages
    fault: str = ""  # what ended the reading too early, in a word; empty: nothing did

    @property
    def is_empty(self) -> bool:
        return not self.entries and not self.sitemaps


def read_sitemap(data: bytes, most_bytes: int = MOST_BYTES) -> Sitemap:
    """Any bytes give a sitemap: an empty one with a fault where they are none."""
    found = Sitemap()
    pieces = chunks(data, most_bytes)
    try:
        first = next(pieces, b"")
        while not first.strip() and (more := next(pieces, b"")):
            first = more
        pieces = chain([first], pieces)
        if first.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<" or first[:2] in (b"\xff\xfe", b"\xfe\xff"):
            reader = _Reader(found)
            parse(pieces, reader.start, reader.end, reader.text)
        else:
            _read_text(pieces, found)
    except Unreadable as unreadable:
        found.fault = unreadable.word
    return found


class _Reader:
    """Fills in a `Sitemap`, element by element."""

    def __init__(self, found: Sitemap) -> None:
        self._found = found
        self._path: list[str] = []  # the open elements
        self._entry_name = ""  # of the elements that are entries, once the root is known
        self._fields: dict[str, str] = {}
        self._values: dict[str, str] = {}  # of the open entry
        self._field = ""  # the field that the text belongs to
        self._is_index = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        path = self._path
        if not path:
            self._look_at_root(name)
        elif path[-1] == self._entry_name:
            self._field = self._fields.get(name, "")
            if name == "link":
                self._take_link(attributes)
        elif name == self._entry_name:
            self._values = {}
        path.append(name)

    def _look_at_root(self, name: str) -> None:
        if name in _LISTS:
            self._entry_name, self._fields = _LISTS[name], _FIELDS
            self._is_index = name == "sitemapindex"
        elif name in _FEEDS:
            self._entry_name, self._fields = _FEEDS[name], _FEED_FIELDS
        else:
            raise Unreadable("html" if name == "html" else "not-a-sitemap")

    def _take_link(self, attributes: dict[str, str]) -> None:
        """An Atom link, or a page in another language."""
        href = attributes.get("href", "")[:_LONGEST_TEXT]
        if self._entry_name == "url":
            if href and attributes.get("rel", "").lower() == "alternate":
                if len(self._found.alternates) >= _MOST_ALTERNATES:
                    raise Unreadable("too-many-urls")
                self._found.alternates.append(href)
        elif href:
            self._field = ""
            if attributes.get("rel", "").lower() in _PAGE_RELS:
                self._values.setdefault("loc", href)

    def text(self, text: str) -> None:
        if self._field:
            before = self._values.get(self._field, "")
            if len(before) < _LONGEST_TEXT:
                self._values[self._field] = (before + text)[:_LONGEST_TEXT]

    def end(self, name: str) -> None:
        self._path.pop()
        self._field = ""
        if name == self._entry_name and self._path:
            self._take_entry()

    def _take_entry(self) -> None:
        loc = self._values.get("loc", "").strip()
        if not loc:
            return
        entries = self._found.sitemaps if self._is_index else self._found.entries
        if len(entries) >= MOST_URLS:
            raise Unreadable("too-many-urls")
        changefreq = self._values.get("changefreq", "").strip().lower()
        entries.append(
            Entry(
                loc,
                read_date(self._values.get("lastmod", "")),
                CHANGE_FREQUENCIES.index(changefreq) if changefreq in CHANGE_FREQUENCIES else 0,
                _percent(self._values.get("priority", "")),
            )
        )
        self._values = {}


def _percent(text: str) -> int:
    try:
        value = float(text.strip()[:16])
    except ValueError:
        return NO_PRIORITY
    return round(100 * value) if 0 <= value <= 1 else NO_PRIORITY


def _read_text(pieces: Iterator[bytes], found: Sitemap) -> None:
    """A text sitemap: one URL on each line, UTF-8."""
    lines = 0
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            lines += bool(line.strip())
            _take_line(line, found)
            if lines >= _LINES_LOOKED_AT and not found.entries:
                raise Unreadable("not-a-sitemap")
        if len(rest) > _LONGEST_TEXT:
            raise Unreadable("not-a-sitemap")
    _take_line(rest, found)
    if not found.entries:
        raise Unreadable("empty" if not lines and not rest.strip() else "not-a-sitemap")


def _take_line(line: bytes, found: Sitemap) -> None:
    text = line[:_LONGEST_TEXT].decode("utf-8", "replace").strip("\ufeff \t\r")
    if text.lower().startswith(_URL_STARTS):
        if len(found.entries) >= MOST_URLS:
            raise Unreadable("too-many-urls")
        found.entries.append(Entry(text))
