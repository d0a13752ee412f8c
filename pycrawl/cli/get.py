"""`pycrawl get`: writes a stored document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pycrawl.cli import output
from pycrawl.cli.common import directory_option, parse_moment
from pycrawl.errors import PycrawlError, UsageError
from pycrawl.foreign.visible import visible

if TYPE_CHECKING:
    from pycrawl.collection.collection import Collection
    from pycrawl.collection.document import Document


@click.command("get")
@directory_option
@click.argument("url", required=False)
@click.option("--docno", metavar="ID", help="The document with this DOCNO, such as WTX001-B01-17, instead of a URL.")
@click.option("--headers", "with_headers", is_flag=True, help="Print the status line and headers before the body.")
@click.option("--text", "part", flag_value="text", help="Print the text of the page instead.")
@click.option(
    "--content",
    "part",
    flag_value="content",
    help="Print the main content instead: the text without menus, headers and footers.",
)
@click.option(
    "--html",
    "part",
    flag_value="html",
    help="Print a PDF, Office or other document as simple HTML instead; a page as it was served.",
)
@click.option(
    "--json",
    "part",
    flag_value="json",
    help="Print title, language, encoding, text, main content, fingerprints, and links with their texts, as JSON.",
)
@click.option(
    "--at",
    metavar="TIME",
    callback=parse_moment,
    help="The version stored at this time, such as 2026-03-01T12:30 (local time, or with a zone); default: the newest.",
)
def command(
    path: Path, url: str | None, docno: str | None, with_headers: bool, part: str | None, at: float | None
) -> None:
    """Write a stored page to standard output, byte for byte as served.

    A URL that redirected when it was last visited gives the page that it led to.

    On a terminal, and with --text and --content everywhere, control characters are made visible, as they could move the
    cursor or worse; --json has the exact text, with escapes. In a file or a pipe, the page itself is as served.

    \b
      pycrawl get https://example.com/ > page.html
      pycrawl get https://example.com/ --content
    """
    if with_headers and part:
        raise UsageError("expected --headers or one of --text, --content, --html and --json, found both")
    if (url is None) == (docno is None):
        raise UsageError("expected a URL or --docno, found both" if url else "expected a URL or --docno, found none")
    from pycrawl.collection.collection import Collection

    with Collection(path) as collection:
        document = _document(collection, url, docno, at)
        if part:
            _say_part(document, part)
            return
        record = document.record
        head = [record.status_line, *(name + b": " + value for name, value in record.headers), b"", b""]
        output.write_bytes(b"\r\n".join(head) if with_headers else b"", record.body)


def _document(collection: Collection, url: str | None, docno: str | None, at: float | None) -> Document:
    from pycrawl.urls.reasons import Reason

    if docno is not None:
        return collection.by_docno(docno)
    assert url is not None
    if collection.is_forgotten(url):
        raise PycrawlError(f"{collection.normal_form(url)}: {Reason.FORGOTTEN.words}")
    return collection[url] if at is None else collection.at(url, at)


def _say_part(document: Document, part: str) -> None:
    """Prints what was asked for of a document, read by the parser of its type."""
    from pycrawl.collection.fields import FIELDS, USUAL, as_json
    from pycrawl.convert.kinds import INSTALL, kind_of_type
    from pycrawl.parse.feed_types import media_type_of

    if not document.has_parser:
        kind = kind_of_type(media_type_of(document.content_type))
        reader = f"{INSTALL} does" if kind is not None else "a plugin could"
        raise PycrawlError(f"{document.url}: nobody reads {document.content_type or 'a body without a type'}; {reader}")
    if part == "html":
        output.write_bytes(document.html)
    elif part == "json":
        output.say_json(as_json(document, [FIELDS[name] for name in (*USUAL, "links", "json_ld")]), readable=True)
    else:
        output.say_text(document.text.strip("\n") if part == "text" else document.content)
    if document.fault:
        raise PycrawlError(f"{document.url}: {visible(document.fault)}")
