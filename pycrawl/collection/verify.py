"""Proof of the durability contract on one directory: database and compound files agree, nothing is missing or twice.

It reads one commit of the database, so it may run beside a crawl; what the files hold beyond that does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

import numpy as np
import xxhash

from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.errors import StoreError
from pycrawl.record import trec_web
from pycrawl.state import documents, meta, passages
from pycrawl.state.counters import family, totals
from pycrawl.state.database import Database
from pycrawl.state.standings import DEEPEST, Standings
from pycrawl.state.unwanted import row_hash
from pycrawl.state.url_seen import CHUNK
from pycrawl.store.compound import length_of
from pycrawl.store.reader import RecordReader
from pycrawl.urls.reasons import Reason

_MOST_FAULTS = 20  # of one check

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
        yield _nothing_stored_twice(database)
        yield _near_duplicates_are_stored(database)
        yield _passages_are_of_stored_pages(database)
        yield _urls_have_one_place(database)
        yield _hashes_match(database)
        yield _standings_match(database)
        yield _counters_match(database)


def _database_whole(database: Database) -> Check:
    rows = [row[0] for row in database.query(f"PRAGMA integrity_check({_MOST_FAULTS})")]
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
    return Check("the compound files are as long as their records", files, tuple(faults[:_MOST_FAULTS]))


def _records_match(directory: CrawlDirectory, database: Database, on_record: OnProgress) -> Check:
    """Every committed byte of the compound files belongs to a record that a document points to, and is as it was."""
    faults: list[str] = []
    seed = meta.hash_seed(database)
    rows = documents.documents_in_order(database)
    read = 0
    with RecordReader(directory.docs) as reader:
        for file_id, name, length, count in documents.files(database):
            in_file = last = 0
            try:
                for offset, size, record in reader.records(name, length):
                    in_file += 1
                    read += 1
                    on_record(read)
                    document = next(rows, None)
                    faults += _record_faults(document, (file_id, offset, size), name, record, seed)
                    if document is not None and document.number <= last:
                        faults.append(f"{name}, byte {offset}: number {document.number} comes after {last}")
                    last = document.number if document is not None else last
                    if len(faults) >= _MOST_FAULTS:
                        return Check("records and documents agree", read, tuple(faults))
            except StoreError as error:
                faults.append(str(error))
            if in_file != count:
                faults.append(f"{name}: {count} records are committed, {in_file} are there")
    missing = sum(1 for _ in rows)
    if missing:
        faults.append(f"{missing} documents have no record")
    return Check("records and documents agree", read, tuple(faults[:_MOST_FAULTS]))


def _record_faults(
    document: documents.Document | None, place: tuple[int, int, int], name: str, record: bytes, seed: int
) -> list[str]:
    where = f"{name}, byte {place[1]}"
    if document is None:
        return [f"{where}: a record without a document"]
    if (document.file_id, document.offset, document.length) != place:
        return [f"{where}: document {document.id} lies elsewhere"]
    try:
        decoded = trec_web.decode(record, document.escapes, document.body_length)
    except StoreError as error:
        return [f"{where}: {error}"]
    if xxhash.xxh3_128_digest(decoded.body, seed) != document.digest:
        return [f"{where}: the body of document {document.id} is not the one that was stored"]
    if trec_web.parse_docno(decoded.docno)[2] != document.number:
        return [f"{where}: {decoded.docno} should be number {document.number}"]
    return []


def _nothing_stored_twice(database: Database) -> Check:
    """No URL has two documents in a row with the same bytes."""
    rows = database.query(
        "SELECT urls.url FROM (SELECT url_id, digest, lag(digest) OVER (PARTITION BY url_id ORDER BY fetched_at, id)"
        " AS before FROM documents) JOIN urls ON urls.id = url_id WHERE digest = before LIMIT ?",
        (_MOST_FAULTS,),
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
        faults += [fault.format(document_id) for (document_id,) in database.query(sql, (_MOST_FAULTS,))]
    (count,) = database.query("SELECT count(*) FROM page_prints").fetchone()
    return Check("near-duplicates are joined to stored pages", count, tuple(faults))


def _passages_are_of_stored_pages(database: Database) -> Check:
    faults = tuple(islice(passages.faults(database), _MOST_FAULTS))
    return Check("passages are those of stored pages", passages.count_entries(database), faults)


_WAITING = "SELECT url_id FROM front UNION ALL SELECT url_id FROM back UNION ALL SELECT url_id FROM held"
_PLACES = {
    "lost (neither visited nor waiting)": (
        "SELECT url FROM urls WHERE aside = 0"
        " AND NOT EXISTS (SELECT 1 FROM visits WHERE url_id = urls.id AND requeued = 0)"
        f" AND id NOT IN ({_WAITING}) LIMIT ?"
    ),
    "waiting twice": (
        "SELECT url FROM urls WHERE id IN"
        f" (SELECT url_id FROM ({_WAITING}) GROUP BY url_id HAVING count(*) > 1) LIMIT ?"
    ),
    "waiting although visited": (
        "SELECT url FROM urls JOIN visits ON visits.url_id = urls.id WHERE requeued = 0"
        f" AND urls.id IN ({_WAITING}) LIMIT ?"
    ),
    "waiting although it stands aside": f"SELECT url FROM urls WHERE aside != 0 AND id IN ({_WAITING}) LIMIT ?",
    "waiting, but in no host's name": ("SELECT url_id FROM back WHERE host_id NOT IN (SELECT id FROM hosts) LIMIT ?"),
}


def _urls_have_one_place(database: Database) -> Check:
    faults: list[str] = []
    for fault, sql in _PLACES.items():
        faults += [f"{fault}: {url}" for (url,) in database.query(sql, (_MOST_FAULTS,))]
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
    rows = database.query("SELECT id, url, min(depth, ?), aside FROM urls ORDER BY id", (DEEPEST,))
    count = 0
    for url_id, url, depth, aside in rows:
        count += 1
        if standings.depth_of(url_id) != depth or standings.aside_of(url_id) != aside:
            faults.append(f"depth or reason of {url} are not what is read at the start")
    return Check("depths and reasons are those of the URLs", count, tuple(faults[:_MOST_FAULTS]))


_COUNTED = {
    "urls": "SELECT count(*) FROM urls",
    "back": "SELECT count(*) FROM back",
    "held": "SELECT count(*) FROM held",
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
    return Check("the counters agree with the tables", len(_COUNTED), tuple(faults))
