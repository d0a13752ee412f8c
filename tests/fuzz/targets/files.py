"""What lies in a crawl's directory, which may come from somebody else: records, compound files, settings."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from pycrawl import config
from pycrawl.errors import ConfigError, StoreError
from pycrawl.record import trec_web
from pycrawl.store.reader import RecordReader
from pycrawl.urls.scope import Scope
from tests.fuzz.case import Target

URL = "http://example.com/"
DOCNO = "WTX001-B01-1"
GZIPPED, PLAIN = "WTX001/B01.gz", "WTX001/B01"
_TAGS = (b"<DOC>", b"</DOC>", b"<DOCNO>", b"<DOCHDR>", b"</DOCHDR>")


def record(data: bytes) -> None:
    """Status line, Content-Type, headers, a blank line and a body: stored, and read back to the byte."""
    head, _, body = data.partition(b"\n\n")
    status_line, *lines = head.split(b"\n")
    headers = [(name, value) for name, _, value in (line.partition(b":") for line in lines)]
    content_type = headers[0][1].decode("latin-1") if headers else ""
    for dochdr in ("wt10g", "gov2"):
        rest, escapes = trec_web.encode(URL, "127.0.0.1", 1e9, content_type, status_line, headers, body, dochdr)
        whole = trec_web.head(DOCNO) + rest
        assert trec_web.decode(whole, escapes, len(body)).body == body
        assert trec_web.decode(whole, escapes, len(body)).url == URL
        assert [whole.upper().count(tag) for tag in _TAGS] == [1] * len(_TAGS)
        assert b"\0" not in whole
        assert _records(GZIPPED, trec_web.pack(whole) * 2, 1 << 20) == [whole, whole]
        assert _records(PLAIN, whole * 2, 1 << 20) == [whole, whole]


def foreign_record(data: bytes) -> None:
    """A record and its escapes, which are the first bytes."""
    length = data[0] if data else 0
    with suppress(StoreError):
        trec_web.decode(data[1 + length :], data[1 : 1 + length], max(0, len(data) - length))
    with suppress(StoreError):
        trec_web.decode(trec_web.head(DOCNO) + data, b"", len(data) // 2)
    with suppress(StoreError):
        assert len(trec_web.unpack(data, limit=100_000)) <= 100_000


def compound(data: bytes) -> None:
    """A file of records, whole or not, compressed or not; a damaged one is an error that names the place."""
    for name in (GZIPPED, PLAIN):
        try:
            records = _records(name, data, max(1, len(data) // 3))
        except StoreError as error:
            assert name in str(error)
            continue
        for one in records:
            assert one.endswith(trec_web.RECORD_END) if isinstance(one, bytes) else name in one


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="fuzz-")


def _records(name: str, data: bytes, chunk_bytes: int) -> list[bytes | str]:
    """The records of a file; in place of what is damaged, where a reader goes on behind it, the reason."""
    root = Path(_folder().name, "docs")
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    with RecordReader(root, chunk_bytes=chunk_bytes, max_record_bytes=1_000_000) as reader:
        scanned = list(reader.records(name, len(data)))
    assert [offset for offset, _, _ in scanned] == sorted({offset for offset, _, _ in scanned})
    assert sum(length for _, length, _ in scanned) <= len(data)
    return [text for _, _, text in scanned]


def settings(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    try:
        read = config.parse(text)
        Scope(read).verdict("http://example.com/a/b?c=1")
    except ConfigError:
        return
    assert config.parse(text) == read


_RECORD_WORDS = (
    b"<DOC>\n|</DOC>\n|<DOCNO>WTX001-B01-1</DOCNO>\n|<DOCHDR>\n|</DOCHDR>\n|\n|\n\n|\0|HTTP/1.1 200 OK|"
    b"Content-Type: text/html|"
    b"http://example.com/ 127.0.0.1 20240101000000 text/html 440|<doc |</docno/>|</D\0OC>|\r| |: |<|\x1f\x8b\x08\0"
).split(b"|")
_RECORD_WORDS += [trec_web.pack(b"\n</DOC>\n"), trec_web.pack_stored(b"<DOC>\n"), trec_web.pack(b"")]
_TOML_WORDS = (
    b"[crawl]\n|[scope]\n|[politeness]\n|[limits]\n|[security]\n|[urls]\n|[store]\n|[recrawl]\n|[content]\n|"
    b"[traps]\n|[[host]]\n|"
    b"[plugins.x]\n|name = |user_agent = |contact = |headers = |delay = |allow_hosts = |deny_patterns = |"
    b"max_body_bytes = |"
    b'robots_ttl = |content_types = |"1h"|"10 MB"|"(a+)+$"|"*.example.org"|["a", "b"]|{a = 1}|1e999|-1|0.5|inf|nan|'
    b"true|'x'|"
    b'"\\u0000"|"""|\n|=|,|[[|]]|#|1979-05-27T07:32:00Z'
).split(b"|")

TARGETS = [
    Target("record", record, tuple(_RECORD_WORDS)),
    Target("foreign-record", foreign_record, tuple(_RECORD_WORDS)),
    Target("compound", compound, tuple(_RECORD_WORDS), max_bytes=16_384),
    Target("settings", settings, tuple(_TOML_WORDS)),
]
