"""Damaged state, a full disk, too many errors: a clear line, the right exit code, and nothing committed is lost."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from pycrawl.collection.verify import verify
from pycrawl.errors import StoreError
from pycrawl.record import trec_web
from pycrawl.simweb import SimServer, SimWebSettings
from pycrawl.state.database import Database
from pycrawl.state.documents import Document, documents_in_order, files, url_and_time
from pycrawl.store.compound import docno_of
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl, assert_holds_the_web, file_system
from tests.e2e.site import Site, page

FAILED, LIMIT = 1, 4
SMALL = SimWebSettings.plain(seed=91, hosts=4, pages=40, port=0, mean_page_bytes=3_000)
READERS = (("stats",), ("get", "http://127.1.0.1/"), ("why", "http://127.1.0.1/"), ("verify",))
WRITERS = (("crawl",), ("add", "http://127.1.0.1/"))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A finished crawl to be damaged in copies."""
    with SimServer(SMALL) as server:
        crawl = Crawl.make(tmp_path_factory.mktemp("damage") / "crawl", [server.seed], {"store": {"file_size": 20_000}})
        crawl.run("crawl")
    return crawl


@pytest.fixture
def copy(crawled: Crawl, tmp_path: Path) -> Crawl:
    """A crawl is a directory: it can be copied."""
    subprocess.run(["cp", "-r", crawled.path, tmp_path / "copy"], check=True)
    return Crawl(tmp_path / "copy")


def one_line(crawl: Crawl, command: tuple[str, ...], exit_code: int) -> str:
    ended = crawl.run(*command, exit_code=exit_code)
    assert ended.stderr.count("\n") == 1, ended.stderr
    return ended.stderr


def test_state_of_a_newer_version_is_refused(copy: Crawl) -> None:
    with closing(sqlite3.connect(copy.directory.state)) as database:
        database.execute("PRAGMA user_version = 99")
        database.commit()
    for command in (*READERS, *WRITERS):
        line = one_line(copy, command, FAILED)
        assert str(copy.directory.state) in line
        assert "newer pycrawl (schema 99" in line


def test_a_database_that_is_none_is_refused(copy: Crawl) -> None:
    with copy.directory.state.open("r+b") as file:
        file.write(os.urandom(4096))
    for command in (*READERS, *WRITERS):
        assert "damaged" in one_line(copy, command, FAILED)


def test_damaged_pages_of_the_database_are_found(copy: Crawl) -> None:
    with copy.directory.state.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (copy.directory.state.stat().st_size - 4096))
    for command in (*READERS, *WRITERS):
        assert "damaged" in crawl_output(copy, command)


def crawl_output(crawl: Crawl, command: tuple[str, ...]) -> str:
    ended = crawl.run(*command, exit_code=FAILED)
    return ended.stdout + ended.stderr


def test_a_missing_database(copy: Crawl) -> None:
    copy.directory.state.unlink()
    for command in (*READERS, *WRITERS):
        assert "state.db: is missing. Put back a copy" in one_line(copy, command, FAILED)


def test_a_missing_compound_file_is_named(copy: Crawl) -> None:
    missing = copy.compound_files()[1]
    missing.unlink()
    assert f"{missing}: expected" in one_line(copy, ("crawl",), FAILED)
    told = copy.run("verify", "--deep", exit_code=FAILED)
    assert missing.name in told.stdout
    assert "FAULT" in told.stdout


def test_a_cut_compound_file_is_named(copy: Crawl) -> None:
    cut = copy.compound_files()[0]
    os.truncate(cut, cut.stat().st_size - 1)
    assert f"{cut}: expected at least" in one_line(copy, ("crawl",), FAILED)
    assert cut.name in copy.run("verify", "--deep", exit_code=FAILED).stdout


