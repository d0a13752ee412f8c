"""Answers that others have stored: reads WARC and TREC Web files, as if their pages were fetched now.

Whatever the bytes are, each record becomes an `Archived`: an answer, or the reason why it is none. Nothing is held but
one record at a time.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, NamedTuple

from pycrawl.errors import UsageError
from pycrawl.fetch.decoding import Body
from pycrawl.fetch.transport import Headers, Response

MOST_RECORD_BYTES = 100_000_000
_WRONG_CLOCK = 86_400  # seconds by which the clock of an archive may be ahead of ours
_START_BYTES = 4_096  # of a file that are looked at to tell what it is
_STATUS = re.compile(rb"HTTP/[0-9.]+[ \t]+([1-9][0-9]{2})(?![0-9])", re.IGNORECASE)
_URL = re.compile(rb"https?://\S+", re.IGNORECASE)
_CHUNK_BYTES = 1 << 16
_GZIP_START = re.compile(rb"(\x1f\x8b\x08)")
_PLAIN_START = re.compile(rb"\n(WARC/[0-9]\.[0-9]+\r?\n)")
_LONGEST_START = 16  # bytes that one of these may match
_MOST_DAMAGES = 1_000  # of one file; what comes behind is left
_END = re.compile(rb"</DOC>[ \t]*\r?\n?", re.IGNORECASE)
_BEGIN = re.compile(rb"<DOC>", re.IGNORECASE)
_HEADER_BEGIN = re.compile(rb"<DOCHDR>[ \t]{0,100}\r?\n", re.IGNORECASE)
_HEADER_END = re.compile(rb"\r?\n?</DOCHDR>[ \t]{0,100}(?:\r?\n)?", re.IGNORECASE)
_DOCNO = re.compile(rb"<DOCNO>\s*(.*?)\s*</DOCNO>[ \t]*(?:\r?\n)?", re.IGNORECASE | re.DOTALL)
_DATE = re.compile(rb"(?:19|20)[0-9]{12}")


class Archived(NamedTuple):
    """A record of an archive."""

    name: str  # what to call it: its URL, its DOCNO, or its number
    url: str = ""
    response: Response | None = None
    skipped: str = ""  # why there is no response, in a word or two
    fault: str = ""  # what is wrong with the file here, in one line
    refers_to: str = ""  # of a revisit: the URL with the same body
    refers_at: float | None = None  # and when that was fetched, as there may be several versions; None: not said


def read_archive(path: Path, limit: int) -> Iterator[Archived]:
    """Yields the records of a file; bodies are cut at `limit` bytes. Raises UsageError if the file cannot be opened, or
    is neither a WARC nor TREC Web."""
    try:
        with path.open("rb") as file:
            start = _start_of(file)
            file.seek(0)
            if start.startswith(b"WARC/"):
                yield from _warc(file, limit)
            elif _BEGIN.search(start):
                yield from _trec(_opened(file), limit)
            else:
                raise UsageError(f"{path}: expected a WARC or a TREC Web file, found neither")
    except IsADirectoryError:
        raise UsageError(f"{path}: is a directory; name its files") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None


def _start_of(file: IO[bytes]) -> bytes:
    """Returns the first bytes of a file, decompressed."""
    data = file.read(_START_BYTES)
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return zlib.decompressobj(31).decompress(data, _START_BYTES)
    except zlib.error:
        return b""


def _opened(file: BufferedReader) -> BufferedReader | gzip.GzipFile:
    start = file.read(2)
    file.seek(0)
    return gzip.GzipFile(fileobj=file) if start == b"\x1f\x8b" else file


# WARC


def _warc(file: IO[bytes], limit: int) -> Iterator[Archived]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of its own parts
        from fastwarc.warc import ArchiveIterator, WarcRecordType

    number = begin = damages = 0
    named_after = -1  # the number of the record that the last fault was named after
    while damages < _MOST_DAMAGES:
        file.seek(begin)
        try:
            for record in ArchiveIterator(file, parse_http=False):
                number += 1
                begin = record.stream_pos
                archived = _warc_record(record, number, limit, WarcRecordType)
                if archived is not None:
                    yield archived
                    if archived.fault:
                        break  # its length may lie, and what it leads to be no record
            else:
                return
        except Exception as error:  # noqa: BLE001  # whatever fastwarc raises for bytes that are no WARC
            if named_after != number:
                yield Archived("", fault=f"after record {number}: the file is damaged or cut: {error}")
        named_after = number
        damages += 1
        found = _next_warc_start(file, begin + 1)
        if found is None:
            return
        begin = found


def _next_warc_start(file: IO[bytes], begin: int) -> int | None:
    """Returns where the first record from byte `begin` on seems to begin; None if there is none."""
    file.seek(0)
    pattern = _GZIP_START if file.read(2) == b"\x1f\x8b" else _PLAIN_START
    at, window = begin, b""
    while True:
        file.seek(at + len(window))
        chunk = file.read(_CHUNK_BYTES)
        window += chunk
        for found in pattern.finditer(window):
            place = at + found.end() - len(found[1])
            file.seek(place)
            if _start_of(file).startswith(b"WARC/"):
                return place
        if not chunk:
            return None
        kept = min(len(window), _LONGEST_START)
        at, window = at + len(window) - kept, window[len(window) - kept :]


def _warc_record(record: Any, number: int, limit: int, types: Any) -> Archived | None:
    """Returns what a record is; None if it is of those that tell of others."""
    if record.headers.get("Content-Length") is None:
        return Archived("", fault=f"record {number}: its headers are cut, or say no length")
    url = str(record.headers.get("WARC-Target-URI") or "").strip("<> ")
    if record.record_type in (types.warcinfo, types.request, types.metadata):
        return None
    name = url or f"record {number}"
    if record.record_type == types.revisit:
        refers_to = str(record.headers.get("WARC-Refers-To-Target-URI") or "")
        moment = _moment(str(record.headers.get("WARC-Date") or ""))
        refers_at = _moment(str(record.headers.get("WARC-Refers-To-Date") or ""))
        return Archived(name, url, _empty(url, moment), "revisit", refers_to=refers_to, refers_at=refers_at)
    if record.record_type != types.response or not _URL.fullmatch(url.encode()):
        return Archived(name, skipped="not a page (resource, conversion, dns …)")
    return _warc_answer(record, name, url, limit)


def _warc_answer(record: Any, name: str, url: str, limit: int) -> Archived:
    said = int(record.content_length)
    data: bytes = record.reader.read(min(said, MOST_RECORD_BYTES))
    if len(data) < min(said, MOST_RECORD_BYTES):
        return Archived(name, fault=f"{name}: expected {said:,} bytes, found {len(data):,}: the file is cut, or lies")
    if said <= MOST_RECORD_BYTES and not _fits(str(record.headers.get("WARC-Block-Digest") or ""), data):
        return Archived(name, fault=f"{name}: its bytes do not fit its digest: they are damaged, or its length lies")
    head, separator, body = data.partition(b"\r\n\r\n")
    if not separator:
        head, separator, body = data.partition(b"\n\n")
    status = _STATUS.match(head)
    if not status:
        return Archived(name, skipped="not HTTP")
    moment = _moment(str(record.headers.get("WARC-Date") or ""))
    if moment is None:
        return Archived(name, skipped="no usable date")
    address = str(record.headers.get("WARC-IP-Address") or "")
    return Archived(name, url, _answer(url, head, body, int(status[1]), moment, address, limit))


def _fits(digest: str, data: bytes) -> bool:
    """False if a digest is one of those that we know, and not that of the data."""
    algorithm, _, value = digest.partition(":")
    if algorithm.lower() not in ("sha1", "sha256", "md5"):
        return True
    found = hashlib.new(algorithm.lower(), data, usedforsecurity=False).digest()
    return value.strip().lower() in (base64.b32encode(found).decode().lower(), found.hex())


def _empty(url: str, moment: float | None) -> Response | None:
    return None if moment is None else Response(0, url, 0.0, ended=0.0, fetched_at=moment)


def _moment(text: str) -> float | None:
    try:
        return _past(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())
    except (ValueError, OverflowError):
        return None


def _past(moment: float) -> float | None:
    """Returns a moment; None if it is from before 1970, or yet to come: such a page would be the newest of its URL for
    ever."""
    return moment if 0 <= moment <= time.time() + _WRONG_CLOCK else None


# TREC Web


def _trec(stream: BufferedReader | gzip.GzipFile, limit: int) -> Iterator[Archived]:
    buffer = bytearray()
    number = searched = 0
    try:
        while True:
            found = _END.search(buffer, searched)
            at_edge = found is not None and found.end() == len(buffer)
            if found is None or at_edge:
                chunk = stream.read1(_CHUNK_BYTES)  # all that can be read before a gzip member is cut
                if chunk:
                    searched = max(0, (found.start() if found else len(buffer)) - 16)
                    buffer += chunk
                    if len(buffer) > MOST_RECORD_BYTES + _CHUNK_BYTES:
                        yield Archived("", fault=f"record {number + 1}: longer than a record may be")
                        return
                    continue
                if found is None:
                    break
            number += 1
            yield _trec_record(bytes(buffer[: found.start()]), number, limit)
            del buffer[: found.end()]
            searched = 0
    except (OSError, EOFError, zlib.error) as error:
        yield Archived("", fault=f"after record {number}: the file is damaged or cut: {error}")
        return
    if buffer.strip():
        yield Archived(
            f"record {number + 1}", fault=f"after record {number}: expected </DOC>, found the end of the file"
        )


def _trec_record(data: bytes, number: int, limit: int) -> Archived:
    begin = _BEGIN.search(data)
    name = f"record {number}"
    if begin is None:
        return Archived(name, fault=f"{name}: expected <DOC> before </DOC>, found none")
    rest = data[begin.end() :].lstrip(b"\r\n")
    docno = _DOCNO.match(rest)
    if docno:
        name = docno[1].decode("utf-8", "replace")
        rest = rest[docno.end() :]
    # Two searches: one pattern for both would go on to the end of the record from every beginning.
    header = _HEADER_BEGIN.search(rest, 0, MOST_RECORD_BYTES)
    header_end = _HEADER_END.search(rest, header.end(), MOST_RECORD_BYTES) if header else None
    if header is None or header_end is None:
        return Archived(name, skipped="no DOCHDR, so no URL")
    lines = rest[header.end() : header_end.start()].replace(b"\r\n", b"\n").split(b"\n")
    url = _URL.match(lines[0])
    if not url:
        return Archived(name, skipped="no http or https URL in its DOCHDR")
    body = _without_added_newline(rest[header_end.end() :], lines[0])
    head = b"\n".join(lines[1:])
    status = _STATUS.match(head)
    text = url[0].decode("ascii", "replace")
    if not status:
        fields = lines[0].split()
        kind = fields[3] if len(fields) == 5 and b"/" in fields[3] else b"text/html"
        head = b"HTTP/1.0 200 OK\nContent-Type: " + kind + (b"\n" + head if head else b"")
    moment = _trec_moment(lines[0], head)
    answer = _answer(text, head, body, int(status[1]) if status else 200, moment, _address(lines[0]), limit, False)
    return Archived(name, text, answer)


def _without_added_newline(body: bytes, line: bytes) -> bytes:
    """Returns a body without the newline that lets </DOC> start a line, if the length in the first header line says
    that it is none of the page's own."""
    fields = line.split()
    is_added = len(fields) == 5 and fields[4].isdigit() and len(body) == int(fields[4][:12]) + 1
    return body[:-1] if is_added and body.endswith(b"\n") else body


