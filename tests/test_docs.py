"""What is written about the commands agrees with the commands."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from pycrawl import Crawl, __version__, config, errors
from pycrawl.cli import COMMANDS, cli
from pycrawl.cli.manpages import EXIT_CODES, pages

ROOT = Path(__file__).parents[1]
SECTIONS = ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO")


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def page(name: str) -> str:
    return pages()[f"pycrawl-{name}.1"].replace("\\-", "-")


def test_the_manual_pages_are_up_to_date() -> None:
    written = {path.name: path.read_text("utf-8") for path in ROOT.glob("man/*")}
    assert written == pages(), "run `make man`"


def test_the_example_configuration_is_up_to_date() -> None:
    text = (ROOT / "pycrawl.toml.example").read_text("utf-8")
    assert text == config.example(), "run `make man`"
    assert config.parse(text) == config.Config()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    assert (command(name).help or "").strip()
    assert f"pycrawl-{name}" in pages()["pycrawl.1"].replace("\\-", "-")
    for section in SECTIONS:
        assert f".SH {section}\n" in page(name)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented(name: str) -> None:
    options = [option for option in command(name).params if isinstance(option, click.Option)]
    for option in options:
        assert option.help, f"{name} {option.opts[0]} has no help text"
        for spelling in option.opts:
            assert re.search(rf"^\\fB.*{re.escape(spelling)}\b", page(name), re.MULTILINE), spelling


def all_errors(parent: type[errors.PycrawlError]) -> set[type[errors.PycrawlError]]:
    return {parent}.union(*map(all_errors, parent.__subclasses__()))


def test_every_exit_code_is_documented() -> None:
    assert {error.exit_code for error in all_errors(errors.PycrawlError)} <= set(EXIT_CODES)


@pytest.mark.skipif(shutil.which("man") is None, reason="there is no man here")
@pytest.mark.parametrize("name", sorted(pages()))
def test_man_has_nothing_to_complain_of(name: str) -> None:
    done = subprocess.run(
        ["man", "--warnings=all", "--local-file", ROOT / "man" / name],
        check=True,
        capture_output=True,
        text=True,
        env={"MANWIDTH": "100", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "MANPAGER": "cat"},
    )
    assert done.stderr == ""
    assert "EXIT STATUS" in done.stdout


def test_the_readme_names_commands_and_settings_that_exist() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert set(re.findall(r"(?:^|\$ |`)pycrawl ([a-z]+)", text, re.MULTILINE)) <= set(COMMANDS)
    known = tomllib.loads(re.sub(r"^# (\w+ = )", r"\1", config.example(), flags=re.MULTILINE))
    for section, key in re.findall(r"`(?!pycrawl\.)([a-z]+)\.([a-z_]+)`", text):
        assert key in known[section]


def test_the_readme_shows_how_to_read_the_collection(tmp_path: Path) -> None:
    """Its lines of Python work on a crawl as they stand."""
    pages = "".join(
        f"<DOC>\n<DOCNO>X-{number}</DOCNO>\n<DOCHDR>\nhttp://h/{number}\n</DOCHDR>\n<p>page {number}\n</DOC>\n"
        for number in range(3)
    )
    (tmp_path / "pages.trec").write_text(pages)
    Crawl.create(tmp_path / "demo-crawl")
    program = [sys.executable, "-m", "pycrawl", "import", "-C", "demo-crawl", "pages.trec"]
    subprocess.run(program, check=True, capture_output=True, cwd=tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert re.findall(r"http://\S+", done.stdout) == ["http://h/0", "http://h/1", "http://h/2"]


def test_the_changelog_has_this_version() -> None:
    assert f"## {__version__}\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_documented_for_each_shell(shell: str) -> None:
    """With the variable that `tests/cli/test_group.py` sees working."""
    assert f"_PYCRAWL_COMPLETE={shell}_source pycrawl" in (ROOT / "docs/installing.md").read_text("utf-8")


@pytest.mark.parametrize(
    "reason", ["it was not built when pycrawl was installed", "it was built from other sources", "it cannot be loaded"]
)
def test_each_reason_to_do_without_the_compiled_module_is_documented(reason: str) -> None:
    assert reason in (ROOT / "pycrawl/native/__init__.py").read_text("utf-8")
    assert f"| {reason}" in (ROOT / "docs/installing.md").read_text("utf-8")
