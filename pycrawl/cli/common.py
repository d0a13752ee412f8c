"""What several commands share: options, opening a crawl, and how sizes, durations, times and counts are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pycrawl.cli import output
from pycrawl.crawl.words import plural as plural  # the commands have it from here
from pycrawl.errors import UsageError

if TYPE_CHECKING:
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.state.database import Database
    from pycrawl.store.aside import Aside

_SIZE_UNITS = ("B", "KB", "MB", "GB", "TB")
_SIZE_STEP = 1000.0  # each unit is so many of the one before


class WholeNumber(click.IntRange):
    """A whole number between two bounds; "x" is not a valid one."""

    name = "whole number"


class Share(click.FloatRange):
    """A number between two bounds, which NaN is not."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        return number


directory_type = click.Path(file_okay=False, path_type=Path)


def directory_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds -C DIR to a command, as its parameter `path`."""
    return _directory_option(function, Path(), "The crawl's directory; by default the current one.")


def directory_option_or_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds -C DIR to a command that also takes DIR as an argument; `path` is None where -C is not given."""
    return _directory_option(function, None, "The crawl's directory; the same as DIR.")


def _directory_option(function: Callable[..., Any], default: Path | None, text: str) -> Callable[..., Any]:
    return click.option(
        "-C",
        "path",
        metavar="DIR",
        type=directory_type,
        default=lambda: _directory_before_the_command() or default,
        help=text,
    )(function)


def _directory_before_the_command() -> Path | None:
    """Returns the DIR of `pycrawl -C DIR COMMAND`, or None; a -C after the command is stronger."""
    path: Path | None = click.get_current_context().find_root().params.get("path")
    return path


def say_what_is_aside(aside: Aside | None) -> None:
    """Says what was moved out of the collection, if state.db turned out to be an older one."""
    from pycrawl.crawl.opening import aside_told

    if aside is not None:
        output.complain(aside_told(aside))


def one_directory(argument: Path | None, option: Path | None, default: Path) -> Path:
    """Returns the directory that was named, as DIR or with -C, or else `default`; two different ones are an error."""
    if argument and option and argument != option:
        raise UsageError(f"expected one directory, found {argument} and -C {option}")
    return argument or option or default


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def crawl_directory(path: Path) -> CrawlDirectory:
    """Returns the directory as a crawl's, without looking whether there is one."""
    from pycrawl.crawl.directory import CrawlDirectory

    return CrawlDirectory(path)


def open_for_reading(directory: CrawlDirectory) -> Database:
    """Opens the state read-only, which works while a crawl runs."""
    from pycrawl.state.database import Database

    directory.config()  # a directory without a pycrawl.toml is no crawl, and this says so
    return Database.open_readonly(directory.state)


def size(amount: float) -> str:
    """Writes a number of bytes for people: "27.3 MB"."""
    for unit in _SIZE_UNITS:
        if amount < _SIZE_STEP or unit == _SIZE_UNITS[-1]:
            break
        amount /= _SIZE_STEP
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


def duration(seconds: float) -> str:
    """Writes seconds for people: "1.5 s", "3 min 20 s", "2 h 5 min"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"


def moment(at: float | None) -> str:
    """Writes a time (seconds since 1970) in local time with its zone: "2026-11-18 03:01:35+01:00"; None is "never".

    `parse_moment` reads it.
    """
    return datetime.fromtimestamp(int(at)).astimezone().isoformat(" ") if at else "never"


def parse_moment(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """A click callback: reads ISO 8601, which without a zone is local time, seconds since 1970, or how long ago it was
    ("12h"). Returns seconds since 1970."""
    from pycrawl.collection.times import timestamp

    if value is None:
        return None
    try:
        return timestamp(value)
    except UsageError as error:
        raise click.BadParameter(str(error)) from None


def by_count(members: Mapping[str, int]) -> str:
    """Writes counts with their names, the largest first: "18 http-4xx, 6 too-busy"; empty for none."""
    return ", ".join(f"{count:,} {name}" for name, count in sorted(members.items(), key=lambda one: -one[1]))


def to_stderr(text: str) -> None:
    output.complain(text)


@contextmanager
def step_progress() -> Iterator[Callable[[str], None]]:
    """Shows what is being done if standard error is a terminal; yields the function to call with it."""
    if not output.shows_progress():
        yield lambda step: None
        return
    try:
        yield output.show_progress
    finally:
        output.clear_progress()
