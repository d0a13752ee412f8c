"""WARC 1.1 (ISO 28500:2017), each record a gzip member: for each document a response, the request as far as it is
known, and its metadata; a revisit instead of a response for what has the body of an earlier record.

The bodies are kept after transfer and content coding were undone. So where a header would make a reader undo them
again, or tells another length, it is kept under the name that web archives use for such: "X-Archive-Orig-…".
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from pycrawl import __version__
from pycrawl.collection.document import Document
from pycrawl.collection.exports.cdxj import cdx_time, surt
from pycrawl.collection.exports.formats import IndexEntry, Options, Piece, Revisit, Task, compressed, readable
from pycrawl.collection.fields import Needs
from pycrawl.config import Config
from pycrawl.urls.parts import host_key, path_and_query

_NAMESPACE = uuid.UUID("6f9c2a57-0a43-5d0e-9e0c-1d7c5d1f4e2b")  # of the ids of records; ours
_CODINGS = (b"content-encoding", b"transfer-encoding")
_KEPT_AS = b"X-Archive-Orig-"
_SAME_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_HTTP_RESPONSE = "application/http; msgtype=response"
_HTTP_REQUEST = "application/http; msgtype=request"
_FIELDS_TYPE = "application/warc-fields"
_STATUS_304 = 304


class WarcFormat:
    extension = ".warc"
    needs = Needs.RECORD

    def __init__(self, options: Options, config: Config) -> None:
        self._compression = options.compression
        self._config = config

    # Records

    def _bytes(self, kind: str, url: str, warc_headers: dict[str, str], content_type: str, *block: bytes) -> bytes:
        """Returns one record, compressed. The block is in one part or several; headers without a value are left out."""
        headers = {
            "WARC-Type": kind,
            "WARC-Target-URI": url,
            **warc_headers,
            "WARC-Block-Digest": _sha1(*block),
            "Content-Type": content_type,
            "Content-Length": str(sum(map(len, block))),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value).encode("utf-8", "replace")
        return compressed(b"".join((b"WARC/1.1\r\n", head, b"\r\n", *block, b"\r\n\r\n")), self._compression)

    def head(self, file_name: str) -> bytes:
        """A warcinfo record: who made the file, by which rules it was crawled."""
        fields = {
            "software": f"pycrawl/{__version__}",
            "format": "WARC File Format 1.1",
            "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            "robots": "obey" if self._config.politeness.obey_robots else "ignore",
            "http-header-user-agent": self._config.user_agent,
            "operator": self._config.crawl.contact,
            "description": "requests are made from the settings at the time of this export; bodies are kept after"
            " transfer and content coding were undone (X-Archive-Orig-*)",
            **_settings(self._config),
        }
        block = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value).encode()
        headers = {
            "WARC-Record-ID": _new_id("warcinfo", file_name, block.decode()),
            "WARC-Date": _warc_time(datetime.now(UTC).timestamp()),
            "WARC-Filename": file_name,
        }
        return self._bytes("warcinfo", "", headers, _FIELDS_TYPE, block)

    def pieces(self, tasks: Sequence[Task], on_fault: Callable[[str], None]) -> list[Piece]:
        return readable(tasks, self._piece, on_fault)

    def _piece(self, task: Task) -> Piece:
        document = task.document
        records: list[bytes] = []
        entries: list[IndexEntry] = []
        digest = _sha1(document.body)
        main_id = _new_id("response", document.docno)
        records.append(self._main_record(task, main_id, digest))
        is_revisit = task.reference is not None
        entries.append(_entry(document, 0, len(records[0]), digest, is_revisit, document.timestamp, document.status))
        records.append(self._request(document, main_id))
        records.append(self._metadata(document, main_id))
        if task.revisit is not None:
            offset = sum(map(len, records))
            records.append(self._later_visit(document, task.revisit, digest))
            entries.append(
                _entry(document, offset, len(records[-1]), digest, True, task.revisit.timestamp, task.revisit.status)
            )
        return Piece(b"".join(records), entries)

    def _main_record(self, task: Task, record_id: str, digest: str) -> bytes:
        document = task.document
        headers = {
            "WARC-Record-ID": record_id,
            "WARC-Date": _warc_time(document.timestamp),
            "WARC-Payload-Digest": digest,
            "WARC-IP-Address": document.address,
            "WARC-Protocol": "h2" if document.record.status_line.upper().startswith(b"HTTP/2") else "",
        }
        if document.is_truncated:
            headers["WARC-Truncated"] = "length"
        if task.reference is None:
            block = (_http_head(document), document.body)
            return self._bytes("response", document.url, headers, _HTTP_RESPONSE, *block)
        headers |= _refers_to(_SAME_PAYLOAD, task.reference.url, task.reference.timestamp, task.reference.docno)
        return self._bytes("revisit", document.url, headers, _HTTP_RESPONSE, b"")

    def _later_visit(self, document: Document, visit: Revisit, digest: str) -> bytes:
        """A revisit for the last visit, which found the document unchanged."""
        headers = {
            "WARC-Record-ID": _new_id("revisit", document.docno, str(visit.timestamp)),
            "WARC-Date": _warc_time(visit.timestamp),
            "WARC-Payload-Digest": digest,
        }
        is_304 = visit.status == _STATUS_304
        profile = _NOT_MODIFIED if is_304 else _SAME_PAYLOAD
        headers |= _refers_to(profile, document.url, document.timestamp, document.docno)
        validators = (("ETag", visit.etag), ("Last-Modified", visit.last_modified))
        lines = ["HTTP/1.1 304 Not Modified", *(f"{name}: {value}" for name, value in validators if value), "", ""]
        block = "\r\n".join(lines).encode("latin-1", "replace") if is_304 else b""
        return self._bytes("revisit", document.url, headers, _HTTP_RESPONSE, block)

    def _request(self, document: Document, concurrent_to: str) -> bytes:
        lines = [
            f"GET {path_and_query(document.url)} HTTP/1.1",
            f"Host: {host_key(document.url)}",
            f"User-Agent: {self._config.user_agent}",
            *(f"{name}: {value}" for name, value in self._config.headers if value and not _is_secret(name)),
        ]
        block = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
        headers = {
            "WARC-Record-ID": _new_id("request", document.docno),
            "WARC-Date": _warc_time(document.timestamp),
            "WARC-Concurrent-To": concurrent_to,
        }
        return self._bytes("request", document.url, headers, _HTTP_REQUEST, block)

    def _metadata(self, document: Document, concurrent_to: str) -> bytes:
        prints = document.fingerprints
        fields = {
            "docno": document.docno,
            "digest": document.digest,
            "cluster": document.cluster,
            "charset": document.charset,
            "declared_charset": document.declared_charset,
        }
        if prints is not None:
            fields |= {
                "simhash": f"{prints.simhash:016x}",
                "words": str(prints.words),
                "sketch": base64.b64encode(prints.sketch).decode(),
            }
        block = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value).encode("utf-8", "replace")
        headers = {
            "WARC-Record-ID": _new_id("metadata", document.docno),
            "WARC-Date": _warc_time(document.timestamp),
            "WARC-Concurrent-To": concurrent_to,
        }
        return self._bytes("metadata", document.url, headers, _FIELDS_TYPE, block)


def _http_head(document: Document) -> bytes:
    """Returns status line and headers as they were served, as far as they are true of the body that follows."""
    record = document.record
    status_line = record.status_line or b"HTTP/1.1 200 OK"
    if status_line.upper().startswith(b"HTTP/2"):
        status_line = b"HTTP/1.1" + status_line[len(b"HTTP/2") :].removeprefix(b".0")
    headers: list[tuple[bytes, bytes]] = []
    is_undone = any(name.lower() in _CODINGS for name, _ in record.headers)
    length = str(len(record.body)).encode()
    for name, value in record.headers:
        lower = name.lower()
        is_coding = lower in _CODINGS and value.strip().lower() != b"identity"
        if is_coding or (lower == b"content-length" and value.strip() != length):
            name, is_undone = _KEPT_AS + name, True
        headers.append((name, value))
    if is_undone and not any(name.lower() == b"content-length" for name, _ in headers):
        headers.append((b"Content-Length", length))
    return b"\r\n".join([status_line, *(name + b": " + value for name, value in headers), b"", b""])


def _refers_to(profile: str, url: str, timestamp: float, docno: str) -> dict[str, str]:
    return {
        "WARC-Profile": profile,
        "WARC-Refers-To": _new_id("response", docno),
        "WARC-Refers-To-Target-URI": url,
        "WARC-Refers-To-Date": _warc_time(timestamp),
    }


def _entry(
    document: Document, offset: int, length: int, digest: str, is_revisit: bool, timestamp: float, status: int
) -> IndexEntry:
    mime = "warc/revisit" if is_revisit else document.content_type.partition(";")[0].strip() or "unk"
    fields = {"url": document.url, "mime": mime, "status": str(status), "digest": digest.removeprefix("sha1:")}
    return IndexEntry(offset, length, f"{surt(document.url)} {cdx_time(timestamp)}", fields)


def _sha1(*parts: bytes) -> str:
    total = hashlib.sha1(usedforsecurity=False)
    for part in parts:
        total.update(part)
    return "sha1:" + base64.b32encode(total.digest()).decode()


def _new_id(*parts: str) -> str:
    """Returns the id of a record: the same for the same record of the same document, in every export."""
    return f"<urn:uuid:{uuid.uuid5(_NAMESPACE, chr(0).join(parts))}>"


def _warc_time(timestamp: float) -> str:
    time = datetime.fromtimestamp(timestamp, UTC)
    return time.isoformat(timespec="microseconds" if time.microsecond else "seconds").replace("+00:00", "Z")


def _is_secret(name: str) -> bool:
    return any(word in name.lower() for word in ("authorization", "cookie", "key", "token"))


def _settings(config: Config) -> dict[str, str]:
    """Returns the settings that say what was crawled and how, as "pycrawl-SECTION-KEY"; those that may be secret are
    left out."""
    told: dict[str, str] = {}
    for section in ("scope", "politeness", "limits", "content"):
        values: dict[str, Any] = dataclasses.asdict(getattr(config, section))
        for name, value in values.items():
            text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            told[f"pycrawl-{section}-{name.replace('_', '-')}"] = " ".join(text.split())
    return told
