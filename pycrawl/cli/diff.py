"""`pycrawl diff`: shows what changed from one version of a page to another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pycrawl.cli import output
from pycrawl.cli.common import crawl_directory, directory_option, json_option, moment, parse_moment

if TYPE_CHECKING:
    from pycrawl.collection.word_diff import Part

_CONTEXT = 8  # words that are shown before and behind a change


@click.command("diff")
@directory_option
@click.argument("url")
@click.option(
    "--from", "since", metavar="TIME", callback=parse_moment, help="The version at this time; default: the one before."
)
@click.option("--to", "until", metavar="TIME", callback=parse_moment, help="The version at this time; default: newest.")
@json_option
def command(path: Path, url: str, since: float | None, until: float | None, as_json: bool) -> None:
    """Show the words that changed between two versions of a page.

    It compares the main content, by default of the newest version and the one before. On a terminal, what was removed
    is red and what was added is green; elsewhere they stand in [-…-] and {+…+}. The exit code is 0 whether or not
    something changed.

    \b
      pycrawl diff https://example.com/
      pycrawl diff https://example.com/ --from 2026-03-01 --to 2026-04-01
    """
    from pycrawl.collection.collection import Collection
    from pycrawl.collection.versions import change_of, two_versions
    from pycrawl.collection.word_diff import Kind, diff

    with Collection(crawl_directory(path).path) as collection:
        before, after = two_versions(collection, url, since, until)
        grade = change_of(collection, before, after)
        parts = diff(before.content or before.text, after.content or after.text)
    changed = any(part.kind != Kind.SAME for part in parts)
    if as_json:
        facts = {
            "url": after.url,
            "from": before.timestamp,
            "to": after.timestamp,
            "change": grade.value if grade else None,
            "parts": [{"kind": part.kind.value, "text": part.text} for part in parts],
        }
        output.say_json(facts, readable=True)
        return
    output.say(f"{after.url}: {grade or 'the same bytes'}")
    output.say(f"- {moment(before.timestamp)}  {before.docno}", f"+ {moment(after.timestamp)}  {after.docno}")
    if changed:
        output.say_styled(_with_context(parts))
    else:
        output.say("The words of the main content are the same.")


def _with_context(parts: list[Part]) -> Iterator[tuple[str, str]]:
    """Yields (style, text): all changes, and of what is the same only the words beside them."""
    last = len(parts) - 1
    for place, part in enumerate(parts):
        if part.kind != "same":
            yield part.kind.value, part.text
            continue
        words = part.text.split()
        head = words[:_CONTEXT] if place else []
        tail = words[-_CONTEXT:] if place < last else []
        if len(head) + len(tail) >= len(words):
            yield "same", part.text
        else:
            yield "same", " ".join([*head, "…", *tail])
