"""The program itself: its help, -C before and after a command, suggestions, completion, and how it can be started."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pycrawl.cli.group import COMMANDS, COMMANDS_BY_USE, load, summary
from pycrawl.cli.reasons import in_words
from pycrawl.urls.reasons import Reason
from tests.e2e.crawling import Crawl, pycrawl

OK, USAGE = 0, 2
PROGRAM = Path(sys.executable).with_name("pycrawl")
COLUMNS = 80


def completion(environment: dict[str, str]) -> str:
    done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def test_the_help_lists_every_command_on_one_line_under_what_it_is_for() -> None:
    lines = pycrawl("--help").stdout.splitlines()
    assert max(map(len, lines)) <= COLUMNS
    for use, names in COMMANDS_BY_USE.items():
        start = lines.index(f"{use}:") + 1
        listed = [line.split(maxsplit=1) for line in lines[start : start + len(names)]]
        assert listed == [[name, summary(load(name)).rstrip(".")] for name in names]


def test_without_arguments_it_shows_the_help() -> None:
    shown = pycrawl()
    assert (shown.returncode, shown.stdout, shown.stderr) == (OK, pycrawl("--help").stdout, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_and_a_command(name: str) -> None:
    assert pycrawl("help", name).stdout == pycrawl(name, "--help").stdout


def test_help_alone_and_for_what_is_no_command() -> None:
    assert pycrawl("help").stdout == pycrawl("--help").stdout
    refused = pycrawl("help", "sats")
    assert refused.returncode == USAGE
    assert "No such command 'sats'. Did you mean 'stats'?" in refused.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sats",), "No such command 'sats'. Did you mean 'stats'?\n"),
        (("-C", "x", "crwal", "--max-pages", "3"), "No such command 'crwal'. Did you mean 'crawl'?\n"),
        (("zzz",), "No such command 'zzz'.\n"),
        (("stats", "--jsn"), "--json"),
        (("--versoin",), "--version"),
    ],
)
def test_what_is_mistyped_is_suggested(words: tuple[str, ...], message: str) -> None:
    refused = pycrawl(*words)
    assert refused.returncode == USAGE
    assert message in refused.stderr


def test_the_directory_before_or_after_the_command(tmp_path: Path) -> None:
    crawl = Crawl.make(tmp_path / "crawl", ["http://example.com/"])
    after = pycrawl("stats", "-C", crawl.path, "--json")
    assert after.returncode == OK
    assert pycrawl("-C", crawl.path, "stats", "--json").stdout == after.stdout
    assert pycrawl("-C", tmp_path / "another", "stats", "-C", crawl.path, "--json").stdout == after.stdout
    missing = pycrawl("-C", tmp_path / "missing", "stats")
    assert missing.returncode == USAGE
    assert str(tmp_path / "missing" / "pycrawl.toml") in missing.stderr


def test_commands_that_take_the_directory_as_an_argument_too(tmp_path: Path) -> None:
    for number, words in enumerate((("init", "NEW"), ("-C", "NEW", "init"), ("init", "-C", "NEW"))):
        new = tmp_path / str(number)
        assert pycrawl(*(str(new) if word == "NEW" else word for word in words)).returncode == OK
        assert (new / "pycrawl.toml").exists()
    for command in ("init", "demo"):
        refused = pycrawl("-C", tmp_path / "a", command, tmp_path / "b")
        assert refused.returncode == USAGE
        assert f"expected one directory, found {tmp_path}/b and -C {tmp_path}/a" in refused.stderr
        assert not (tmp_path / "a").exists()
        assert not (tmp_path / "b").exists()


def test_python_runs_the_package(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pycrawl", "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == pycrawl("--version").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_completion(shell: str) -> None:
    path = "/usr/bin:/bin"
    if shell == "bash" and shutil.which("bash", path=path) is None:
        pytest.skip("click asks bash for its version, and there is none here")
    script = completion({"_PYCRAWL_COMPLETE": f"{shell}_source", "PATH": path})
    assert f"_PYCRAWL_COMPLETE={shell}_complete" in script


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("pycrawl st", {"plain,stats"}),
        ("pycrawl crawl --max-p", {"plain,--max-pages"}),
        ("pycrawl -C some/where ve", {"plain,verify", "plain,versions"}),
        ("pycrawl stats -C ", {"dir,"}),
    ],
)
def test_what_a_completion_offers(typed: str, expected: set[str]) -> None:
    words = typed.split(" ")
    offered = completion(
        {"_PYCRAWL_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1), "PATH": "/bin"}
    )
    assert set(offered.splitlines()) == expected


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_its_words(reason: Reason) -> None:
    assert in_words(reason) != reason
