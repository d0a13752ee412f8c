"""The record format: golden records, and that any body comes back to the byte."""

from __future__ import annotations

import gzip
import random
import re
import time
import zlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pycrawl.errors import StoreError
from pycrawl.record import trec_web

NEW_YEAR_1997 = 852_082_305.0  # 1997-01-01 01:31:45 UTC
OK = b"HTTP/1.1 200 OK"
HTML = (b"Content-Type", b"text/html; charset=utf-8")
DOCNO = "WTX001-B01-17"


def encode(body: bytes = b"", **changed: object) -> tuple[bytes, bytes]:
    arguments: dict[str, object] = {
        "url": "http://www.example.com/test.html",
        "address": "204.244.59.33",
        "fetched_at": NEW_YEAR_1997,
        "content_type": "text/html",
        "status_line": OK,
        "headers": [HTML],
        "body": body,
        "dochdr": "wt10g",
    }
    return trec_web.encode(**(arguments | changed))  # type: ignore[arg-type]


def header_lines(**changed: object) -> list[bytes]:
    record, _ = encode(**changed)  # type: ignore[arg-type]
    return record.split(b"\n</DOCHDR>\n")[0].split(b"\n")[1:]


def restored(body: bytes) -> bytes:
    record, escapes = encode(body)
    return trec_web.decode(trec_web.head(DOCNO) + record, escapes, len(body)).body


def read_as_others_do(text: bytes) -> list[tuple[bytes, list[bytes]]]:
    """DOCNO and body lines of each document: a reader that knows lines and tags only, and no case of letters.

    Lines end as they do for Java (CR, LF or both) and are trimmed, as Anserini does.
    """
    documents: list[tuple[bytes, list[bytes]]] = []
    docno, in_header = b"", False
    lines: list[bytes] | None = None
    for line in re.split(rb"\r\n|\r|\n", text):
        tag = line.strip(bytes(range(33))).lower()
        if tag.startswith(b"<doc>"):
            assert lines is None, "a document began inside another"
            lines = []
        elif tag.startswith(b"</doc>"):
            assert lines is not None, "a document ended that had not begun"
            documents.append((docno, lines))
            lines = None
        elif tag.startswith(b"<docno>"):
            docno = line[len(b"<DOCNO>") : -len(b"</DOCNO>")]
        elif tag in (b"<dochdr>", b"</dochdr>"):
            in_header = tag == b"<dochdr>"
        elif not in_header:
            assert lines is not None or not line, f"text outside of a document: {line!r}"
            if lines is not None:
                lines.append(line)
    assert lines is None, "the last document has no end"
    return documents


class TestGoldenRecords:
    def test_wt10g(self) -> None:
        headers = [(b"Date", b"Wed, 01 Jan 1997 01:31:45 GMT"), HTML]
        record, escapes = encode(b"<html>\n<p>caf\xc3\xa9", headers=headers)
        assert trec_web.head(DOCNO) + record == (
            b"<DOC>\n"
            b"<DOCNO>WTX001-B01-17</DOCNO>\n"
            b"<DOCHDR>\n"
            b"http://www.example.com/test.html 204.244.59.33 19970101013145 text/html 15\n"
            b"HTTP/1.1 200 OK\n"
            b"Date: Wed, 01 Jan 1997 01:31:45 GMT\n"
            b"Content-Type: text/html; charset=utf-8\n"
            b"</DOCHDR>\n"
            b"<html>\n"
            b"<p>caf\xc3\xa9\n"
            b"</DOC>\n"
        )
        assert escapes == b""

    def test_gov2_has_the_url_alone(self) -> None:
        record, _ = encode(b"text\n", dochdr="gov2", headers=[])
        assert record == (b"<DOCHDR>\nhttp://www.example.com/test.html\nHTTP/1.1 200 OK\n</DOCHDR>\ntext\n</DOC>\n")

    def test_an_empty_body_is_an_empty_line(self) -> None:
        record, escapes = encode(b"", headers=[])
        assert record.endswith(b" text/html 0\nHTTP/1.1 200 OK\n</DOCHDR>\n\n</DOC>\n")
        assert escapes == b""

    def test_tags_and_nuls_are_neutralised(self) -> None:
        record, escapes = encode(b"</DOC>\n<dOc>\n</DocHdr>\0</D\0OC>\n<document> </docs> <!DOCTYPE html>\n")
        assert record.endswith(
            b" 64\nHTTP/1.1 200 OK\nContent-Type: text/html; charset=utf-8\n</DOCHDR>\n"
            b"</D0C>\n<d0c>\n</D0cHdr></D0C>\n<document> </docs> <!DOCTYPE html>\n</DOC>\n"
        )
        assert escapes != b""


