"""One SQLite database in WAL mode: opening, migrating, transactions.

Only the coordinator opens it for writing (and `init` and `add`, while they hold the directory's lock); everything that
only reads opens it read-only and works beside a crawl.
"""

from __future__ import annotations

import os
import pkgutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from pycrawl.config import CONFIG_NAME
from pycrawl.errors import START_ANEW, StateError, StateTooNew, StoppedByLimit, UnsafeFile
from pycrawl.foreign.files import is_there, new_file, open_file
from pycrawl.state import schema
from pycrawl.state.schema import Step

STATE_NAME = "state.db"
_CACHE_KIB = 48 * 1024  # KiB of SQLite's page cache
_CHECKPOINT_PAGES = 16_000  # 64 MB of WAL: a page that changes often is written to the database file more rarely
_BUSY_SECONDS = 30.0  # to wait for a lock that another process holds
_ASKED_AT_ONCE = 64  # keys in one statement of `query_each`

_STEPS_BETWEEN_LOOKS = 100_000  # of SQLite's machine: some milliseconds
_SCHEMA_SECONDS = 10.0  # to read the schema
_SCHEMA = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master"
_JOURNAL = "-journal"  # there only while a new database is turned to WAL mode
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")  # the end of a journal that names a super-journal

Row = tuple[Any, ...]


