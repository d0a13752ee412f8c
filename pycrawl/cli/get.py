"""`pycrawl get`: writes a stored document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pycrawl.cli import output
from pycrawl.cli.common import crawl_directory, directory_option, open_for_reading, parse_moment
from pycrawl.errors import PycrawlError, UsageError

if TYPE_CHECKING:
    from pycrawl.config import Config
    from pycrawl.parse.parsed import Parsed


@click.command("get")
@directory_option
@click.argument("url")
@click.option("--headers", "with_headers", is_flag=True, help="Print the status line and headers before the body.")
@click.option("--text", "part", flag_value="text", help="Print the text of the page instead.")
@click.option(
    "--content",
    "part",
    flag_value="content",
    help="Print the main content instead: the text without menus, headers and footers.",
)
@click.option(
    "--json",
    "part",
    flag_value="json",
    help="Print title, language, encoding, text, main content, and links with their texts, as JSON.",
)
@click.option(
    "--at",
    metavar="TIME",
    callback=parse_moment,
    help="The version stored at this time, such as 2026-03-01T12:30 (local time, or with a zone); default: the newest.",
)
def command(path: Path, url: str, with_headers: bool, part: str | None, at: float | None) -> None:
    """Write a stored page to standard output, byte for byte as served.

    On a terminal, and with --text and --content everywhere, control characters are made visible, as they could move the
    cursor or worse; --json has the exact text, with escapes. In a file or a pipe, the page itself is as served.

    \b
      pycrawl get https://example.com/ > page.html
      pycrawl get https://example.com/ --content
    """
    if with_headers and part:
        raise UsageError("expected --headers or one of --text, --content and --json, found both")
    from pycrawl.record import trec_web
    from pycrawl.state import meta
    from pycrawl.state.documents import file_name, newest_document
    from pycrawl.state.unwanted import Unwanted
    from pycrawl.store.reader import RecordReader
    from pycrawl.urls.normal_form import UrlRules, from_user
    from pycrawl.urls.parts import url_hash
    from pycrawl.urls.reasons import Reason

    directory = crawl_directory(path)
    config = directory.config()
    normal = from_user(url, UrlRules.of(config))
    if normal is None:
        raise UsageError(f"{url}: not an http or https URL")
    database = open_for_reading(directory)
    with database.explained():
        seed = meta.hash_seed(database)
        if Unwanted(database, seed).is_unwanted(normal):
            raise PycrawlError(f"{normal}: {Reason.FORGOTTEN.words}")
        document = newest_document(database, url_hash(normal, seed), at)
        if document is None:
            when = " from before that time" if at is not None else ""
            raise PycrawlError(f"{normal}: no document{when} is stored. `pycrawl why` says why.")
        name = file_name(database, document.file_id)
    with RecordReader(directory.docs) as reader:
        record = trec_web.decode(
            reader.read(name, document.offset, document.length), document.escapes, document.body_length
        )
    if part:
        _say_part(part, normal, record.body, document.content_type, config)
        return
    head = [record.status_line, *(name + b": " + value for name, value in record.headers), b"", b""]
    output.write_bytes(b"\r\n".join(head) if with_headers else b"", record.body)


def _say_part(part: str, url: str, body: bytes, content_type: str, config: Config) -> None:
    """Prints what was asked for of a document, read by the parser of its type."""
    from pycrawl.parse.parsers import Body, Parsers, Wanted
    from pycrawl.plugins.guard import PluginFailed

    parsers = Parsers(config.plugins)
    if parsers.find(content_type, body) is None:
        raise PycrawlError(f"{url}: nobody reads {content_type or 'a body without a type'}; a plugin could")
    wanted = Wanted(text=True, main_content=config.content.main_content, anchors=True)
    try:
        page = parsers.parse(Body(url, content_type, body), wanted)
    except PluginFailed as failed:
        raise PycrawlError(f"{url}: the plugin {failed}") from None
    if part == "json":
        output.say_json(_as_json(url, page, config), readable=True)
    else:
        output.say_text(page.text.strip("\n") if part == "text" else page.content)


def _as_json(url: str, page: Parsed, config: Config) -> dict[str, Any]:
    from pycrawl.urls.normal_form import UrlRules, normalise

    rules = UrlRules.of(config)
    base = (normalise(page.base_href, rules, url) if page.base_href else url) or url
    nofollow = set(page.nofollow_hrefs)
    return {
        "url": url,
        "title": page.title,
        "language": page.language or None,
        "charset": page.charset.used or "us-ascii",
        "declared_charset": page.charset.declared or None,
        "text": page.text,
        "content": page.content,
        "links": [
            {
                "url": normalise(href, rules, base),
                "href": href,
                "text": page.anchors.get(href, ""),
                "nofollow": href in nofollow,
            }
            for href in (*page.hrefs, *page.nofollow_hrefs)
        ],
    }
