"""Proof of the durability contract on one directory: database and compound files agree, nothing is missing or twice.

It reads one commit of the database, so it may run beside a crawl; what the files hold beyond that does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

import numpy as np

from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.record_check import record_fault
from pycrawl.errors import StateError, StoreError
from pycrawl.state import documents, links, meta, passages, stores, visit_ids
from pycrawl.state.content_seen import keys_of
from pycrawl.state.counters import family, totals
from pycrawl.state.database import Database
from pycrawl.state.runs import proof
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.standings import DEEPEST, Standings
from pycrawl.state.unwanted import row_hash
from pycrawl.state.url_lookup import CHUNK
from pycrawl.state.urls_table import SHORTER, TRUE_DEPTH
from pycrawl.store.compound import CompoundFile, docno_of, length_of
from pycrawl.store.reader import RecordReader
from pycrawl.urls.reasons import Reason

MOST_FAULTS = 20  # of one check, which ends with them
_DOCUMENTS_AT_ONCE = 10_000  # looked up in one go

OnProgress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Check:
    """One property: what it says, how much was looked at, what contradicts it."""

    name: str
    examined: int
    faults: tuple[str, ...]


def verify(directory: CrawlDirectory, on_record: OnProgress, deep: bool = True) -> Iterator[Check]:
    """Every check, one after the other; `on_record` is called with the number of records read so far. Without `deep`,
    no record is read: lengths and numbers are compared."""
    with (
        closing(Database.open_readonly(directory.state)) as database,
        database.explained(),
        database.snapshot(),
    ):
        yield _files_match(directory, database)
        if not deep:
            yield _counters_match(database)
            return
        yield _database_whole(database)
        yield _records_match(directory, database, on_record)
        yield _told(_documents_are_found, database)
        yield _nothing_stored_twice(database)
        yield _near_duplicates_are_stored(database)
        yield _runs_are_in_order(database)
        yield _told(_visits_are_found, database)
        yield _told(_passages_are_of_stored_pages, database)
        yield _told(_links_agree, database)
        yield _urls_have_one_place(database)
        yield _hashes_match(database)
        yield _standings_match(database)
        yield _counters_match(database)


def _told(check: Callable[[Database], Check], database: Database) -> Check:
    """Returns what a check finds. Damage because of which it cannot go on is a fault too."""
    try:
        return check(database)
    except StateError as error:
        return Check(check.__name__.strip("_").replace("_", " "), 0, (str(error),))


def _database_whole(database: Database) -> Check:
    rows = [row[0] for row in database.query(f"PRAGMA integrity_check({MOST_FAULTS})")]
    return Check("the database is whole", 1, tuple(row for row in rows if row != "ok"))


def _files_match(directory: CrawlDirectory, database: Database) -> Check:
    """Every compound file has at least the bytes that count, and the records of its documents fill them."""
    faults = []
    used = documents.bytes_and_records_by_file(database)
    for file_id, name, length, count in documents.files(database):
        try:
            size = length_of(directory.docs, name) if length else 0
            if size < length:
                faults.append(f"{name}: {length:,} bytes are committed, {size:,} are there")
        except StoreError as error:
            faults.append(str(error))
        if used.pop(file_id, (0, 0)) != (length, count):
            faults.append(f"{name}: its documents do not have {count:,} records of {length:,} bytes in all")
    faults += [f"{plural} documents are in a file that is not known" for _, plural in used.values()]
    (files,) = database.query("SELECT count(*) FROM files").fetchone()
    return Check("the compound files are as long as their records", files, tuple(faults[:MOST_FAULTS]))


def _records_match(directory: CrawlDirectory, database: Database, on_record: OnProgress) -> Check:
    """Every committed byte of the compound files belongs to a record that a document points to, and is as it was.

    Records are read at the places that the database gives them, so damage costs the record that it is in and no other.
    """
    faults: list[str] = []
    rows = _Ahead(documents.documents_in_order(database))
    read = 0
    with RecordReader(directory.docs) as reader:
        for row in documents.files(database):
            file = _FileCheck(CompoundFile(*row), reader, database)
            for document in rows.of_file(file.file_id):
                read += 1
                on_record(read)
                file.look_at(document)
                if len(faults) + len(file.faults) >= MOST_FAULTS:
                    break
            faults += file.all_faults()
            if len(faults) >= MOST_FAULTS:
                return Check("records and documents agree", read, tuple(faults[:MOST_FAULTS]))
    faults += [
        f"{_named(database, document)}: its file is not known, or it is out of order" for document in rows.rest()
    ]
    return Check("records and documents agree", read, tuple(faults[:MOST_FAULTS]))


class _Ahead:
    """Documents in order, of which one is looked at before it is taken."""

    def __init__(self, rows: Iterator[documents.Document]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def of_file(self, file_id: int) -> Iterator[documents.Document]:
        """Takes the documents of one file."""
        while self._next is not None and self._next.file_id == file_id:
            yield self._next
            self._next = next(self._rows, None)

    def rest(self) -> list[documents.Document]:
        """Takes some of the others."""
        return [] if self._next is None else [self._next, *islice(self._rows, MOST_FAULTS)]


class _FileCheck:
    """Compares the records of one compound file with their documents, which are given in the file's order."""

    def __init__(self, file: CompoundFile, reader: RecordReader, database: Database) -> None:
        self.file_id = file.file_id
        self._file = file
        self._reader = reader
        self._database = database
        self._seed = meta.hash_seed(database)
        self._found = reader.size(file.name)  # bytes that are there
        self._end = self._records = self._number = 0  # behind the last record; records so far; the number of the last
        self._beyond: list[documents.Document] = []  # documents whose record is not there, as the file is too short
        self.faults: list[str] = []

    def look_at(self, document: documents.Document) -> None:
        name, offset = self._file.name, document.offset
        self._records += 1
        if offset != self._end:
            self._fault(document, f"expected the record at byte {self._end}, found it at byte {offset}")
        if document.number <= self._number:
            self._fault(document, f"number {document.number} comes after {self._number}")
        self._end, self._number = offset + document.length, document.number
        if self._end > self._found:
            self._beyond.append(document)
            return
        fault = record_fault(self._reader, name, document, self._seed)
        if fault:
            self._fault(document, fault)

    def all_faults(self) -> list[str]:
        """Returns the faults of the records, and those of the file as a whole."""
        file = self._file
        if self._beyond:
            first = _named(self._database, self._beyond[0])
            more = f" and {len(self._beyond) - 1:,} behind it" if len(self._beyond) > 1 else ""
            self.faults.append(
                f"{file.name}: expected {file.length} bytes, found {self._found or 'no such file'}: cut off are"
                f" {first}{more}"
            )
        elif (self._end, self._records) != (file.length, file.records):
            self.faults.append(
                f"{file.name}: {file.length} bytes and {file.records} records are committed, documents have"
                f" {self._end} and {self._records}"
            )
        return self.faults

    def _fault(self, document: documents.Document, what: str) -> None:
        self.faults.append(f"{self._file.name}, byte {document.offset}: {_named(self._database, document)}: {what}")


