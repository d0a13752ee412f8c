"""Wrong usage and configuration: exit code 2, and a line that says what was expected and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.crawling import Crawl, pycrawl

FAILED, USAGE = 1, 2


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    return Crawl.make(tmp_path_factory.mktemp("usage") / "crawl", ["http://example.com/"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = [", "not valid TOML"),
        ("[crawl]\nfetcher = 2\n", "unknown key crawl.fetcher; [crawl] has name, "),
        ("[crawling]\n", "unknown section [crawling]"),
        ("[politeness]\ndelay = 'soon'\n", "politeness.delay: expected a duration"),
        ("[crawl]\nfetchers = -1\n", "crawl.fetchers: expected a whole number from 0 to 256, found -1"),
        ("[scope]\nallow_patterns = ['(']\n", "scope.allow_patterns: '(' is not a regular expression"),
        ("[scope]\nallow_hosts = ['a b']\n", "scope.allow_hosts: expected a host"),
        ("crawl = 1\n", "[crawl] must be a section"),
        ("\0", "not valid TOML"),
        ("a." * 50_000 + "b = 1\n", "expected keys of a few parts, found one of hundreds"),
    ],
)
def test_a_wrong_configuration_is_named(crawl: Crawl, text: str, words: str) -> None:
    crawl.directory.config_file.write_text(text)
    refused = crawl.run("crawl", exit_code=USAGE)
    assert words in refused.stderr
    assert "pycrawl.toml: " in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert refused.stdout == ""


def test_a_configuration_that_is_no_text(crawl: Crawl) -> None:
    crawl.directory.config_file.write_bytes(b"\xff\xff")
    assert "cannot be read" in crawl.run("crawl", exit_code=USAGE).stderr


def test_directories_without_a_crawl(tmp_path: Path) -> None:
    """Nothing is made there either."""
    commands = {"crawl": (), "add": ("http://example.com/",), "stats": (), "get": ("http://example.com/",)}
    for path in (tmp_path / "missing", tmp_path):
        for command, arguments in commands.items():
            refused = pycrawl(command, "-C", path, *arguments)
            assert refused.returncode in (FAILED, USAGE)
            assert "Run `pycrawl init` first" in refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("crawl", "--max-pages", "0"),
        ("crawl", "--max-pages", "many"),
        ("crawl", "--max-time", "soon"),
        ("crawl", "--max-bytes", "-1"),
        ("crawl", "--fetchers", "0"),
        ("crawl", "--unknown"),
        ("get",),
        ("get", "--at", "yesterday", "http://example.com/"),
        ("get", "not a url"),
        ("robots", "mailto:me@example.com"),
        ("list", "--state", "lost"),
        ("list", "--reason", "lost"),
        ("list", "--limit", "0"),
        ("retry", "--reason", "lost"),
    ],
    ids=" ".join,
)
def test_wrong_arguments(crawl: Crawl, arguments: tuple[str, ...]) -> None:
    crawl.configure({})
    crawl.run(*arguments, exit_code=USAGE)


def test_an_unknown_command() -> None:
    assert pycrawl("fetch").returncode == USAGE


def test_help_and_version() -> None:
    assert "Exit codes: 0 done" in pycrawl("--help").stdout
    assert pycrawl("--version").stdout.startswith("pycrawl, version ")
    assert "--max-pages N" in pycrawl("crawl", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("simulate", "--budget", "x"), "'x' is not a valid whole number"),
        (("crawl", "--max-pages", "1.5"), "'1.5' is not a valid whole number"),
        (("crawl", "--every", "0"), "expected a time between the starts of two runs, such as 6h"),
        (("dups", "--all", "--threshold", "nan"), "'nan' is not a valid number"),
        (("dups", "--share", "nan", "http://example.com/"), "'nan' is not a valid number"),
        (("list", "--language", "zz9"), 'expected a language such as "de" or "pt-BR", found \'zz9\''),
        (("list", "--language", ""), "expected a language"),
        (("export", "--format", "jsonl", "-o", "-", "--language", "zz9"), "expected a language"),
        (("links", "mailto:x"), "mailto:x: not an http or https URL"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    crawl = Crawl.make(tmp_path / "crawl", ["http://example.com/"])
    command, *others = arguments
    refused = crawl.run(command, *others, exit_code=USAGE)
    assert words in refused.stderr
    assert refused.stdout == ""


def test_links_of_a_url_that_is_not_known(tmp_path: Path) -> None:
    crawl = Crawl.make(tmp_path / "crawl", ["http://example.com/"])
    refused = crawl.run("links", "http://example.com/other", exit_code=FAILED)
    assert "http://example.com/other: the crawl does not know this URL" in refused.stderr
    assert refused.stdout == ""
    assert "none" in crawl.run("links", "http://example.com/").stdout
