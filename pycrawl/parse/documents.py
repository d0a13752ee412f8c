"""PDF, Office and other documents: converted into simple HTML (`convert/`), which is then read like a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pycrawl.convert.converter import Converted, Converter
from pycrawl.convert.kinds import INSTALL, DocumentKind, could_be, is_installed, kind_of_type
from pycrawl.convert.simple_page import NOT_READ, Trouble
from pycrawl.parse.charset import ASCII
from pycrawl.parse.html import parse_html
from pycrawl.parse.parsed import Parsed

if TYPE_CHECKING:
    from pycrawl.parse.parsers import Body, Wanted

_HTML = "text/html; charset=utf-8"  # what converters write


def readable_kind(media_type: str) -> DocumentKind | None:
    """Returns the kind of documents that are served as this type, if what reads it is installed."""
    kind = kind_of_type(media_type)
    return kind if kind is not None and is_installed(kind) else None


def convert(converter: Converter, kind: DocumentKind, data: bytes) -> Converted:
    """Returns a document as HTML; one that begins like no document is not tried."""
    if data and not could_be(kind, data):
        return Converted(b"", trouble=Trouble.DAMAGED.value, detail=f"it does not begin like {kind.name}")
    return converter.convert(kind, data)


def missing_reader(media_type: str) -> str:
    """Returns what to install so that documents of this type can be read; empty if nothing is known to read it."""
    kind = kind_of_type(media_type)
    return f"{NOT_READ}{kind.name} files are read after {INSTALL}" if kind is not None else ""


class ConvertedDocument:
    """Reads a document that was converted. All of its text is main content: it has no frame. One that has nothing but a
    title, as scanned ones do, has none: equal titles make no near-duplicates."""

    media_types = ()

    def __init__(self, converted: Converted) -> None:
        self.converted = converted

    def parse(self, body: Body, wanted: Wanted) -> Parsed:
        parsed = parse_html(self.converted.html, _HTML, wanted.agent, True, "", wanted.anchors, None)
        # The encoding is that of our HTML, and says nothing of the document.
        text = parsed.text if parsed.text.strip() else ""
        content = None if text.strip() != parsed.title.strip() else b""
        return replace(parsed, text=text, content_utf8=content, charset=ASCII, fault=self.converted.told)


class DocumentParser:
    """Reads documents of one kind, and waits for their conversion. Fetchers do not wait (`fetcher/documents.py`)."""

    def __init__(self, media_type: str, kind: DocumentKind, converter: Converter) -> None:
        self.media_types = (media_type,)
        self.kind = kind
        self._converter = converter

    def parse(self, body: Body, wanted: Wanted) -> Parsed:
        return ConvertedDocument(self.converted(body.data)).parse(body, wanted)

    def converted(self, data: bytes) -> Converted:
        return convert(self._converter, self.kind, data)