def _named(database: Database, document: documents.Document) -> str:
    """Returns the DOCNO and the URL of a document."""
    url = documents.url_of(database, document.id) or "a URL that is not known"
    return f"{docno_of(document.file_id, document.number)} ({url})"


def _nothing_stored_twice(database: Database) -> Check:
    """No URL has two documents in a row with the same bytes."""
    rows = database.query(
        "SELECT urls.url FROM (SELECT url_id, digest, lag(digest) OVER (PARTITION BY url_id ORDER BY fetched_at, id)"
        " AS before FROM documents) JOIN urls ON urls.id = url_id WHERE digest = before LIMIT ?",
        (MOST_FAULTS,),
    )
    (count,) = database.query("SELECT count(*) FROM documents").fetchone()
    return Check("no document is stored twice", count, tuple(f"stored twice: {url}" for (url,) in rows))


_NEAR = {
    "the fingerprints of document {} are of a page that is not stored": (
        "SELECT document_id FROM page_prints WHERE NOT EXISTS"
        " (SELECT 1 FROM documents WHERE id = document_id AND duplicate_of = 0) LIMIT ?"
    ),
    "document {} was joined to none that is older and has fingerprints": (
        "SELECT document_id FROM near WHERE near_id >= document_id OR NOT EXISTS"
        " (SELECT 1 FROM page_prints WHERE page_prints.document_id = near_id) LIMIT ?"
    ),
    "document {} was joined without fingerprints": (
        "SELECT document_id FROM near WHERE NOT EXISTS"
        " (SELECT 1 FROM page_prints WHERE page_prints.document_id = near.document_id) LIMIT ?"
    ),
}


