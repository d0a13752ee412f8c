"""`pycrawl init`: makes a crawl's directory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

import click

from pycrawl.cli import output
from pycrawl.cli.common import directory_option_or_argument, one_directory, plural
from pycrawl.cli.seeding import lines_of, report, seed


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
    from pycrawl.crawl.creation import Made, check_room, make
    from pycrawl.crawl.directory import CrawlDirectory

    directory = CrawlDirectory(one_directory(target, path, Path()))
    check_room(directory, contact)
    has_settings = directory.config_file.exists()
    if has_settings:
        contact = directory.config().crawl.contact
    elif not contact and sys.stdin.isatty():
        question = "URL or mail address where webmasters can reach you (empty for none)"
        contact = output.ask(question, default="", show_default=False)
    changed = {"crawl.contact": toml_value(contact)} if contact else {}
    made = Made.of(directory)
    try:
        total = make(directory, changed, lambda session: seed(session, lines_of(seeds, seed_files)))
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
