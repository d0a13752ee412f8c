"""The manual pages, made from the commands: `python -m pycrawl.cli.manpages man`.

The text is that of `--help`; this module adds the exit codes and files, and writes it all as roff.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from pycrawl import __version__
from pycrawl.cli import cli
from pycrawl.cli.group import paragraphs, summary

EXIT_CODES = {
    0: "Done.",
    1: "Failed; standard error says why.",
    2: "Wrong usage, or a mistake in pycrawl.toml.",
    3: "Another crawl holds the directory.",
    4: "Stopped by a full disk, or by limits.max_errors.",
    5: "Nothing could be fetched: no seed gave a page.",
    130: "Interrupted; nothing that was committed is lost.",
}
_CODES_OF_MOST = (0, 1, 2, 130)
_CODES_OF = {
    "crawl": (0, 1, 2, 3, 4, 5, 130),
    "demo": (0, 1, 2, 3, 4, 5, 130),
    "init": (0, 1, 2, 3, 4, 130),
    "add": (0, 1, 2, 4, 130),
    "retry": (0, 1, 2, 4, 130),
    "forget": (0, 1, 2, 3, 4, 130),
}
_FILES = {
    "pycrawl.toml": "The settings; each is explained in the file that `pycrawl init` makes.",
    "state.db": "The state: one SQLite database in WAL mode; state.db-wal and state.db-shm belong to it.",
    "docs/WTX001/B01.gz": "The collection: compound files with TREC Web records, gzipped.",
    "log/crawl.log, log/fetchers.log": "What went wrong in the crawl, and in its fetcher processes.",
    "inbox/": "What `pycrawl add` and `pycrawl retry` left for the crawl that is running.",
    "committed": "The number of the last commit that changed the collection: tells an older state.db from a crash.",
    "aside/": "What an older state.db, put back, did not know of the collection. pycrawl never touches it again.",
    "lock": "Locked by the crawl that is running; holds its process id and when it started.",
}
_NO_PROSE = "\b"  # click's mark for a paragraph whose lines are kept as they are


def main() -> None:
    folder = Path(sys.argv[1])
    for name, text in pages().items():
        (folder / name).write_text(text, "utf-8")


def pages() -> dict[str, str]:
    """Returns the pages by file name: one for the program, one for each command."""
    made = {"pycrawl.1": _program_page()}
    for name, command in _commands():
        made[f"pycrawl-{name}.1"] = _command_page(name, command)
    return made


def _program() -> click.Context:
    return click.Context(cli, info_name="pycrawl", **cli.context_settings)


def _commands() -> Iterator[tuple[str, click.Command]]:
    for name in cli.list_commands(_program()):
        command = cli.get_command(_program(), name)
        assert command is not None
        yield name, command


def _program_page() -> str:
    first, *rest = paragraphs(cli)
    description = [paragraph for paragraph in rest if not paragraph.startswith(_NO_PROSE)]  # the exit codes
    commands = [(f"\\fBpycrawl-{_plain(name)}\\fR(1)", summary(command)) for name, command in _commands()]
    return "\n".join(
        [
            *_head("pycrawl", first),
            *_section("SYNOPSIS", ["\\fBpycrawl\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]"]),
            *_section("DESCRIPTION", _prose(description)),
            *_section("COMMANDS", _list(commands)),
            *_section("OPTIONS", _list(_options(_program()))),
            *_section("FILES", ["In the crawl's directory:", *_list(_literal(_FILES))]),
            *_section("EXIT STATUS", _list(_codes(tuple(EXIT_CODES)))),
            *_section("SEE ALSO", [_see_also([f"pycrawl-{name}" for name, _ in _commands()])]),
            "",
        ]
    )


def _command_page(name: str, command: click.Command) -> str:
    title = f"pycrawl-{name}"
    context = click.Context(command, parent=_program(), info_name=name)
    texts = paragraphs(command)
    examples = [text for text in texts if text.startswith(_NO_PROSE)]
    description = [text for text in texts if text not in examples]
    sections = [
        *_head(title, summary(command)),
        *_section("SYNOPSIS", [_synopsis(context)]),
        *_section("DESCRIPTION", _prose(description)),
        *_section("OPTIONS", _list(_options(context))),
    ]
    if examples:
        sections += _section("EXAMPLES", _verbatim(examples))
    if name in ("crawl", "init"):
        sections += _section("FILES", ["In the crawl's directory:", *_list(_literal(_FILES))])
    sections += _section("EXIT STATUS", _list(_codes(_CODES_OF.get(name, _CODES_OF_MOST))))
    return "\n".join([*sections, *_section("SEE ALSO", [_see_also(["pycrawl"])]), ""])


def _synopsis(context: click.Context) -> str:
    words = [f"\\fI{_plain(word)}\\fR" for word in context.command.collect_usage_pieces(context)]
    return f"\\fB{_plain(context.command_path)}\\fR {' '.join(words)}"


def _options(context: click.Context) -> list[tuple[str, str]]:
    options = [one for one in context.command.get_params(context) if isinstance(one, click.Option)]
    records = [option.get_help_record(context) for option in options]
    return [(f"\\fB{_plain(record[0])}\\fR", record[1]) for record in records if record]


def _literal(items: dict[str, str]) -> list[tuple[str, str]]:
    return [(f"\\fI{_plain(name)}\\fR", text) for name, text in items.items()]


def _codes(codes: tuple[int, ...]) -> list[tuple[str, str]]:
    return [(str(code), EXIT_CODES[code]) for code in codes]


def _see_also(titles: list[str]) -> str:
    return ", ".join(f"\\fB{_plain(title)}\\fR(1)" for title in titles)


# roff


def _head(title: str, sentence: str) -> list[str]:
    return [
        f'.TH "{_plain(title.upper())}" "1" "" "pycrawl {__version__}" "pycrawl manual"',
        ".nh",  # no hyphenation: a name cut in two cannot be copied
        ".SH NAME",
        f"{_plain(title)} \\- {_text(_as_name_line(sentence))}",
    ]


def _as_name_line(sentence: str) -> str:
    """Returns a sentence as `apropos` shows it: no capital at the start, no full stop."""
    return sentence[0].lower() + sentence[1:].rstrip(".")


def _section(name: str, lines: list[str]) -> list[str]:
    return [f".SH {name}", *lines]


def _prose(paragraphs: list[str]) -> list[str]:
    return [line for paragraph in paragraphs for line in (".PP", _text(" ".join(paragraph.split())))]


def _list(items: list[tuple[str, str]]) -> list[str]:
    return [line for term, text in items for line in (".TP", term, _text(text))]


def _verbatim(paragraphs: list[str]) -> list[str]:
    lines = [line for paragraph in paragraphs for line in inspect.cleandoc(paragraph.removeprefix("\b\n")).splitlines()]
    return [".nf", *map(_plain, lines), ".fi"]


def _text(text: str) -> str:
    """Returns prose as roff; what is in backticks becomes bold."""
    return re.sub(r"`([^`]*)`", r"\\fB\1\\fR", _plain(text))


def _plain(text: str) -> str:
    """Returns text as roff that shows it unchanged: "-" as one can type it, and no line as a roff request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    main()