def _near_duplicates_are_stored(database: Database) -> Check:
    """Fingerprints and joins were committed with their documents."""
    faults: list[str] = []
    for fault, sql in _NEAR.items():
        faults += [fault.format(document_id) for (document_id,) in database.query(sql, (MOST_FAULTS,))]
    (count,) = database.query("SELECT count(*) FROM page_prints").fetchone()
    return Check("near-duplicates are joined to stored pages", count, tuple(faults))


def _runs_are_in_order(database: Database) -> Check:
    faults = tuple(islice(proof.faults(database, stores.ALL), MOST_FAULTS))
    return Check("sorted runs are in order", proof.count_entries(database, stores.ALL), faults)


def _visits_are_found(database: Database) -> Check:
    (count,) = database.query("SELECT count(*) FROM visits").fetchone()
    faults = tuple(islice(visit_ids.faults(database), MOST_FAULTS))
    return Check("every visit is found by its URL", count, faults)


def _documents_are_found(database: Database) -> Check:
    """Every document is found by its URL and, if it has a record that is to stay, by its digest."""
    by_url, by_digest = IdRuns(database, stores.DOCUMENTS_BY_URL), IdRuns(database, stores.CONTENT)
    faults: list[str] = []
    count = 0
    rows = database.query(
        "SELECT id, url_hash, digest, duplicate_of = 0 AND url_id NOT IN (SELECT url_id FROM forgetting)"
        " AND id NOT IN (SELECT document_id FROM leaving) FROM documents ORDER BY id"
    )
    while (some := rows.fetchmany(_DOCUMENTS_AT_ONCE)) and len(faults) < MOST_FAULTS:
        count += len(some)
        hashes = np.array([row[1] for row in some], np.int64).astype(np.uint64)
        places, ids = by_url.find(hashes)
        found = set(zip(places.tolist(), ids.tolist(), strict=True))
        faults += [
            f"document {row[0]} is not found by its URL" for at, row in enumerate(some) if (at, row[0]) not in found
        ]
        own = [row for row in some if row[3]]
        known = set(by_digest.find(keys_of([row[2] for row in own]))[0].tolist())
        faults += [f"document {row[0]} is not found by its digest" for at, row in enumerate(own) if at not in known]
    pairs = sum(map(len, by_url.portions()))
    if pairs != count and not faults:
        faults.append(f"{pairs:,} documents are found by their URLs, and {count:,} are there")
    return Check("documents are found by URL and by content", count, tuple(faults[:MOST_FAULTS]))


def _passages_are_of_stored_pages(database: Database) -> Check:
    faults = tuple(islice(passages.faults(database), MOST_FAULTS))
    return Check("passages are those of stored pages", passages.count_entries(database), faults)


_WAITING = " UNION ALL ".join(f"SELECT url_id FROM {table}" for table in ("front", "recrawls", "back", "held"))
_PLACES = {
    "lost (neither visited nor waiting)": (
        "SELECT url FROM urls WHERE aside = 0"
        " AND NOT EXISTS (SELECT 1 FROM visits WHERE id = visit_id(urls.id) AND requeued = 0)"
        f" AND id NOT IN ({_WAITING}) LIMIT ?"
    ),
    "waiting twice": (
        "SELECT url FROM urls WHERE id IN"
        f" (SELECT url_id FROM ({_WAITING}) GROUP BY url_id HAVING count(*) > 1) LIMIT ?"
    ),
    "waiting although visited": (
        "SELECT url FROM urls JOIN visits ON visits.id = visit_id(urls.id) WHERE requeued = 0"
        f" AND urls.id IN ({_WAITING}) LIMIT ?"
    ),
    "waiting although it stands aside": f"SELECT url FROM urls WHERE aside != 0 AND id IN ({_WAITING}) LIMIT ?",
    "to be asked for later, but not standing aside": (
        "SELECT url FROM urls JOIN asked_later ON url_id = urls.id WHERE aside = 0 LIMIT ?"
    ),
    "waiting, but in no host's name": ("SELECT url_id FROM back WHERE host_id NOT IN (SELECT id FROM hosts) LIMIT ?"),
}


