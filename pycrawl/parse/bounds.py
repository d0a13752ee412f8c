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
HARMLESS_TAGS = 2_000  # that begin an element

# Within these it takes no longer either. Regular expressions find them out, in about the time the builder needs.
_PLAIN_TAGS = 20_000  # that begin an element
_PLAIN_STEPS = 400_000_000  # end tags, each of which may have to look at all open elements
_PLAIN_ATTRIBUTES = 24  # of one tag
_SHORT_ATTRIBUTES = 2 * _PLAIN_ATTRIBUTES  # characters; no more attributes stand in these
_PLAIN_REOPENED = 400_000  # formatting elements with attributes that are open, added up over all tags
_PLAIN_MERGED = 4  # <html> and <body> tags
_LONGEST_FORMATTING = 2_000  # characters; what is open for longer counts as never closed

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
_FORMATTING_NAMES = "b|i|u|s|em|tt|big|code|font|nobr|small|strike|strong"
_RAW = "script|style|title|textarea|xmp|iframe|noembed|noframes"
_COMMENT = r"!--[^-]*+(?:-(?!-!?>)[^-]*+)*+"
# What the standard's tokenizer would see: comments; elements whose content is text, with it; start tags; end tags.
# Only names are looked at without case: where everything is, each character takes twice as long.
_TOKEN = re.compile(
    rf"<(?=[!/a-zA-Z])(?:{_COMMENT}"
    rf"|(?P<raw>(?i:{_RAW}))(?!{_NAME})(?:{_ATTRIBUTE})*+[\t\n\f\r /]*+>[^<]*+(?:<(?!/(?i:(?P=raw)))[^<]*+)*+"
    rf"|(?P<slash>/?)(?P<name>[a-zA-Z]{_NAME}*+)(?P<attributes>(?:{_ATTRIBUTE})*+)"
    r")"
)
_COMMON = "a|p|div|span|li|ul|ol|td|th|tr|dd|dt|dl|pre|table|tbody|thead|br|hr|h[1-6]|img"  # need no other look
_PLAIN_REST = rf"(?:{_ATTRIBUTE}){{0,{_PLAIN_ATTRIBUTES}}}+[\t\n\f\r /]*+>"
_TEXT_IN_FORMATTING = "|".join(
    rf"{name}(?:>|(?=[\t\n\f\r /]){_PLAIN_REST})[^<]*+</{name}>" for name in ("code", "em", "strong", "b", "i", "tt")
)
# Text, comments, formatting elements with nothing but text in them, and other tags, up to one that has many attributes
# or that another look must be taken at.
_PLAIN = re.compile(
    rf"(?:[^<]++|<(?:/?+(?:{_COMMON})(?:>|(?=[\t\n\f\r /]){_PLAIN_REST})"
    rf"|{_TEXT_IN_FORMATTING}|{_COMMENT}"
    rf"|(?!(?i:{_RAW}|html|body|/?+(?:{_FORMATTING_NAMES}))(?!{_NAME}))/?+[a-zA-Z]{_NAME}*+{_PLAIN_REST}"
    r"))*+"
)
# Behind these, an end tag does not reach the formatting elements before them.
_MARKER = re.compile("<(?:td|th|caption|applet|object|marquee|template)", re.IGNORECASE)
_ATTRIBUTES = re.compile(_ATTRIBUTE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never open for long: elements without content, and those that the next of their kind ends.
_FLAT = _words(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr p li option "
    "td th tr tbody thead tfoot a"
)
_FORMATTING = frozenset(_FORMATTING_NAMES.split("|"))
_MERGED = ("html", "body")  # all tags of these give their attributes to one element


def bounded(text: str) -> str:
    """The text, or as much of its beginning as the tree builder can take in about a second."""
    tags = text.count("<")
    is_short = len(text) <= HARMLESS_LENGTH
    if is_short and tags <= HARMLESS_TAGS:
        return text
    ends = text.count("</")
    starts = tags - ends  # at most
    if is_short and starts <= HARMLESS_TAGS:
        return text
    if starts <= _PLAIN_TAGS and starts * ends <= _PLAIN_STEPS and _is_plain(text):
        return text
    return text[: _affordable(text)]


def _is_plain(text: str) -> bool:
    """Few attributes everywhere, and few formatting elements left open. Only the tags that matter are stopped at."""
    formatting = _OpenFormatting(text)
    position = merged = 0
    while (found := _end(_PLAIN.match(text, position))) < len(text):
        formatting.count_tags(position, found)
        token = _TOKEN.match(text, found)
        if token is None:
            position = found + 1  # a "<" that stands for itself
            continue
        position = token.end()
        if (name := token["name"]) is not None:
            name = name.lower()
            start, end = token.span("attributes")
            if name in _FORMATTING:
                formatting.take_in(name, bool(token["slash"]), start < end, found)
            merged += name in _MERGED
            if end - start > _SHORT_ATTRIBUTES and _count_attributes(text, start, end) > _PLAIN_ATTRIBUTES:
                return False
        if merged > _PLAIN_MERGED or formatting.reopened > _PLAIN_REOPENED:
            return False
    formatting.count_tags(position, len(text))
    return formatting.reopened <= _PLAIN_REOPENED


class _OpenFormatting:
    """Formatting elements with attributes: each that is open at a tag may have to be opened again there.

    Of those without attributes the builder keeps no more than three alike.
    """

    __slots__ = ("_count", "_opened", "_text", "reopened")

    def __init__(self, text: str) -> None:
        self._text = text
        self._opened: dict[str, list[int]] = {}  # where, by name
        self._count = 0
        self.reopened = 0

    def count_tags(self, start: int, end: int) -> None:
        if self._count:
            self.reopened += self._count * (1 + self._text.count("<", start, end))

    def take_in(self, name: str, is_end: bool, has_attributes: bool, place: int) -> None:
        opened = self._opened.setdefault(name, [])
        if not is_end:
            opened.append(place if has_attributes else -1)
            self._count += has_attributes
        elif opened:
            start = opened.pop()
            if start >= 0 and place - start <= _LONGEST_FORMATTING:
                self._count -= _MARKER.search(self._text, start, place) is None


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
