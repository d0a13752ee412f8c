"""Documents leave the collection: the compound files that hold their records are written anew, one after the other.

Each file is committed with the new places of the records that stay, and with the documents that have left it; so it can
be cut short at any instruction and done again. `forget` (`forgetting.py`), `compact` (`compacting.py`) and `verify
--repair` (`repairing.py`) begin it.

A record that other documents share stays, under its DOCNO: the oldest of these that remains, its heir, takes it over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from pycrawl.config import Config
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.opening import commit_collection
from pycrawl.record import trec_web
from pycrawl.state import documents, forgetting, hosts, leaving
from pycrawl.state.counters import count
from pycrawl.state.database import Database
from pycrawl.state.documents import Document
from pycrawl.state.forget_prints import copies_by_original
from pycrawl.store.reader import RecordReader
from pycrawl.store.rewrite import Moved, Rewriter, drop_new_name, old_name, remove_unfinished, take_old_name

_STATUS_LINE = b"HTTP/1.1 200 OK"
_FORGOTTEN = "forgotten"

OnStep = Callable[[str], None]  # called with a text that names each step
Doomed = dict[int, tuple[int, str]]  # document to be removed → document whose record it shares (0: its own); why


@dataclass(frozen=True, slots=True)
class _Changes:
    """What has to change in `documents` when one compound file was written anew."""

    moved: dict[int, Moved]  # document with a record in the new file → the place of the record
    heirs: dict[int, int]  # document that is removed but leaves its record → the document that takes it over


class Dropping:
    """The compound files, and the documents that are to leave them."""

    def __init__(self, directory: CrawlDirectory, database: Database, config: Config, on_step: OnStep) -> None:
        self._directory = directory
        self._root = directory.docs
        self._database = database
        self._dochdr = config.store.dochdr
        self._on_step = on_step

    def drop_records(self) -> None:
        """Write anew each compound file that holds a record to be removed, or bytes that no document points to, and
        commit after each."""
        names = {file_id: name for file_id, name, _, _ in documents.files(self._database)}
        remove_unfinished(self._root, set(names.values()))
        for file_id, name in names.items():
            if old_name(name) is not None:
                self._rename(file_id, name)
        doomed = self._doomed()
        if not doomed:
            return
        copies = copies_by_original(self._database)
        ranges = forgetting.ranges(self._database)
        for done, (file_id, in_file) in enumerate(doomed.items()):
            self._on_step(f"docs: file {done + 1:,} of {len(doomed):,}")
            self._drop_from_file(file_id, in_file, copies, ranges.get(file_id, (0, 0)))

    def _doomed(self) -> dict[int, Doomed]:
        """Returns what is to be removed, by compound file in their order. A file with bytes that no document points to
        is there too."""
        files: dict[int, Doomed] = {}
        for file_id, forgotten in forgetting.doomed(self._database).items():
            files[file_id] = {one: (original, _FORGOTTEN) for one, original in forgotten.items()}
        if leaving.is_pending(self._database):
            for file_id, in_file in leaving.doomed(self._database).items():
                files[file_id] = {**in_file, **files.get(file_id, {})}
            for file_id in leaving.unused_bytes(self._database):
                files.setdefault(file_id, {})
        return dict(sorted(files.items()))

    def _drop_from_file(self, file_id: int, doomed: Doomed, copies: dict[int, list[int]], ids: tuple[int, int]) -> None:
        """Remove documents from one compound file. `doomed` are those of this file, `ids` the first and the last of its
        documents; `copies` are those of all."""
        name = documents.file_name(self._database, file_id)
        if doomed and all(original for original, _ in doomed.values()):  # copies alone: no record goes
            self._commit(doomed, _Changes({}, {}), copies)
            return
        records = documents.records_of_file(self._database, file_id, ids)
        heirs = self._heirs(records, doomed, copies)
        new = Rewriter(self._root, name)
        moved: dict[int, Moved] = {}
        if any(one.id not in doomed or one.id in heirs for one in records):
            with new, RecordReader(self._root) as reader:
                for document in records:
                    if document.id not in doomed:
                        moved[document.id] = new.keep(document.offset, document.length)
                    elif document.id in heirs:
                        record = reader.read(name, document.offset, document.length)
                        moved[document.id] = new.put(*self._under_heir(record, document, heirs[document.id]))
                new.finish()
            self._on_step(f"docs/{new.name}: written")
        documents.replace_file(self._database, file_id, new.name, new.length, new.records)
        self._commit(doomed, _Changes(moved, heirs), copies)
        self._rename(file_id, new.name)

    def _heirs(self, records: list[Document], doomed: Doomed, copies: dict[int, list[int]]) -> dict[int, int]:
        """Returns, for each doomed document whose record stays, the document that takes it over."""
        heirs = {}
        for document in records:
            if document.id in doomed:
                heir = next((one for one in copies.get(document.id, ()) if one not in doomed), 0)
                if heir:
                    heirs[document.id] = heir
        return heirs

    def _under_heir(self, record: bytes, document: Document, heir_id: int) -> tuple[str, bytes]:
        """Returns the DOCNO, and the record made anew for the heir. Of the heir's own answer only the body and the
        content type are known; the other headers are those of another page, and must go, unless the heir is a version
        of the same page."""
        old = trec_web.decode(record, document.escapes, document.body_length)
        url, fetched_at = documents.url_and_time(self._database, heir_id)
        address = hosts.address_of(self._database, documents.document(self._database, heir_id).url_id)
        status_line, headers = _STATUS_LINE, [(b"Content-Type", document.content_type.encode("latin-1", "replace"))]
        if old.url == url:
            status_line, headers = old.status_line, list(old.headers)
        made, _ = trec_web.encode(
            url, address, fetched_at, document.content_type, status_line, headers, old.body, self._dochdr
        )
        return old.docno, made

    def _commit(self, doomed: Doomed, changes: _Changes, copies: dict[int, list[int]]) -> None:
        """Commit new places, heirs, removed documents and totals in one transaction."""
        database = self._database
        places = [
            (*place, one) for original, place in changes.moved.items() for one in (original, *copies.get(original, ()))
        ]
        documents.move_records(database, places)
        for counter, amount in documents.count_languages(database, doomed).items():
            count(database, counter, -amount)  # an heir's language is that of its copies
        for document_id, heir_id in changes.heirs.items():
            documents.hand_over(database, document_id, heir_id)
        documents.drop_documents(database, [one for one in doomed if one not in changes.heirs])
        leaving.have_left(database, doomed)
        own = sum(1 for original, _ in doomed.values() if not original)
        count(database, "pages_stored", len(changes.heirs) - own)
        count(database, "duplicates_exact", own - len(doomed) - len(changes.heirs))
        for reason, amount in Counter(reason for _, reason in doomed.values()).items():
            count(database, f"not_kept:{reason}", amount)
        documents.count_stored_bytes(database)
        commit_collection(self._directory, database)

    def _rename(self, file_id: int, name: str) -> None:
        """Give a file that was written anew its old name."""
        self._on_step(f"docs/{name}: renamed")
        old = take_old_name(self._root, name, documents.file_length(self._database, file_id))
        documents.rename_file(self._database, file_id, old)
        commit_collection(self._directory, self._database)
        self._on_step(f"docs/{old}: done")
        drop_new_name(self._root, name)
