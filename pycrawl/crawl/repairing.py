"""`verify --repair`: documents whose records cannot be read leave the collection, and their pages are fetched again.

`lost_documents` reads every record at its own place, so that damage to one hides no other. `repair` begins in one
transaction (`state/leaving.py`), which also queues the URLs; once that is committed it is final, and whoever opens the
crawl for writing carries it on (`forgetting.carry_on`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pycrawl.config import Config
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.dropping import OnStep
from pycrawl.crawl.forgetting import carry_on
from pycrawl.crawl.record_check import record_fault
from pycrawl.frontier.front import level_in_sql
from pycrawl.state import documents, leaving, meta
from pycrawl.state.database import Database
from pycrawl.store.reader import RecordReader

OnRecord = Callable[[int], None]  # called with the number of records read so far


@dataclass(frozen=True, slots=True)
class Lost:
    """A document whose record is not the one that was stored."""

    document_id: int
    url: str
    fetched_at: float
    reason: str  # with the file and the byte


@dataclass(frozen=True, slots=True)
class Repaired:
    queued: int  # URLs that the next crawl fetches again
    aside: int  # URLs that the settings keep it from fetching again


def lost_documents(directory: CrawlDirectory, database: Database, on_record: OnRecord) -> Iterator[Lost]:
    """Yields the documents that have a record of their own which is damaged or not there."""
    seed = meta.hash_seed(database)
    names = {file_id: name for file_id, name, _, _ in documents.files(database)}
    with RecordReader(directory.docs) as reader:
        for read, document in enumerate(documents.documents_in_order(database), 1):
            name = names[document.file_id]
            fault = record_fault(reader, name, document, seed)
            if fault:
                reason = f"{name}, byte {document.offset}: {fault}"
                yield Lost(document.id, *documents.url_and_time(database, document.id), reason)
            on_record(read)


def repair(
    directory: CrawlDirectory, database: Database, config: Config, lost: Iterable[Lost], on_step: OnStep
) -> Repaired:
    """Remove lost documents, and queue their URLs to be fetched again. The caller holds the directory."""
    with database.explained():
        on_step("state.db: lost documents")
        ids = [one.document_id for one in lost]
        queued, aside = leaving.begin_lost(database, ids, config.content.near_duplicate_threshold, level_in_sql())
        database.commit()
        on_step("state.db: begun")
        carry_on(directory, database, config, on_step)
    return Repaired(queued, aside)
