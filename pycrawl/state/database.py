"""One SQLite database in WAL mode: opening, migrating, transactions.

Only the coordinator opens it for writing (and `init` and `add`, while they hold the directory's lock); everything that
only reads opens it read-only and works beside a crawl.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pycrawl.config import CONFIG_NAME
from pycrawl.errors import START_ANEW, StateError, StateTooNew, StoppedByLimit
from pycrawl.state import schema

STATE_NAME = "state.db"
_CACHE_KIB = 48 * 1024  # KiB of SQLite's page cache
_CHECKPOINT_PAGES = 8_000  # 32 MB of WAL: fewer, longer writes to the database file
_BUSY_SECONDS = 30.0  # to wait for a lock that another process holds
_ASKED_AT_ONCE = 64  # keys in one statement of `query_each`

Row = tuple[Any, ...]


class Database:
    """A connection whose writes gather in one open transaction until `commit`."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path

    @classmethod
    def create(cls, path: Path, steps: tuple[str, ...] = schema.STEPS) -> Database:
        """Returns a new database, open for writing. Its file must not exist yet."""
        if path.exists():
            raise StateError(f"{path}: exists already")
        return cls._open_writable(path, steps)

    @classmethod
    def open(cls, path: Path, steps: tuple[str, ...] = schema.STEPS) -> Database:
        """Returns the database, open for writing. An older schema is brought up to date by the `steps` that
        it lacks."""
        _must_exist(path)
        return cls._open_writable(path, steps)

    @classmethod
    def open_readonly(cls, path: Path) -> Database:
        _must_exist(path)
        with _connected(path, f"{path.absolute().as_uri()}?mode=ro") as connection:
            if _check_version(connection, path, schema.VERSION) < schema.VERSION:
                raise StateError(f"{path}: written by an older pycrawl; the next `pycrawl crawl` brings it up to date")
        return cls(connection, path)

    @classmethod
    def _open_writable(cls, path: Path, steps: tuple[str, ...] = schema.STEPS) -> Database:
        with _connected(path, path.absolute().as_uri()) as connection:
            version = _check_version(connection, path, len(steps))
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            for number in range(version, len(steps)):
                connection.executescript(
                    f"BEGIN IMMEDIATE; {steps[number]}; PRAGMA user_version = {number + 1}; COMMIT;"
                )
        return cls(connection, path)

    def query(self, sql: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        return self._connection.execute(sql, values)

    def query_each(self, sql: str, keys: Iterable[object], values: Sequence[object] = ()) -> Iterator[Row]:
        """Yields the rows for all `keys`, with one statement for many of them: "{}" in `sql` becomes a list of "?".
        `values` are those of the "?" before it."""
        rest = list(keys)
        for begin in range(0, len(rest), _ASKED_AT_ONCE):
            part = rest[begin : begin + _ASKED_AT_ONCE]
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

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn SQLite's errors into pycrawl's: StoppedByLimit for a full disk, else a StateError that names
        the file."""
        with _explained(self.path):
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all queries inside see the state of one commit, although a crawl may commit meanwhile."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

    def purge(self) -> None:
        """Write the database anew, so that nothing deleted is left in its files. No transaction may be open."""
        self._connection.execute("PRAGMA temp_store = FILE")  # the new database may be larger than the memory
        self._connection.execute("VACUUM")
        (is_busy, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._connection.execute("PRAGMA temp_store = MEMORY")
        if is_busy:
            raise StateError(f"{self.path}-wal: cannot be emptied, as another program reads the database. Try again.")

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
    if path.is_file():
        return
    if path.with_name(CONFIG_NAME).is_file():
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
        yield connection
        on_error.pop_all()


def _check_version(connection: sqlite3.Connection, path: Path, newest: int) -> int:
    """Returns the version of the schema; raises StateTooNew if it is above `newest`."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > newest:
        raise StateTooNew(
            f"{path}: written by a newer pycrawl (schema {version}; this one knows {newest}). Upgrade pycrawl."
        )
    return version


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
        raise StateError(f"{path}: {error}") from error
