"""A crawl's directory that comes from somebody else: nothing in it leads out of it, whatever command works on it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.crawling import Crawl
from tests.e2e.site import Site, page

# Runs commands in one process, each as `pycrawl` does; prints how each ended.
PROGRAM = """
import contextlib, io, json, sys
from pycrawl.cli import main
ended = []
for arguments in json.loads(sys.stdin.read()):
    sys.argv[1:] = arguments
    error = io.StringIO()
    with contextlib.redirect_stderr(error), contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as exit:
            ended.append([exit.code, error.getvalue()])
print(json.dumps(ended))
"""
REFUSED = (1, 2)
SECONDS = 300.0  # for all commands of a test

READING = ("stats", "list", "verify", "audit", "why", "robots", "get", "dups", "versions", "diff", "report")
WRITING = ("crawl", "add", "retry", "forget")
CARING = ("compact",)  # opens no files where there is nothing to remove


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Crawl, str]]:
    """A small crawl that has ended; tests work on copies of it."""
    with Site({"/": page("/a", "/b"), "/a": page(text="a page"), "/b": page(text="other words")}) as site:
        crawl = Crawl.make(tmp_path_factory.mktemp("made") / "crawl", [site.url + "/"])
        crawl.run("crawl")
        yield crawl, site.url


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the user's, with files that nothing may touch."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "precious").write_bytes(b"precious\n" * 100)
    (folder / "folder").mkdir()
    (folder / "folder" / "B01.gz").write_bytes(b"precious")
    (folder / "folder" / "1-1.urls").write_bytes(b"http://x.example/\n")
    return folder


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
    }


def commands(url: str) -> list[list[str]]:
    return [
        ["stats", "--errors"], ["list"], ["verify", "--deep"], ["audit"], ["why", f"{url}/a"], ["robots", f"{url}/a"],
        ["get", f"{url}/a"], ["dups", f"{url}/a"], ["crawl", "--recrawl"], ["add", f"{url}/new"],
        ["retry", f"{url}/a"], ["forget", "--yes", f"{url}/b"], ["versions", f"{url}/a"], ["diff", f"{url}/a"],
        ["report", "--json"], ["compact"],
    ]  # fmt: skip


def run(lines: list[list[str]], umask: int = -1) -> list[tuple[int, str]]:
    """Exit code and message of each command."""
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(lines), capture_output=True, text=True, timeout=SECONDS,
        check=False, umask=umask,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return [(code, told) for code, told in json.loads(ended.stdout)]


def on_copies(crawl: Crawl, url: str) -> list[list[str]]:
    """All commands, each for a copy of the directory."""
    lines = []
    for command, *more in commands(url):
        copy = crawl.path.with_name(f"{crawl.path.name}-{command}")
        shutil.copytree(crawl.path, copy, symlinks=True)
        lines.append([command, "-C", str(copy), *more])
    return lines


def copy_of(crawl: Crawl, path: Path) -> Crawl:
    shutil.copytree(crawl.path, path)
    return Crawl(path)


def replaced_by_link(name: str, target: str) -> Callable[[Crawl, Path], None]:
    def replace(crawl: Crawl, outside: Path) -> None:
        path = crawl.path / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        path.symlink_to(outside / target)

    return replace


def with_sql(sql: str) -> Callable[[Crawl, Path], None]:
    def change(crawl: Crawl, outside: Path) -> None:
        with closing(sqlite3.connect(crawl.directory.state)) as database:
            database.executescript(sql.format(outside=outside, crawl=crawl.path))

    return change


def as_pipe(name: str) -> Callable[[Crawl, Path], None]:
    def change(crawl: Crawl, outside: Path) -> None:
        (crawl.path / name).unlink(missing_ok=True)
        os.mkfifo(crawl.path / name)

    return change


def journal_of_another(crawl: Crawl, outside: Path) -> None:
    """A journal that names a super-journal, which SQLite removes when it has rolled back."""
    name = str(outside / "precious").encode()
    mark = bytes.fromhex("d9d505f920a163d7")
    header = mark + (1).to_bytes(4) + bytes(4) + (3).to_bytes(4) + (512).to_bytes(4) + (4096).to_bytes(4)
    tail = (0x40000000 // 4096 + 1).to_bytes(4) + name + len(name).to_bytes(4) + sum(name).to_bytes(4) + mark
    with closing(sqlite3.connect(crawl.directory.state)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
    (crawl.path / "state.db-journal").write_bytes(header.ljust(512, b"\0") + tail)


def socket_as_settings(crawl: Crawl, outside: Path) -> None:
    crawl.directory.config_file.unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(crawl.path)
        listener.bind("pycrawl.toml")
        os.chdir(here)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
# What is wrong with the directory, and the commands that have to refuse it; the others may do their work.
ALL = (*READING, *CARING, *WRITING)
STATE_USERS = tuple(name for name in ALL if name != "audit")
HOSTILE: dict[str, tuple[Callable[[Crawl, Path], None], tuple[str, ...]]] = {
    "lock is a link": (replaced_by_link("lock", "precious"), WRITING),
    "lock is a link to nothing": (replaced_by_link("lock", "new"), WRITING),
    "state is a link": (replaced_by_link("state.db", "precious"), STATE_USERS),
    "state is a link to nothing": (replaced_by_link("state.db", "new"), STATE_USERS),
    "wal is a link": (replaced_by_link("state.db-wal", "precious"), STATE_USERS),
    "shm is a link": (replaced_by_link("state.db-shm", "precious"), STATE_USERS),
    "shm is a link to nothing": (replaced_by_link("state.db-shm", "new"), STATE_USERS),
    "journal is a link": (replaced_by_link("state.db-journal", "precious"), STATE_USERS),
    "journal of another": (journal_of_another, STATE_USERS),
    "settings are a link": (replaced_by_link("pycrawl.toml", "precious"), tuple(set(ALL) - {"verify"})),
    "settings are a device": (replaced_by_link("pycrawl.toml", "/dev/zero"), ()),
    "settings are a pipe": (as_pipe("pycrawl.toml"), ()),
    "settings are a socket": (socket_as_settings, ()),
    "docs is a link": (replaced_by_link("docs", "folder"), ("verify", "get", "dups", *WRITING)),
    "a folder of docs is a link": (replaced_by_link("docs/WTX001", "folder"), ("verify", "get", "dups", *WRITING)),
    "a compound file is a link": (
        replaced_by_link("docs/WTX001/B01.gz", "precious"),
        ("verify", "get", "dups", *WRITING),
    ),
    "the next compound file is a link": (replaced_by_link("docs/WTX001/B02.gz", "new"), ()),
    "the new name of a file is a link": (replaced_by_link("docs/WTX001/B01.new.gz", "precious"), ()),
    "log is a link": (replaced_by_link("log", "folder"), ("audit", "crawl", "forget")),
    "a log is a link": (replaced_by_link("log/crawl.log", "precious"), ("crawl",)),
    "the new name of a log is a link": (replaced_by_link("log/crawl.log.new", "precious"), ()),
    "the fetchers' log is a link": (replaced_by_link("log/fetchers.log", "precious"), ("crawl",)),
    "the log of fetches is a link": (replaced_by_link("log/fetches-000002.tsv", "precious"), ("audit",)),
    "a log is a pipe": (as_pipe("log/crawl.log"), ("crawl",)),
    "inbox is a link": (replaced_by_link("inbox", "folder"), ("crawl", "forget")),
    "a name leads out": (
        with_sql("UPDATE files SET name = '../../outside/precious', length = 5"),
        ("verify", "get", "dups", *WRITING),
    ),
    "an absolute name": (
        with_sql("UPDATE files SET name = '{outside}/precious', length = 5"),
        ("verify", "get", "dups", *WRITING),
    ),
    "a name that is a number": (with_sql("UPDATE files SET name = x'00'"), ("verify", "get", "dups", *WRITING)),
    "a length that is none": (with_sql("UPDATE files SET length = -5"), ("verify", *WRITING)),
    "a place beyond all": (with_sql("UPDATE documents SET length = 1 << 60, offset = 1 << 60"), ("verify", "get")),
    "values of other types": (
        with_sql("UPDATE documents SET offset = 'x', fetched_at = x'00', digest = 7"),
        ("verify", "get"),
    ),
    "a view that never ends": (
        with_sql(
            f"DROP TABLE visits; CREATE VIEW visits AS {ENDLESS} i AS url_id, 'x' AS outcome, 1 AS status,"
            " 1 AS visited_at, 1 AS tries, '' AS detail, '' AS etag, '' AS last_modified, x'' AS digest,"
            " 1 AS document_id, 0 AS requeued, 0 AS since FROM n"
        ),
        STATE_USERS,
    ),
    "one more view": (with_sql(f"CREATE VIEW more AS {ENDLESS} i FROM n"), STATE_USERS),
    "a trigger": (with_sql("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM documents; END"), STATE_USERS),
    "a trigger with our index's name": (
        with_sql(
            "DROP INDEX sorted_segments_by_run;"
            "CREATE TRIGGER sorted_segments_by_run AFTER INSERT ON runs BEGIN SELECT 1; END"
        ),
        STATE_USERS,
    ),
    "a generated column": (with_sql("ALTER TABLE hosts ADD COLUMN more AS (zeroblob(1000000))"), STATE_USERS),
    "a virtual table": (with_sql("CREATE VIRTUAL TABLE more USING fts5(text)"), STATE_USERS),
    "a table is missing": (with_sql("DROP TABLE held"), STATE_USERS),
    "an index with an expression": (with_sql("CREATE INDEX more ON urls (abs(id))"), STATE_USERS),
    "a view where the schema is older": (
        with_sql(f"PRAGMA user_version = 0; CREATE VIEW more AS {ENDLESS} i FROM n"),
        STATE_USERS,
    ),
}


NOT_COPIED = ("settings are a device", "settings are a pipe", "settings are a socket", "a log is a pipe")
# The ordinary tests have one of each kind, for all of them the slow ones take their time.
USUAL = ("lock is a link", "a compound file is a link", "a name leads out", "a view that never ends")


def check_all(made: tuple[Crawl, str], outside: Path, tmp_path: Path, names: tuple[str, ...]) -> None:
    crawl, url = made
    lines: list[list[str]] = []
    for number, name in enumerate(names):
        foreign = copy_of(crawl, tmp_path / f"foreign-{number}")
        HOSTILE[name][0](foreign, outside)
        lines += on_copies(foreign, url)
    before = content(outside)
    ended = run(lines)
    each = len(commands(url))
    for number, name in enumerate(names):
        part = slice(number * each, (number + 1) * each)
        for (command, *_), (code, told) in zip(lines[part], ended[part], strict=True):
            if command in HOSTILE[name][1]:
                assert code in REFUSED, (name, command, told)
            if code:
                assert told.count("\n") <= 1, (name, command, told)
    assert content(outside) == before


def test_nothing_leads_out(made: tuple[Crawl, str], outside: Path, tmp_path: Path) -> None:
    check_all(made, outside, tmp_path, USUAL)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(HOSTILE) - set(NOT_COPIED)))
def test_nothing_leads_out_in_any_way(made: tuple[Crawl, str], outside: Path, tmp_path: Path, name: str) -> None:
    check_all(made, outside, tmp_path, (name,))


def test_nobody_waits_for_a_pipe_or_a_device(made: tuple[Crawl, str], outside: Path, tmp_path: Path) -> None:
    lines = []
    for number, name in enumerate(NOT_COPIED):
        foreign = copy_of(made[0], tmp_path / f"foreign-{number}")
        HOSTILE[name][0](foreign, outside)
        lines += [["crawl", "-C", str(foreign.path)], ["why", "-C", str(foreign.path), "http://x.example/"]][
            : 4 - number
        ]
    for code, told in run(lines):
        assert code in REFUSED, told
        assert told.count("\n") == 1
        assert "expected a file, found a" in told


def test_an_inbox_of_somebody_else(made: tuple[Crawl, str], outside: Path, tmp_path: Path) -> None:
    crawl, url = made
    foreign = copy_of(crawl, tmp_path / "foreign")
    inbox = foreign.directory.inbox
    inbox.mkdir()
    (inbox / "1-1.urls").write_bytes(f"{url}/from-inbox\n\xff\x1b[31m\n".encode("latin-1"))
    (inbox / "2-1.retry").write_text('{"urls": 5, "reason": [], "host": {}}')
    (inbox / "3-1.retry").write_bytes(b"\xff[" * 1000)
    (inbox / "4-1.retry").write_text(json.dumps({"urls": [], "reason": "", "host": "http://["}))
    (inbox / "5-1.urls").symlink_to(outside / "precious")
    os.mkfifo(inbox / "6-1.urls")
    (inbox / "7-1.urls").mkdir()
    before = content(outside)
    foreign.run("crawl")
    assert content(outside) == before
    assert f"{url}/from-inbox" in foreign.run("list").stdout
    assert foreign.directory.inbox_files() == []
    assert (foreign.directory.log / "crawl.log").read_text().count(" is refused: ") == 6


def test_the_directory_itself_may_be_a_link(made: tuple[Crawl, str], tmp_path: Path) -> None:
    crawl, url = made
    real = copy_of(crawl, tmp_path / "real")
    link = tmp_path / "link"
    link.symlink_to(real.path)
    here = ["-C", str(link)]
    lines = [["add", *here, f"{url}/new"], ["crawl", *here], ["forget", *here, "--yes", f"{url}/b"], ["verify", *here]]
    assert [code for code, _ in run(lines)] == [0] * len(lines)


def test_a_file_with_two_names_is_not_written_to(made: tuple[Crawl, str], outside: Path, tmp_path: Path) -> None:
    lines = []
    for name in ("lock", "state.db", "log/crawl.log"):
        foreign = copy_of(made[0], tmp_path / name.replace("/", "-"))
        (foreign.path / name).unlink()
        os.link(outside / "precious", foreign.path / name)
        lines.append(["crawl", "-C", str(foreign.path)])
    before = content(outside)
    for code, told in run(lines):
        assert code in REFUSED
        assert "names (hard links), and is not written to" in told
    assert content(outside) == before


def test_init_writes_through_no_link(outside: Path, tmp_path: Path) -> None:
    before = content(outside)
    links = {"docs": "folder", "log": "folder", "pycrawl.toml": "new", "state.db": "new", "lock": "new"}
    lines = []
    for name, target in links.items():
        path = tmp_path / f"with-{name}"
        path.mkdir()
        (path / name).symlink_to(outside / target)
        lines.append(["init", str(path), "--seed", "http://example.com/"])
    for code, told in run(lines):
        assert code in REFUSED
        assert "found a symbolic link" in told
        assert told.count("\n") == 1
    assert content(outside) == before


@pytest.mark.parametrize("umask", [0o000, pytest.param(0o022, marks=pytest.mark.slow)])
def test_what_is_made_can_be_read_by_its_owner_only(tmp_path: Path, umask: int) -> None:
    with Site({"/": page("/a", "/b"), "/a": page(text="a page"), "/b": page(text="other words")}) as site:
        path = tmp_path / "crawl"
        here = ["-C", str(path)]
        run([["init", str(path), "--seed", site.url + "/"]], umask)
        Crawl(path).configure({})
        lines = [["crawl", *here], ["forget", *here, "--yes", f"{site.url}/b"]]
        assert [code for code, _ in run(lines, umask)] == [0, 0]
        crawl = Crawl(path)
        crawl.directory.leave_in_inbox(["http://example.com/"])
        with closing(sqlite3.connect(crawl.directory.state)) as database:
            database.execute("SELECT count(*) FROM urls").fetchone()  # the files of the WAL are there too
            modes = {
                str(one.relative_to(tmp_path)): stat.filemode(one.stat().st_mode) for one in [path, *path.rglob("*")]
            }
    assert {"crawl/state.db-wal", "crawl/log/fetchers.log", "crawl/docs/WTX001/B01.gz", "crawl/lock"} <= set(modes)
    for name, mode in modes.items():
        assert mode in ("-rw-------", "drwx------"), name
