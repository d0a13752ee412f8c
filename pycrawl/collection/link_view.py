"""The links between the pages of a collection, with their texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pycrawl.collection.pages import Link
from pycrawl.state import meta, outlinks, urls_table
from pycrawl.state.url_lookup import find_url

if TYPE_CHECKING:
    from pycrawl.collection.collection import Collection


class InLink(NamedTuple):
    """A link from another page."""

    url: str  # of the page that has the link
    anchor: str  # its text
    nofollow: bool  # it asks not to be followed


class Links:
    """The links of the newest documents."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def out(self, url: str) -> list[Link]:
        """The links on a page. Raises NoDocument if it is not stored."""
        return self._collection[url].links

    def into(self, url: str) -> Iterator[InLink]:
        """The links to a URL, by the pages that have them, in the order in which the crawl found these. It reads the
        links of all pages, and the pages with the links."""
        database = self._collection.database
        target = self._collection.normal_form(url)
        with database.explained():
            url_id = find_url(database, target, meta.hash_seed(database))
            sources = list(outlinks.pages_that_link_to(database, url_id)) if url_id else []
            pages = [urls_table.text_of(database, source) for source in sources]
        for page in pages:
            for document in self._collection.versions(page)[-1:]:
                for link in document.links:
                    if link.url == target:
                        yield InLink(page, link.anchor, link.nofollow)
