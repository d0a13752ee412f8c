"""XML from strangers, as a stream of bounded size, depth and number of elements, and without entities."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any
from xml.parsers import expat

MOST_BYTES = 52_428_800  # of a document, after decompression: the limit of the sitemap protocol
_CHUNK = 1 << 16  # bytes that are decompressed or parsed at once
_DEEPEST = 100  # elements inside each other
_MOST_ELEMENTS = 2_000_000
_GZIP_MAGIC = b"\x1f\x8b"
_ZLIB_GZIP = 31  # zlib's way to ask for a gzip wrapper with the largest window
_BLANKS = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"
_DOCTYPE_LOOKED_AT = 4_096  # bytes

OnStart = Callable[[str, dict[str, str]], None]
OnEnd = Callable[[str], None]
OnText = Callable[[str], None]


class Unreadable(Exception):
    """A document cannot be read on. `word` names the fault, for people and for tests."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


def chunks(data: bytes, most: int = MOST_BYTES) -> Iterator[bytes]:
    """Yields the document in small pieces, decompressed where it is gzip. Raises Unreadable where the gzip breaks, or
    when `most` bytes have been yielded and there are more."""
    left = most
    for piece in _decompressed(data) if data[:2] == _GZIP_MAGIC else _cut(data):
        if len(piece) > left:
            yield piece[:left]
            raise Unreadable("too-large")
        left -= len(piece)
        yield piece


def _cut(data: bytes) -> Iterator[bytes]:
    for begin in range(0, len(data), _CHUNK):
        yield data[begin : begin + _CHUNK]


def _decompressed(data: bytes) -> Iterator[bytes]:
    """Yields at most `_CHUNK` bytes at a time, whatever the data would grow to. Members may follow one another."""
    rest = data
    while rest[:2] == _GZIP_MAGIC:
        stream = zlib.decompressobj(_ZLIB_GZIP)
        while not stream.eof:
            try:
                piece = stream.decompress(rest, _CHUNK)
            except zlib.error:
                raise Unreadable("bad-gzip") from None
            rest = stream.unconsumed_tail
            if not piece and not rest and not stream.eof:
                raise Unreadable("bad-gzip")  # it ends too early
            yield piece
        rest = stream.unused_data


def local(name: str) -> str:
    """Returns the name of an element without its prefix, in lower case: namespaces are often wrong."""
    return name.rpartition(":")[2].lower()


def parse(pieces: Iterator[bytes], on_start: OnStart, on_end: OnEnd, on_text: OnText) -> None:
    """Call the handlers for the elements of a document; names come without their prefixes, in lower case.

    Raises Unreadable where the document is no XML, declares entities, or passes a bound; what the handlers were told
    before that holds.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    counts = _Counts()

    def start(name: str, attributes: dict[str, str]) -> None:
        counts.enter()
        on_start(local(name), attributes)

    def end(name: str) -> None:
        counts.depth -= 1
        on_end(local(name))

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = on_text
    parser.EntityDeclHandler = _refuse_entities
    parser.StartDoctypeDeclHandler = _look_at_doctype
    is_first = True
    try:
        for piece in pieces:
            if is_first:
                piece = piece.removeprefix(_BOM).lstrip(_BLANKS)
                is_first = not piece
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError):  # the last two: an encoding that there is not
        raise Unreadable("broken-xml") from None


class _Counts:
    """How deep in the document the reader is, and how many elements it has met."""

    __slots__ = ("depth", "elements")

    def __init__(self) -> None:
        self.depth = 0
        self.elements = 0

    def enter(self) -> None:
        self.depth += 1
        self.elements += 1
        if self.depth > _DEEPEST:
            raise Unreadable("too-deep")
        if self.elements > _MOST_ELEMENTS:
            raise Unreadable("too-many-elements")


def _refuse_entities(*_: Any) -> None:
    raise Unreadable("entities")


def _look_at_doctype(name: str, system_id: str | None, public_id: str | None, has_subset: int) -> None:
    if name.lower() == "html":
        raise Unreadable("html")
