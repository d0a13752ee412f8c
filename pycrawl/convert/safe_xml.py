"""XML and HTML of strangers, read as a stream of events: no tree is kept, nothing is loaded from elsewhere.

libxml2 itself refuses entities that grow beyond measure, names and texts of more than 10 MB, and external entities are
never read: their places stay empty.
"""

from __future__ import annotations

import re
from html.entities import name2codepoint
from typing import Any

from lxml import etree

from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible

Element = Any  # lxml has no types
_PIECE = 1 << 16  # bytes between two looks at the clock
_LARGEST_TREE = 8 << 20  # bytes of XML that are read as a tree
_SAFE = {"resolve_entities": "internal", "no_network": True, "huge_tree": False, "load_dtd": False}
_NAMED_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9._-]{1,60});")
_DECLARED_ENTITY = re.compile(rb"<!ENTITY\s{1,100}([A-Za-z][A-Za-z0-9._-]{1,60})\s{1,100}(\S)")
_DOCTYPE_BYTES = 200_000  # in which a document declares its own entities
_XML_ENTITIES = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))


class Target:
    """Gets the events of a parser; names are "{namespace}local" as lxml has them, `local_name` cuts them."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, tag: str) -> None:
        """An element ends."""

    def data(self, text: str) -> None:
        """A piece of text, at its place."""

    def close(self) -> None:
        """The document has ended."""


def read_xml(data: bytes, target: Target, page: SimplePage, *, recover: bool = False) -> None:
    """Send what the XML holds to `target`. With `recover`, what is not well-formed is read as far as it makes sense."""
    _feed(etree.XMLParser(target=target, remove_comments=True, remove_pis=True, recover=recover, **_SAFE), data, page)


def read_html(data: bytes, target: Target, page: SimplePage, charset: str | None = None) -> None:
    """Send what the HTML holds to `target`."""
    parser = etree.HTMLParser(target=target, remove_comments=True, remove_pis=True, no_network=True, encoding=charset)
    _feed(parser, data, page)


def tree(data: bytes) -> Element:
    """Returns the root of a small file of XML."""
    if len(data) > _LARGEST_TREE:
        raise Unconvertible(Trouble.TOO_LARGE, f"{len(data)} bytes of XML where few are usual")
    try:
        return etree.fromstring(data, etree.XMLParser(remove_comments=True, remove_pis=True, **_SAFE))
    except etree.XMLSyntaxError as error:
        raise _named(error) from error


def known_entities(data: bytes) -> bytes:
    """Returns XML in which each entity is known that only its DTD, which is not read, would explain: those of HTML by
    their numbers, others, such as &kate; in the manual of that program, by their names as text."""
    own = {match[1]: match[2] for match in _DECLARED_ENTITY.finditer(data[:_DOCTYPE_BYTES])}

    def known(match: re.Match[bytes]) -> bytes:
        name = match[1]
        if name in _XML_ENTITIES:
            return match[0]
        if name in own:
            return match[0] if own[name] in b"\"'" else b""  # another file is not read: its place stays empty
        number = name2codepoint.get(name.decode())
        if number:
            return b"&#%d;" % number
        begins = match.start()  # no space stands between two keys in a row
        return (b" " if data[begins - 1 : begins] == b";" else b"") + re.sub(rb"[._]", b" ", name)

    return _NAMED_ENTITY.sub(known, data)


def local_name(tag: str) -> str:
    return tag.rpartition("}")[2]


def local_attributes(attributes: dict[str, str]) -> dict[str, str]:
    """Returns the attributes by their names without namespaces."""
    return {local_name(name): value for name, value in attributes.items()}


def _feed(parser: Any, data: bytes, page: SimplePage) -> None:
    try:
        for begin in range(0, len(data), _PIECE):
            page.check()
            parser.feed(data[begin : begin + _PIECE])
        parser.close()
    except etree.XMLSyntaxError as error:
        raise _named(error) from error


def _named(error: Exception) -> Unconvertible:
    is_bomb = "amplification" in str(error) or "huge" in str(error).casefold()
    return Unconvertible(Trouble.TOO_LARGE if is_bomb else Trouble.DAMAGED, str(error))
