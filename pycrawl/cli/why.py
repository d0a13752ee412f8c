"""`pycrawl why`: tells how a URL was found, where it stands and why, and when it is next."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from pycrawl.cli import output
from pycrawl.cli.common import (
    crawl_directory,
    directory_option,
    duration,
    json_option,
    moment,
    open_for_reading,
    plural,
    size,
)
from pycrawl.cli.freshness import recrawl_lines
from pycrawl.cli.reasons import in_words
from pycrawl.cli.robots import verdict_line

_MOST_VERSIONS = 5  # shown without --verbose
_FORGOTTEN = "forgotten:"  # how the ledger writes a URL that was removed


@click.command("why")
@directory_option
@json_option
@click.option("-v", "--verbose", is_flag=True, help="Show pages that link to it, and what its kinds of pages bring.")
@click.argument("url")
def command(path: Path, url: str, as_json: bool, verbose: bool) -> None:
    """Tell how a URL was found, where it stands and why, when it is next.

    It reads what was decided, and names the setting that decided it. Where the settings have changed since, it says
    what the next crawl will do. For a URL that the crawl never met, it says whether the scope would let it in.

    \b
      pycrawl why https://example.com/page.html
    """
    from pycrawl.collection.explanation import explain, explain_unusable
    from pycrawl.urls.normal_form import UrlRules, from_user

    directory = crawl_directory(path)
    config = directory.config()
    database = open_for_reading(directory)
    normal = from_user(url, UrlRules.of(config))
    if normal is None:
        facts = explain_unusable(url)
    else:
        with database.explained(), database.snapshot():
            facts = explain(database, config, normal)
    if as_json:
        output.say_json(facts)
        return
    output.say(facts["url"], f"  {facts['state']}: {facts['words']}", *(_lines(facts, verbose) if normal else ()))


def _lines(facts: dict[str, Any], verbose: bool) -> list[str]:
    lines = [f"  decided by the setting {facts['setting']}"] if facts["known"] and facts["setting"] else []
    lines += _now_lines(facts)
    lines += _found_lines(facts)
    lines += _visit_lines(facts)
    lines += _version_lines(facts["versions"], verbose)
    lines += _copy_lines(facts["copy"])
    lines += _source_lines(facts)
    lines += recrawl_lines(facts)
    lines += _next_lines(facts)
    if verbose or facts["state"] in ("queued", "unknown") or facts["reason"].startswith("robots"):
        lines.append(f"  robots.txt: {verdict_line(facts['robots'])}")
    if facts["mirror_of"]:
        lines.append(f"  its host is a mirror of {facts['mirror_of']}: its new URLs wait behind those of other hosts")
    return lines + (_verbose_lines(facts) if verbose else [])


def _now_lines(facts: dict[str, Any]) -> list[str]:
    """What the present settings say, where that is not what is in the ledger."""
    wanted = facts["scope"] == "wanted"
    if not facts["known"]:
        return _unknown_lines(facts, wanted)
    if not facts["judged_anew"]:
        return []
    was = facts["reason"] if facts["setting"] and facts["state"] == "aside" else "wanted"
    if was == facts["scope"]:
        return ["  the settings have changed since it was judged; it stands as before"]
    verdict = "take it in" if wanted else f"put it aside: {in_words(facts['scope'])}"
    return [f"  judged under other settings; the next crawl will {verdict}"]


def _unknown_lines(facts: dict[str, Any], wanted: bool) -> list[str]:
    if facts["reason"] != "not-met":
        return []
    lines = [
        "  the scope would let it in: `pycrawl add` adds it"
        if wanted
        else f"  a link to it would not be followed: {in_words(facts['scope'])}"
    ]
    if facts["links_not_read"]:
        lines.append(
            f"  but {plural(facts['links_not_read'], 'link')} were not read, as their pages have more than"
            " limits.max_links_per_page"
        )
    return lines


def _found_lines(facts: dict[str, Any]) -> list[str]:
    found = facts["found"]
    if not found:
        return []
    words = {
        "seed": "a seed",
        "link": "linked from",
        "redirect": "the target of a redirect from",
        "sitemap": "named by sitemap",
        "feed": "named by feed",
        "robots": "named by a robots.txt, which was asked for the sake of",
    }
    lines = []
    for number, step in enumerate(found):
        start = f"  found {moment(step['found_at'])}:" if not number else "    which is"
        source = f" {_page(found[number + 1]['url'])}" if number + 1 < len(found) else ""
        lines.append(f"{start} {words.get(step['via'], step['via'])}{source}")
    away = found[0]["depth"]
    is_shorter = found[-1]["via"] == "seed" and away < sum(step["via"] == "link" for step in found)
    way = " by a shorter way than this one" if is_shorter else ""
    lines[0] += f" ({plural(away, 'link')} away from a seed{way})" if away or is_shorter else ""
    if facts["asks"]:
        lines.append(f"  every link to it asks not to be followed: {', '.join(facts['asks'])}")
    if facts["referrers"] > 1:
        lines.append(f"  {plural(facts['referrers'], 'page')} link or lead to it; `pycrawl links --in` lists them")
    lines += [f"  redirected to from {_page(url)}" for url in facts["redirected_from"] if url != _source(found)]
    return lines


def _source(found: list[dict[str, Any]]) -> str | None:
    """The URL whose redirect led to this one, if it was found so."""
    return found[1]["url"] if len(found) > 1 and found[0]["via"] == "redirect" else None


def _page(url: str) -> str:
    return "a page that was removed with `pycrawl forget`" if url.startswith(_FORGOTTEN) else url


def _visit_lines(facts: dict[str, Any]) -> list[str]:
    visit = facts["visit"]
    if not visit:
        return []
    if visit["redirect_to"]:
        said = f"redirects to {visit['redirect_to']}"
    else:
        said = " ".join(filter(None, (visit["outcome"], str(visit["status"] or ""), visit["detail"])))
    tries = f" ({plural(visit['tries'], 'try', 'tries')})" if visit["tries"] > 1 else ""
    is_old = visit["since"] and visit["since"] < visit["visited_at"]
    since = f", as since {moment(visit['since'])}" if is_old else ""
    return [f"  last visit {moment(visit['visited_at'])}: {said}{tries}{since}"]


def _version_lines(versions: list[dict[str, Any]], verbose: bool) -> list[str]:
    if not versions:
        return []
    lines = [f"  stored: {plural(len(versions), 'version')}; `pycrawl get` prints the newest, and older ones with --at"]
    hidden = 0 if verbose else max(len(versions) - _MOST_VERSIONS, 0)
    lines += [f"    … {hidden:,} older"] if hidden else []
    return lines + [
        f"    {moment(one['fetched_at'])}  {size(one['bytes'])}  {one['content_type']}" for one in versions[hidden:]
    ]


def _copy_lines(copy: dict[str, Any] | None) -> list[str]:
    if copy is None:
        return []
    if copy["kind"] == "exact":
        return [f"  an exact copy of {_page(copy['of'])}: not stored again; its links are followed"]
    lines = [f"  a near-duplicate of {_page(copy['of'])} (resemblance {copy['resemblance']:.3f})"]
    if copy["representative"] != copy["of"]:
        lines.append(f"    in the cluster of {_page(copy['representative'])}")
    return lines


def _source_lines(facts: dict[str, Any]) -> list[str]:
    """What is known of a sitemap or feed; and what one says of the URL."""
    lines = []
    source = facts.get("source")
    if source:
        read = (
            f"named {plural(source['entries'], 'URL')} {moment(source['read_at'])}" if source["read_at"] else "not read"
        )
        seen = f"; {plural(source['changes'], 'change')} seen in {duration(source['watched_seconds'])}"
        if source["kind"] != "hub":
            lines.append(f"  a {source['kind']}: {read}{seen if source['watched_seconds'] else ''}")
        if source["next_at"] is not None:
            lines.append(f"  next: {moment(source['next_at']) if source['next_at'] > time.time() else 'it is due now'}")
    lines += _subscription_lines(facts.get("subscription"))
    says = facts.get("sitemap_says")
    if says and (says["lastmod"] or says["changefreq"] or says["priority"] is not None):
        said = [
            f"changed {moment(says['lastmod'])}" if says["lastmod"] else "",
            f"changes {says['changefreq']}" if says["changefreq"] else "",
            f"priority {says['priority']}" if says["priority"] is not None else "",
        ]
        lines.append(f"  {says['source']} says: {', '.join(filter(None, said))}")
    return lines


def _subscription_lines(one: dict[str, Any] | None) -> list[str]:
    if one is None:
        return []
    last = f"; last push {moment(one['pushed_at'])}" if one["pushed_at"] else ""
    if one["state"] == "open":
        return [f"  pushed by {one['hub']} until {moment(one['ends_at'])}{last}"]
    asked = "was asked to push it, and has not confirmed" if one["state"] == "asked" else "does not push it"
    return [f"  {one['hub']} {asked}{last}"]


def _next_lines(facts: dict[str, Any]) -> list[str]:
    if not facts["queue"]:
        return []
    lines = [f"  waits in {facts['queue']}"]
    if facts["host_is_full"]:
        return [*lines, "  its host has given as many pages as limits.max_pages_per_host allows: it is not asked for"]
    if facts["host_failures"]:
        lines.append(
            f"  its host has failed {plural(facts['host_failures'], 'time')} in a row ({facts['host_trouble']});"
            " `pycrawl retry` asks it at once"
        )
    origin = facts["unconnected"]
    if origin:
        reason = f"{origin['reason']}: {origin['detail']}" if origin["detail"] else origin["reason"]
        lines.append(
            f"  no connection to {origin['origin']} can be made since {moment(origin['since'])} ({reason});"
            " `pycrawl retry` tries it at once"
        )
    rests = (facts["host_ready_at"] or 0.0) > time.time()
    lines.append(f"  next: {'not before ' + moment(facts['host_ready_at']) if rests else 'its host may be asked now'}")
    return lines


def _verbose_lines(facts: dict[str, Any]) -> list[str]:
    lines = [f"  linked from {_page(url)}" for url in facts["linked_from"]]
    if facts["referrers"] > len(facts["linked_from"]):
        lines.append(f"  … {facts['referrers'] - len(facts['linked_from']):,} more: `pycrawl links --in` lists all")
    lines += [
        f"  pages like {one['kind']}: {one['pages']:,}, yield {one['yield']:.2f},"
        f" {1 - one['open_share']:.0%} closed{': a trap' if one['stopped'] else ''}"
        for one in facts["kinds"]
        if one["pages"]
    ]
    series = facts["series"]
    if series:
        lines.append(f"  series {series['series']}: {series['reason']}{': a trap' if series['stopped'] else ''}")
    return lines + _charset_lines(facts["charset"])


def _charset_lines(charset: dict[str, str] | None) -> list[str]:
    if charset is None:
        return []
    declared = charset["declared"]
    if declared == charset["used"]:
        return [f"  text in {declared}, as declared"]
    return [f"  text read as {charset['used']}, {f'though declared as {declared}' if declared else 'not declared'}"]