class TestFirstHeaderLine:
    def test_unknown_address_is_all_zeros(self) -> None:
        assert header_lines(address="")[0].split()[1] == b"0.0.0.0"

    def test_the_date_is_utc(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        try:
            assert header_lines()[0].split()[2] == b"19970101013145"
        finally:
            monkeypatch.undo()
            time.tzset()

    @pytest.mark.parametrize(
        ("given_type", "written"),
        [
            ("text/html; charset=utf-8", b"text/html"),
            (" text/plain ", b"text/plain"),
            ("text / html", b"text/html"),
            ("", b"application/octet-stream"),
            ("; charset=utf-8", b"application/octet-stream"),
            ("テキスト", b"application/octet-stream"),
        ],
    )
    def test_content_type_has_neither_parameters_nor_white_space(self, given_type: str, written: bytes) -> None:
        assert header_lines(content_type=given_type)[0].split(b" ")[3] == written

    @pytest.mark.parametrize(
        ("url", "written"),
        [
            ("http://h/a%20b?c=d%3C&e", b"http://h/a%20b?c=d%3C&e"),
            ("http://h/a b\tc\n", b"http://h/a%20b%09c%0A"),
            ("http://h/</DOC>", b"http://h/%3C/DOC%3E"),
            ("http://h/é", b"http://h/%C3%A9"),
        ],
    )
    def test_the_url_is_percent_encoded(self, url: str, written: bytes) -> None:
        line = header_lines(url=url)[0]
        assert line.split(b" ")[0] == written
        assert len(line.split()) == 5

    def test_a_url_is_needed(self) -> None:
        with pytest.raises(StoreError, match="needs a URL"):
            encode(url="")

    def test_the_length_is_that_of_the_stored_body(self) -> None:
        assert header_lines(body=b"a\0b\0c")[0].split()[4] == b"3"


class TestHeaders:
    @pytest.mark.parametrize(
        ("header", "line"),
        [
            ((b"X-Empty", b""), b"X-Empty: "),  # Terrier reads from colon + 2
            ((b"X", b"  padded\t"), b"X: padded"),
            ((b"X", b"two\r\n lines"), b"X: two lines"),
            ((b"X", b"two\nlines\r\n"), b"X: two lines"),
            ((b"X", b"two\rlines"), b"X: two lines"),
            ((b"X", b"a\0b"), b"X: ab"),
            ((b"X\nY", b"v"), b"X Y: v"),
            ((b"X", b"</DOCHDR>"), b"X: </D0CHDR>"),
            ((b"X", b"a</doc\0>"), b"X: a</d0c>"),
            ((b"<DOC>", b"\xff"), b"<D0C>: \xff"),
        ],
    )
    def test_one_line_each(self, header: tuple[bytes, bytes], line: bytes) -> None:
        assert header_lines(headers=[header])[2:] == [line]

    def test_the_status_line_is_neutralised_too(self) -> None:
        assert header_lines(status_line=b"HTTP/1.1 200 </DOC>\r\n")[1] == b"HTTP/1.1 200 </D0C>"

    def test_the_content_type_cannot_end_the_header(self) -> None:
        assert header_lines(content_type="</dochdr>")[0].split()[3] == b"</d0chdr>"


class TestDecode:
    def test_every_field_comes_back(self) -> None:
        headers = [HTML, (b"Set-Cookie", b"a: b"), (b"X-Empty", b"")]
        record, escapes = encode(b"body", headers=headers)
        assert trec_web.decode(trec_web.head(DOCNO) + record, escapes, 4) == trec_web.Record(
            docno=DOCNO,
            url="http://www.example.com/test.html",
            address="204.244.59.33",
            date="19970101013145",
            content_type="text/html",
            status_line=OK,
            headers=tuple(headers),
            body=b"body",
        )

    def test_gov2(self) -> None:
        record, escapes = encode(b"body", dochdr="gov2", status_line=b"")
        decoded = trec_web.decode(trec_web.head(DOCNO) + record, escapes, 4)
        assert (decoded.url, decoded.address, decoded.status_line) == ("http://www.example.com/test.html", "", b"")
        assert (decoded.headers, decoded.body) == ((HTML,), b"body")

    @pytest.mark.parametrize("body", [b"", b"\n", b"\n\n", b"a", b"a\n", b"a\r\n", b"\0", b"\n\0", b"\0\n", b"</doc"])
    def test_the_added_newline_is_told_from_the_bodys_own(self, body: bytes) -> None:
        assert restored(body) == body

    @pytest.mark.parametrize(
        "damage",
        [
            lambda record: record[1:],
            lambda record: record[:-1],
            lambda record: record + b"\n",
            lambda record: record.replace(b"</DOCHDR>", b"</DOCHDX>"),
            lambda record: record.replace(b"body", b"bo"),
            lambda record: record.replace(b"body", b"bodies"),
            lambda record: record.replace(b" text/html", b""),
            lambda record: b"",
        ],
    )
    def test_a_damaged_record_is_refused(self, damage: object) -> None:
        record, escapes = encode(b"body")
        with pytest.raises(StoreError):
            trec_web.decode(damage(trec_web.head(DOCNO) + record), escapes, 4)  # type: ignore[operator]

    @pytest.mark.parametrize("flags", [0, 1, 2, 3])
    def test_damaged_escapes_are_refused(self, flags: int) -> None:
        body = b"a\0</doc>"
        record, escapes = encode(body)
        for damaged in (bytes([flags]) + escapes[1:-1], bytes([flags]) + b"\xff" * 9, bytes([flags])):
            with pytest.raises(StoreError):
                trec_web.decode(trec_web.head(DOCNO) + record, damaged, len(body))


NASTY = [b"</DOC>", b"<doc>", b"<DOC>\n", b"</dOcHdR>", b"<DOCHDR>", b"<DOCNO>x</DOCNO>", b"<doc id=1>", b"</DOC\n>"]
NASTY += [b"\0", b"\0" * 300, b"\r\n", b"\n", b"\r", b"<", b"</", b"<<", b"0", b"</d0c>", b"O", b"doc>", b" ", b"<p>"]
bodies = st.lists(st.one_of(st.sampled_from(NASTY), st.binary(max_size=20)), max_size=12).map(b"".join)
FORBIDDEN = re.compile(rb"<doc>|</doc>|<dochdr>|</dochdr>|<docno>|</docno>|\0", re.IGNORECASE)


class TestAnyBody:
    @given(bodies)
    @example(b"</D\0OC>")
    @example(b"<</DOC></DOC>")
    def test_comes_back_to_the_byte_and_deceives_no_reader(self, body: bytes) -> None:
        record, escapes = encode(body)
        whole = trec_web.head(DOCNO) + record
        assert trec_web.decode(whole, escapes, len(body)).body == body
        stored = record.split(b"\n</DOCHDR>\n", 1)[1].removesuffix(b"</DOC>\n")
        assert not FORBIDDEN.search(stored)
        assert stored.endswith(b"\n")
        assert [docno for docno, _ in read_as_others_do(whole * 3)] == [DOCNO.encode()] * 3
        if not FORBIDDEN.search(body) and b"<doc" not in body.lower() and b"</doc" not in body.lower():
            assert escapes == b""

    @given(st.lists(bodies, max_size=4), bodies)
    @settings(max_examples=50)
    def test_headers_deceive_no_reader(self, values: list[bytes], status: bytes) -> None:
        headers = [(value, value) for value in values]
        record, _ = encode(b"body", headers=headers, status_line=status)
        header, _, rest = record.partition(b"\n</DOCHDR>\n")
        assert rest == b"body\n</DOC>\n"
        assert not FORBIDDEN.search(header.removeprefix(b"<DOCHDR>\n"))
        assert b"\r" not in header
        assert header.count(b"\n") == 2 + len(headers)

    def test_of_ten_megabytes_of_nuls(self) -> None:
        body = bytes(10_000_000)
        record, escapes = encode(body)
        assert len(escapes) < 20_000
        assert len(record) < 1_000
        assert trec_web.decode(trec_web.head(DOCNO) + record, escapes, len(body)).body == body

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32"])
    def test_in_wide_characters(self, encoding: str) -> None:
        body = ("<html><doc>\n" + "Grüße, 世界\n" * 2_000).encode(encoding)
        record, escapes = encode(body)
        assert len(escapes) < len(body) / 40
        assert trec_web.decode(trec_web.head(DOCNO) + record, escapes, len(body)).body == body

    def test_of_random_nuls_keeps_escapes_below_the_body(self) -> None:
        body = bytes(random.Random(7).choices((0, 65), k=100_000))
        assert len(encode(body)[1]) < len(body) / 4
        assert restored(body) == body

    def test_beyond_what_indri_reads_is_refused(self) -> None:
        with pytest.raises(StoreError, match="100,000,000"):
            encode(b"x" * 100_000_000)


class TestDocno:
    @pytest.mark.parametrize(
        ("parts", "text"),
        [((1, 1, 17), "WTX001-B01-17"), ((999, 50, 1), "WTX999-B50-1"), ((1234, 2, 100_000), "WTX1234-B02-100000")],
    )
    def test_both_ways(self, parts: tuple[int, int, int], text: str) -> None:
        assert trec_web.docno(*parts) == text
        assert trec_web.parse_docno(text) == parts

    @pytest.mark.parametrize("text", ["", "WTX1-B01-1", "WTX001-B1-1", "WTX0001-B01-1", "WTX001-B01-0", "WTX000-B01-1"])
    def test_others_are_refused(self, text: str) -> None:
        with pytest.raises(StoreError, match="DOCNO"):
            trec_web.parse_docno(text)


class TestGzip:
    @given(st.lists(st.binary(max_size=2_000), max_size=4))
    def test_members_are_standard_gzip(self, parts: list[bytes]) -> None:
        members = b"".join(trec_web.pack(part) + trec_web.pack_stored(part) for part in parts)
        plain = b"".join(part + part for part in parts)
        assert gzip.decompress(members) == plain
        assert trec_web.unpack(members) == plain

    def test_no_time_goes_in(self) -> None:
        for member in (trec_web.pack(b"x" * 1_000), trec_web.pack_stored(b"x")):
            assert member[:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
        assert trec_web.pack(b"abc" * 999) == trec_web.pack(b"abc" * 999)

    def test_a_stored_member_in_full(self) -> None:
        crc = zlib.crc32(b"head").to_bytes(4, "little")
        expected = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + b"\x01\x04\0\xfb\xff" + b"head" + crc + b"\x04\0\0\0"
        assert trec_web.pack_stored(b"head") == expected

    def test_a_stored_member_holds_one_block(self) -> None:
        assert gzip.decompress(trec_web.pack_stored(bytes(0xFFFF))) == bytes(0xFFFF)
        with pytest.raises(ValueError, match="at most 65535 bytes"):
            trec_web.pack_stored(bytes(0x10000))

    def test_output_is_bounded(self) -> None:
        members = trec_web.pack(bytes(1_000)) * 2
        assert trec_web.unpack(members, limit=2_000) == bytes(2_000)
        with pytest.raises(StoreError, match="at most 1999 bytes"):
            trec_web.unpack(members, limit=1_999)
        with pytest.raises(StoreError, match="at most 100000000 bytes"):
            trec_web.unpack(trec_web.pack(bytes(50_000_000)) * 3)

    def test_damage_is_found_at_every_length(self) -> None:
        member = trec_web.pack(b"some text that is packed")
        for length in range(1, len(member)):
            with pytest.raises(StoreError):
                trec_web.unpack(member[:length])
        with pytest.raises(StoreError):
            trec_web.unpack(member + b"rubbish")
        with pytest.raises(StoreError):
            trec_web.unpack(member[:-8] + b"\0\0\0\0" + member[-4:])
