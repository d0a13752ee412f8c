"""`pycrawl audit`: prove from the crawl's own log that it was polite."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from pycrawl.cli.common import crawl_directory, directory_option, json_option, plural
from pycrawl.errors import PycrawlError

_MOST_LINES = 20


@click.command("audit")
@directory_option
@json_option
def command(path: Path, as_json: bool) -> None:
    """Prove from the crawl's own log that it was polite.

    For every host and every address: the smallest gap from the end of a fetch to the start of the next one, and the
    most fetches open at once; every fetch that began before it was due; and for each robots.txt that was obeyed (by the
    hash of its bytes) how many URLs it allowed and denied. Exit code 1 if a rule was broken.
    """
    from pycrawl.collection.audit import audit

    directory = crawl_directory(path)
    config = directory.config()
    result = audit(directory.log)
    limit = config.politeness.connections_per_host
    crowded = [place for place in (*result.hosts, *result.addresses) if place.most_at_once > limit]
    broken = len(result.early) + len(crowded)
    if as_json:
        facts = {**asdict(result), "most_at_once": result.most_at_once, "smallest_gap": result.smallest_gap}
        click.echo(json.dumps({"ok": not broken, **facts}, indent=2))
    else:
        gap = "none (no host was asked twice)" if result.smallest_gap is None else f"{result.smallest_gap:.3f} s"
        click.echo(
            f"{plural(result.fetches, 'fetch', 'fetches')} on {plural(len(result.hosts), 'host')}"
            f" at {plural(len(result.addresses), 'address', 'addresses')}"
        )
        click.echo(f"smallest gap on a host      {gap}")
        click.echo(f"most at once on an address  {result.most_at_once} (allowed: {limit})")
        click.echo(f"fetches before their time   {len(result.early)}")
        allowed = sum(use.allowed for use in result.robots)
        denied = sum(use.denied for use in result.robots)
        click.echo(
            f"robots.txt                  {plural(len(result.robots), 'file')} decided: {allowed:,} URLs allowed,"
            f" {denied:,} denied; {result.undecided:,} fetched without one"
        )
        for early in result.early[:_MOST_LINES]:
            click.echo(f"  {early.seconds:.3f} s too early: {early.url}")
        for place in crowded[:_MOST_LINES]:
            click.echo(f"  {place.most_at_once} at once: {place.name}")
    if broken:
        raise PycrawlError(f"{path}: {plural(broken, 'rule was', 'rules were')} broken")
