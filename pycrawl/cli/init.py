"""`pycrawl init`: makes a crawl's directory."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from pycrawl.cli import output
from pycrawl.cli.common import directory_option_or_argument, one_directory, plural
from pycrawl.cli.seeding import lines_of, report, seed
from pycrawl.errors import START_ANEW, UsageError

if TYPE_CHECKING:
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.crawl.seeding import Seeded


@click.command("init")
@click.argument("target", metavar="[DIR]", required=False, type=click.Path(file_okay=False, path_type=Path))
@directory_option_or_argument
@click.option("--seed", "seeds", metavar="URL", multiple=True, help="A URL to start from; may be given several times.")
@click.option(
    "--seeds-file", "seed_files", metavar="FILE", multiple=True, type=click.File(encoding="utf-8"),
    help="A file with one URL on each line; - is standard input.",
)  # fmt: skip
@click.option(
    "--contact",
    metavar="TEXT",
    default="",
    help="A URL or mail address in the User-Agent, so that webmasters can reach you.",
)
def command(
    target: Path | None, path: Path | None, seeds: tuple[str, ...], seed_files: tuple[TextIO, ...], contact: str
) -> None:
    """Make a crawl's directory, with its settings and its first seeds.

    DIR is the current directory by default. It gets pycrawl.toml (the settings, each explained) and state.db (the
    state). An existing crawl is never overwritten. Where pycrawl.toml is there and state.db is missing, a new state is
    made with these settings.

    \b
      pycrawl init my-crawl --seed https://example.com/ --contact me@example.com
    """
    from pycrawl.config import toml_value
    from pycrawl.crawl.directory import CrawlDirectory

    directory = CrawlDirectory(one_directory(target, path, Path()))
    _check_room(directory, contact)
    has_settings = directory.config_file.exists()
    if has_settings:
        contact = directory.config().crawl.contact
    elif not contact and sys.stdin.isatty():
        question = "URL or mail address where webmasters can reach you (empty for none)"
        contact = output.ask(question, default="", show_default=False)
    changed = {"crawl.contact": toml_value(contact)} if contact else {}
    made = _Made.of(directory)
    try:
        total = make(directory, changed, lines_of(seeds, seed_files))
    except BaseException:  # Ctrl-C too: half a crawl would be in the way of the next try
        made.undo()
        raise
    if total.refused and not (
        total.new or total.aside
    ):  # seeds were asked for and none can be used: leave no crawl behind
        made.undo()
        report(total)
    if has_settings:
        output.say(f"A new state was made; the settings in {directory.config_file} are as they were.")
    where = "" if directory.path == Path() else f" -C {directory.path}"
    if total.new:
        output.say(f"Next: pycrawl crawl{where} --max-pages 1000    ({plural(total.new, 'seed')} to start from)")
    else:
        output.say(f"Next: pycrawl add{where} URL    (there are no seeds yet), then: pycrawl crawl{where}")
    if total.refused or total.aside:
        report(total)
    if not has_settings:
        output.say(f"The settings are in {directory.config_file}, each with an explanation.")
    if not contact:
        output.complain("No contact is set, so webmasters cannot reach you. Set crawl.contact in that file.")


def make(directory: CrawlDirectory, changed: dict[str, str], seeds: Iterator[str]) -> Seeded:
    """Makes the crawl: folders, pycrawl.toml (unless there is one) with the keys in `changed`, state.db with `seeds`.

    Returns how many seeds were new, known and refused.
    """
    from pycrawl.config import example
    from pycrawl.crawl.session import Session
    from pycrawl.foreign.files import is_there, new_file, remove, sync_folder
    from pycrawl.state import meta
    from pycrawl.state.database import Database
    from pycrawl.store.aside import NOTE_NAME

    try:
        directory.make_folders()
        if not is_there(directory.path, directory.config_file.name):
            with open(new_file(directory.path, directory.config_file.name), "w", encoding="utf-8") as file:
                file.write(example(changed))
                file.flush()
                os.fsync(file.fileno())
            sync_folder(directory.path, ".")
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be written: {error.strerror}") from None
    with directory.hold():
        remove(directory.path, NOTE_NAME)  # of a crawl whose state has gone
        database = Database.create(directory.state)
        meta.write_first(database, time.time())
        database.commit()
        database.close()
        with Session(directory, directory.config()) as session:
            return seed(session, seeds)


def _check_room(directory: CrawlDirectory, contact: str) -> None:
    """Raises UsageError if there is a crawl already, or what is left of one and a new state would not fit to."""
    if directory.state.exists():
        raise UsageError(f"{directory.state}: exists already. `pycrawl add` adds seeds, `pycrawl crawl` continues it.")
    if any(directory.docs.glob("WTX*/B*")):
        raise UsageError(f"{directory.docs}: contains a collection, but its state.db is missing. {START_ANEW}")
    if contact and directory.config_file.exists():
        raise UsageError(f"{directory.config_file}: exists already, and is kept. Set crawl.contact in it.")


@dataclass(frozen=True, slots=True)
class _Made:
    """What of a crawl's directory is not there before `init` makes it, to be removed if it comes to nothing."""

    files: tuple[Path, ...]
    folders: tuple[Path, ...]  # the innermost first

    @classmethod
    def of(cls, directory: CrawlDirectory) -> _Made:
        state = [directory.state.with_name(directory.state.name + ending) for ending in ("", "-wal", "-shm")]
        files = (*state, directory.config_file, directory.path / "lock")
        folders = (directory.docs, directory.log, directory.path, *directory.path.parents)
        return cls(
            tuple(file for file in files if not file.exists()),
            tuple(folder for folder in folders if not folder.exists()),
        )

    def undo(self) -> None:
        for file in self.files:
            if file.exists():
                file.unlink()
        for folder in self.folders:
            if folder.exists():
                folder.rmdir()
