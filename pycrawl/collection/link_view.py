"""The links between the pages of a collection, with their texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from pycrawl.collection.pages import CONTENT, FRAME, Link
from pycrawl.errors import StoreError
from pycrawl.model import Kind
from pycrawl.state import anchor_texts, meta, urls_table
from pycrawl.state.database import Database
from pycrawl.state.link_rows import StoredLink, has_anchors, links_of, links_to
from pycrawl.state.runs.one_key import ids_of
from pycrawl.state.runs.value_runs import ValueRuns
from pycrawl.state.sources import source_of
from pycrawl.state.stores import ANCHOR_TEXTS, INLINKS, LINKS
from pycrawl.state.unwanted import FORGOTTEN
from pycrawl.state.url_lookup import find_url
from pycrawl.urls import link_flags

if TYPE_CHECKING:
    from pycrawl.collection.collection import Collection

MOST_IN_LINKS = 1_000  # that a document names; `Links.into` gives all
_AT_ONCE = 500  # pages or links that are looked up in one go


class Linked(NamedTuple):
    """A link, from its other end."""

    url: str  # of the page that has the link, or of what it leads to
    anchor: str  # its text; empty if it has none
    nofollow: bool  # link, page or server ask that it not be followed
    rel: list[str]  # "nofollow", "sponsored", "ugc"
    place: str  # "content" (main content of its page) or "frame"; empty where that is not known, or it is no link
    via: str  # "link", "redirect", "sitemap" or "feed"


class Links:
    """The links of the newest version of each page."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._database = collection.database
        self._stores: tuple[ValueRuns, ValueRuns] | None = None  # rows of pages, and texts
        self._version = -1  # of the data that the stores were read from

    def out(self, url: str) -> list[Link]:
        """The links on a page, as its newest document has them. Raises NoDocument if it is not stored."""
        return self._collection[url].links

    def knows(self, url: str) -> bool:
        """True if the crawl knows the URL, whether or not it has any links."""
        with self._database.explained():
            return bool(self._id_of(url))

    def of(self, url: str) -> Iterator[Linked]:
        """What a URL links, redirects or leads to, as the crawl keeps it: sitemaps, feeds and pages that are not stored
        too."""
        with self._database.explained():
            page = self._id_of(url)
            with self._database.one_view():
                row = self._rows_and_texts()[0].get([page]).get(page) if page else None
            if row is None:
                return
            read = [] if has_anchors(row) else self._read(url)
            if read:
                yield from (_of_link(link, link.url) for link in read if link.url is not None)
                return
            links, via = links_of(row), self._via(page)
            for begin in range(0, len(links), _AT_ONCE):
                some = links[begin : begin + _AT_ONCE]
                texts = self._texts_of(some)
                for link in some:
                    if target := self._text_of(link.target_id):
                        yield _linked(target, link, texts, via, has_anchors(row))

    def into(self, url: str) -> Iterator[Linked]:
        """The links to a URL, by the pages that have them, in the order in which the crawl found these. It reads no
        more than the links of those pages; the pages themselves only where the texts of links were not kept."""
        with self._database.explained():
            target = self._id_of(url)
            sources = _sources_of(self._database, target) if target else []
            for begin in range(0, len(sources), _AT_ONCE):
                yield from self._from(sources[begin : begin + _AT_ONCE], target)

    def _from(self, sources: list[int], target: int) -> Iterator[Linked]:
        """The links from some pages to a URL."""
        with self._database.one_view():
            rows = self._rows_and_texts()[0].get(sources)
        found = {page: links_to(row, target) for page, row in rows.items()}
        texts = self._texts_of(link for links in found.values() for link in links)
        for page in sources:
            url = self._text_of(page) if found.get(page) else ""
            if url:
                yield from self._from_page(page, url, rows[page], found[page], texts)

    def _from_page(
        self, page: int, url: str, row: bytes, links: list[StoredLink], texts: dict[int, str]
    ) -> Iterator[Linked]:
        read = [] if has_anchors(row) else self._read(url)
        target = self._text_of(links[0].target_id) if read else ""
        found = [_of_link(link, url) for link in read if link.url == target]
        if not found:
            via = self._via(page) if any(link.flags & link_flags.LEAD for link in links) else "link"
            found = [_linked(url, link, texts, via, has_anchors(row)) for link in links]
        yield from found

    def _texts_of(self, links: Iterable[StoredLink]) -> dict[int, str]:
        with self._database.one_view():
            return anchor_texts.texts_of(self._rows_and_texts()[1], {link.text_id for link in links if link.text_id})

    def _rows_and_texts(self) -> tuple[ValueRuns, ValueRuns]:
        """Returns both stores as they were committed last. The caller holds one view; the connection only reads, as its
        own commits would not be noticed."""
        (version,) = self._database.query("PRAGMA data_version").fetchone()
        if self._stores is None or version != self._version:
            rows, texts = (ValueRuns(self._database, store, with_filters=False) for store in (LINKS, ANCHOR_TEXTS))
            self._stores, self._version = (rows, texts), version
        return self._stores

    def _id_of(self, url: str) -> int:
        normal = self._collection.normal_form(url)
        return find_url(self._database, normal, meta.hash_seed(self._database)) or 0

    def _text_of(self, url_id: int) -> str:
        """Returns a URL; empty if it was removed with `pycrawl forget`."""
        text = urls_table.text_of(self._database, url_id)
        return "" if text.startswith(FORGOTTEN) else text

    def _read(self, url: str) -> list[Link]:
        """Returns the links of a URL's newest document, read off its record; none if it is not stored or damaged."""
        versions = self._collection.versions(url)
        try:
            return versions[-1].links if versions else []
        except StoreError:
            return []

    def _via(self, page: int) -> str:
        """Returns in which way a URL leads to others, if it is no page."""
        source = source_of(self._database, page)
        return {Kind.SITEMAP: "sitemap", Kind.FEED: "feed"}.get(source.kind, "redirect") if source else "redirect"


def _sources_of(database: Database, target: int) -> list[int]:
    """Returns the ids of the pages that link to a URL, or did in an earlier version, in the order of discovery. The
    store has a page again for each version that was read."""
    return sorted(set(ids_of(database, INLINKS.number, target)))


def _linked(url: str, link: StoredLink, texts: dict[int, str], via: str, is_known: bool) -> Linked:
    flags = link.flags
    is_lead = bool(flags & link_flags.LEAD)
    return Linked(
        url,
        texts.get(link.text_id, ""),
        bool(flags & (link_flags.WITHHELD | link_flags.NOFOLLOW)),
        link_flags.rel_words(flags),
        (FRAME if flags & link_flags.FRAME else CONTENT) if is_known and not is_lead else "",
        via if is_lead else "link",
    )


def _of_link(link: Link, url: str) -> Linked:
    return Linked(url, link.anchor, link.nofollow, link.rel, link.place, "link")


def pages_that_link_to(database: Database, url_id: int, most: int) -> tuple[list[str], int]:
    """Returns up to `most` URLs that link or lead to a URL, in the order of discovery, and how many there are in all.
    Of more than `MOST_IN_LINKS`, those count too that linked to it in an earlier version only."""
    ids = _sources_of(database, url_id)
    rows = ValueRuns(database, LINKS, with_filters=False).get(ids[:MOST_IN_LINKS])
    found = [page for page, row in sorted(rows.items()) if links_to(row, url_id)]
    urls = [urls_table.text_of(database, page) for page in islice(found, most)]
    return urls, len(found) + max(0, len(ids) - MOST_IN_LINKS)