def _links_agree(database: Database) -> Check:
    """Every link leads from a known URL to a known one, has a text that is there, and is an in-link of its target."""
    (urls,) = database.query("SELECT count(*) FROM urls").fetchone()
    faults = tuple(islice(links.faults(database, urls), MOST_FAULTS))
    examined = proof.count_entries(database, [stores.LINKS])
    return Check("links lead to known URLs, and in-links agree with them", examined, faults)


def _urls_have_one_place(database: Database) -> Check:
    faults: list[str] = []
    for fault, sql in _PLACES.items():
        faults += [f"{fault}: {url}" for (url,) in database.query(sql, (MOST_FAULTS,))]
    (count,) = database.query("SELECT count(*) FROM urls").fetchone()
    return Check("every URL is visited, waits in one place, or stands aside", count, tuple(faults))


def _hashes_match(database: Database) -> Check:
    """What URL-seen reads at the start is made of the URLs that are there, in their order."""
    seed = meta.hash_seed(database)
    faults = []
    hashes = 0
    for first_id, data in database.query("SELECT first_id, hashes FROM url_hashes ORDER BY first_id"):
        rows = database.query("SELECT url FROM urls WHERE id >= ? AND id < ? ORDER BY id", (first_id, first_id + CHUNK))
        made = np.fromiter((row_hash(url, seed) for (url,) in rows), np.uint64)
        if not np.array_equal(made, np.frombuffer(data, np.uint64)):
            faults.append(f"the hashes of the URLs from {first_id} on do not match")
        hashes += len(made)
    return Check("the hashes of URL-seen are those of the URLs", hashes, tuple(faults))


def _standings_match(database: Database) -> Check:
    """What is read at the start of depths and reasons is what the URLs have."""
    standings = Standings(database)
    faults = []
    rows = database.query(f"SELECT id, url, min({TRUE_DEPTH}, ?), aside FROM urls {SHORTER} ORDER BY id", (DEEPEST,))
    count = 0
    for url_id, url, depth, aside in rows:
        count += 1
        if standings.depth_of(url_id) != depth or standings.aside_of(url_id) != aside:
            faults.append(f"depth or reason of {url} are not what is read at the start")
    return Check("depths and reasons are those of the URLs", count, tuple(faults[:MOST_FAULTS]))


_COUNTED = {
    "urls": "SELECT count(*) FROM urls",
    "back": "SELECT count(*) FROM back",
    "held": "SELECT count(*) FROM held",
    "recrawls": "SELECT count(*) FROM recrawls",
    "lost_hashes": "SELECT 0",
    **{f"aside:{reason}": f"SELECT count(*) FROM urls WHERE aside = {reason.code}" for reason in Reason if reason.code},
    "pages_stored": "SELECT count(*) FROM documents WHERE duplicate_of = 0",
    "duplicates_exact": "SELECT count(*) FROM documents WHERE duplicate_of != 0",
    "duplicates_near": "SELECT count(*) FROM near",
    "bytes_stored": "SELECT coalesce(sum(length), 0) FROM files",
    **{f"front:{number}": f"SELECT count(*) FROM front WHERE priority = {number}" for number in range(1, 9)},
}


def _counters_match(database: Database) -> Check:
    known = totals(database)
    faults = []
    for name, sql in _COUNTED.items():
        (counted,) = database.query(sql).fetchone()
        if counted != known.get(name, 0):
            faults.append(f"{name}: {known.get(name, 0):,} by the counter, {counted:,} by counting")
    parts = [known.get(name, 0) for name in ("pages_stored", "duplicates_exact", "unchanged")]
    accounted = sum(parts) + sum(family(known, "not_kept").values())
    if accounted != known.get("pages_fetched", 0):
        faults.append(f"pages_fetched: {known.get('pages_fetched', 0):,}, of which {accounted:,} are accounted for")
    languages = sum(family(known, "language").values())
    if languages != known.get("pages_stored", 0) + known.get("duplicates_exact", 0):
        faults.append(f"language: {languages:,} documents are counted, which is not how many there are")
    return Check("the counters agree with the tables", len(_COUNTED), tuple(faults))
