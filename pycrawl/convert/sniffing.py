"""Which converter reads a document: the one that its served type names, unless its bytes are signed otherwise."""

from __future__ import annotations

import re

from pycrawl.convert.archive import Archive
from pycrawl.convert.kinds import OLE_SIGNATURE, PDF_SIGNATURE, RTF_SIGNATURE, ZIP_SIGNATURE

_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument."
_FOLDERS = (("word/", "word"), ("ppt/", "slides"), ("xl/", "sheets"), ("META-INF/container.xml", "epub"))
_IN_OLE = (("WordDocument", "old_office"), ("PowerPoint Document", "old_office"), ("Workbook", "sheets"))


def module_of(served: str, data: bytes) -> str:
    """Returns the module that converts these bytes; `served` is the one that the media type names. Raises
    Unconvertible for an archive that cannot be opened."""
    if re.match(PDF_SIGNATURE, data):
        return "pdf"
    if re.match(RTF_SIGNATURE, data):
        return "rtf"
    if re.match(ZIP_SIGNATURE, data):
        return _in_archive(served, Archive(data))
    if re.match(OLE_SIGNATURE, data):
        return next((module for name, module in _IN_OLE if name.encode("utf-16-le") in data), served)
    return served


def _in_archive(served: str, archive: Archive) -> str:
    if "mimetype" in archive.names and archive.read("mimetype").startswith(_OPEN_DOCUMENT):
        return "opendocument"
    for begin, module in _FOLDERS:
        if any(name.startswith(begin) for name in archive.names):
            return module
    return served
