"""One TREC Web record: built by fetchers, read back by the store.

    <DOC>
    <DOCNO>WTX001-B01-17</DOCNO>
    <DOCHDR>
    http://host/path 204.244.59.33 19970101013145 text/html 440
    HTTP/1.1 200 OK
    Content-Type: text/html; charset=utf-8
    </DOCHDR>
    …the body…
    </DOC>

Readers of the format (Indri, Anserini, Terrier, ir_datasets) find records by their tags and cut lines at NUL bytes, so
a page must not bring tags of its own. In bodies and headers NULs are left out, and in every tag named DOC, DOCNO or
DOCHDR the letter O becomes a zero: `</DOC>` is stored as `</D0C>`, which is as long as the original and to an HTML
parser as unknown. `escapes` says what was changed in a body, and `decode` undoes it to the byte; what was changed in
headers stays changed.
"""

from __future__ import annotations

import re
import struct
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast
from urllib.parse import quote

from isal import isal_zlib

from pycrawl.errors import StoreError
from pycrawl.native.body_scan import DOC_TAG, NUL, scan_body

MAX_RECORD_BYTES = 100_000_000  # Indri does not read longer documents
_LONGEST_USUAL_TYPE = 128  # characters of a Content-Type header that is remembered
_MAX_HEAD_BYTES = 100  # of the lines that `head` makes

BadStream = cast(type[Exception], isal_zlib.error)  # isal's own types call it an instance

NO_ADDRESS = "0.0.0.0"
UNKNOWN_TYPE = "application/octet-stream"

_END = b"</DOC>\n"
RECORD_END = b"\n" + _END  # readers look for `</DOC>` at the start of a line

# This matches more than the tags that readers look for: also those with attributes or white space, which laxer readers
# would take for tags, and `<DOC>` anywhere in a line, because Anserini trims lines. It takes 15 to 30 µs for a page of
# 27 KB, so a body is searched only if `scan_body` has seen something in it.
_TAG = re.compile(rb"</?doc(?=(?:no|hdr)?(?:[\s/>]|\Z))", re.IGNORECASE)
_DISARMED_O = ord("0")
_FOLD = re.compile(rb"[ \t]*[\r\n]+[ \t]*")
_URL = re.compile(r"[!-;=?-~]+")  # ASCII without white space, controls, "<" and ">"
_URL_SAFE = "".join(map(chr, range(0x21, 0x7F))).replace("<", "").replace(">", "")
_HEAD = re.compile(rb"<DOC>\n<DOCNO>([^<>\s]+)</DOCNO>\n<DOCHDR>\n")
_HEADER_END = b"\n</DOCHDR>\n"
_DOCNO = re.compile(r"WTX([0-9]{3,})-B([0-9]{2})-([1-9][0-9]*)")

# `escapes` is empty, or one byte of these flags, then a raw deflate stream: for each flag that is set, in this order, a
# mask as it says here.
_NULS_REMOVED = 1  # a byte for each byte of the body: 1 where a NUL was left out, else 0
_TAGS_DISARMED = 2  # a byte for each byte of the body without its NULs: the number to XOR it with
_NUL_MASK = bytes([1]) + bytes(255)

# Compression level, measured with 86 real pages of 160 KB: against level 1, level 2 takes a tenth longer and saves 1 %,
# level 3 takes three times as long and saves 4 %, level 0 is 5 % faster and makes files 8 % larger. With pages of
# 27 KB, 1 and 2 hardly differ.
_LEVEL = 1
GZIP = 31  # wbits of a gzip member
_RAW = -15  # wbits of a bare deflate stream
_GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"  # RFC 1952: deflate, no name, no time, unknown system
_STORED_BLOCK = struct.Struct("<BHH")  # RFC 1951, 3.2.4: last block, its length, the complement
_GZIP_TRAILER = struct.Struct("<LL")
_MAX_STORED = 0xFFFF


@dataclass(frozen=True, slots=True)
class Record:
    """A record taken apart. `body` is the one that was served. Address, date and type are empty in "gov2" records."""

    docno: str
    url: str
    address: str
    date: str  # yyyymmddhhmmss, UTC
    content_type: str
    status_line: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


def docno(directory: int, file: int, number: int) -> str:
    """Returns the id of a record: its directory, its file there, and its number in the file, all counted from 1."""
    return f"WTX{directory:03d}-B{file:02d}-{number}"


def parse_docno(text: str) -> tuple[int, int, int]:
    """Returns the directory, the file and the number of the record that `text` names."""
    match = _DOCNO.fullmatch(text)
    parts = (int(match[1]), int(match[2]), int(match[3])) if match else (0, 0, 0)
    if not all(parts) or docno(*parts) != text:
        raise StoreError(f"expected a DOCNO such as WTX001-B01-17, found {text!r}")
    return parts


