"""The versions of a page, and what changed from one to another."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from pycrawl.collection.collection import Collection, NoDocument
from pycrawl.collection.document import Document
from pycrawl.fingerprint.change import change
from pycrawl.model import Change
from pycrawl.state.documents import Visit, visit_of


@dataclass(frozen=True, slots=True)
class Version:
    document: Document
    change: Change | None  # from the version before; None: it is the first


@dataclass(frozen=True, slots=True)
class History:
    """All that is stored of a page, and what its last visit found."""

    url: str
    versions: list[Version]  # the oldest first
    last_visit: Visit | None


def history(collection: Collection, url: str) -> History:
    """Returns the versions of a page. Raises NoDocument if nothing of it is stored."""
    documents = collection.versions(url)
    if not documents:
        documents = [collection[url]]  # where the URL redirects, the versions of its target
        documents = collection.versions(documents[0].url)
    versions = [Version(documents[0], None)]
    for before, document in itertools.pairwise(documents):
        versions.append(Version(document, change_of(collection, before, document)))
    with collection.database.explained():
        visit = visit_of(collection.database, documents[0].row.document.url_id)
    return History(documents[0].url, versions, visit)


def change_of(collection: Collection, before: Document, after: Document) -> Change | None:
    """Returns how much changed from one document to another; None if both have the same bytes."""
    if before.digest == after.digest:
        return None
    return change(collection.prints(before.row), collection.prints(after.row))


def two_versions(
    collection: Collection, url: str, since: float | None, until: float | None
) -> tuple[Document, Document]:
    """Returns the versions of a page at two times: by default the newest one, and the one before it. Raises NoDocument
    if there are no two."""
    found = [version.document for version in history(collection, url).versions]
    after = [one for one in found if until is None or one.timestamp <= until]
    if not after:
        raise NoDocument(f"{found[0].url}: no document from before that time is stored")
    before = [one for one in after if (one.timestamp <= since if since is not None else one != after[-1])]
    if not before:
        raise NoDocument(
            f"{found[0].url}: has no older version to compare with"
            + ("" if since is None else " from before that time")
        )
    return before[-1], after[-1]
