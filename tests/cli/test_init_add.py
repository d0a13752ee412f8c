"""`init` and `add`: what they make, what they say, and how they end."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from pycrawl.config import Config, load
from tests.e2e.crawling import Crawl, pycrawl

OK, USAGE = 0, 2


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    return Crawl.make(tmp_path / "crawl", ["http://example.com/"])


def urls(crawl: Crawl) -> list[str]:
    return [url for (url,) in crawl.query("SELECT url FROM urls ORDER BY id")]


def test_init_makes_a_crawl(tmp_path: Path) -> None:
    made = pycrawl("init", "new", "--seed", "http://Example.COM", "--contact", 'me "@example.com', cwd=tmp_path)
    assert made.returncode == OK
    assert "Next: pycrawl crawl -C new --max-pages 1000    (1 seed to start from)" in made.stdout
    assert made.stderr == ""
    path = tmp_path / "new"
    assert {"pycrawl.toml", "state.db", "docs", "log"} <= {entry.name for entry in path.iterdir()}
    assert load(path / "pycrawl.toml").crawl.contact == 'me "@example.com'
    assert tomllib.loads((path / "pycrawl.toml").read_text())["scope"] == {}


def test_init_in_the_current_directory_needs_no_option_afterwards(tmp_path: Path) -> None:
    made = pycrawl("init", cwd=tmp_path)
    assert made.returncode == OK
    assert "Next: pycrawl add URL" in made.stdout
    assert "No contact is set" in made.stderr
    assert load(tmp_path / "pycrawl.toml") == Config()
    assert pycrawl("stats", cwd=tmp_path).returncode == OK


def test_init_never_overwrites(crawl: Crawl) -> None:
    before = crawl.directory.config_file.read_bytes()
    again = pycrawl("init", crawl.path, "--seed", "http://other.example/")
    assert again.returncode == USAGE
    assert "exists already" in again.stderr
    assert crawl.directory.config_file.read_bytes() == before
    assert urls(crawl) == ["http://example.com/"]


BAD_SEEDS = ["", "not a url", "mailto:me@example.com", "javascript:alert(1)", "http://", "ftp://a/", "http://u:p@a/"]


@pytest.mark.parametrize("seed", BAD_SEEDS)
def test_init_with_a_bad_seed_takes_the_good_ones(tmp_path: Path, seed: str) -> None:
    made = pycrawl("init", tmp_path / "new", "--seed", seed, "--seed", "http://example.com/ # a note")
    assert made.returncode == OK
    assert made.stderr.startswith(f"pycrawl: not added: {seed.replace('u:p', '…') or '<empty>'} (")
    assert "(1 seed to start from)" in made.stdout
    assert urls(Crawl(tmp_path / "new")) == ["http://example.com/"]


@pytest.mark.parametrize("seed", BAD_SEEDS)
def test_init_with_bad_seeds_only_makes_nothing(tmp_path: Path, seed: str) -> None:
    refused = pycrawl("init", tmp_path / "deep" / "new", "--seed", seed)
    assert refused.returncode == USAGE
    assert "none of these URLs can be crawled" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_init_with_a_file_that_cannot_be_read_makes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "seeds"
    file.write_bytes(b"\xff\xfe")
    assert pycrawl("init", tmp_path / "new", "--seeds-file", file).returncode == USAGE
    assert list(tmp_path.iterdir()) == [file]


def test_init_keeps_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "notes.txt").touch()
    assert pycrawl("init", tmp_path, "--seed", "not a url").returncode == USAGE
    assert {entry.name for entry in tmp_path.iterdir()} == {"docs", "notes.txt"}


@pytest.mark.parametrize(
    "seed", ["http://user:secret@example.org/", "user:secret@example.org", "HTTPS://secret@example.org/x"]
)
def test_credentials_are_refused_and_not_shown(crawl: Crawl, seed: str) -> None:
    refused = crawl.run("add", seed, exit_code=USAGE)
    assert "…@example.org" in refused.stderr
    assert "a user name or a password" in refused.stderr
    assert "secret" not in refused.stderr
    assert urls(crawl) == ["http://example.com/"]


def test_comments_behind_seeds(crawl: Crawl, tmp_path: Path) -> None:
    file = tmp_path / "seeds"
    lines = (
        "http://example.com/a # note",
        "http://example.com/b\t#note",
        "http://example.com/c#part",
        "   # all of it",
    )
    file.write_text("\n".join(lines))
    crawl.run("add", "--file", file)
    assert urls(crawl)[1:] == ["http://example.com/a", "http://example.com/b", "http://example.com/c"]


def test_init_where_no_directory_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for target in (tmp_path / "file", tmp_path / "file" / "below"):
        assert pycrawl("init", target).returncode == USAGE


def test_seeds_from_a_file(tmp_path: Path) -> None:
    """Rubbish among them is shown and counted; the rest is taken."""
    file = tmp_path / "seeds"
    file.write_text("# a comment\n\nexample.com\n  http://example.org/a#part  \nnot a url\nmailto:x@example.com\n")
    made = pycrawl("init", tmp_path / "new", "--seeds-file", file)
    assert made.returncode == OK
    assert "not added: not a url (not a URL)" in made.stderr
    assert "(2 seeds to start from)" in made.stdout


def test_seeds_that_are_all_rubbish(crawl: Crawl, tmp_path: Path) -> None:
    file = tmp_path / "seeds"
    file.write_text("".join(f"rubbish number {number}\n" for number in range(9)))
    refused = crawl.run("add", "--file", file, exit_code=USAGE)
    assert refused.stderr.count("not added: ") == 5
    assert "… and 4 more lines" in refused.stderr
    assert "none of these URLs can be crawled" in refused.stderr
    made = pycrawl("init", tmp_path / "new", "--seeds-file", file)
    assert made.returncode == USAGE
    assert "none of these URLs can be crawled" in made.stderr


def test_files_that_cannot_be_read(crawl: Crawl, tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    for file, word in (
        (binary, "cannot be read as text"),
        (tmp_path / "none", "No such file"),
        (tmp_path, "directory"),
    ):
        refused = crawl.run("add", "--file", file, exit_code=USAGE)
        assert word in refused.stderr
        assert str(file) in refused.stderr


def test_add(crawl: Crawl) -> None:
    added = crawl.run("add", "http://example.org/", "example.net", "http://EXAMPLE.com:80/", "nonsense here")
    assert added.stdout == "2 new URLs, 1 known already.\n"
    assert "not added: nonsense here (not a URL)" in added.stderr
    assert urls(crawl) == ["http://example.com/", "http://example.org/", "http://example.net/"]


def test_add_from_standard_input(crawl: Crawl) -> None:
    added = pycrawl("add", "-C", crawl.path, "--file", "-", input="http://example.org/\nhttp://example.org/\n")
    assert (added.returncode, added.stdout) == (OK, "1 new URL, 1 known already.\n")


def test_add_keeps_to_the_scope(crawl: Crawl) -> None:
    crawl.configure({"scope": {"deny_hosts": ["*.example.org"]}})
    added = crawl.run("add", "http://www.example.org/")
    told = "pycrawl: http://www.example.org/: known, but out of scope: its host matches scope.deny_hosts\n"
    assert (added.stdout, added.stderr) == ("0 new URLs.\n", told)


def test_add_of_nothing(crawl: Crawl) -> None:
    assert "nothing to add" in crawl.run("add", exit_code=USAGE).stderr


def test_add_while_a_crawl_runs(crawl: Crawl) -> None:
    """The crawl that holds the directory gets the URLs, without comments and empty lines, and is named."""
    with crawl.directory.hold():
        added = pycrawl("add", "-C", crawl.path, "--file", "-", input="# two\n\nhttp://a.example/\nhttp://b.example/\n")
    assert added.returncode == OK
    assert f"a crawl is running (process {os.getpid()}, since " in added.stdout
    assert added.stdout.endswith("; it will add 2 URLs within a few seconds.\n")
    (left,) = crawl.directory.inbox_files()
    assert crawl.directory.read_from_inbox(left).split() == ["http://a.example/", "http://b.example/"]
