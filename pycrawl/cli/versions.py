"""`pycrawl versions`: lists the stored versions of a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pycrawl.cli import output
from pycrawl.cli.common import crawl_directory, directory_option, json_option, moment, size

if TYPE_CHECKING:
    from pycrawl.collection.versions import History


@click.command("versions")
@directory_option
@click.argument("url")
@json_option
def command(path: Path, url: str, as_json: bool) -> None:
    """List the stored versions of a page, and how much changed each time.

    Changes are cosmetic (the words of the main content are the same), edited (at least half of it is as it was) or
    rewritten; `recrawl.keep` says which of them are stored. `pycrawl get --at TIME` writes a version, `pycrawl diff`
    shows what changed.
    """
    from pycrawl.collection.collection import Collection
    from pycrawl.collection.versions import history

    with Collection(crawl_directory(path).path) as collection:
        found = history(collection, url)
        if as_json:
            output.say_json(_as_json(found), readable=True)
            return
        output.say(found.url)
        for version in found.versions:
            document = version.document
            grade = str(version.change or "first")
            output.say(
                f"  {moment(document.timestamp)}  {grade:<9}  {size(document.length):>8}  {document.docno}"
                + ("  (the bytes of a stored document)" if document.is_copy else "")
            )
        visit = found.last_visit
        if visit is not None:
            noted = f", changed since the last version: {visit.unkept}, not kept" if visit.unkept else ""
            output.say(f"last visit {moment(visit.visited_at)}: {visit.outcome} {visit.status or ''}{noted}".rstrip())


def _as_json(found: History) -> dict[str, object]:
    visit = found.last_visit
    return {
        "url": found.url,
        "versions": [
            {
                "time": version.document.timestamp,
                "change": version.change.value if version.change else None,
                "docno": version.document.docno,
                "length": version.document.length,
                "content_type": version.document.content_type,
                "digest": version.document.digest,
                "copy": version.document.is_copy,
            }
            for version in found.versions
        ],
        "last_visit": visit
        and {
            "time": visit.visited_at,
            "outcome": visit.outcome,
            "status": visit.status,
            "unkept_change": visit.unkept or None,
        },
    }
