"""`pycrawl robots`: tells what a host's robots.txt says of a URL, as far as the crawl has read it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from pycrawl.cli import output
from pycrawl.cli.common import crawl_directory, directory_option, duration, json_option, moment, open_for_reading
from pycrawl.errors import UsageError

_MOST_SITEMAPS = 10  # shown


@click.command("robots")
@directory_option
@json_option
@click.argument("url")
def command(path: Path, url: str, as_json: bool) -> None:
    """Tell whether robots.txt allows a URL, and by which line.

    It reads the copy that the crawl keeps, and asks nobody. It also shows when that copy was fetched and when it is
    asked for again, the pause that it asks for, and the sitemaps that it names.

    \b
      pycrawl robots https://example.com/private/
    """
    from pycrawl.collection.robots_rules import robots_facts
    from pycrawl.urls.normal_form import UrlRules, from_user

    directory = crawl_directory(path)
    config = directory.config()
    normal = from_user(url, UrlRules.of(config))
    if normal is None:
        raise UsageError(f"{url}: not an http or https URL")
    database = open_for_reading(directory)
    with database.explained(), database.snapshot():
        facts = robots_facts(database, config, normal)
    if as_json:
        output.say_json(facts)
        return
    output.say(*_lines(facts))


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [facts["url"], f"  {verdict_line(facts)}"]
    if not facts["obeyed"]:
        lines.append("  robots.txt is not asked for and not obeyed: politeness.obey_robots is false")
    if facts["known"]:
        lines.append(f"  {facts['robots_url']}: status {facts['status']}, fetched {moment(facts['fetched_at'])}")
        lines.append(f"  {_again(facts)}")
    if facts["crawl_delay"]:
        lines.append(f"  it asks for a pause of {duration(facts['crawl_delay'])} between two requests")
    sitemaps = facts["sitemaps"]
    lines += [f"  sitemap: {sitemap}" for sitemap in sitemaps[:_MOST_SITEMAPS]]
    if len(sitemaps) > _MOST_SITEMAPS:
        lines.append(f"  … and {len(sitemaps) - _MOST_SITEMAPS:,} more sitemaps")
    return lines


def verdict_line(facts: dict[str, Any]) -> str:
    """Returns what robots.txt says of the URL, in one line."""
    if facts["unreachable_since"]:
        return (
            f"not allowed yet: {facts['robots_url']} is unreachable since {moment(facts['unreachable_since'])}"
            f" ({facts['unreachable_detail']}); it is asked for again {_next_try(facts['asked_again_at'])}"
        )
    if not facts["known"]:
        return f"not known yet: {facts['robots_url']} was not asked for; the crawl does so before the first page"
    if facts["line"]:
        word = "allowed" if facts["allowed"] else "not allowed"
        return f"{word} by line {facts['line_number']} of {facts['robots_url']}: {facts['line']}"
    if not facts["allowed"]:
        return f"not allowed: {facts['robots_url']} answered {facts['status']}"
    if 200 <= facts["status"] < 300:
        return f"allowed: no line of {facts['robots_url']} for {facts['agent']} speaks of it"
    return f"allowed: there is no {facts['robots_url']} (status {facts['status']})"


def _next_try(at: float) -> str:
    return "by the next `pycrawl crawl`" if at <= time.time() else f"at {moment(at)}"


def _again(facts: dict[str, Any]) -> str:
    return f"the crawl asks for it again {_from_then(facts['asked_again_at'])}"


def _from_then(at: float) -> str:
    if at <= time.time():
        return "with the next page of this host"
    return f"with the first page of this host after {moment(at)}"
