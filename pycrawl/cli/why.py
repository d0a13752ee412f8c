"""`pycrawl why`: tells how a URL was found, what became of it and why, and when it is next."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pycrawl.cli.common import crawl_directory, directory_option, json_option, moment, open_for_reading
from pycrawl.cli.reasons import in_words
from pycrawl.errors import UsageError

if TYPE_CHECKING:
    from pycrawl.config import Config
    from pycrawl.state.database import Database

_LONGEST_CHAIN = 20  # pages shown on the way from a seed to the URL


@click.command("why")
@directory_option
@json_option
@click.argument("url")
def command(path: Path, url: str, as_json: bool) -> None:
    """Tell how a URL was found, what became of it and why, when it is next.

    For a URL that the crawl never met, it says whether the scope would let it in.
    """
    from pycrawl.urls.normal_form import UrlRules, from_user

    directory = crawl_directory(path)
    config = directory.config()
    normal = from_user(url, UrlRules.of(config))
    if normal is None:
        raise UsageError(f"{url}: not an http or https URL")
    database = open_for_reading(directory)
    with database.explained(), database.snapshot():
        facts = collect(database, config, normal)
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    for line in _lines(facts):
        click.echo(line)


def collect(database: Database, config: Config, url: str) -> dict[str, Any]:
    from pycrawl.state import meta
    from pycrawl.state.documents import visit_of
    from pycrawl.state.hosts import find_host
    from pycrawl.state.mirrors import original_of
    from pycrawl.state.url_seen import find_url, inlinks_of
    from pycrawl.state.urls_table import discovery_chain, place_in_queue
    from pycrawl.urls.parts import host_key
    from pycrawl.urls.scope import Scope

    url_id = find_url(database, url, meta.hash_seed(database))
    host = find_host(database, host_key(url))
    chain = discovery_chain(database, url_id, _LONGEST_CHAIN) if url_id else []
    visit = visit_of(database, url_id) if url_id else None
    return {
        "url": url,
        "known": bool(url_id),
        "scope": Scope(config).verdict(url) or "wanted",
        "robots": _robots(database, config, url),
        "kinds": _kinds(database, host.id, url) if host else [],
        "series": _series(database, host.id, url) if host else None,
        "found": [{"url": step.url, "via": step.via, "depth": step.depth, "found_at": step.found_at} for step in chain],
        "inlinks": inlinks_of(database, url_id) if url_id else 0,
        "queue": place_in_queue(database, url_id) if url_id else None,
        "host_ready_at": host.ready_at if host else None,
        "host_failures": host.failures if host else 0,
        "visit": None
        if visit is None
        else {
            "outcome": visit.outcome,
            "status": visit.status,
            "visited_at": visit.visited_at,
            "tries": visit.tries,
            "detail": visit.detail,
            "document": visit.document_id or None,
        },
        "charset": _charset(database, visit.document_id) if visit and visit.document_id else None,
        "copy": _copy(database, visit.document_id) if visit and visit.document_id else None,
        "mirror_of": original_of(database, host.id) if host else None,
    }


def _charset(database: Database, document_id: int) -> dict[str, str] | None:
    """Returns the encoding that the text was read in and the one it declares; None if it is ASCII, or no text."""
    from pycrawl.state.documents import document

    found = document(database, document_id)
    return {"used": found.charset, "declared": found.declared_charset} if found.charset else None


def _copy(database: Database, document_id: int) -> dict[str, Any] | None:
    """Returns what the document is an exact or near copy of; None if it is no copy."""
    from pycrawl.state.documents import document, url_and_time
    from pycrawl.state.near_seen import nearness_of

    original_id = document(database, document_id).duplicate_of
    if original_id:
        url, _ = url_and_time(database, original_id)
        return {"kind": "exact", "of": url, "resemblance": 1.0, "representative": url}
    near = nearness_of(database, document_id)
    if near is None:
        return None
    return {
        "kind": "near",
        "of": url_and_time(database, near.near_id)[0],
        "resemblance": near.resemblance,
        "representative": url_and_time(database, near.representative_id)[0],
    }


def _kinds(database: Database, host_id: int, url: str) -> list[dict[str, Any]]:
    """What the kinds that the URL is of have brought so far, as far as it was little."""
    from pycrawl.state.kinds import kinds_of

    return [
        {
            "kind": name,
            "pages": kind.pages,
            "yield": round(kind.yield_, 3),
            "open_share": round(kind.open_share, 3),
            "stopped": kind.stopped,
        }
        for name, kind in kinds_of(database, host_id, url).items()
    ]


def _series(database: Database, host_id: int, url: str) -> dict[str, Any] | None:
    """The series that the URL is part of, if it runs on."""
    from pycrawl.state.kinds import series_of

    found = series_of(database, host_id, url)
    if found is None:
        return None
    name, series = found
    return {
        "series": name,
        "pages": series.pages,
        "before": series.before,
        "after": series.after,
        "stopped": series.stopped,
        "reason": series.reason,
    }


def _robots(database: Database, config: Config, url: str) -> dict[str, Any] | None:
    from pycrawl.policy.robots import RobotsRules
    from pycrawl.state.hosts import robots_of
    from pycrawl.urls.parts import origin

    file = robots_of(database, origin(url))
    if file is None:
        return None
    verdict = RobotsRules.parse(file, config.crawl.name).verdict(url)
    return {
        "allowed": verdict.allowed,
        "line": verdict.line,
        "line_number": verdict.line_number,
        "fetched_at": file.fetched_at,
        "status": file.status,
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [facts["url"]]
    if not facts["known"]:
        lines.append("  not known: it is no seed, and no page read so far links to it")
    for step in facts["found"][:1]:
        how = {"seed": "a seed", "link": "a link", "redirect": "a redirect"}[step["via"]]
        lines.append(f"  found as {how}, {step['depth']} links from a seed, {moment(step['found_at'])}")
    lines += [f"    from {step['url']}" for step in facts["found"][1:]]
    if facts["inlinks"]:
        lines.append(f"  links to it seen so far: {facts['inlinks']:,}")
    wanted = facts["scope"] == "wanted"
    lines.append("  scope: wanted" if wanted else f"  {in_words(facts['scope'])}")
    lines += _robots_lines(facts["robots"])
    lines += [
        f"  pages like {one['kind']}: {one['pages']:,}, yield {one['yield']:.2f},"
        f" {1 - one['open_share']:.0%} closed{': a trap' if one['stopped'] else ''}"
        for one in facts["kinds"]
    ]
    series = facts["series"]
    if series:
        lines.append(f"  series {series['series']}: {series['reason']}{': a trap' if series['stopped'] else ''}")
    visit = facts["visit"]
    if visit:
        detail = f": {visit['detail']}" if visit["detail"] else ""
        lines.append(
            f"  last visit {moment(visit['visited_at'])}: {visit['outcome']} {visit['status'] or ''}{detail}"
            f" (tries: {visit['tries']})"
        )
        if visit["document"]:
            lines.append("  stored: `pycrawl get` prints it")
    lines += _charset_lines(facts["charset"])
    lines += _copy_lines(facts["copy"])
    if facts["mirror_of"]:
        lines.append(f"  its host is a mirror of {facts['mirror_of']}: its new URLs wait behind those of other hosts")
    if facts["queue"]:
        rests = (facts["host_ready_at"] or 0.0) > time.time()
        when = f"at {moment(facts['host_ready_at'])}" if rests else "now"
        lines.append(f"  waits in {facts['queue']}; the next fetch from its host is due {when}")
        if facts["host_failures"]:
            lines.append(f"  its host has failed {facts['host_failures']} times in a row")
    return lines


def _charset_lines(charset: dict[str, str] | None) -> list[str]:
    if charset is None:
        return []
    declared = charset["declared"]
    if declared == charset["used"]:
        return [f"  text in {declared}, as declared"]
    return [f"  text read as {charset['used']}, {f'though declared as {declared}' if declared else 'not declared'}"]


def _copy_lines(copy: dict[str, Any] | None) -> list[str]:
    if copy is None:
        return []
    if copy["kind"] == "exact":
        return [f"  an exact copy of {copy['of']}: not stored again; its links are followed if it is on another host"]
    lines = [f"  a near-duplicate of {copy['of']} (resemblance {copy['resemblance']:.3f})"]
    if copy["representative"] != copy["of"]:
        lines.append(f"    in the cluster of {copy['representative']}")
    return lines


def _robots_lines(robots: dict[str, Any] | None) -> list[str]:
    if robots is None:
        return ["  robots.txt: not fetched yet"]
    word = "allowed" if robots["allowed"] else "denied"
    by = f" by line {robots['line_number']}: {robots['line']}" if robots["line"] else ""
    return [f"  robots.txt: {word}{by} (status {robots['status']}, {moment(robots['fetched_at'])})"]
