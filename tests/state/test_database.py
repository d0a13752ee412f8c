from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pycrawl.errors import StateError, StateTooNew, StoppedByLimit
from pycrawl.state import schema
from pycrawl.state.database import Database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a directory?#%" / "state.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    path.parent.mkdir()
    database = Database.create(path)
    yield database
    database.close()


def names(database: Database) -> list[str]:
    return [name for (name,) in database.query("SELECT name FROM counters ORDER BY name")]


def count_up(database: Database, name: str) -> None:
    database.write("INSERT INTO counters VALUES (?, 1)", (name,))


def test_a_new_database_has_the_newest_schema_and_a_write_ahead_log(database: Database, path: Path) -> None:
    assert database.query("PRAGMA user_version").fetchone() == (schema.VERSION,)
    assert database.query("PRAGMA journal_mode").fetchone() == ("wal",)
    assert path.with_name("state.db-wal").exists()


def test_create_refuses_to_overwrite(database: Database, path: Path) -> None:
    with pytest.raises(StateError, match="exists already"):
        Database.create(path)


@pytest.mark.parametrize("opener", ["open", "open_readonly"])
def test_a_missing_file_is_not_made(tmp_path: Path, opener: str) -> None:
    with pytest.raises(StateError, match=r"no such file.*pycrawl init"):
        getattr(Database, opener)(tmp_path / "state.db")
    assert not list(tmp_path.iterdir())


def test_version_0_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.touch()
    with pytest.raises(StateError, match="older pycrawl"):
        Database.open_readonly(path)
    Database.open(path).close()
    reader = Database.open_readonly(path)
    assert reader.query("PRAGMA user_version").fetchone() == (schema.VERSION,)
    assert names(reader) == []
    reader.close()


def test_a_migration_happens_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    Database.create(path).close()
    steps = (*schema.STEPS, "CREATE TABLE more (a); CREATE TABLE hosts (a)")
    with pytest.raises(StateError, match="hosts already exists"):
        Database.open(path, steps)
    database = Database.open(path)
    assert database.query("SELECT count(*) FROM sqlite_schema WHERE name = 'more'").fetchone() == (0,)
    database.close()


@pytest.mark.parametrize("opener", ["open", "open_readonly"])
def test_a_newer_version_is_refused(database: Database, path: Path, opener: str) -> None:
    database.query(f"PRAGMA user_version = {schema.VERSION + 1}")
    with pytest.raises(StateTooNew, match=rf"state\.db: written by a newer pycrawl \(schema {schema.VERSION + 1}"):
        getattr(Database, opener)(path)


@pytest.mark.parametrize("opener", ["open", "open_readonly"])
def test_what_is_no_database_is_said_to_be_damaged(tmp_path: Path, opener: str) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(b"not a database, but long enough to be read as one" * 100)
    with pytest.raises(StateError, match=r"state\.db: the database is damaged \(file is not a database\)"):
        getattr(Database, opener)(path)


def test_damage_inside_is_named(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    database = Database.create(path)
    database.write_many("INSERT INTO counters VALUES (?, 1)", [(f"name{number:05}",) for number in range(5_000)])
    database.commit()
    database.close()
    length = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)  # behind the first page, which says that it is a database
        file.write(b"\xff" * (length - 4096))
    with pytest.raises(StateError, match=r"state\.db: the database is damaged \(.+\)\. Put back"):
        Database.open_readonly(path)


def test_nothing_is_seen_by_others_before_commit(database: Database, path: Path) -> None:
    count_up(database, "committed")
    database.commit()
    count_up(database, "open")
    reader = Database.open_readonly(path)
    assert names(reader) == ["committed"]
    assert names(database) == ["committed", "open"]
    database.commit()
    assert names(reader) == ["committed", "open"]
    reader.close()


def test_a_snapshot_stays_at_one_commit(database: Database, path: Path) -> None:
    reader = Database.open_readonly(path)
    with reader.snapshot():
        assert names(reader) == []
        count_up(database, "later")
        database.commit()
        assert names(reader) == []
    assert names(reader) == ["later"]
    reader.close()


def test_a_reader_cannot_write(database: Database, path: Path) -> None:
    reader = Database.open_readonly(path)
    with pytest.raises(StateError, match="readonly"), reader.explained():
        count_up(reader, "x")
    reader.close()


def test_what_was_not_committed_never_happened(database: Database, path: Path) -> None:
    count_up(database, "committed")
    database.commit()
    count_up(database, "rolled back")
    database.rollback()
    count_up(database, "lost")
    database.close()
    again = Database.open(path)
    assert names(again) == ["committed"]
    again.close()


def test_commit_and_rollback_without_writes_do_nothing(database: Database) -> None:
    database.commit()
    database.rollback()


def fill_up(database: Database) -> None:
    with database.explained():
        for number in range(10_000):
            database.write("INSERT INTO robots VALUES (?, 200, ?, 0, 0, 0)", (str(number), os.urandom(10_000)))
            if number % 10 == 9:
                database.commit()


def check_full(database: Database, path: Path) -> None:
    with pytest.raises(StoppedByLimit, match=r"state\.db: the disk is full\. Everything committed is safe"):
        fill_up(database)
    database.close()
    reader = sqlite3.connect(path)
    (count,) = reader.execute("SELECT count(*) FROM robots").fetchone()
    assert count % 10 == 0
    assert reader.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    reader.close()


def test_a_full_database_is_a_limit(database: Database, path: Path) -> None:
    database.query("PRAGMA max_page_count = 300")
    check_full(database, path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("only root can mount a small disk")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_disk_is_a_limit(small_disk: Path) -> None:
    path = small_disk / "state.db"
    check_full(Database.create(path), path)


@pytest.mark.parametrize("room", range(0, 160, 16))
def test_a_disk_that_is_full_from_the_start(small_disk: Path, room: int) -> None:
    """Whatever part of making the database there is no room for."""
    with (small_disk / "filler").open("wb") as filler:
        filler.write(bytes(2_000_000 + 97_152 - room * 1024))
    with contextlib.suppress(StoppedByLimit):
        database = Database.create(small_disk / "state.db")
        with contextlib.closing(database), database.explained():
            count_up(database, "x")
            database.commit()
