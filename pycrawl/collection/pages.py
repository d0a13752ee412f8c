"""Reads the records of a collection, and parses their bodies: the part of a `Document` that is done when it is asked
for. It needs no database, so worker processes read pages with it too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pycrawl.config import Config
from pycrawl.errors import PycrawlError, StoreError
from pycrawl.record import trec_web
from pycrawl.record.trec_web import Record
from pycrawl.state.document_rows import DocumentRow
from pycrawl.store.reader import RecordReader
from pycrawl.urls.normal_form import UrlRules, normalise

if TYPE_CHECKING:
    from pycrawl.parse.parsed import Parsed
    from pycrawl.parse.parsers import Parsers


class Link(NamedTuple):
    """A link on a page."""

    url: str | None  # resolved and in normal form; None if it has none, as "mailto:…"
    href: str  # as it stands on the page
    anchor: str  # its text
    nofollow: bool  # it asks not to be followed


class Pages:
    """The records below `docs`, read and parsed by the settings of the crawl."""

    def __init__(self, docs: Path, config: Config) -> None:
        self._reader = RecordReader(docs)
        self._config = config
        self._rules = UrlRules.of(config)
        self._parsers: Parsers | None = None  # loaded with the first page that is parsed

    def stored(self, row: DocumentRow) -> bytes:
        """Returns a document's record as it lies in its compound file, compressed if the store is."""
        document = row.document
        return self._reader.read_stored(row.file_name, document.offset, document.length)

    def record(self, row: DocumentRow) -> Record:
        """Returns a document's record taken apart. Raises StoreError, which names the document."""
        document = row.document
        try:
            record = self._reader.read(row.file_name, document.offset, document.length)
            return trec_web.decode(record, document.escapes, document.body_length)
        except StoreError as error:
            raise StoreError(f"{row.url}: {error}") from None

    def parse(self, row: DocumentRow, body: bytes, anchors: bool) -> Parsed:
        """Returns what the parser of the document's type reads off its body: text, main content, title, language, and
        links; their texts only where `anchors` are asked for. It is empty if nobody reads the type."""
        from pycrawl.parse.parsers import Body, Parsers, Wanted
        from pycrawl.plugins.guard import PluginFailed

        if self._parsers is None:
            self._parsers = Parsers(self._config.plugins)
        wanted = Wanted(text=True, main_content=self._config.content.main_content, anchors=anchors)
        try:
            return self._parsers.parse(Body(row.url, row.document.content_type, body), wanted)
        except PluginFailed as failed:
            raise PycrawlError(f"{row.url}: the plugin {failed}") from None

    def has_parser(self, row: DocumentRow, body: bytes) -> bool:
        """True if somebody reads bodies of the document's type."""
        from pycrawl.parse.parsers import Parsers

        if self._parsers is None:
            self._parsers = Parsers(self._config.plugins)
        return self._parsers.find(row.document.content_type, body) is not None

    def links(self, url: str, parsed: Parsed) -> list[Link]:
        """Returns the links of a page that was parsed with `anchors`, in the order of the page; those that ask not to
        be followed come last."""
        base = (normalise(parsed.base_href, self._rules, url) if parsed.base_href else url) or url
        return [
            Link(normalise(href, self._rules, base), href, parsed.anchors.get(href, ""), nofollow)
            for hrefs, nofollow in ((parsed.hrefs, False), (parsed.nofollow_hrefs, True))
            for href in hrefs
        ]

    def close(self) -> None:
        self._reader.close()