class Database:
    """A connection whose writes gather in one open transaction until `commit`."""

    def __init__(self, connection: sqlite3.Connection, path: Path, is_writable: bool) -> None:
        self._connection = connection
        self.path = path
        self.is_writable = is_writable  # and nobody else writes, so that copies in memory stay right
        self.rollbacks = 0  # so many times what was written was taken back: whoever keeps a copy reads it again
        self.statements = 0  # so many were begun
        # Set by `visit_ids.py`, which finds the visit of a URL: what SQL statements call as visit_id(url_id).
        self.visit_ids: Any = None
        self._failure: StateError | None = None  # why that function could not tell
        connection.create_function("visit_id", 1, self._visit_id, deterministic=True)

    def _visit_id(self, url_id: int) -> int:
        if self.visit_ids is None:
            pkgutil.resolve_name("pycrawl.state.visit_ids.visit_ids")(self)
        try:
            found: int = self.visit_ids.id_of(url_id)
        except StateError as error:  # SQLite only says that a function has failed
            self._failure = error
            raise
        return found

    @classmethod
    def create(cls, path: Path, steps: tuple[str | Step, ...] = schema.STEPS) -> Database:
        """Returns a new database, open for writing. Its file must not exist yet."""
        if is_there(path.parent, path.name):
            raise StateError(f"{path}: exists already")
        os.close(new_file(path.parent, path.name))  # SQLite gives its other files the same permissions
        return cls._open_writable(path, steps)

    @classmethod
    def open(cls, path: Path, steps: tuple[str | Step, ...] = schema.STEPS) -> Database:
        """Returns the database, open for writing. An older schema is brought up to date by the `steps` that
        it lacks."""
        _must_exist(path)
        return cls._open_writable(path, steps)

    @classmethod
    def open_readonly(cls, path: Path) -> Database:
        _must_exist(path)
        _check_files(path, writable=False)
        with _connected(path, f"{path.absolute().as_uri()}?mode=ro") as connection:
            version = _checked_version(connection, path, schema.STEPS)
            if version < schema.VERSION:
                raise StateError(f"{path}: written by an older pycrawl; the next `pycrawl crawl` brings it up to date")
            # With a handler, Ctrl-C is heard while SQLite works on a statement.
            connection.set_progress_handler(lambda: 0, _STEPS_BETWEEN_LOOKS)
        return cls(connection, path, is_writable=False)

    @classmethod
    def _open_writable(cls, path: Path, steps: tuple[str | Step, ...] = schema.STEPS) -> Database:
        _check_files(path, writable=True)
        with _connected(path, path.absolute().as_uri()) as connection:
            version = _checked_version(connection, path, steps)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            connection.execute("PRAGMA temp_store = MEMORY")
            # Pages that become free are not written, as some builds of SQLite do with zeros: sorted runs free many.
            # `purge` leaves nothing of them.
            connection.execute("PRAGMA secure_delete = FAST")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            database = cls(connection, path, is_writable=True)
            for number in range(version, len(steps)):
                database._take_step(steps[number], number + 1)
        return database

    def _take_step(self, step: str | Step, version: int) -> None:
        """Bring the schema to a version, all or nothing."""
        if isinstance(step, str):
            self._connection.executescript(f"BEGIN IMMEDIATE; {step}; PRAGMA user_version = {version}; COMMIT;")
            return
        self._connection.executescript(f"BEGIN IMMEDIATE; {step.before}")
        pkgutil.resolve_name(step.move)(self)
        for statement in (*step.after, f"PRAGMA user_version = {version}", "COMMIT"):
            self._connection.execute(statement)

    def query(self, sql: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        self.statements += 1
        return self._connection.execute(sql, values)

    def query_each(self, sql: str, keys: Iterable[object], values: Sequence[object] = ()) -> Iterator[Row]:
        """Yields the rows for all `keys`, with one statement for many of them: "{}" in `sql` becomes a list of "?".
        `values` are those of the "?" before it."""
        rest = list(keys)
        for begin in range(0, len(rest), _ASKED_AT_ONCE):
            part = rest[begin : begin + _ASKED_AT_ONCE]
            self.statements += 1
            yield from self._connection.execute(sql.format(", ".join("?" * len(part))), (*values, *part))

    def write(self, sql: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        self._begin()
        return self._connection.execute(sql, values)

    def write_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        self._begin()
        self._connection.executemany(sql, rows)

    def commit(self) -> None:
        """Make everything written since the last commit durable, all or nothing."""
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def rollback(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
            self.rollbacks += 1

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn SQLite's errors into pycrawl's: StoppedByLimit for a full disk, else a StateError that names
        the file."""
        try:
            with _explained(self.path):
                yield
        except StateError as error:
            raise self._failure or error from error

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all queries inside see the state of one commit, although a crawl may commit meanwhile."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

    @contextmanager
    def one_view(self) -> Iterator[None]:
        """As `snapshot`; but inside a transaction, which has one view anyway, it does nothing."""
        if self._connection.in_transaction:
            yield
        else:
            with self.snapshot():
                yield

    def purge(self) -> None:
        """Write the database anew, so that nothing deleted is left in its files. No transaction may be open."""
        self._connection.execute("PRAGMA temp_store = FILE")  # the new database may be larger than the memory
        self._connection.execute("VACUUM")
        (is_busy, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._connection.execute("PRAGMA temp_store = MEMORY")
        if is_busy:
            raise StateError(f"{self.path}-wal: cannot be emptied, as another program reads the database. Try again.")

    def bytes_cached(self) -> int:
        """Returns how many bytes SQLite's page cache may take."""
        return _CACHE_KIB * 1024

    def empty_cache(self) -> None:
        """Give SQLite's page cache back, after much was read once that will not be asked for again, as at the start."""
        self._connection.execute("PRAGMA shrink_memory")

    def close(self) -> None:
        """Close the connection. What was not committed is as if it never happened."""
        self._connection.close()

    def _begin(self) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")


def _must_exist(path: Path) -> None:
    if is_there(path.parent, path.name):
        return
    if is_there(path.parent, CONFIG_NAME):
        raise StateError(f"{path}: is missing. {START_ANEW}")
    raise StateError(f"{path}: no such file. Run `pycrawl init` first, or name the crawl's directory with -C.")


@contextmanager
def _connected(path: Path, address: str) -> Iterator[sqlite3.Connection]:
    """Yields a new connection, which is closed again if the code inside raises."""
    with _explained(path), ExitStack() as on_error:
        connection = sqlite3.connect(
            address, uri=True, isolation_level=None, timeout=_BUSY_SECONDS, check_same_thread=False
        )
        on_error.callback(connection.close)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        yield connection
        on_error.pop_all()


def _checked_version(connection: sqlite3.Connection, path: Path, steps: tuple[str | Step, ...]) -> int:
    """Returns the version of the schema, which is ours. Raises StateTooNew if it is newer than the steps."""
    connection.execute("BEGIN")  # another process may bring the schema up to date meanwhile
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(steps):
        raise StateTooNew(
            f"{path}: written by a newer pycrawl (schema {version}; this one knows {len(steps)}). Upgrade pycrawl."
        )
    _check_schema(connection, path, steps[: max(version, 0)])
    connection.execute("ROLLBACK")
    return version


def _check_files(path: Path, writable: bool) -> None:
    """Raises UnsafeFile if the database, or one of SQLite's files beside it, leads elsewhere.

    A journal of ours belongs to one database; one that names another file, which SQLite might remove, has a mark at its
    end.
    """
    for suffix in ("", "-wal", "-shm", _JOURNAL):
        is_there(path.parent, path.name + suffix, writable)
    journal = path.name + _JOURNAL
    if is_there(path.parent, journal):
        with open(open_file(path.parent, journal), "rb") as file:
            file.seek(-min(len(_NAMES_ANOTHER), os.fstat(file.fileno()).st_size), os.SEEK_END)
            if file.read() == _NAMES_ANOTHER:
                raise UnsafeFile(f"{path.parent / journal}: names another file, so it is not of this database")


def _check_schema(connection: sqlite3.Connection, path: Path, steps: tuple[str | Step, ...]) -> None:
    """Raises StateError if the database has anything but the tables and indexes that the steps make: a view or trigger
    of somebody else could run for ever, or change what it is not asked to."""
    until = time.monotonic() + _SCHEMA_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS_BETWEEN_LOOKS)
    found = set()
    expected = _schema_of(steps)
    for row in connection.execute(_SCHEMA):
        found.add(tuple(row))
        if tuple(row) not in expected:
            raise StateError(f"{path}: not a state of pycrawl: it has a {row[0]} {row[1]!r} that is none of pycrawl's")
    if found != expected:
        missing = sorted(name for _, name, _, _ in expected - found)
        raise StateError(f"{path}: not a state of pycrawl: it has no {missing[0]!r}")
    connection.set_progress_handler(None, 0)


@cache
def _schema_of(steps: tuple[str | Step, ...]) -> set[Row]:
    """Returns what `_SCHEMA` gives for a database that the steps have made."""
    with closing(sqlite3.connect(":memory:")) as model:
        for step in steps:
            model.executescript(step if isinstance(step, str) else ";".join((step.before, *step.after)))
        return set(model.execute(_SCHEMA))


# The index of the WAL is a file too; when the disk is too full for it to grow, SQLite reports this I/O error.
_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_PRIMARY_CODE = 0xFF  # extended result codes keep the primary one in their low byte


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        extended = getattr(error, "sqlite_errorcode", 0)
        code = extended & _PRIMARY_CODE
        if code in _FULL or extended in _FULL:
            raise StoppedByLimit(
                f"{path}: the disk is full. Everything committed is safe; make room and go on."
            ) from error
        if code in _DAMAGED:
            raise StateError(f"{path}: the database is damaged ({error}). Put back a copy, or start anew.") from error
        if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
            raise StateError(f"{path}: was closed, and is asked again") from error
        raise StateError(f"{path}: {error}") from error