def _address(line: bytes) -> str:
    fields = line.split()
    return fields[1].decode("ascii", "replace") if len(fields) == 5 else ""


def _trec_moment(line: bytes, head: bytes) -> float:
    """When the page was fetched: the first line says it, or its Date header; else it counts as from 1970."""
    found = _DATE.search(line)
    if found:
        with suppress(ValueError):
            moment = _past(datetime.strptime(found[0].decode(), "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp())
            if moment is not None:
                return moment
    date = re.search(rb"^Date:[ \t]*(.+?)\s*$", head, re.IGNORECASE | re.MULTILINE)
    try:
        return _past(parsedate_to_datetime(date[1].decode("latin-1")).timestamp()) or 0.0 if date else 0.0
    except (ValueError, TypeError, OverflowError):
        return 0.0


# HTTP


def _answer(
    url: str, head: bytes, body: bytes, status: int, moment: float, address: str, limit: int, is_coded: bool = True
) -> Response:
    lines = head.replace(b"\r\n", b"\n").split(b"\n")
    headers: Headers = []
    for line in lines[1:]:
        if line[:1] in (b" ", b"\t") and headers:
            headers[-1] = (headers[-1][0], headers[-1][1] + b" " + line.strip())
        elif b":" in line:
            name, _, value = line.partition(b":")
            headers.append((name.strip(), value.strip()))
    response = Response(0, url, 0.0, status, lines[0].strip(), headers, ended=0.0, fetched_at=moment, address=address)
    response.wire_bytes = len(head) + len(body)
    if is_coded:
        body = _dechunked(_values(headers, b"transfer-encoding"), body)
        coding = b", ".join(_values(headers, b"content-encoding"))
        decoded = Body(coding, limit)
        for at in range(0, len(body), _CHUNK_BYTES):
            if not decoded.feed(body[at : at + _CHUNK_BYTES]):
                break
        plain = decoded.end()
        if decoded.damage:  # many archives keep bodies decoded, and the header as it was
            response.truncated = len(body) > limit
            response.body = body[:limit]
            return response
        response.body, response.truncated = plain, decoded.truncated
        return response
    response.body, response.truncated = body[:limit], len(body) > limit
    return response


def _values(headers: Headers, name: bytes) -> list[bytes]:
    return [value for key, value in headers if key.lower() == name]


def _dechunked(encodings: list[bytes], body: bytes) -> bytes:
    """Returns a body without its chunks; as it is, if it has none: many archives keep bodies so."""
    if not any(b"chunked" in value.lower() for value in encodings):
        return body
    stream = io.BytesIO(body)
    parts: list[bytes] = []
    while True:
        size = stream.readline(100).partition(b";")[0].strip()
        try:
            length = int(size, 16)
        except ValueError:
            return body
        if not length:
            return b"".join(parts)
        part = stream.read(length)
        parts.append(part)
        if len(part) != length or stream.readline(10) not in (b"\r\n", b"\n"):
            return body
