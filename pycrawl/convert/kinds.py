"""Which kind of document a body is, by its served type and its first bytes, and which package reads it."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import NamedTuple

_OOXML = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"


class DocumentKind(NamedTuple):
    """A kind of document: the module of this package that converts it has a function `convert(data, page)`."""

    name: str  # as the user reads it
    module: str  # below pycrawl.convert
    package: str = ""  # that the module needs; empty: none
    signature: bytes = b""  # a regular expression that its first kilobyte must match; empty: any


# Regular expressions for the first bytes.
PDF_SIGNATURE = rb"\s{0,1000}%PDF-"
ZIP_SIGNATURE = rb"PK(?:\x03\x04|\x05\x06)"
OLE_SIGNATURE = rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # files of Office before 2007
RTF_SIGNATURE = rb"\s{0,1000}\{\\rtf"
_SIGNATURES = b"|".join((PDF_SIGNATURE, ZIP_SIGNATURE, OLE_SIGNATURE, RTF_SIGNATURE))

_PDF = DocumentKind("PDF", "pdf", "pypdfium2", rb"(?s).{0,1000}%PDF-")  # readers of PDF allow rubbish before it
_WORD = DocumentKind("Word", "word", "lxml", ZIP_SIGNATURE)
_SLIDES = DocumentKind("PowerPoint", "slides", "lxml", ZIP_SIGNATURE)
_SHEETS = DocumentKind("Excel", "sheets", "python_calamine", ZIP_SIGNATURE + b"|" + OLE_SIGNATURE)
_ODF_TEXT = DocumentKind("OpenDocument", "opendocument", "lxml", ZIP_SIGNATURE)
_RTF = DocumentKind("RTF", "rtf", "", RTF_SIGNATURE)
_EPUB = DocumentKind("EPUB", "epub", "lxml", ZIP_SIGNATURE)
_CSV = DocumentKind("CSV", "csv_table")
_MARKDOWN = DocumentKind("Markdown", "markdown")
_XML = DocumentKind("XML", "xml_text", "lxml")
_JSON_LD = DocumentKind("JSON-LD", "json_ld")
_MAIL = DocumentKind("e-mail", "mail", "lxml")
_OLD_WORD = DocumentKind("old Word", "old_office", "", OLE_SIGNATURE)

KINDS = {
    "application/pdf": _PDF,
    "application/x-pdf": _PDF,
    f"{_OOXML}.wordprocessingml.document": _WORD,
    f"{_OOXML}.wordprocessingml.template": _WORD,
    "application/vnd.ms-word.document.macroenabled.12": _WORD,
    f"{_OOXML}.presentationml.presentation": _SLIDES,
    f"{_OOXML}.presentationml.slideshow": _SLIDES,
    "application/vnd.ms-powerpoint.presentation.macroenabled.12": _SLIDES,
    f"{_OOXML}.spreadsheetml.sheet": _SHEETS,
    "application/vnd.ms-excel.sheet.macroenabled.12": _SHEETS,
    "application/vnd.ms-excel.sheet.binary.macroenabled.12": _SHEETS,
    "application/vnd.ms-excel": _SHEETS,
    f"{_ODF}.text": _ODF_TEXT,
    f"{_ODF}.presentation": _ODF_TEXT,
    f"{_ODF}.spreadsheet": _ODF_TEXT,
    "application/rtf": _RTF,
    "text/rtf": _RTF,
    "application/epub+zip": _EPUB,
    "text/csv": _CSV,
    "text/tab-separated-values": _CSV,
    "text/markdown": _MARKDOWN,
    "application/xml": _XML,
    "text/xml": _XML,
    "application/docbook+xml": _XML,
    "application/ld+json": _JSON_LD,
    "message/rfc822": _MAIL,
    "application/mbox": _MAIL,
    "application/msword": _OLD_WORD,
    "application/vnd.ms-powerpoint": _OLD_WORD,
}
DOCUMENT_TYPES = frozenset(KINDS)
OLD_OFFICE_TOOLS = {"word": ("antiword", "catdoc"), "slides": ("catppt",)}  # programs; the first one found is taken
INSTALL = "pip install 'pycrawl[documents]'"


def kind_of_type(media_type: str) -> DocumentKind | None:
    """Returns the kind of documents that are served as this media type; None: no document."""
    return KINDS.get(media_type)


def could_be(kind: DocumentKind, data: bytes) -> bool:
    """True if the bytes begin as a document of this kind does, or as one of another kind: servers mix them up, and the
    converter finds out which it is."""
    return not kind.signature or re.match(kind.signature + b"|" + _SIGNATURES, data[:1024]) is not None


def is_installed(kind: DocumentKind) -> bool:
    """True if the package that this kind needs is there."""
    return not kind.package or find_spec(kind.package) is not None