def head(docno: str) -> bytes:
    """Returns the first lines of a record, which stand before what `encode` makes. The DOCNO is known only once the
    record has its place in a file."""
    return f"<DOC>\n<DOCNO>{docno}</DOCNO>\n".encode("ascii")


def encode(
    url: str,
    address: str,
    fetched_at: float,
    content_type: str,
    status_line: bytes,
    headers: Sequence[tuple[bytes, bytes]],
    body: bytes,
    dochdr: str,
    seen: int | None = None,
) -> tuple[bytes, bytes]:
    """Returns the record from `<DOCHDR>` to `</DOC>`, and the escapes that `decode` needs (empty if the body stands
    unchanged).

    `fetched_at` is seconds since the epoch, `dochdr` is "wt10g" or "gov2" as in `[store]`; `seen` is what `scan_body`
    found in the body, if the caller has asked it already.
    """
    text, escapes = _escape(body, scan_body(body) if seen is None else seen)
    first = _percent_encoded(url)
    if dochdr == "wt10g":
        date = _date(int(fetched_at))
        first = f"{first} {address or NO_ADDRESS} {date} {_media_type(content_type)} {len(text)}"
    closing = _END if text.endswith(b"\n") else RECORD_END
    record = b"".join((b"<DOCHDR>\n", _header_block(first, status_line, headers), _HEADER_END, text, closing))
    if len(record) > MAX_RECORD_BYTES - _MAX_HEAD_BYTES:
        raise StoreError(f"{url}: expected a record below {MAX_RECORD_BYTES:,} bytes, found {len(record):,}")
    return record, escapes


@lru_cache(maxsize=64)
def _date(second: int) -> str:
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(second))


def _percent_encoded(url: str) -> str:
    if _URL.fullmatch(url):
        return url
    if not url:
        raise StoreError("a record needs a URL, found none")
    return quote(url, safe=_URL_SAFE)


def _media_type(content_type: str) -> str:
    """Returns the media type without parameters and white space, because readers split the first header line at
    spaces."""
    return _remembered_type(content_type) if len(content_type) <= _LONGEST_USUAL_TYPE else _type_of(content_type)


def _type_of(content_type: str) -> str:
    media_type = "".join(content_type.partition(";")[0].split())
    return media_type if media_type and media_type.isascii() else UNKNOWN_TYPE


_remembered_type = lru_cache(maxsize=1_024)(_type_of)


