"""`pycrawl audit`: proves from the crawl's own log of fetches that it was polite."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from pycrawl.cli import output
from pycrawl.cli.common import crawl_directory, directory_option, json_option, plural
from pycrawl.errors import PycrawlError

_MOST_LINES = 20  # of each kind of broken rule


@click.command("audit")
@directory_option
@json_option
def command(path: Path, as_json: bool) -> None:
    """Prove from the crawl's log of fetches that it was polite.

    The log shows, for every host and every address, the shortest time between the end of a fetch and the start of the
    next one, and the largest number of fetches that were open at once. It also shows every fetch that started before it
    was due, and how many URLs each robots.txt (named by the hash of its bytes) allowed and denied. The exit code is 1
    if a rule was broken.
    """
    from pycrawl.collection.audit import audit

    directory = crawl_directory(path)
    config = directory.config()
    result = audit(directory.log, config)
    limit = config.politeness.connections_per_host
    crowded = [place for place in (*result.hosts, *result.addresses) if place.is_crowded]
    broken = len(result.early) + len(crowded)
    if as_json:
        facts = {**asdict(result), "most_at_once": result.most_at_once, "smallest_gap": result.smallest_gap}
        output.say_json({"ok": not broken, **facts})
    else:
        others = ", unless a [[host]] says otherwise" if config.hosts else ""
        gap = "none (no host was fetched from twice)" if result.smallest_gap is None else f"{result.smallest_gap:.3f} s"
        output.say(
            f"{plural(result.fetches, 'fetch', 'fetches')} on {plural(len(result.hosts), 'host')}"
            f" at {plural(len(result.addresses), 'address', 'addresses')}"
        )
        output.say(f"smallest gap on a host      {gap}")
        output.say(f"most at once on an address  {result.most_at_once} (allowed: {limit}{others})")
        output.say(f"fetches that were too early {len(result.early)}")
        allowed = sum(use.allowed for use in result.robots)
        denied = sum(use.denied for use in result.robots)
        output.say(
            f"robots.txt                  {plural(len(result.robots), 'file')}: {plural(allowed, 'URL')} allowed,"
            f" {denied:,} denied; {result.undecided:,} fetched without a robots.txt"
        )
        for early in result.early[:_MOST_LINES]:
            output.say(f"  {early.seconds:.3f} s too early: {early.url}")
        for place in crowded[:_MOST_LINES]:
            output.say(f"  {place.most_at_once} fetches at once: {place.name}")
    if broken:
        raise PycrawlError(f"{path}: {plural(broken, 'rule was', 'rules were')} broken")