def test_a_changed_compound_file_is_found_by_verify(copy: Crawl) -> None:
    changed = copy.compound_files()[0]
    with changed.open("r+b") as file:
        file.seek(changed.stat().st_size // 2)
        file.write(b"\0\0\0\0")
    assert changed.name in copy.run("verify", "--deep", exit_code=FAILED).stdout


def test_damage_is_named_and_costs_no_other_record(copy: Crawl) -> None:
    """A flipped byte anywhere in a record: `verify` names this record, its place and its URL, and nothing else."""
    dice = random.Random(94)
    database = Database.open_readonly(copy.directory.state)
    stored = list(documents_in_order(database))
    names = {file_id: name for file_id, name, _, _ in files(database)}
    for document in dice.sample(stored, 12):
        url, _ = url_and_time(database, document.id)
        path = copy.directory.docs / names[document.file_id]
        whole = path.read_bytes()
        at = document.offset + dice.randrange(document.length)
        flipped = whole[:at] + bytes([whole[at] ^ 1 << dice.randrange(8)]) + whole[at + 1 :]
        path.write_bytes(flipped)
        faults = [fault for check in verify(copy.directory, lambda _: None) for fault in check.faults]
        path.write_bytes(whole)
        if faults or not reads_alike(document, whole, flipped):
            (fault,) = faults
            docno = docno_of(document.file_id, document.number)
            assert fault.startswith(f"{names[document.file_id]}, byte {document.offset}: {docno} ({url}): ")
    database.close()
    copy.verify()


def reads_alike(document: Document, whole: bytes, flipped: bytes) -> bool:
    """True if the record is the same: the time in a gzip header, for example, means nothing."""
    try:
        one, other = (trec_web.unpack(data[document.offset :][: document.length]) for data in (whole, flipped))
    except StoreError:
        return False
    return one == other


def test_several_damaged_records_are_all_named(copy: Crawl) -> None:
    path = copy.compound_files()[0]
    whole = bytearray(path.read_bytes())
    database = Database.open_readonly(copy.directory.state)
    first, second = [one for one in documents_in_order(database) if one.file_id == 1][1:4:2]
    database.close()
    for document in (first, second):
        whole[document.offset + document.length - 20] ^= 0xFF
    path.write_bytes(whole)
    told = copy.run("verify", "--deep", exit_code=FAILED).stdout
    assert told.count("the record is damaged") == 2
    assert all(docno_of(1, document.number) in told for document in (first, second))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            "DELETE FROM page_prints WHERE document_id = (SELECT max(document_id) FROM page_prints)",
            "has no fingerprints",
        ),
        ("UPDATE sorted_blocks SET data = zeroblob(length(data))", "is damaged"),
        ("UPDATE sorted_segments SET filter = zeroblob(length(filter))", "the filter does not know a key"),
        ("UPDATE sorted_runs SET goes_into = 1000000", "is merged into a run that is not there"),
    ],
)
def test_changed_indexes_are_found_by_verify(copy: Crawl, change: str, told: str) -> None:
    with closing(sqlite3.connect(copy.directory.state)) as database:
        assert database.execute(change).rowcount > 0
        database.commit()
    assert told in copy.run("verify", "--deep", exit_code=FAILED).stdout


def test_files_without_permission(copy: Crawl) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    copy.directory.state.chmod(0)
    assert "unable to open" in one_line(copy, ("stats",), FAILED)


# A full disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with file_system(tmp_path / "disk", 3) as disk:
        yield disk


def test_a_full_disk_stops_the_crawl_and_loses_nothing(small_disk: Path) -> None:
    web = SimWebSettings.plain(seed=92, hosts=10, pages=300, port=0, mean_page_bytes=6_000, latency=0.02)
    with SimServer(web) as server:
        crawl = Crawl.make(small_disk / "crawl", [server.seed], {"store": {"compress": False, "file_size": 200_000}})
        ballast = small_disk / "ballast"
        ballast.write_bytes(bytes(1_000_000))
        told = crawl.run("crawl", exit_code=LIMIT)
        assert "full" in told.stderr
        assert told.stderr.count("\n") == 1
        ballast.unlink()
        crawl.verify()
        kept = crawl.documents_by_url()
        subprocess.run(["mount", "-o", "remount,size=40m", small_disk], check=True)
        crawl.run("crawl")
        assert kept <= crawl.documents_by_url()
        assert_holds_the_web(crawl, server)
        crawl.verify()


def test_a_full_disk_from_the_start(small_disk: Path) -> None:
    crawl = Crawl.make(small_disk / "crawl", ["http://127.0.0.1:81/"])
    with (small_disk / "ballast").open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    for command in (("crawl",), ("add", "http://127.0.0.1:10/")):
        assert "full" in one_line(crawl, command, LIMIT)


# Too many errors


def test_more_errors_than_allowed_stop_the_crawl(make_crawl: MakeCrawl) -> None:
    links = [f"/missing-{number}" for number in range(50)]
    with Site({"/": page(*links)}) as site:
        crawl = make_crawl([site.url + "/"], {"limits": {"max_errors": 5}})
        told = crawl.run("crawl", exit_code=LIMIT)
        assert "more than 5 URLs failed (limits.max_errors)" in told.stderr
        assert crawl.stats()["errors"] == {"http-4xx": 6}
        assert crawl.stats()["last_crawl"]["ended_by"] == "max-errors"
        assert len(crawl.bodies([site.url + "/"])) == 1
        crawl.verify()
        crawl.configure({})
        crawl.run("crawl")
        assert site.times() == dict.fromkeys(["/", *links], 1)
