"""What several commands share: options, readers, how numbers and times are written."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.state.database import Database

_SIZE_STEPS = ("B", "KB", "MB", "GB", "TB")
_STEP = 1000.0


def directory_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """-C DIR, as every command has it."""
    return click.option(
        "-C",
        "path",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        default=".",
        help="The crawl's directory; by default the current one.",
    )(function)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def crawl_directory(path: Path) -> CrawlDirectory:
    from pycrawl.crawl.directory import CrawlDirectory

    return CrawlDirectory(path)


def open_for_reading(directory: CrawlDirectory) -> Database:
    """The state, read-only: it works beside a running crawl."""
    from pycrawl.state.database import Database

    directory.config()  # a directory that is no crawl's is told by its missing pycrawl.toml
    return Database.open_readonly(directory.state)


def size(amount: float) -> str:
    """Bytes for people: "27.3 MB"."""
    for unit in _SIZE_STEPS:
        if amount < _STEP or unit == _SIZE_STEPS[-1]:
            break
        amount /= _STEP
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


def duration(seconds: float) -> str:
    """Seconds for people: "1.5 s", "3 min 20 s", "2 h 5 min"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"


def moment(at: float | None) -> str:
    """A time of day for people, in local time."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at)) if at else "never"


def plural(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
