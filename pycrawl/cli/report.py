"""`pycrawl report`: one page that shows what a crawl has collected."""

from __future__ import annotations

from pathlib import Path

import click

from pycrawl.cli import output, result_file
from pycrawl.cli.common import WholeNumber, crawl_directory, directory_option, json_option, plural, size, step_progress
from pycrawl.errors import UsageError


@click.command("report")
@directory_option
@click.option("-o", "--output", "target", metavar="FILE", type=click.Path(path_type=Path), help="The page to write.")
@click.option(
    "--sample",
    metavar="N",
    type=WholeNumber(0),
    default=2_000,
    show_default=True,
    help="Documents that are read for languages and rights signals, evenly over the collection.",
)
@json_option
def command(path: Path, target: Path | None, sample: int, as_json: bool) -> None:
    """Make a report of the crawl: one self-contained page of HTML.

    It shows pages over time, hosts, status, depth, types, encodings, languages, changes, duplicates, what failed or was
    turned away and why, politeness as audited, rights signals, settings (without secrets) and versions of the software.
    It needs no network, prints well, and follows the reader's choice of dark or light. --json prints the figures.

    An older report is replaced, any other file is not. It works while a crawl runs.

    \b
      pycrawl report -o report.html
    """
    from pycrawl.collection.collection import Collection
    from pycrawl.collection.report.figures import collect
    from pycrawl.collection.report.page import MARK, page

    if target is None and not as_json:
        raise UsageError("nowhere to write to: give -o FILE, or --json")
    if target is not None:
        result_file.check(target, MARK, "report")
    with Collection(crawl_directory(path).path) as collection, step_progress() as on_step:
        found = collect(collection, sample, on_step)
    if target is not None:
        written = page(found)
        result_file.write(target, written)
        if not as_json:
            documents = found["time"]["documents"] if found["time"] else 0
            output.say(f"{target}: {size(len(written.encode()))}, about {plural(documents, 'document')}.")
    if as_json:
        output.say_json(found)
