"""A document of a collection: what one URL answered at one time. Its parts are read and parsed when they are asked for,
and kept while the document is."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pycrawl.collection.pages import Link, Pages
from pycrawl.fingerprint.page_prints import RECORD
from pycrawl.record.trec_web import Record
from pycrawl.state.document_rows import DocumentRow
from pycrawl.store.compound import docno_of

if TYPE_CHECKING:
    from pycrawl.collection.link_view import Linked
    from pycrawl.parse.parsed import Parsed

COPY_MARK = "c"  # in the DOCNO of a copy, between that of the record it shares and its own number
_STATUS = re.compile(rb"\S+\s+([1-9][0-9]{2})(?![0-9])")


class Fingerprints(NamedTuple):
    """The fingerprints of a document's main content, by which near-duplicates are found (docs/fingerprints.md)."""

    text_digest: bytes  # of its words in their order: equal for equal texts
    simhash: int  # 64 bits: few of them differ where few words do
    words: int  # how many there are
    sketch: bytes  # 200 bytes; the share of equal ones estimates the resemblance of two texts


def docno_of_row(row: DocumentRow) -> str:
    """Returns the DOCNO of a document, which no other has."""
    document = row.document
    own = docno_of(document.file_id, document.number)
    return f"{own}{COPY_MARK}{document.id}" if document.duplicate_of else own


class Facts(Protocol):
    """What the state of the crawl says of documents beyond their rows."""

    def prints(self, row: DocumentRow) -> bytes:
        """The packed fingerprints of the document's text; empty if it has no words."""

    def cluster(self, row: DocumentRow) -> str:
        """The DOCNO of the document that represents this one and all its copies and near-duplicates."""

    def in_links(self, row: DocumentRow) -> list[Linked]:
        """The first links to the document's URL, of the newest version of each page."""


