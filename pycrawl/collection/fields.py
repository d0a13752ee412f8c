"""The fields of a document, as `get --json`, the exports and `Collection.cell` name them: one table for all.

`docs/fields.md` shows the same table; a test compares the two.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any, NamedTuple

from pycrawl.collection.document import Document
from pycrawl.errors import UsageError


class Needs(IntEnum):
    """What has to be read to know a field; each includes those before it."""

    ROW = 0  # the state only
    RECORD = 1  # the record too
    TEXT = 2  # the record, parsed
    ANCHORS = 3  # the same, with the texts of links


class Field(NamedTuple):
    name: str
    kind: str  # of the JSON value
    needs: Needs
    of: Callable[[Document], Any]
    meaning: str


def _simhash(document: Document) -> str | None:
    prints = document.fingerprints
    return f"{prints.simhash:016x}" if prints else None


def _words(document: Document) -> int:
    prints = document.fingerprints
    return prints.words if prints else 0


def _sketch(document: Document) -> str | None:
    prints = document.fingerprints
    return base64.b64encode(prints.sketch).decode() if prints else None


def iso_time(document: Document) -> str:
    """Returns when a document was fetched: "2026-11-18T07:22:40.123456Z"."""
    return document.time.isoformat(timespec="microseconds").replace("+00:00", "Z")


_FIELDS = (
    Field("url", "string", Needs.ROW, lambda one: one.url, "the URL in its normal form"),
    Field("docno", "string", Needs.ROW, lambda one: one.docno, "the id in TREC Web files, which no other document has"),
    Field("time", "string", Needs.ROW, iso_time, "when it was fetched: ISO 8601, UTC, microseconds"),
    Field("status", "number", Needs.RECORD, lambda one: one.status, "the HTTP status"),
    Field("content_type", "string", Needs.ROW, lambda one: one.content_type, "the Content-Type header"),
    Field("length", "number", Needs.ROW, lambda one: one.length, "bytes of the body"),
    Field("truncated", "true or false", Needs.ROW, lambda one: one.is_truncated, "the body was longer than is kept"),
    Field("copy", "true or false", Needs.ROW, lambda one: one.is_copy, "it has the bytes of an older document"),
    Field("charset", "string", Needs.ROW, lambda one: one.charset, "the encoding that the text is read with"),
    Field(
        "declared_charset",
        "string or null",
        Needs.ROW,
        lambda one: one.declared_charset or None,
        "the encoding that the server or the page names",
    ),
    Field("title", "string", Needs.TEXT, lambda one: one.title, "the title of the page"),
    Field(
        "language",
        "string or null",
        Needs.TEXT,
        lambda one: one.language or None,
        'its language, as it declares ("en", "pt-br") or as its text reads (docs/languages.md)',
    ),
    Field(
        "declared_language",
        "string or null",
        Needs.TEXT,
        lambda one: one.declared_language or None,
        'the language that is named in the document: "en", "pt-BR"',
    ),
    Field("text", "string", Needs.TEXT, lambda one: one.text, "the title and all that is shown"),
    Field("content", "string", Needs.TEXT, lambda one: one.content, "the main content, without menus and footers"),
    Field(
        "digest",
        "string",
        Needs.ROW,
        lambda one: one.digest,
        "128 bits, hexadecimal: equal for equal bodies of one crawl; another crawl hashes with another key",
    ),
    Field("simhash", "string or null", Needs.ROW, _simhash, "64 bits of the main content, hexadecimal"),
    Field("words", "number", Needs.ROW, _words, "words of the main content"),
    Field(
        "cluster",
        "string",
        Needs.ROW,
        lambda one: one.cluster,
        "the docno of the oldest of its copies and near-duplicates; its own, if it has none older",
    ),
    Field("sketch", "string or null", Needs.ROW, _sketch, "200 numbers of 8 bits, in base64"),
    Field("address", "string", Needs.RECORD, lambda one: one.address, "the server's IP address"),
    Field(
        "headers",
        "list of [name, value]",
        Needs.RECORD,
        lambda one: [list(header) for header in one.headers],
        "the response headers as they came",
    ),
    Field(
        "links",
        "list of objects",
        Needs.ANCHORS,
        lambda one: [link._asdict() for link in one.links],
        "each with `url` (resolved; null if it is none of http or https), `href` (as it stands there), `anchor` (its"
        ' text), `nofollow`, `rel` (a list) and `place` ("content" or "frame")',
    ),
    Field(
        "in_links",
        "list of objects",
        Needs.ROW,
        lambda one: [link._asdict() for link in one.in_links],
        "the first 1,000 links to it, each with `url` (of the page that has it), `anchor`, `nofollow`, `rel`, `place`"
        " and `via`",
    ),
    Field(
        "json_ld",
        "list of values",
        Needs.RECORD,
        lambda one: one.json_ld,
        'the JSON-LD in the page (`<script type="application/ld+json">`), or the document itself; in Parquet as text',
    ),
    Field(
        "body",
        "string",
        Needs.RECORD,
        lambda one: base64.b64encode(one.body).decode(),
        "the body as served, in base64",
    ),
)
FIELDS = {field.name: field for field in _FIELDS}

# What an export has if nothing else is asked for.
USUAL = tuple(
    name for name in FIELDS if name not in ("sketch", "address", "headers", "links", "in_links", "json_ld", "body")
)


def chosen_fields(names: Iterable[str]) -> tuple[Field, ...]:
    """Returns the fields with these names. Raises UsageError, which lists all fields, for a name that is none."""
    wanted = list(dict.fromkeys(names))
    unknown = [name for name in wanted if name not in FIELDS]
    if unknown or not wanted:
        found = ", ".join(map(repr, unknown)) or "none"
        raise UsageError(f"fields: expected some of {', '.join(FIELDS)}; found {found}")
    return tuple(FIELDS[name] for name in wanted)


def as_json(document: Document, fields: Iterable[Field]) -> dict[str, Any]:
    """Returns fields of a document as values that JSON can hold."""
    return {field.name: field.of(document) for field in fields}
