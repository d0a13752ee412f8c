"""Plain text: its charset, its paragraphs, and the addresses that stand in it."""

from __future__ import annotations

import codecs
import re

from pycrawl.convert.blocks import Runs
from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_BLANK_LINES = re.compile(r"\n[ \t]*\n")
_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\]{1,2000}", re.IGNORECASE)
_NOT_AT_THE_END = ".,;:!?)]}*_"


def decoded(data: bytes) -> str:
    """Returns bytes as text: by their mark, else as UTF-8, else as Windows-1252. Raises Unconvertible if it is none."""
    for mark, charset in _MARKS:
        if data.startswith(mark):
            return data.decode(charset, "replace")
    if b"\0" in data:
        raise Unconvertible(Trouble.DAMAGED, "it is not text")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def write_paragraphs(text: str, page: SimplePage) -> None:
    """Write text whose paragraphs end with blank lines."""
    for paragraph in _BLANK_LINES.split(text.replace("\r\n", "\n")):
        if paragraph.strip():
            page.runs(with_addresses(" ".join(paragraph.split())))


def with_addresses(text: str) -> Runs:
    """Returns the text in pieces, the addresses in it as links."""
    runs: Runs = []
    done = 0
    for match in _ADDRESS.finditer(text):
        address = match[0].rstrip(_NOT_AT_THE_END)
        end = match.start() + len(address)
        runs += [(text[done : match.start()], ""), (address, address)]
        done = end
    runs.append((text[done:], ""))
    return [run for run in runs if run[0]]