class Document:
    """What one URL answered at one time.

    `body` is as served, after transfer and content coding were undone. Text, content, title, language and links are
    read off it by the parser of its type when they are first asked for; they are empty where nobody reads the type.
    """

    __slots__ = ("_facts", "_has_anchors", "_pages", "_parsed", "_record", "row")

    def __init__(self, row: DocumentRow, pages: Pages, facts: Facts) -> None:
        self.row = row
        self._pages = pages
        self._facts = facts
        self._record: Record | None = None
        self._parsed: Parsed | None = None
        self._has_anchors = False

    def __repr__(self) -> str:
        return f"<Document {self.url!r} of {self.time.isoformat(' ', 'seconds')}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and self.row == other.row

    def __hash__(self) -> int:
        return hash((self.row.document.id, self.url))

    # What the state says of it

    @property
    def url(self) -> str:
        """The URL in its normal form."""
        return self.row.url

    @property
    def docno(self) -> str:
        """Its id in TREC Web files: "WTX001-B01-17". That of a copy is the id of the record that it shares,
        and its own number: "WTX001-B01-17c2041"."""
        return docno_of_row(self.row)

    @property
    def timestamp(self) -> float:
        """When it was fetched, in seconds since 1970."""
        return self.row.document.fetched_at

    @property
    def time(self) -> datetime:
        """When it was fetched, in UTC."""
        return datetime.fromtimestamp(self.row.document.fetched_at, UTC)

    @property
    def content_type(self) -> str:
        """The Content-Type header, with its parameters."""
        return self.row.document.content_type

    @property
    def length(self) -> int:
        """Bytes of the body."""
        return self.row.document.body_length

    @property
    def is_truncated(self) -> bool:
        """True if the body was longer than is kept, or came to an end too early."""
        return bool(self.row.document.truncated)

    @property
    def is_copy(self) -> bool:
        """True if it has the bytes of a document that was stored before, and shares its record and headers."""
        return bool(self.row.document.duplicate_of)

    @property
    def digest(self) -> str:
        """128 bits in hexadecimal: equal for equal bodies in one collection."""
        return self.row.document.digest.hex()

    @property
    def charset(self) -> str:
        """The encoding that the text is read with."""
        return self.row.document.charset or "us-ascii"

    @property
    def declared_charset(self) -> str:
        """The encoding that the server or the page names; empty if none does."""
        return self.row.document.declared_charset

    @property
    def fingerprints(self) -> Fingerprints | None:
        """The fingerprints of its main content; None if it has no words."""
        packed = self._facts.prints(self.row)
        return Fingerprints(*RECORD.unpack(packed)) if packed else None

    @property
    def cluster(self) -> str:
        """The DOCNO of the oldest document among its copies and near-duplicates: its own, if it has none older."""
        return self._facts.cluster(self.row)

    # What its record says

    @property
    def record(self) -> Record:
        """Its TREC Web record, taken apart. Raises StoreError if that is damaged."""
        if self._record is None:
            self._record = self._pages.record(self.row)
        return self._record

    @property
    def stored_record(self) -> bytes:
        """Its TREC Web record as it lies in the compound file."""
        return self._pages.stored(self.row)

    @property
    def status(self) -> int:
        """The HTTP status, such as 200; 0 if the record does not say."""
        found = _STATUS.match(self.record.status_line)
        return int(found[1]) if found else 0

    @property
    def status_line(self) -> str:
        return self.record.status_line.decode("latin-1")

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The response headers in the order in which they came, as (name, value)."""
        return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in self.record.headers)

    def header(self, name: str) -> str | None:
        """The value of a header, whatever the case of its name; of several, the first; None if there is none."""
        wanted = name.lower()
        return next((value for name, value in self.headers if name.lower() == wanted), None)

    @property
    def address(self) -> str:
        """The server's IP address; empty if it is not known."""
        address = self.record.address
        return "" if address == "0.0.0.0" else address

    @property
    def body(self) -> bytes:
        return self.record.body

    # What its parser says

    @property
    def title(self) -> str:
        return self._parse().title

    @property
    def language(self) -> str:
        """As it declares ("en", "pt-br"), or, where it declares none or one that does not fit, as its text reads, if
        py3langid is installed; empty if it is not known."""
        return self._pages.language(self._parse())

    @property
    def declared_language(self) -> str:
        """As it stands there ("en", "pt-BR"); empty if none is declared."""
        return self._parse().language

    @property
    def text(self) -> str:
        """The title and all that is shown."""
        return self._parse().text

    @property
    def content(self) -> str:
        """The main content: the text without menus, headers and footers."""
        return self._parse().content

    @property
    def links(self) -> list[Link]:
        """The links on the page, with their texts."""
        return self._pages.links(self.url, self._parse(anchors=True))

    @property
    def json_ld(self) -> list[Any]:
        """The JSON-LD in the page: the values of its blocks. That of a document which is JSON-LD is its value."""
        return self._pages.json_ld(self.row, self.body)

    @property
    def html(self) -> bytes:
        """A PDF, Office or other document as simple HTML: headings, paragraphs, lists, tables and links. A page is as
        it was served."""
        return self._pages.html(self.row, self.body)

    @property
    def fault(self) -> str:
        """Why a PDF, Office or other document could not be read, or not to its end; empty if it was."""
        return self._parse().fault

    @property
    def in_links(self) -> list[Linked]:
        """The links from other pages to this URL, the first 1,000; `Collection.links.into` gives all."""
        return self._facts.in_links(self.row)

    @property
    def has_parser(self) -> bool:
        """True if somebody reads the type of this document: pycrawl, or a plugin."""
        return self._pages.has_parser(self.row, self.body)

    def _parse(self, anchors: bool = False) -> Parsed:
        if self._parsed is None or (anchors and not self._has_anchors):
            self._parsed = self._pages.parse(self.row, self.body, anchors)
            self._has_anchors = anchors
        return self._parsed
