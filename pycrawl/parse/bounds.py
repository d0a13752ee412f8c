"""Keeps hostile markup from the tree builder, which takes time that grows with the square of some things.

Measured: 20,000 nested `<div>`s 0.6 s; 20,000 attributes of one tag 1.3 s; 33 KB of formatting elements left open in
closed paragraphs, which each further paragraph must open again, 6 s and 1.4 GB. So pages beyond what is harmless in the
worst case are walked through tag by tag, adding up what the builder will have to do, and cut where it is too much.
"""

from __future__ import annotations

import re
from itertools import islice

# Within both a text takes the builder at most some 1.4 s, most hostile; such pages pay for no more than two look-ups.
HARMLESS_LENGTH = 100_000  # characters
HARMLESS_TAGS = 2_000

# Within these it takes no longer either. Regular expressions alone find them out, in about the time the builder needs.
_PLAIN_TAGS = 8_000
_PLAIN_ATTRIBUTES = 24  # of one tag
_PLAIN_REOPENED = 400_000  # formatting elements with attributes times tags
_PLAIN_MERGED = 4  # <html> and <body> tags

# The unit of work is one step over the stack of open elements, some 3 ns.
MAX_WORK = 250_000_000
_WORK_OF_TAG = 350  # makes and keeps a node
_WORK_OF_REOPENING = 500  # makes a copy of a formatting element
_WORK_OF_ATTRIBUTE = 250
_WORK_OF_CHARACTER = 40  # of attributes that are not counted; the shortest attribute has about three

_SHORT_TAG = 128  # characters; the attributes of shorter tags are not worth counting
_MANY_ATTRIBUTES = 16_000  # their square is more than MAX_WORK

_SPACE = r"[\t\n\f\r ]"
_NAME = r"[^\t\n\f\r />]"
_ATTRIBUTE = (
    r"[\t\n\f\r /]*+[^\t\n\f\r />][^\t\n\f\r />=]*+"
    rf"(?:{_SPACE}*+={_SPACE}*+(?:\"[^\"]*+\"|'[^']*+'|[^\t\n\f\r >\"'][^\t\n\f\r >]*+)?+)?+"
)
_RAW = "script|style|title|textarea|xmp|iframe|noembed|noframes"
_COMMENT = r"!--[^-]*+(?:-(?!-!?>)[^-]*+)*+"
# What the standard's tokenizer would see: comments; elements whose content is text, with it; start tags; end tags.
_TOKEN = re.compile(
    rf"<(?=[!/a-z])(?:{_COMMENT}"
    rf"|(?P<raw>{_RAW})(?!{_NAME})(?:{_ATTRIBUTE})*+[\t\n\f\r /]*+>[^<]*+(?:<(?!/(?P=raw))[^<]*+)*+"
    rf"|(?P<slash>/?)(?P<name>[a-z]{_NAME}*+)(?P<attributes>(?:{_ATTRIBUTE})*+)"
    r")",
    re.IGNORECASE,
)
# Text, comments and tags up to one that has many attributes, or that another look must be taken at.
_PLAIN = re.compile(
    rf"(?:[^<]++|<(?:{_COMMENT}"
    rf"|(?!(?:{_RAW}|html|body)(?!{_NAME}))/?+[a-z]{_NAME}*+(?:{_ATTRIBUTE}){{0,{_PLAIN_ATTRIBUTES}}}+[\t\n\f\r /]*+>"
    r"))*+",
    re.IGNORECASE,
)
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_FORMATTING_WITH_ATTRIBUTES = re.compile(
    rf"<(?:b|i|u|s|em|tt|big|code|font|nobr|small|strike|strong)(?:{_SPACE}|/)", re.IGNORECASE
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never open for long: elements without content, and those that the next of their kind ends.
_FLAT = _words(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr p li option "
    "td th tr tbody thead tfoot a"
)
_FORMATTING = _words("b big code em font i nobr s small strike strong tt u")
_MERGED = ("html", "body")  # all tags of these give their attributes to one element


def bounded(text: str) -> str:
    """The text, or as much of its beginning as the tree builder can take in about a second."""
    tags = text.count("<")
    if _nests_little(text, tags) and (len(text) <= HARMLESS_LENGTH or _has_plain_tags(text)):
        return text
    return text[: _affordable(text)]


def _nests_little(text: str, tags: int) -> bool:
    if tags <= HARMLESS_TAGS:
        return True
    return tags <= _PLAIN_TAGS and tags * len(_FORMATTING_WITH_ATTRIBUTES.findall(text)) <= _PLAIN_REOPENED


def _has_plain_tags(text: str) -> bool:
    position = merged = 0
    while (position := _end(_PLAIN.match(text, position))) < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            position += 1  # a "<" that stands for itself
            continue
        name, attributes = token["name"], token.span("attributes")
        if name is not None:
            merged += name.lower() in _MERGED
            if merged > _PLAIN_MERGED or _count_attributes(text, *attributes) > _PLAIN_ATTRIBUTES:
                return False
        position = token.end()
    return True


def _end(match: re.Match[str] | None) -> int:
    assert match is not None  # the expression matches the empty string
    return match.end()


def _affordable(text: str) -> int:
    """Where the work of the tree builder exceeds its bound; the length of the text if it does not."""
    work = depth = formatting = merged = 0
    opened: dict[str, int] = {}
    for token in _TOKEN.finditer(text):
        name = token["name"]
        if name is None:
            continue
        name = name.lower()
        if token["slash"]:
            if opened.get(name):
                opened[name] -= 1
                depth -= 1
                formatting -= name in _FORMATTING
        elif name not in _FLAT:
            opened[name] = opened.get(name, 0) + 1
            depth += 1
            formatting += name in _FORMATTING
        start, end = token.span("attributes")
        if name in _MERGED:
            count = _count_attributes(text, start, end)
            merged += count
            work += count * (_WORK_OF_ATTRIBUTE + merged)
        elif end - start > _SHORT_TAG:
            count = _count_attributes(text, start, end)
            work += count * (_WORK_OF_ATTRIBUTE + count)
        else:
            work += (end - start) * _WORK_OF_CHARACTER
        work += _WORK_OF_TAG + depth + _WORK_OF_REOPENING * formatting
        if work > MAX_WORK:
            return token.start()
    return len(text)


def _count_attributes(text: str, start: int, end: int) -> int:
    return sum(1 for _ in islice(_ATTRIBUTES.finditer(text, start, end), _MANY_ATTRIBUTES))
