"""Opens a crawl's database for writing, and commits changes of the collection so that an older database is told from a
crash."""

from __future__ import annotations

from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.state import documents, meta
from pycrawl.state.database import Database
from pycrawl.state.urls_table import settle_depths
from pycrawl.store.aside import Aside, move_aside, note_commit, noted_commit
from pycrawl.store.compound import CompoundFile


def open_state(directory: CrawlDirectory) -> tuple[Database, Aside | None]:
    """Returns the database, open for writing; the caller holds the directory. If it is older than the collection, what
    it does not know is moved aside first, and what was moved is returned; else None."""
    database = Database.open(directory.state)
    try:
        with database.explained():
            settle_depths(database)
            database.commit()
            noted = noted_commit(directory.path)
            if noted <= meta.collection_commits(database):
                return database, None
            aside = move_aside(directory.docs, [CompoundFile(*row) for row in documents.files(database)])
            # From here on the numbers go on behind those of the newer database, which may be put back too.
            meta.set_collection_commits(database, noted)
            database.commit()
    except BaseException:
        database.close()
        raise
    return database, aside


def commit_collection(directory: CrawlDirectory, database: Database) -> None:
    """Commit what was written, which changes the collection, and note that it was committed."""
    number = meta.collection_commits(database) + 1
    meta.set_collection_commits(database, number)
    database.commit()
    note_commit(directory.path, number)


def aside_told(aside: Aside) -> str:
    """Returns what to say of an older database."""
    moved = (
        f"what it does not know ({aside.size:,} bytes of {aside.files:,} compound files) was moved to {aside.folder}/"
        if aside.folder
        else "it knows all compound files that are there"
    )
    return f"state.db is older than the collection in docs/: {moved}. Does the rest agree? `pycrawl verify --deep`"
