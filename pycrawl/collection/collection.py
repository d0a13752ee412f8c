"""`Collection`: the pages of a crawl, for programs. It only reads, and works beside a running crawl without waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pycrawl.collection import clusters, statistics
from pycrawl.collection.clusters import Dedup
from pycrawl.collection.document import COPY_MARK, Document
from pycrawl.collection.fields import FIELDS, USUAL, chosen_fields
from pycrawl.collection.hosts_named import host_ids
from pycrawl.collection.link_view import MOST_IN_LINKS, Linked, Links
from pycrawl.collection.pages import Pages
from pycrawl.collection.selection import Selection
from pycrawl.collection.times import Time, timestamp
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.errors import PycrawlError, StoreError, UsageError
from pycrawl.state import document_rows, meta
from pycrawl.state.database import Database
from pycrawl.state.document_rows import DocumentRow
from pycrawl.state.documents import DOCUMENTS_BY_URL, visit_of
from pycrawl.state.near_seen import prints_by_document
from pycrawl.state.runs.one_key import KeyReader
from pycrawl.state.unwanted import Unwanted
from pycrawl.state.url_lookup import find_url
from pycrawl.store.compound import docno_of, place_of
from pycrawl.urls.normal_form import UrlRules, from_user
from pycrawl.urls.parts import url_hash

if TYPE_CHECKING:
    from pycrawl.collection.exports.export import Exported

_MOST_REDIRECTS = 20  # followed in a row
_HEADER = "header:"  # starts a column of `cell`
_ANCHOR = "anchor:"  # likewise


class NoDocument(PycrawlError, KeyError):
    """The collection has no document of this URL, or none from that time."""

    def __str__(self) -> str:
        return str(self.args[0])


class Collection:
    """The documents in a crawl's directory: by URL, by time, or one after the other.

    A document is what one URL answered at one time; a URL that has changed has several. Copies of a page at other URLs
    are documents too. One object serves one thread.
    """

    def __init__(self, path: str | Path) -> None:
        self.directory = CrawlDirectory(Path(path))
        self.config = self.directory.config()
        self.database = Database.open_readonly(self.directory.state)
        self._by_url = KeyReader(self.database, DOCUMENTS_BY_URL)
        self._rules = UrlRules.of(self.config)
        self._pages = Pages(self.directory.docs, self.config)
        with self.database.explained():
            self._seed = meta.hash_seed(self.database)

    def __repr__(self) -> str:
        return f"Collection({str(self.directory.path)!r})"

    # By URL

    def normal_form(self, url: str) -> str:
        """Returns the normal form of a URL, by which the crawl knows it. Raises UsageError if it has none."""
        if not isinstance(url, str):
            raise TypeError(f"expected a URL as text, found {url!r}; `for document in collection` gives one by one")
        normal = from_user(url, self._rules)
        if normal is None:
            raise UsageError(f"{url}: not an http or https URL")
        return normal

    def __getitem__(self, url: str) -> Document:
        """The newest document of a URL; where that redirects, of the URL it leads to. Raises NoDocument, which is a
        KeyError."""
        return self._found(url, None)

    def get(self, url: str, default: Document | None = None) -> Document | None:
        """As `collection[url]`, but returns `default` where there is no document, as of what is no URL."""
        try:
            return self[url]
        except (NoDocument, UsageError):
            return default

    def __contains__(self, url: object) -> bool:
        return isinstance(url, str) and self.get(url) is not None

    def at(self, url: str, time: Time) -> Document:
        """The document of a URL that was the newest at this time: seconds since 1970, a datetime, or ISO 8601; without
        a zone, local time. Raises NoDocument."""
        return self._found(url, timestamp(time))

    def versions(self, url: str) -> list[Document]:
        """All documents of a URL, the oldest first; none, if nothing was stored."""
        normal = self.normal_form(url)
        return [self._document(row) for row in reversed(self._rows(normal, None))]

    def _found(self, url: str, at: float | None) -> Document:
        asked = normal = self.normal_form(url)
        for _ in range(_MOST_REDIRECTS):
            if rows := self._rows(normal, at):
                return self._document(rows[0])
            if not (target := self._redirect_of(normal)):
                break
            normal = target
        when = "" if at is None else " from before that time"
        raise NoDocument(f"{asked}: no document{when} is stored. `pycrawl why` says why.")

    def _rows(self, url: str, at: float | None) -> list[DocumentRow]:
        with self.database.explained():
            return document_rows.rows_of_url(self.database, self._by_url, url, url_hash(url, self._seed), at)

    def _redirect_of(self, url: str) -> str:
        """Returns where a URL redirected to when it was last visited; empty if it did not."""
        with self.database.explained():
            url_id = find_url(self.database, url, self._seed)
            visit = visit_of(self.database, url_id) if url_id else None
        return visit.detail if visit is not None and visit.outcome == "redirect" else ""

    def is_forgotten(self, url: str) -> bool:
        """True if `pycrawl forget` has removed the URL, or a prefix or host that it belongs to."""
        with self.database.explained():
            return Unwanted(self.database, self._seed).is_unwanted(self.normal_form(url))

    def by_docno(self, docno: str) -> Document:
        """The document with this DOCNO. Raises NoDocument."""
        base, _, copy = docno.partition(COPY_MARK)
        try:
            place = place_of(base)
        except StoreError as error:
            raise UsageError(str(error)) from None
        with self.database.explained():
            if copy:
                ids = [int(copy)] if copy.isdecimal() else []
                row = next(document_rows.rows_of(self.database, ids), None)
            else:
                row = document_rows.row_of_number(self.database, *place)
        found = self._document(row) if row is not None else None
        if found is None or found.docno != docno:
            raise NoDocument(f"{docno}: no such document is stored")
        return found

    def cell(self, url: str, column: str, time: Time | None = None) -> Any:
        """The value of a column in a URL's row, as of a time (default: now). Raises NoDocument.

        Columns are the fields of docs/fields.md, `header:NAME` (a response header), and `anchor:URL` (the text of the
        link from that page to this one); a header or anchor that is not there is None. `body` is given as bytes.
        """
        if column.startswith(_ANCHOR):
            return self._anchor(column[len(_ANCHOR) :], self.normal_form(url), time)
        if not column.startswith(_HEADER):
            chosen_fields([column])
        document = self._found(url, None if time is None else timestamp(time))
        if column.startswith(_HEADER):
            return document.header(column[len(_HEADER) :])
        return document.body if column == "body" else FIELDS[column].of(document)

    def _anchor(self, source: str, target: str, time: Time | None) -> str | None:
        """Returns the text of the first link from a page to a URL; None if there is none."""
        try:
            page = self._found(source, None if time is None else timestamp(time))
        except NoDocument:
            return None
        return next((link.anchor for link in page.links if link.url == target), None)

    # One after the other

    def __len__(self) -> int:
        """The number of documents: all versions, copies included."""
        with self.database.explained():
            return document_rows.count(self.database)

    def __iter__(self) -> Iterator[Document]:
        """All documents in the order of the crawl."""
        return self.documents()

    def documents(
        self,
        order: str = "crawl",
        *,
        host: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        status: int | str | None = None,
        language: str | None = None,
        newest: bool = False,
        dedup: str | None = None,
        keep: str = "oldest",
    ) -> Iterator[Document]:
        """Documents in the order of the crawl, by "host", or by "time"; those that meet all conditions.

        `host` is written as in scope.allow_hosts. `status` is a number, or a class such as "2xx". `language` is
        that of `Document.language`: "pt" means "pt-BR" too. `newest` leaves out what a newer document of its URL has
        superseded. `dedup` leaves all but one of each cluster out: of "exact" copies, or also of "near"-duplicates;
        `keep` says which one stays, the "oldest" or the "best" (the longest text; of those about as long, the most
        in-links).

        It takes the same memory however many there are; only `dedup` needs 6 bytes a document.
        """
        return self.selected(self._selection(order, host, since, until, status, language, newest, dedup, keep))

    def _selection(
        self,
        order: str = "crawl",
        host: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        status: int | str | None = None,
        language: str | None = None,
        newest: bool = False,
        dedup: str | None = None,
        keep: str = "oldest",
    ) -> Selection:
        return Selection.made(
            order, host, since, until, status, language, newest, dedup, keep, lambda text: self.host_ids(text, "host")
        )

    def selected(self, selection: Selection) -> Iterator[Document]:
        """The documents of a selection. Raises StoreError at a damaged record, if the selection needs to read it."""
        for row in self.selected_rows(selection):
            document = self._document(row)
            if selection.accepts(document):
                yield document

    def documents_of(self, rows: Iterable[DocumentRow]) -> Iterator[Document]:
        """The documents of rows that were chosen otherwise."""
        return map(self._document, rows)

    def selected_rows(self, selection: Selection) -> Iterator[DocumentRow]:
        """The rows of a selection; conditions that need a record to be read are not looked at."""
        with self.database.explained():
            if selection.dedup is None:
                yield from document_rows.rows(self.database, selection.chosen, selection.order)
                return
            kept = clusters.kept(self.database, selection.chosen, selection.dedup, selection.keep)
            for row in document_rows.rows(self.database, selection.chosen, selection.order):
                if row.document.id < len(kept) and kept[row.document.id]:
                    yield row

    def host_ids(self, text: str, option: str) -> tuple[int, ...]:
        """Returns the ids of the hosts that a text means. Raises UsageError, which names the option."""
        with self.database.explained():
            return host_ids(self.database, text, option)

    # Beyond single documents

    @property
    def duplicates(self) -> Iterator[list[Document]]:
        """The clusters of exact copies and near-duplicates, as the crawl has found them: for each the list of its
        documents, the oldest first."""
        with self.database.explained():
            for ids in clusters.members(self.database, Dedup.NEAR):
                found = [self._document(row) for row in document_rows.rows_of(self.database, ids)]
                if len(found) > 1:
                    yield found

    @property
    def links(self) -> Links:
        """The links between pages, with their texts."""
        return Links(self)

    def export(
        self,
        path: str | Path,
        format: str = "jsonl",
        *,
        fields: Iterable[str] | None = None,
        utf8: bool = False,
        dochdr: str = "",
        compress: str | None = None,
        split: int | None = None,
        overwrite: bool = False,
        cdxj: bool = False,
        workers: int | None = None,
        on_progress: Callable[[int], None] = lambda written: None,
        on_fault: Callable[[str], None] = lambda line: None,
        **conditions: Any,
    ) -> Exported:
        """Write documents to a file, as `pycrawl export` does: in "trec", "warc", "jsonl", "parquet" or "links", or a
        format of another package. `conditions` are those of `documents`.

        The file appears under its name when it is whole. Documents that cannot be read are left out, counted in the
        result, and named to `on_fault`.
        """
        from pycrawl.collection.exports.export import Request, compression_of, export
        from pycrawl.collection.exports.formats import Options

        options = Options(
            format=format,
            fields=USUAL if fields is None else tuple(fields),
            utf8=utf8,
            dochdr=dochdr,
            compression=compression_of(path, format, compress),
            as_parquet=format == "links" and Path(path).suffix == ".parquet",
        )
        request = Request(options, path, split, overwrite, cdxj, workers)
        return export(self, self._selection(**conditions), request, on_progress, on_fault)

    def stats(self) -> dict[str, Any]:
        """The figures of the crawl, as `pycrawl stats --json` prints them."""
        return statistics.collect(self.database)

    # What documents ask for (`Facts`)

    def prints(self, row: DocumentRow) -> bytes:
        document_id = row.document.duplicate_of or row.document.id
        with self.database.explained():
            return prints_by_document(self.database, [document_id]).get(document_id, b"")

    def cluster(self, row: DocumentRow) -> str:
        document = row.document
        own = document.duplicate_of or document.id
        with self.database.explained():
            root = clusters.root_of(self.database, [own])[own]
            if root == own:
                return docno_of(document.file_id, document.number)
            oldest = next(document_rows.rows_of(self.database, [root]), None)
        return self._document(oldest).docno if oldest is not None else self._document(row).docno

    def in_links(self, row: DocumentRow) -> list[Linked]:
        return list(islice(self.links.into(row.url), MOST_IN_LINKS))

    def _document(self, row: DocumentRow) -> Document:
        return Document(row, self._pages, self)

    def close(self) -> None:
        """Close the files and the database."""
        self._pages.close()
        self.database.close()

    def __enter__(self) -> Collection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
