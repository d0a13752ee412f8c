"""`pycrawl compact`: removes superseded versions from the collection."""

from __future__ import annotations

from pathlib import Path

import click

from pycrawl.cli import output
from pycrawl.cli.common import (
    crawl_directory,
    directory_option,
    json_option,
    plural,
    say_what_is_aside,
    size,
    step_progress,
)


@click.command("compact")
@directory_option
@click.option("--dry-run", is_flag=True, help="Say what would go and what that frees, and change nothing.")
@json_option
def command(path: Path, dry_run: bool, as_json: bool) -> None:
    """Remove versions of pages that are not to be kept.

    A version goes if `recrawl.keep` does not want the change that made it, or if its page has more than
    `recrawl.keep_versions` newer ones. The page as it is now always stays. Bytes that nothing points to go too, and
    texts of links that no page has any more.

    Compound files that hold such records are written anew, one after the other, so that room for the largest of them is
    enough. DOCNOs of other records do not change.

    If it is cut short, nothing is lost, and the next `pycrawl compact` or `pycrawl crawl` carries it on.

    \b
      pycrawl compact --dry-run
    """
    from pycrawl.crawl.compacting import compact, plan, tidy_links
    from pycrawl.crawl.forgetting import carry_on
    from pycrawl.crawl.opening import open_state

    directory = crawl_directory(path)
    config = directory.config()
    with directory.hold():
        database, aside = open_state(directory)
        say_what_is_aside(aside)
        try:
            with step_progress() as on_step, database.explained():
                carry_on(directory, database, config, on_step)
                found = plan(database, config, lambda urls: on_step(f"{plural(urls, 'URL')} looked at"))
            if not dry_run and found.is_empty:
                tidy_links(database)
            elif not dry_run:
                with step_progress() as on_step:
                    compact(directory, database, config, found, on_step)
        finally:
            database.close()
    freed = found.record_bytes + found.unused_bytes
    if as_json:
        facts = {"versions": len(found.superseded), "urls": found.urls, "bytes_freed": freed, "dry_run": dry_run}
        output.say_json(facts)
    elif found.is_empty:
        output.say("Nothing to remove: every version is to be kept.")
    else:
        versions = f"{plural(len(found.superseded), 'superseded version')} of {plural(found.urls, 'page')}"
        if dry_run:
            output.say(f"{versions} would go, and {size(freed)} of docs/ would be free. Nothing was changed.")
        else:
            output.say(f"{versions} removed; {size(freed)} of docs/ are free.")
