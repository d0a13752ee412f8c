"""The one way in which commands write to the terminal: everything passes `foreign/visible.py`.

A line is one line, whatever is in it; a message of several lines is given as several lines. Nothing is ever read as
rich's markup. The live views (`display.py`, the bar of `dups`) are made by rich from values that went through here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import click

from pycrawl.foreign.visible import visible, visible_json, visible_text

_WIDTH = 70  # characters of the line that shows progress


def make_encodable() -> None:
    """Let characters that the terminal's encoding does not have be written as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def say(*lines: str) -> None:
    """Print lines on standard output."""
    for line in lines:
        click.echo(visible(line))


def complain(*lines: str) -> None:
    """Print lines on standard error."""
    for line in lines:
        click.echo(visible(line), err=True)


def say_text(text: str) -> None:
    """Print a text that has lines of its own, such as that of a page."""
    click.echo(visible_text(text))


def complain_text(text: str) -> None:
    """Print a text that has lines of its own on standard error."""
    click.echo(visible_text(text), err=True)


def say_styled(parts: Iterable[tuple[str, str]]) -> None:
    """Print parts of a text with a space between them; each has a style: "same", "removed" or "added". They are told
    apart by colours on a terminal, elsewhere by marks."""
    in_colours = sys.stdout.isatty()
    shown = []
    for style, text in parts:
        plain = visible_text(text)
        if style == "same":
            shown.append(plain)
        elif in_colours:
            shown.append(
                click.style(plain, fg="red" if style == "removed" else "green", strikethrough=style == "removed")
            )
        else:
            shown.append(f"[-{plain}-]" if style == "removed" else f"{{+{plain}+}}")
    click.echo(" ".join(shown))


def json_line(value: object) -> str:
    """Returns a value as JSON on one line, which ends there."""
    return visible_json(json.dumps(value)) + "\n"


def say_json(value: object, readable: bool = False) -> None:
    """Print a value as JSON. `readable`: letters of all scripts are written as they are, where the output can."""
    to_ascii = not (readable and (sys.stdout.encoding or "").lower().replace("-", "") == "utf8")
    click.echo(visible_json(json.dumps(value, indent=2, ensure_ascii=to_ascii)))


def write_lines(lines: Iterable[str]) -> None:
    """Print many lines that were made with `line` or `json_line`."""
    sys.stdout.writelines(lines)
    sys.stdout.flush()


def line(text: str) -> str:
    """Returns a line for `write_lines`."""
    return visible(text) + "\n"


def write_bytes(*parts: bytes) -> None:
    """Write bytes to standard output as they are; on a terminal, as text that can do no harm."""
    if sys.stdout.isatty():
        text = b"".join(parts).decode("utf-8", "backslashreplace").replace("\r\n", "\n")
        click.echo(visible_text(text), nl=False)
        return
    for part in parts:
        sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()


def shows_progress() -> bool:
    """True if somebody sees what is written in place on standard error."""
    return sys.stderr.isatty()


def show_progress(text: str) -> None:
    """Write a line over the last one of this kind, on standard error."""
    click.echo(f"\r{visible(text)[:_WIDTH]:<{_WIDTH}}", nl=False, err=True)


def clear_progress() -> None:
    """Remove the line that `show_progress` wrote."""
    click.echo("\r" + " " * _WIDTH + "\r", nl=False, err=True)


def ask(question: str, **options: Any) -> str:
    """Ask the person at the terminal for a text."""
    answer: str = click.prompt(visible(question), **options)
    return answer


def must_confirm(question: str) -> None:
    """Ask the person at the terminal for a yes; anything else ends the command."""
    click.confirm(visible(question), abort=True)
