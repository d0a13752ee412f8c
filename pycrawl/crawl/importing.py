"""Takes pages from archives into a crawl: each enters the ledger as a URL that somebody named, with its visit, and goes
through content seen, near-duplicates and passages as a fetched page does.

A page that is stored already (the same URL, the same bytes) adds nothing, so an import can be repeated, and one that
was cut short goes on. Groups are committed as in a crawl: records, fsync, one transaction.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pycrawl.crawl.session import Session
from pycrawl.errors import PycrawlError, UsageError
from pycrawl.model import FetchResult, Outcome, StoredBody
from pycrawl.processes.messages import BadMessage, unpack_results
from pycrawl.processes.spawn import ForkServer
from pycrawl.state import documents
from pycrawl.state.documents import Document, Visit
from pycrawl.state.documents_by_url import digests_by_url
from pycrawl.state.older_visits import note_missing
from pycrawl.urls.parts import host_key, url_hash
from pycrawl.urls.reasons import Reason

_WORKER = "pycrawl.fetcher.import_process"
_PROCESS_NAME = "pycrawl-import"
_COMMIT_SECONDS = 1.0
_COMMIT_PAGES = 1_000
_MOST_DEATHS = 20  # of the reading process, in one file
KNOWN = "stored already"


@dataclass(slots=True)
class Imported:
    """What became of the records of an import."""

    records: int = 0
    stored: int = 0
    copies: int = 0  # pages with the bytes of a stored one
    redirects: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # why → records that are not in the collection
    faults: list[str] = field(default_factory=list)  # what is wrong with the files, a line each


OnProgress = Callable[[Imported], None]


class _Portion(NamedTuple):
    told: dict[str, Any]
    results: tuple[FetchResult, ...]


class _Revisit(NamedTuple):
    url: str
    target: str  # the URL that has the same body
    target_at: float | None  # when that was fetched; None: not said
    at: float  # when the URL was fetched


def import_file(session: Session, path: Path, done: Imported, on_progress: OnProgress) -> None:
    """Take in one file, and commit it; what became of its records is added to `done`. Raises UsageError if it is no
    archive."""
    importer = _Importer(session, done)
    for portion in _portions(session, path, done):
        done.records += portion.told["records"]
        done.skipped.update({str(why): int(count) for why, count in portion.told["skipped"].items()})
        done.faults += [f"{path}: {fault}" for fault in portion.told["faults"]]
        importer.take_in(portion)
        on_progress(done)
    importer.commit()


def _portions(session: Session, path: Path, done: Imported) -> Iterator[_Portion]:
    """Yields what the reading process sends. A record that brings it down is left out."""
    server = ForkServer(_WORKER)
    after = deaths = 0
    try:
        while True:
            ours, theirs = Pipe(duplex=False)
            process = server.start(_PROCESS_NAME, "", theirs, str(path), session.config, session.seed, after)
            theirs.close()
            try:
                while True:
                    told = json.loads(ours.recv_bytes())
                    portion = _Portion(told, unpack_results(ours.recv_bytes()).results)
                    after = int(told["last"])
                    yield portion
                    if told["end"]:
                        if told["error"]:
                            raise UsageError(str(told["error"]))
                        return
            except EOFError:
                deaths += 1
                after += 1
                done.records += 1
                done.skipped["brought the reading process down"] += 1
                done.faults.append(f"{path}: a record near number {after} brought the process down that read it")
                if deaths >= _MOST_DEATHS:
                    raise PycrawlError(f"{path}: given up, as {deaths} records brought their process down") from None
            except (BadMessage, ValueError, KeyError, TypeError) as error:
                raise PycrawlError(f"{path}: the process that reads it has sent something else: {error}") from None
            finally:
                ours.close()
                process.join(5.0)
                if process.exitcode is None:
                    process.kill()
                    process.join()
    finally:
        server.close()


class _Importer:
    def __init__(self, session: Session, done: Imported) -> None:
        self._session = session
        self._done = done
        self._digests: dict[int, set[bytes]] = {}  # URL id → digests of its documents in groups not yet committed
        self._by_hash: dict[int, list[Document]] = {}  # hash of a URL → its documents there
        self._visited_at: dict[int, float] = {}  # URL id → the last of its visits there
        self._stored: dict[int, set[bytes]] = {}  # hash of a URL of this portion → digests of its committed documents
        self._committed_at = time.monotonic()

    def take_in(self, portion: _Portion) -> None:
        session = self._session
        urls = [str(url) for url in portion.told["urls"]]
        revisits = [_Revisit(*one) for one in portion.told["revisits"] if one[1]]
        ids = self._enter([*urls, *(revisit.url for revisit in revisits)])
        session.content_seen.look([result.body.digest for result in portion.results if result.body is not None])
        self._stored = digests_by_url(session.database, [self._signed_hash(url) for url in ids])
        for url, result in zip(urls, portion.results, strict=True):
            if url in ids:
                self._settle(ids[url], url, result)
        for revisit in revisits:
            if revisit.url in ids:
                self._copy(ids[revisit.url], revisit)
        if time.monotonic() - self._committed_at >= _COMMIT_SECONDS or len(session.group.documents) >= _COMMIT_PAGES:
            self.commit()

    def commit(self) -> None:
        note_missing(self._session.database)
        self._session.commit(time.time())
        self._digests, self._by_hash, self._visited_at = {}, {}, {}
        self._committed_at = time.monotonic()

    def _enter(self, urls: list[str]) -> dict[str, int]:
        """Enter URLs into the ledger as if a person had named them. Returns the ids of those that the settings want."""
        session = self._session
        wanted: dict[str, int] = {}
        for url in urls:
            if url in wanted:
                continue
            code = session.judge.code_of(url, host_key(url), True, 0, 0, 0)
            if code:
                self._done.skipped[f"out of scope: {Reason.from_code(code)}"] += 1
            else:
                wanted[url] = url_hash(url, session.seed)
        if not wanted:
            return {}
        session.discovered.add_seeds(list(wanted), list(wanted.values()))
        session.sieve(time.time())
        looked = session.seen.look(np.array(list(wanted.values()), np.uint64))
        ids = dict(zip(looked.hashes.tolist(), looked.ids.tolist(), strict=True))
        return {url: int(ids[hashed]) for url, hashed in wanted.items()}

    def _settle(self, url_id: int, url: str, result: FetchResult) -> None:
        session, done = self._session, self._done
        if result.outcome is Outcome.REDIRECT:
            self._visit(url_id, result, b"", 0)
            session.discovered.add_redirect(
                url_id, 0, 1, result.location, result.location_hash, result.location_verdict
            )
            done.redirects += 1
            return
        if result.body is None:
            done.skipped[str(result.outcome)] += 1
            return
        if self._is_stored(url_id, url, result.body.digest):
            done.skipped[KNOWN] += 1
            return
        newer = self._newest(url) if self._has_versions(url_id, url) else None
        superseded = newer is not None and newer.fetched_at > result.fetched_at
        document = session.store(url_id, url, result.fetched_at, result.body)
        session.group.counts["pages_fetched"] += 1
        done.stored += not document.duplicate_of
        done.copies += bool(document.duplicate_of)
        self._remember(url_id, document)
        self._visit(url_id, result, result.body.digest, document.id)
        if not superseded:
            if url_id in session.discovered.pages_read:  # an older version: its links are not to be mixed with these
                session.sieve(time.time())
            session.discovered.add_page(url_id, result.anchors)
        for ask, links in ((0, result.links), *result.withheld):
            if links.hashes:
                session.discovered.add_links(url_id, 1, links, ask, superseded=superseded)

    def _copy(self, url_id: int, revisit: _Revisit) -> None:
        """Take in a revisit: the page has the body of another one, which has to be stored."""
        session = self._session
        original = self._version_at(revisit.target, revisit.target_at)
        if session.config.content.store_duplicates:
            self._done.skipped["revisit, which has no body to store (content.store_duplicates)"] += 1
            return
        if original is None or not session.content_seen.find(original.digest):
            self._done.skipped["revisit of a page that is not stored"] += 1
            return
        if self._is_stored(url_id, revisit.url, original.digest):
            self._done.skipped[KNOWN] += 1
            return
        body = StoredBody(b"", original.body_length, original.digest, original.content_type)
        document = session.store(url_id, revisit.url, revisit.at, body)
        session.group.counts["pages_fetched"] += 1
        self._done.copies += 1
        self._remember(url_id, document)
        outcome = Outcome.FETCHED.value
        self._keep_visit(Visit(url_id, outcome, 200, revisit.at, 1, digest=document.digest, document_id=document.id))

    def _remember(self, url_id: int, document: Document) -> None:
        self._digests.setdefault(url_id, set()).add(document.digest)
        self._by_hash.setdefault(document.url_hash, []).append(document)

    def _newest(self, url: str) -> Document | None:
        return max(self._versions(url), key=lambda one: one.fetched_at, default=None)

    def _version_at(self, url: str, at: float | None) -> Document | None:
        """Returns the document of a URL that was fetched at this time, or nearest to it: archives may leave out parts
        of seconds. None as a time stands for the newest."""
        if at is None:
            return self._newest(url)
        return min(self._versions(url), key=lambda one: abs(one.fetched_at - at), default=None)

    def _versions(self, url: str) -> list[Document]:
        """Returns all documents of a URL, committed or not."""
        hashed = url_hash(url, self._session.seed)
        known = documents.versions(self._session.database, hashed)
        return known + self._by_hash.get(documents.signed(hashed), [])

    def _has_versions(self, url_id: int, url: str) -> bool:
        return url_id in self._digests or bool(self._stored.get(self._signed_hash(url)))

    def _is_stored(self, url_id: int, url: str, digest: bytes) -> bool:
        if digest in self._digests.get(url_id, ()):
            return True
        return digest in self._stored.get(self._signed_hash(url), ())

    def _signed_hash(self, url: str) -> int:
        return documents.signed(url_hash(url, self._session.seed))

    def _visit(self, url_id: int, result: FetchResult, digest: bytes, document_id: int) -> None:
        visit = Visit(
            url_id, result.outcome.value, result.status, result.fetched_at, 1, result.detail, result.etag,
            result.last_modified, digest, document_id,
        )  # fmt: skip
        self._keep_visit(visit)

    def _keep_visit(self, visit: Visit) -> None:
        """Enter a visit, unless the URL was visited later than that; it waits in no queue from then on."""
        session = self._session
        last = documents.visit_of(session.database, visit.url_id)
        if max(self._visited_at.get(visit.url_id, 0.0), last.visited_at if last else 0.0) > visit.visited_at:
            return
        self._visited_at[visit.url_id] = visit.visited_at
        if last is not None and not visit.document_id:
            visit = visit._replace(document_id=last.document_id, digest=last.digest)
        session.group.visits.append(visit)
        session.group.left_queues.append(visit.url_id)
