"""An older state.db put back beside a newer collection: what it does not know is moved aside, and never deleted."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pycrawl.simweb import SimServer, SimWebSettings
from tests.e2e.crawling import Crawl, Settings, assert_holds_the_web

WEB = SimWebSettings.plain(seed=93, hosts=4, pages=60, port=0, mean_page_bytes=3_000)
SETTINGS: Settings = {"store": {"file_size": 12_000}}
OLDER = "older than the collection"
_DOC = re.compile(rb"<DOC>\n.*?\n</DOC>\n", re.DOTALL)


@pytest.fixture(scope="module")
def server() -> Iterator[SimServer]:
    with SimServer(WEB) as running:
        yield running


@pytest.fixture(scope="module")
def crawled(server: SimServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a whole crawl, and its state as it was after 20 pages (old.db)."""
    folder = tmp_path_factory.mktemp("older")
    made = Crawl.make(folder / "crawl", [server.seed], SETTINGS)
    made.run("crawl", "--max-pages", "20")
    shutil.copy(made.directory.state, folder / "old.db")
    made.run("crawl")
    made.verify()
    return folder


@pytest.fixture
def crawl(crawled: Path, tmp_path: Path) -> Crawl:
    """A copy of it."""
    shutil.copytree(crawled, tmp_path / "copy")
    return Crawl(tmp_path / "copy" / "crawl")


def put_back(crawl: Crawl, state: str = "old.db") -> None:
    shutil.copy(crawl.path.parent / state, crawl.directory.state)


def records(folder: Path) -> set[bytes]:
    """All whole records in compressed files, wherever they lie."""
    return {record for path in folder.rglob("*.gz") for record in _DOC.findall(gzip.decompress(path.read_bytes()))}


@pytest.mark.parametrize("command", [["crawl"], ["add", "SEED"], ["retry"]])
def test_nothing_is_deleted(crawl: Crawl, server: SimServer, command: list[str]) -> None:
    before = records(crawl.path)
    put_back(crawl)
    told = crawl.run(*(server.seed if part == "SEED" else part for part in command))
    lines = [line for line in (told.stdout + told.stderr).splitlines() if OLDER in line]
    assert len(lines) == 1
    assert "aside/001" in lines[0]
    assert before <= records(crawl.path)
    crawl.verify()
    assert OLDER not in crawl.run("crawl").stdout
    crawl.verify()


def test_the_crawl_goes_on_from_the_older_state(crawl: Crawl, server: SimServer) -> None:
    put_back(crawl)
    crawl.run("crawl")
    assert_holds_the_web(crawl, server)
    crawl.verify()
    moved = list((crawl.path / "aside").rglob("*.gz"))
    assert moved
    assert all(path.read_bytes()[:2] == b"\x1f\x8b" for path in moved), (
        "a file, and a tail of one, starts with a record"
    )
    # The file that the older state wrote to last may have been full, and have no tail.
    assert len([path for path in moved if ".from-" in path.name]) <= 1


def test_again_and_again(crawl: Crawl) -> None:
    before = records(crawl.path)
    for _ in range(3):
        put_back(crawl)
        crawl.run("crawl", "--max-pages", "5")
        assert before <= records(crawl.path)
        crawl.verify()
    assert sorted(path.name for path in (crawl.path / "aside").iterdir()) == ["001", "002", "003"]


def test_the_newer_state_comes_back(crawl: Crawl) -> None:
    """It counts on files that were moved away: it says so, and changes nothing."""
    shutil.copy(crawl.directory.state, crawl.path.parent / "new.db")
    put_back(crawl)
    crawl.run("crawl", "--max-pages", "1")
    before = records(crawl.path)
    put_back(crawl, "new.db")
    assert "expected" in crawl.run("crawl", exit_code=1).stderr
    assert before <= records(crawl.path)


def test_what_a_crash_left_is_no_older_state(crawl: Crawl) -> None:
    with crawl.compound_files()[-1].open("ab") as file:
        file.write(b"a group that was not committed")
    told = crawl.run("crawl")
    assert "30 bytes behind the last commit were removed" in told.stdout
    assert not (crawl.path / "aside").exists()
    crawl.verify()


def test_forget_names_what_lies_aside(crawl: Crawl) -> None:
    put_back(crawl)
    crawl.run("crawl")
    url = next(iter(crawl.documents_by_url()))
    assert "was not looked into" in crawl.run("forget", url).stderr


@pytest.mark.parametrize("note", [b"", b"\0" * 19, b"rubbish", b"9" * 1_000_000])
def test_a_note_that_cannot_be_read(crawl: Crawl, note: bytes) -> None:
    (crawl.path / "committed").write_bytes(note)
    crawl.run("crawl")
    crawl.verify()
    assert not (crawl.path / "aside").exists()


def test_a_note_that_leads_elsewhere(crawl: Crawl) -> None:
    outside = crawl.path.parent / "outside"
    outside.write_text("mine")
    (crawl.path / "committed").unlink()
    (crawl.path / "committed").symlink_to(outside)
    assert "symbolic link" in crawl.run("crawl", exit_code=2).stderr
    assert outside.read_text() == "mine"


def test_a_whole_copy_is_no_older_state(crawl: Crawl) -> None:
    assert OLDER not in crawl.run("crawl").stdout
