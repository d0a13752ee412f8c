"""Word and PowerPoint files from before 2007: known, kept as they were served, but nothing here reads them."""

from __future__ import annotations

from pycrawl.convert.archive import refuse_ole
from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible


def convert(data: bytes, page: SimplePage) -> None:
    if "EncryptedPackage".encode("utf-16-le") in data:
        refuse_ole(data)
    raise Unconvertible(Trouble.NO_CONVERTER, "files of Office before 2007 are not read")
