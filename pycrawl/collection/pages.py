"""Reads the records of a collection, and parses their bodies: the part of a `Document` that is done when it is asked
for. It needs no database as long as records stay where they are, so worker processes read pages with it too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pycrawl.config import Config
from pycrawl.errors import PycrawlError, StoreError
from pycrawl.record import trec_web
from pycrawl.record.trec_web import Record
from pycrawl.state.document_rows import DocumentRow
from pycrawl.store.compound import docno_of
from pycrawl.store.reader import RecordReader
from pycrawl.urls import link_flags
from pycrawl.urls.normal_form import UrlRules, normalise

if TYPE_CHECKING:
    from pycrawl.parse.parsed import Parsed
    from pycrawl.parse.parsers import Parsers


CONTENT, FRAME = "content", "frame"  # where a link stands: in the main content of its page, or not
_MOST_MOVES = 8  # how often a record is looked for at its next place, before it counts as damaged
_HEAD_BYTES = 200  # of a stored record: its first member, which is not deflated, ends within these

T = TypeVar("T")


class Link(NamedTuple):
    """A link on a page."""

    url: str | None  # resolved and in normal form; None if it has none, as "mailto:…"
    href: str  # as it stands on the page
    anchor: str  # its text, of which 200 bytes are kept; empty if it has none
    nofollow: bool  # it asks not to be followed
    rel: list[str]  # "nofollow", "sponsored", "ugc"
    place: str  # CONTENT or FRAME


class Pages:
    """The records below `docs`, read and parsed by the settings of the crawl."""

    def __init__(self, docs: Path, config: Config) -> None:
        self._docs = docs
        self._reader = RecordReader(docs)
        self._config = config
        self._rules = UrlRules.of(config)
        self._parsers: Parsers | None = None  # loaded with the first page that is parsed

    def stored(self, row: DocumentRow) -> bytes:
        """Returns a document's record as it lies in its compound file, compressed if the store is."""
        return self._where_it_is_now(row, self._stored)

    def record(self, row: DocumentRow) -> Record:
        """Returns a document's record taken apart. Raises StoreError, which names the document."""
        try:
            return self._where_it_is_now(row, self._record)
        except StoreError as error:
            raise StoreError(f"{row.url}: {error}") from None

    def _stored(self, row: DocumentRow) -> bytes:
        document = row.document
        data = self._reader.read_stored(row.file_name, document.offset, document.length)
        self._check_docno(row, b"<DOCNO>%b</DOCNO>" % _docno(row).encode() in data[:_HEAD_BYTES])
        return data

    def _record(self, row: DocumentRow) -> Record:
        document = row.document
        record = self._reader.read(row.file_name, document.offset, document.length)
        decoded = trec_web.decode(record, document.escapes, document.body_length)
        self._check_docno(row, decoded.docno == _docno(row))
        return decoded

    def _check_docno(self, row: DocumentRow, agrees: bool) -> None:
        if not agrees:
            place = f"{self._reader.path(row.file_name)}, byte {row.document.offset}"
            raise StoreError(f"{place}: expected the record {_docno(row)}, found another")

    def _where_it_is_now(self, row: DocumentRow, read: Callable[[DocumentRow], T]) -> T:
        """Returns `read(row)`. A record that cannot be read may have moved since the row was read, as `forget` and
        `compact` write compound files anew: then the row is read again, and the record from its new place."""
        try:
            return read(row)
        except StoreError:
            self._reader.close()  # it may have the old file open under the name of the new one
        for _ in range(_MOST_MOVES):
            before, now = row, self._row_now(row.document.id)
            if now is None:
                raise StoreError("the document was removed from the collection while it was to be read")
            row = now
            try:
                return read(row)
            except StoreError:
                if row == before:
                    raise
                self._reader.close()
        return read(row)

    def _row_now(self, document_id: int) -> DocumentRow | None:
        """Returns the row of a document as it was committed last; None if the document is gone."""
        from pycrawl.crawl.directory import CrawlDirectory  # needed here only
        from pycrawl.state import document_rows
        from pycrawl.state.database import Database

        database = Database.open_readonly(CrawlDirectory(self._docs.parent).state)  # others may see an older commit
        try:
            with database.explained():
                return next(document_rows.rows_of(database, [document_id]), None)
        finally:
            database.close()

    def parse(self, row: DocumentRow, body: bytes, anchors: bool) -> Parsed:
        """Returns what the parser of the document's type reads off its body: text, main content, title, language, and
        links; their texts only where `anchors` are asked for. It is empty if nobody reads the type."""
        from pycrawl.parse.parsers import Body, Wanted
        from pycrawl.plugins.guard import PluginFailed

        wanted = Wanted(text=True, main_content=self._config.content.main_content, anchors=anchors)
        try:
            return self._loaded().parse(Body(row.url, row.document.content_type, body), wanted)
        except PluginFailed as failed:
            raise PycrawlError(f"{row.url}: the plugin {failed}") from None

    def language(self, parsed: Parsed) -> str:
        """Returns the language of a document that was parsed; empty if it is not known."""
        from pycrawl.parse.language import language_of

        return language_of(parsed.language, parsed.content_or_text, True)

    def json_ld(self, row: DocumentRow, body: bytes) -> list[Any]:
        """Returns the values of the blocks of JSON-LD in a page, or the value of a document that is JSON-LD."""
        content_type = row.document.content_type
        is_whole = content_type.lower().startswith("application/ld+json")
        if not is_whole and b"ld+json" not in body.lower():
            return []
        from pycrawl.parse.charset import read
        from pycrawl.parse.json_ld import json_ld, values

        if is_whole:
            return values(body.decode("utf-8", "replace"))
        text, _ = read(body, content_type)
        return json_ld(text)

    def html(self, row: DocumentRow, body: bytes) -> bytes:
        """Returns a document as simple HTML, if it is of a kind that is converted; else its body."""
        from pycrawl.parse.documents import DocumentParser

        parser = self._loaded().find(row.document.content_type, body)
        return parser.converted(body).html if isinstance(parser, DocumentParser) else body

    def _loaded(self) -> Parsers:
        from pycrawl.parse.parsers import Parsers

        if self._parsers is None:
            self._parsers = Parsers(self._config.plugins)
        return self._parsers

    def has_parser(self, row: DocumentRow, body: bytes) -> bool:
        """True if somebody reads bodies of the document's type."""
        return self._loaded().find(row.document.content_type, body) is not None

    def links(self, url: str, parsed: Parsed) -> list[Link]:
        """Returns the links of a page that was parsed with `anchors`, each distinct one once: first those that have a
        place in its text, in their order, then others, as those of <link> elements."""
        base = (normalise(parsed.base_href, self._rules, url) if parsed.base_href else url) or url
        anchors = dict.fromkeys(parsed.anchors.items() if parsed.anchors is not None else ())
        named = {href for href, _, _ in anchors}
        for hrefs, flags in ((parsed.hrefs, 0), (parsed.nofollow_hrefs, link_flags.NOFOLLOW)):
            anchors |= dict.fromkeys((href, "", flags | link_flags.FRAME) for href in hrefs if href not in named)
        return [
            Link(
                normalise(href, self._rules, base),
                href,
                text,
                bool(flags & link_flags.NOFOLLOW),
                link_flags.rel_words(flags),
                FRAME if flags & link_flags.FRAME else CONTENT,
            )
            for href, text, flags in anchors
        ]

    def close(self) -> None:
        self._reader.close()
        if self._parsers is not None:
            self._parsers.close()


def _docno(row: DocumentRow) -> str:
    """Returns the DOCNO of the record, which keeps it wherever it moves."""
    return docno_of(row.document.file_id, row.document.number)
