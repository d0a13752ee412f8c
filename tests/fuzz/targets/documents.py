"""Documents, on their way through the converters, and archives, which `import` reads."""

from __future__ import annotations

import gzip
import signal
import tempfile
import zipfile
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path

from pycrawl.convert.converter import Converted, Converter
from pycrawl.convert.kinds import KINDS
from pycrawl.convert.process import converted
from pycrawl.convert.simple_page import CONVERSION_FAILED, MOST_LETTERS, Trouble
from pycrawl.errors import UsageError
from pycrawl.fetch.archives import read_archive
from pycrawl.parse.documents import ConvertedDocument
from pycrawl.parse.parsers import Body, Wanted
from tests.fuzz.case import Target
from tests.fuzz.targets.pages import check_page

TEXTS = ("rtf", "markdown", "csv_table", "mail", "xml_text", "old_office")
OFFICE = ("word", "slides", "opendocument", "epub")
FILE = b"\n==== "  # begins a file of an archive: its name, a new line, its bytes
_LIBRARIES = tuple({kind.module: kind for kind in KINDS.values()}[module] for module in ("pdf", "sheets", "epub"))
_MISTAKES = tuple(
    f"{error.__name__}:" for error in (AssertionError, AttributeError, IndexError, KeyError, NameError, TypeError)
)
_TROUBLES = {"", *Trouble}
_MOST_BODY = 2_000  # bytes of a body of an archive


def text_document(data: bytes) -> None:
    """The first byte chooses the converter."""
    _convert(TEXTS[data[0] % len(TEXTS)] if data else TEXTS[0], data[1:])


def office_document(data: bytes) -> None:
    """The first byte chooses the converter; the rest is the files of an archive."""
    whole = BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in {
            part.partition(b"\n")[0]: part.partition(b"\n")[2] for part in data[1:].split(FILE)
        }.items():
            archive.writestr(zipfile.ZipInfo(name.decode("latin-1")), content)
    _convert(OFFICE[data[0] % len(OFFICE)] if data else OFFICE[0], whole.getvalue())


def _convert(module: str, data: bytes) -> None:
    """No mistake of ours comes to light, and what was read is a page."""
    try:
        html, facts = converted(module, data)
    finally:  # it sets a limit for a process of its own
        signal.setitimer(signal.ITIMER_PROF, 0)
    assert not facts.detail.startswith(_MISTAKES), facts.detail
    _check(Converted(html, facts.pages, facts.trouble, facts.detail))


def foreign_document(data: bytes) -> None:
    """A document for a library, in a process of its own, as fetchers have it. The first byte chooses the kind."""
    _check(_converter().convert(_LIBRARIES[data[0] % len(_LIBRARIES)] if data else _LIBRARIES[0], data[1:]))


@cache
def _converter() -> Converter:
    return Converter()


def _check(found: Converted) -> None:
    assert found.trouble in _TROUBLES
    assert found.pages >= 0
    assert len(found.html) <= 4 * MOST_LETTERS
    assert found.html or found.trouble
    page = ConvertedDocument(found).parse(
        Body("http://example.com/", "application/pdf", b""), Wanted(text=True, anchors=True)
    )
    assert page.fault == found.told
    assert not page.fault or page.fault.startswith(CONVERSION_FAILED)
    check_page(page, len(found.html))


def archive(data: bytes) -> None:
    """A WARC or TREC Web file, as it is and compressed: whatever it holds is a list of answers, and of reasons."""
    for content in (data, gzip.compress(data, 1)):
        path = Path(_folder().name, "archive")
        path.write_bytes(content)
        with suppress(UsageError):
            for record in read_archive(path, _MOST_BODY):
                for text in (record.name, record.url, record.refers_to, record.fault, record.skipped):
                    text.encode()
                if record.response is not None and not record.skipped:
                    assert record.url
                    assert 100 <= record.response.status <= 999
                    assert len(record.response.body) <= _MOST_BODY


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="fuzz-")


