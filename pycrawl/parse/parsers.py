"""The seam of parsers: a body of some media type into one `Parsed`.

HTML and text are read here, PDF, Office and other documents by way of HTML (`documents.py`). Other media types are read
by plugins (entry points of the group "pycrawl.parsers"); an exact type of a plugin comes before documents and "text/*".
What nobody reads is stored unread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pycrawl.convert.converter import Converter
from pycrawl.parse.charset import Charset, read
from pycrawl.parse.documents import DocumentParser, readable_kind
from pycrawl.parse.feed_types import media_type_of
from pycrawl.parse.html import parse_html
from pycrawl.parse.parsed import Anchors, Parsed
from pycrawl.plugins.guard import PluginFailed, guarded

MOST_LINKS = 100_000  # of one document, as a plugin may give them
MOST_TEXT = 50_000_000  # characters, likewise
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_BUILT_IN = (*_HTML_TYPES, "text/plain")


class Body(NamedTuple):
    """What a server sent."""

    url: str
    content_type: str  # the header, with its parameters
    data: bytes  # after transfer and content decoding
    flags: int | None = None  # what `native.body_scan.scan_body` found in the data, if it was asked


class Wanted(NamedTuple):
    """What is wanted of a body beside its links, and for whom."""

    agent: str = "robots"  # the robot's name: what a page says to it counts like what it says to all robots
    text: bool = False
    main_content: str = ""  # the method by which it is found; empty: it is not wanted
    anchors: bool = False  # the texts and places of links


class Parser(Protocol):
    """A parser reads bodies of some media types. It gets any bytes, and must be done within five seconds."""

    @property
    def media_types(self) -> Sequence[str]:
        """The types it reads: "application/x-bibtex"."""

    def parse(self, body: Body, wanted: Wanted) -> Parsed: ...


class HtmlParser:
    media_types = _HTML_TYPES

    def parse(self, body: Body, wanted: Wanted) -> Parsed:
        return parse_html(
            body.data, body.content_type, wanted.agent, wanted.text, wanted.main_content, wanted.anchors, body.flags
        )


class TextParser:
    media_types = ("text/*",)

    def parse(self, body: Body, wanted: Wanted) -> Parsed:
        if not wanted.text and not wanted.main_content:
            return Parsed()
        text, charset = read(body.data, body.content_type)
        return Parsed(text=text, charset=charset)


class PluginParser:
    """A parser of another package: its calls are bounded, and what it returns is looked at before it is used."""

    def __init__(self, name: str, parser: Any) -> None:
        self.name = name
        self.media_types = tuple(kind.lower() for kind in guarded(name, _types_of, parser))
        self._parser = parser

    def parse(self, body: Body, wanted: Wanted) -> Parsed:
        """Raises PluginFailed."""
        parsed: Parsed = guarded(self.name, lambda: _checked(self._parser.parse(body, wanted)))
        return parsed


def _types_of(parser: Any) -> list[str]:
    types = list(parser.media_types)
    if not all(isinstance(one, str) for one in types) or not callable(parser.parse):
        raise TypeError("a parser has media_types (strings) and a method parse")
    return types


def _checked(parsed: Any) -> Any:
    """What a plugin returned, if it can be used; else a TypeError or ValueError says what was expected."""
    if not isinstance(parsed, Parsed):
        raise TypeError(f"expected a Parsed, found a {type(parsed).__name__}")
    found: Any = parsed
    if not all(isinstance(some, list) for some in (found.hrefs, found.nofollow_hrefs, found.feed_hrefs)):
        raise TypeError("expected hrefs, nofollow_hrefs and feed_hrefs to be lists")
    links = [*found.hrefs, *found.nofollow_hrefs, *found.feed_hrefs]
    strings = (found.text, found.title, found.language, found.base_href, *links, *found.robots)
    if not all(isinstance(text, str) for text in strings) or not isinstance(found.robots, frozenset):
        raise TypeError("expected texts and links that are strings, and a frozenset of words in robots")
    if not isinstance(found.content_utf8, bytes | None) or not isinstance(found.charset, Charset):
        raise TypeError("expected content_utf8 to be bytes or None, and charset to be a Charset")
    if not isinstance(found.charset.declared, str) or not isinstance(found.charset.used, str):
        raise TypeError("expected the names of a Charset to be strings")
    if not isinstance(found.anchors, Anchors | None) or not _are_anchors(found.anchors):
        raise TypeError("expected anchors to be an Anchors with columns of one length, or None")
    if len(links) > MOST_LINKS or sum(map(len, strings)) + len(found.content_utf8 or b"") > MOST_TEXT:
        raise ValueError(f"expected at most {MOST_LINKS:,} links and {MOST_TEXT:,} characters")
    for text in strings:
        text.encode()  # half a surrogate pair could be neither stored nor hashed
    return found


def _are_anchors(anchors: Any) -> bool:
    if anchors is None:
        return True
    if not isinstance(anchors.hrefs, list) or not all(isinstance(part, bytes) for part in anchors[1:]):
        return False
    "".join(anchors.hrefs).encode()  # raises for what is no text, or half a surrogate pair
    anchors.texts.decode()
    return bool(anchors.are_well_formed)


class Parsers:
    """Finds the parser of a body. Plugins are looked up when a type is met that is not read here."""

    def __init__(self, plugin_settings: Mapping[str, Mapping[str, Any]]) -> None:
        self._settings = plugin_settings
        self.html = HtmlParser()
        self._text = TextParser()
        self._plugins: dict[str, PluginParser] | None = None  # by media type; None: not looked up yet
        self._broken: dict[str, str] = {}  # plugins that could not be made → why
        self._converter = Converter()

    def find(self, content_type: str, data: bytes) -> Parser | None:
        """Who reads a body with this Content-Type; None: nobody. A body without one is HTML if it starts like it."""
        media_type = media_type_of(content_type)
        if media_type in _HTML_TYPES or (not media_type and data.lstrip()[:1] == b"<"):
            return self.html
        if media_type not in _BUILT_IN and media_type:
            plugin = self._by_type().get(media_type)
            if plugin is not None:
                return plugin
            kind = readable_kind(media_type)
            if kind is not None:
                return DocumentParser(media_type, kind, self._converter)
        return self._text if media_type.startswith("text/") else None

    def parse(self, body: Body, wanted: Wanted) -> Parsed:
        """The body as its parser reads it; an empty `Parsed` if nobody does. Raises PluginFailed."""
        parser = self.find(body.content_type, body.data)
        return Parsed() if parser is None else parser.parse(body, wanted)

    def close(self) -> None:
        """End the process that documents are converted in, if there is one."""
        self._converter.close()

    def _by_type(self) -> dict[str, PluginParser]:
        if self._plugins is None:
            self._plugins = {}
            for parser in self._installed():
                for media_type in parser.media_types:
                    self._plugins.setdefault(media_type, parser)
        return self._plugins

    def _installed(self) -> list[PluginParser]:
        from pycrawl.plugins import registry

        parsers = []
        for name, point in registry.installed(registry.PARSERS).items():
            try:
                parsers.append(PluginParser(name, registry.make(point, self._settings)))
            except PluginFailed as failed:
                self._broken[name] = str(failed)
        return parsers

    @property
    def broken(self) -> Mapping[str, str]:
        """Plugins that are installed and could not be made, with the reason."""
        self._by_type()
        return self._broken
