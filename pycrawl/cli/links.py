"""`pycrawl links`: lists what a page links to, and what links to it, with the texts of the links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pycrawl.cli import output
from pycrawl.cli.common import crawl_directory, directory_option, json_option
from pycrawl.errors import PycrawlError

if TYPE_CHECKING:
    from pycrawl.collection.link_view import Linked


@click.command("links")
@directory_option
@click.argument("url")
@click.option("--in", "inward", is_flag=True, help="Only the links to it.")
@click.option("--out", "outward", is_flag=True, help="Only the links on it.")
@json_option
def command(path: Path, url: str, inward: bool, outward: bool, as_json: bool) -> None:
    """List the links on a page and to it, with their texts.

    They are those of the newest version of each page; "frame" marks those that do not stand in its main content.
    Redirects, sitemaps and feeds count too. With --json each link is a line, with the fields of docs/links.md.

    \b
      pycrawl links --in https://example.com/page.html
    """
    from pycrawl.collection.collection import Collection

    both = inward == outward
    with Collection(crawl_directory(path).path) as collection:
        if not collection.links.knows(url):
            raise PycrawlError(f"{url}: the crawl does not know this URL, so it knows no links. `pycrawl add` adds it.")
        parts = {"out": collection.links.of(url) if outward or both else (), "in": ()}
        parts["in"] = collection.links.into(url) if inward or both else ()
        for direction, links in parts.items():
            if as_json:
                output.write_lines(output.json_line({"direction": direction, **link._asdict()}) for link in links)
            elif both or links:
                _say(direction, links, both)


def _say(direction: str, links: Iterable[Linked], with_head: bool) -> None:
    if with_head:
        output.say("links to:" if direction == "out" else "linked from:")
    output.write_lines(map(output.line, _lines(links, "  " if with_head else "")))


def _lines(links: Iterable[Linked], margin: str) -> Iterator[str]:
    count = 0
    for link in links:
        count += 1
        words = [link.via] if link.via != "link" else []
        words += [*link.rel, *(["frame"] if link.place == "frame" else [])]
        words += ["not followed"] if link.nofollow and "nofollow" not in link.rel else []
        noted = f"  ({', '.join(words)})" if words else ""
        text = f"  {link.anchor}" if link.anchor else ""
        yield f"{margin}{link.url}{text}{noted}"
    if not count:
        yield f"{margin}none"