_TEXT_WORDS = (
    b"{\\rtf1|}|{|\\par |\\pard|\\u-10179|\\u8364?|\\'e4|\\ansicpg1252|\\ansicpg65001|\\fonttbl|"
    b"{\\f0\\fcharset128 |\\field|"
    b'\\*\\fldinst|HYPERLINK "http://x/"|\\fldrslt|\\trowd|\\cell|\\row|\\intbl|\\outlinelevel0|\\ls1|\\bin99999 |'
    b"\\info|"
    b"\\title |\\creatim|\\yr2024|\\uc0|\n# |\n- |\n\n|---|```|| a | b ||[a](http://x/)|[n]: http://x/|**|__|![|](|`|"
    b'\n| title: |,|;|\t|"|""|From x\n|Subject: =?utf-8?q?x?=|Content-Type: multipart/mixed; boundary=b|\n--b\n|'
    b"\n--b--|"
    b"Content-Type: text/html; charset=|Content-Transfer-Encoding: base64|"
    b"Content-Disposition: attachment; filename*=x''%|"
    b"message/rfc822|=?|?b?|?=|<?xml version='1.0' encoding='utf-16'?>|<!DOCTYPE a [<!ENTITY b 'c'>]>|&b;|<a>|</a>|"
    b"<para>|"
    b"<ulink url='x'/>|\xff\xfe|\xef\xbb\xbf|\0|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1|E\0n\0c\0r\0y\0p\0t\0e\0d\0"
).split(b"|")
_OFFICE_WORDS = (
    b"\n==== word/document.xml\n|\n==== word/styles.xml\n|\n==== docProps/core.xml\n|\n==== _rels/.rels\n|"
    b"\n==== word/_rels/document.xml.rels\n|\n==== ppt/presentation.xml\n|\n==== ppt/_rels/presentation.xml.rels\n|"
    b"\n==== content.xml\n|\n==== meta.xml\n|\n==== mimetype\napplication/vnd.oasis.opendocument.text|"
    b"\n==== META-INF/container.xml\n|\n==== META-INF/encryption.xml\n|\n==== OEBPS/book.opf\n|"
    b'<Relationship Id="rId1" Type="x/officeDocument" Target="word/document.xml"/>|TargetMode="External"|<w:p>|'
    b"</w:p>|<w:t>|"
    b'</w:t>|<w:tbl>|<w:tr>|<w:tc>|<w:fldChar w:fldCharType="begin"/>|<w:instrText>|<w:hyperlink r:id="rId1">|'
    b'<w:pStyle w:val="a"/>|<w:outlineLvl w:val="9"/>|<w:numId w:val="1"/>|<mc:Fallback>|<p:sldId r:id="rId1"/>|<p:sp>|'
    b'<p:ph type="title"/>|<a:t>|<text:p>|<text:h text:outline-level="-1">|<table:table-cell '
    b'table:number-columns-repeated="9999999">|<text:s text:c="9999999"/>|<text:a xlink:href="http://x/">|'
    b'<itemref idref="a"/>|<item id="a" href="a.xhtml" media-type="text/html"/>|<rootfile full-path="../a"/>|'
    b"&nbsp;|&#0;|"
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>|&b;|<|/>|>|\0|../"
).split(b"|")
_FOREIGN_WORDS = (
    b"%PDF-1.4\n|1 0 obj\n|endobj\n|<<|>>|/Type /Page|/Kids [|/Parent 1 0 R|/Contents 7 0 R|stream\n|\nendstream|"
    b"/Length 99999999|/Filter /FlateDecode|xref\n|trailer\n|startxref\n0|%%EOF|/URI (|/Annots [|BT|ET|(x) Tj|"
    b"/Count -1|"
    b"PK\x03\x04|PK\x01\x02|PK\x05\x06|PK\x06\x06|PK\x06\x07|\xff\xff\xff\xff|\0\0\0\0|\x08\0|"
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
).split(b"|")
_ARCHIVE_WORDS = (
    b"WARC/1.0\r\n|WARC/1.1\r\n|WARC-Type: response\r\n|WARC-Type: revisit\r\n|WARC-Target-URI: http://x/\r\n|\r\n|"
    b"\r\n\r\n|\n\n|"
    b"WARC-Date: 2026-01-02T03:04:05Z\r\n|WARC-Date: 9999-12-31T23:59:59-23:59\r\n|Content-Length: 10\r\n|"
    b"Content-Length: -1\r\n|"
    b"WARC-Block-Digest: sha1:x\r\n|WARC-Refers-To-Target-URI: http://y/\r\n|WARC-IP-Address: ::1\r\n|"
    b"HTTP/1.1 200 OK\r\n|"
    b"Transfer-Encoding: chunked\r\n|Content-Encoding: gzip\r\n|-5\r\n|0\r\n|a\r\n|<DOC>\n|</DOC>\n|"
    b"<DOCNO>x</DOCNO>\n|<DOCHDR>\n|"
    b"</DOCHDR>\n|http://x/ 127.0.0.1 20260102030405 text/html 4\n|Date: Mon, 06 Sep 2021 00:01:00 +0000\n|"
    b"99999999999999999999| |: "
).split(b"|")

TARGETS = [
    Target("text-document", text_document, tuple(_TEXT_WORDS)),
    Target("office-document", office_document, tuple(_OFFICE_WORDS), max_bytes=8_192),
    Target("foreign-document", foreign_document, tuple(_FOREIGN_WORDS), max_bytes=16_384),
    Target("archive", archive, tuple(_ARCHIVE_WORDS), max_bytes=8_192),
]