def _header_block(first: str, status_line: bytes, headers: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Returns the lines between the DOCHDR tags, without the end of the last line."""
    lines = [first.encode("ascii"), status_line.strip()]
    # Terrier reads a value from the second byte behind the colon on: the space stands even before an empty value.
    lines += [name.strip() + b": " + value.strip() for name, value in headers]
    block = b"\n".join(lines)
    if b"\r" in block or b"\0" in block or block.count(b"\n") != len(lines) - 1:
        block = b"\n".join([_FOLD.sub(b" ", line.replace(b"\0", b"")) for line in lines])
    return _disarm(block) if b"<" in block and _TAG.search(block) else block


def _escape(body: bytes, seen: int) -> tuple[bytes, bytes]:
    """Returns the body as it can be stored, and the escapes that undo the changes. `seen` is what `scan_body` found.

    Masks as long as the body look wasteful, but every step runs in C, and deflate leaves a thousandth of them: a page
    in UTF-16, half of it NULs, costs no more than another.
    """
    if not seen & (NUL | DOC_TAG):
        return body, b""
    flags, changes = 0, b""
    text = body
    if seen & NUL:
        flags |= _NULS_REMOVED
        changes = body.translate(_NUL_MASK)
        text = body.replace(b"\0", b"")
    if _TAG.search(text):  # after the NULs have gone: they may have stood inside a tag
        flags |= _TAGS_DISARMED
        disarmed = _disarm(text)
        changes += _xor(text, disarmed)
        text = disarmed
    return text, bytes([flags]) + isal_zlib.compress(changes, _LEVEL, _RAW) if flags else b""


def _disarm(text: bytes) -> bytes:
    disarmed = bytearray(text)
    for tag in _TAG.finditer(text):
        disarmed[tag.end() - len(b"oc")] = _DISARMED_O
    return bytes(disarmed)


def _xor(one: bytes, other: bytes) -> bytes:
    return (int.from_bytes(one, "little") ^ int.from_bytes(other, "little")).to_bytes(len(one), "little")


def decode(record: bytes, escapes: bytes, body_length: int) -> Record:
    """Returns a whole record taken apart. `escapes` and `body_length` are those that were kept when it was encoded."""
    opening = _HEAD.match(record)
    if not opening:
        raise StoreError(f"expected a record's <DOC>, <DOCNO> and <DOCHDR> lines, found {record[:60]!r}")
    docno = opening[1].decode("ascii", "replace")
    header_end = record.find(_HEADER_END, opening.end())
    if header_end < 0 or not record.endswith(RECORD_END):
        raise StoreError(f"{docno}: expected a </DOCHDR> line and </DOC> as the last line, found no such lines")
    first, *lines = record[opening.end() : header_end].split(b"\n")
    url, address, date, content_type = _first_line(docno, first)
    stored = record[header_end + len(_HEADER_END) : -len(_END)]
    return Record(
        docno=docno,
        url=url,
        address=address,
        date=date,
        content_type=content_type,
        status_line=lines[0] if lines else b"",
        headers=tuple([_header(line) for line in lines[1:]]),
        body=_unescape(docno, stored, escapes, body_length),
    )


def _first_line(docno: str, line: bytes) -> tuple[str, str, str, str]:
    fields = line.decode("ascii", "replace").split(" ")
    match fields:
        case [url]:
            return url, "", "", ""
        case [url, address, date, content_type, _]:
            return url, address, date, content_type
    raise StoreError(f"{docno}: expected 1 or 5 fields in the first header line, found {len(fields)}")


def _header(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.partition(b": ")
    return name, value


def _unescape(docno: str, stored: bytes, escapes: bytes, body_length: int) -> bytes:
    """Returns the body as served, from the bytes between `</DOCHDR>` and `</DOC>`."""
    flags, changes = _changes(docno, escapes, body_length) if escapes else (0, b"")
    nul_mask = changes[:body_length] if flags & _NULS_REMOVED else b""
    differences = changes[len(nul_mask) :]
    length = body_length - nul_mask.count(1)
    if len(stored) == length + 1 and stored.endswith(b"\n"):
        stored = stored[:-1]  # the newline that was added to let `</DOC>` start a line
    if len(stored) != length or len(differences) != (length if flags & _TAGS_DISARMED else 0):
        raise StoreError(f"{docno}: expected {length} bytes of body, found {len(stored)}")
    text = _xor(stored, differences) if differences else stored
    return _put_nuls_back(text, nul_mask) if nul_mask else text


def _changes(docno: str, escapes: bytes, body_length: int) -> tuple[int, bytes]:
    flags = escapes[0]
    inflate = isal_zlib.decompressobj(_RAW)
    try:
        changes = inflate.decompress(escapes[1:], 2 * body_length + 1)
    except BadStream as error:
        raise StoreError(f"{docno}: its escapes are damaged: {error}") from None
    if not inflate.eof or not 0 < flags <= _NULS_REMOVED | _TAGS_DISARMED:
        raise StoreError(f"{docno}: its escapes are damaged: expected flags and changes to {body_length} bytes")
    return flags, changes


def _put_nuls_back(text: bytes, nul_mask: bytes) -> bytes:
    take = iter(text).__next__
    return bytes(0 if is_nul else take() for is_nul in nul_mask)


def pack(data: bytes) -> bytes:
    """Returns one gzip member. The same bytes always give the same member."""
    return isal_zlib.compress(data, _LEVEL, GZIP)


def pack_stored(data: bytes) -> bytes:
    """Returns one gzip member that holds `data` (less than 64 KiB) uncompressed: for heads, which are too short to gain
    from compression."""
    length = len(data)
    if length > _MAX_STORED:
        raise ValueError(f"expected at most {_MAX_STORED} bytes, found {length}")
    block = _STORED_BLOCK.pack(1, length, length ^ _MAX_STORED)
    return b"".join((_GZIP_HEADER, block, data, _GZIP_TRAILER.pack(zlib.crc32(data), length)))


def unpack(data: bytes, limit: int = MAX_RECORD_BYTES) -> bytes:
    """Returns the content of all gzip members in `data`; raises StoreError if it is longer than `limit` bytes."""
    parts: list[bytes] = []
    room = limit
    while data:
        inflate = isal_zlib.decompressobj(GZIP)
        try:
            part = inflate.decompress(data, room + 1)
        except BadStream as error:
            raise StoreError(f"not a gzip member: {error}") from None
        room -= len(part)
        if room < 0:
            raise StoreError(f"expected at most {limit} bytes in the gzip members, found more")
        if not inflate.eof:
            raise StoreError("expected whole gzip members, found the last one cut")
        parts.append(part)
        data = inflate.unused_data
    return b"".join(parts)
