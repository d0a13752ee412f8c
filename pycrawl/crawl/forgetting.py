"""`forget`: pages leave a crawl for good, so that no byte of them is left in its directory.

One transaction removes the URLs from the state, and notes that they are not wanted and that forgetting is under way
(`state/forgetting.py`). Once it is committed, forgetting is final: whoever opens the crawl for writing carries it on
(`carry_on`). Then each compound file that holds a record of these URLs is written anew (`store/rewrite.py`), and
committed with the new places of the records that stay; then the lines of logs and of the inbox that name the URLs are
removed; last, the database is written anew. Every step can be cut short at any instruction and done again.

A record that other URLs share stays, under its DOCNO: the oldest document that remains, its heir, takes it over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pycrawl.config import Config
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.opening import commit_collection, open_state
from pycrawl.foreign import files
from pycrawl.frontier.judge import Judge
from pycrawl.policy.priority import priority
from pycrawl.record import trec_web
from pycrawl.state import documents, forgetting, hosts, meta
from pycrawl.state.counters import count
from pycrawl.state.database import Database
from pycrawl.state.documents import Document
from pycrawl.state.forget_prints import copies_by_original
from pycrawl.state.forgetting import Doomed
from pycrawl.state.unwanted import Unwanted
from pycrawl.store.compound import failure, fsync_directory
from pycrawl.store.reader import RecordReader
from pycrawl.store.rewrite import Moved, Rewriter, drop_new_name, old_name, remove_unfinished, take_old_name
from pycrawl.urls.parts import host_key
from pycrawl.urls.url_texts import urls_in

_NEW_LINES = ".new"  # suffix of the new version of a log or inbox file, while it is written
_STATUS_LINE = b"HTTP/1.1 200 OK"

OnStep = Callable[[str], None]  # called with a text that names each step


def carry_on(
    directory: CrawlDirectory, database: Database, config: Config, on_step: OnStep = lambda step: None
) -> None:
    """Finish the forgetting that was begun, if any. Afterwards no byte of the forgotten pages is in the directory."""
    with database.explained():
        if not forgetting.is_pending(database):
            return
        _Collection(directory, database, config, on_step).drop_records()
        _drop_lines(directory, Unwanted(database, meta.hash_seed(database)), on_step)
        on_step("state.db: written anew")
        database.purge()
        on_step("state.db: done")
        forgetting.end(database)
        database.commit()


def take_back(directory: CrawlDirectory, config: Config, urls: Iterable[str], now: float) -> int:
    """Make those of the normalised URLs that were forgotten wanted again. Returns how many they are. The caller holds
    the directory."""
    database, _ = open_state(directory)
    try:
        carry_on(directory, database, config)
        with database.explained():
            seed = meta.hash_seed(database)
            unwanted = Unwanted(database, seed)
            judge = Judge(config, unwanted)
            taken = [url for url in dict.fromkeys(urls) if unwanted.is_unwanted(url)]
            for url in taken:
                unwanted.take_back(database, url, now)
                aside = judge.code_of(url, host_key(url), is_seed_host=True, depth=0, hops=0, ask=0)
                forgetting.restore(database, url, seed, aside, priority(0, 0))
            database.commit()
    finally:
        database.close()
    return len(taken)


@dataclass(frozen=True, slots=True)
class _Changes:
    """What has to change in `documents` when one compound file was written anew."""

    moved: dict[int, Moved]  # document with a record in the new file → the place of the record
    heirs: dict[int, int]  # document that is removed but leaves its record → the document that takes it over


class _Collection:
    """The compound files and the documents in them."""

    def __init__(self, directory: CrawlDirectory, database: Database, config: Config, on_step: OnStep) -> None:
        self._directory = directory
        self._root = directory.docs
        self._database = database
        self._dochdr = config.store.dochdr
        self._on_step = on_step

    def drop_records(self) -> None:
        """Write anew each compound file that holds a record to be removed, and commit after each."""
        names = {file_id: name for file_id, name, _, _ in documents.files(self._database)}
        remove_unfinished(self._root, set(names.values()))
        for file_id, name in names.items():
            if old_name(name) is not None:
                self._rename(file_id, name)
        doomed = forgetting.doomed(self._database)
        if not doomed:
            return
        copies = copies_by_original(self._database)
        ranges = forgetting.ranges(self._database)
        for done, (file_id, in_file) in enumerate(doomed.items()):
            self._on_step(f"docs: file {done + 1:,} of {len(doomed):,}")
            self._drop_from_file(file_id, in_file, copies, ranges)

    def _drop_from_file(
        self, file_id: int, doomed: Doomed, copies: dict[int, list[int]], ranges: dict[int, tuple[int, int]]
    ) -> None:
        """Remove documents from one compound file. `doomed` are those of this file; `copies` and `ranges` are
        of all."""
        name = documents.file_name(self._database, file_id)
        if all(doomed.values()):  # copies alone: no record goes
            self._commit(doomed, _Changes({}, {}), copies)
            return
        with Rewriter(self._root, name) as new, RecordReader(self._root) as reader:
            moved: dict[int, Moved] = {}
            heirs: dict[int, int] = {}
            for document in self._records(file_id, ranges[file_id]):
                if document.id not in doomed:
                    moved[document.id] = new.keep(document.offset, document.length)
                    continue
                heir = next((one for one in copies.get(document.id, ()) if one not in doomed), 0)
                if heir:
                    record = reader.read(name, document.offset, document.length)
                    moved[document.id] = new.put(*self._under_heir(record, document, heir))
                    heirs[document.id] = heir
            new.finish()
        self._on_step(f"docs/{new.name}: written")
        self._database.write(
            "UPDATE files SET name = ?, length = ?, records = ?, closed = 1 WHERE id = ?",
            (new.name, new.length, new.records, file_id),
        )
        self._commit(doomed, _Changes(moved, heirs), copies)
        self._rename(file_id, new.name)

    def _records(self, file_id: int, ids: tuple[int, int]) -> list[Document]:
        """Returns the documents with records in a file, in the order of the records. `ids`: the first and the last."""
        rows = self._database.query(
            "SELECT * FROM documents WHERE id BETWEEN ? AND ? AND duplicate_of = 0 AND file_id = ? ORDER BY id",
            (*ids, file_id),
        )
        return [Document(*row) for row in rows]

    def _under_heir(self, record: bytes, document: Document, heir_id: int) -> tuple[str, bytes]:
        """Returns the DOCNO, and the record made anew for the heir. Of the heir's own answer only the body and the
        content type are known; the other headers are those of the forgotten page, and must go."""
        old = trec_web.decode(record, document.escapes, document.body_length)
        url, fetched_at = documents.url_and_time(self._database, heir_id)
        address = hosts.address_of(self._database, documents.document(self._database, heir_id).url_id)
        headers = [(b"Content-Type", document.content_type.encode("latin-1", "replace"))]
        made, _ = trec_web.encode(
            url, address, fetched_at, document.content_type, _STATUS_LINE, headers, old.body, self._dochdr
        )
        return old.docno, made

    def _commit(self, doomed: Doomed, changes: _Changes, copies: dict[int, list[int]]) -> None:
        """Commit new places, heirs, removed documents and totals in one transaction."""
        database = self._database
        places = [
            (*place, one) for original, place in changes.moved.items() for one in (original, *copies.get(original, ()))
        ]
        database.write_many("UPDATE documents SET offset = ?, length = ? WHERE id = ?", places)
        for document_id, heir_id in changes.heirs.items():
            _hand_over(database, document_id, heir_id)
        forgetting.drop_documents(database, [one for one in doomed if one not in changes.heirs])
        own = sum(1 for original in doomed.values() if not original)
        count(database, "pages_stored", len(changes.heirs) - own)
        count(database, "duplicates_exact", own - len(doomed) - len(changes.heirs))
        count(database, "not_kept:forgotten", len(doomed))
        database.write(
            "UPDATE counters SET value = (SELECT coalesce(sum(length), 0) FROM files) WHERE name = 'bytes_stored'"
        )
        commit_collection(self._directory, database)

    def _rename(self, file_id: int, name: str) -> None:
        """Give a file that was written anew its old name."""
        (length,) = self._database.query("SELECT length FROM files WHERE id = ?", (file_id,)).fetchone()
        self._on_step(f"docs/{name}: renamed")
        old = take_old_name(self._root, name, length)
        self._database.write("UPDATE files SET name = ? WHERE id = ?", (old, file_id))
        commit_collection(self._directory, self._database)
        self._on_step(f"docs/{old}: done")
        drop_new_name(self._root, name)


def _hand_over(database: Database, document_id: int, heir_id: int) -> None:
    """Give the document that has the record to the heir's URL, and remove the heir's own. So the id stays, and with it
    the fingerprints and the copies that point to it."""
    heir = documents.document(database, heir_id)
    database.write(
        "UPDATE documents SET url_id = ?, url_hash = ?, fetched_at = ? WHERE id = ?",
        (heir.url_id, heir.url_hash, heir.fetched_at, document_id),
    )
    database.write(
        "UPDATE visits SET document_id = ? WHERE url_id = ? AND document_id = ?", (document_id, heir.url_id, heir_id)
    )
    database.write("DELETE FROM documents WHERE id = ?", (heir_id,))


# Lines


def _drop_lines(directory: CrawlDirectory, not_wanted: Unwanted, on_step: OnStep) -> None:
    """Remove the lines that name something unwanted from the logs and the inbox."""
    names = [re.compile(rf"(?<![\w.-]){re.escape(key)}(?![\w.-])") for key in not_wanted.hosts]

    def is_kept(line: str) -> bool:
        return not any(map(not_wanted.is_unwanted, urls_in(line))) and not any(name.search(line) for name in names)

    for folder in (directory.log.name, directory.inbox.name):
        for file in files.file_names(directory.path, folder, ordinary=True):
            name = f"{folder}/{file}"
            if name.endswith(_NEW_LINES):
                files.remove(directory.path, name)
            else:
                on_step(name)
                _keep_lines(directory.path, name, is_kept)


def _keep_lines(root: Path, name: str, is_kept: Callable[[str], bool]) -> None:
    """Write a file anew with only the lines that are kept, all or nothing. A file that keeps all is left alone."""
    new = name + _NEW_LINES
    changed = False
    try:
        with (
            open(files.open_file(root, name), encoding="utf-8", errors="surrogateescape", newline="") as old,
            open(files.new_file(root, new), "w", encoding="utf-8", errors="surrogateescape", newline="") as file,
        ):
            for line in old:
                if is_kept(line):
                    file.write(line)
                else:
                    changed = True
            file.flush()
            os.fsync(file.fileno())
        if changed:
            files.rename(root, new, name)
            fsync_directory((root / name).parent)
        else:
            files.remove(root, new)
    except OSError as error:
        files.remove(root, new)
        raise failure(error, root / name) from error
