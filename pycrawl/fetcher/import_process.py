"""The process that reads an archive for `pycrawl import`: each page goes the way of a fetched one, through the same
parser to the same result. It opens no database."""

from __future__ import annotations

import json
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pycrawl.config import Config
from pycrawl.errors import PycrawlError
from pycrawl.fetch.archives import Archived, read_archive
from pycrawl.fetcher.page_result import PageReader
from pycrawl.fetcher.result import text_header
from pycrawl.model import FetchJob, FetchResult, Results
from pycrawl.processes.allocation import collect_rarely, keep_freed_memory
from pycrawl.processes.messages import pack
from pycrawl.urls.normal_form import UrlRules, normalise
from pycrawl.urls.scope import Scope

_BATCH_RECORDS = 200
_BATCH_BYTES = 4_000_000


class _Batch:
    """What is sent at once: results, the URLs that they are of, and what was skipped."""

    def __init__(self) -> None:
        self.results: list[FetchResult] = []
        self.told: dict[str, Any] = {"urls": [], "revisits": [], "faults": [], "records": 0}
        self.skipped: Counter[str] = Counter()
        self.bytes = 0

    @property
    def is_full(self) -> bool:
        return self.told["records"] >= _BATCH_RECORDS or self.bytes >= _BATCH_BYTES

    def send(self, connection: Connection, last: int, is_end: bool, error: str = "") -> None:
        told = {**self.told, "skipped": self.skipped, "last": last, "end": is_end, "error": error}
        connection.send_bytes(json.dumps(told).encode())
        connection.send_bytes(pack(Results(tuple(self.results))))


def main(connection: Connection, path: str, config: Config, seed: int, after: int) -> None:
    """Read the records behind the first `after` ones."""
    collect_rarely()
    keep_freed_memory()
    scope = Scope(config)
    reader = PageReader(config, scope, seed, remembers_links=False)
    rules = UrlRules.of(config)
    batch = _Batch()
    number = 0
    error = ""
    try:
        for record in read_archive(Path(path), config.limits.max_body_bytes):
            number += 1
            if number <= after:
                continue
            batch.told["records"] += 1
            _take_in(record, number, batch, reader, scope, rules)
            if batch.is_full:
                batch.send(connection, number, False)
                batch = _Batch()
    except PycrawlError as failed:
        error = str(failed)
    except (BrokenPipeError, EOFError):  # the import has ended
        return
    batch.send(connection, number, True, error)


def _take_in(record: Archived, number: int, batch: _Batch, reader: PageReader, scope: Scope, rules: UrlRules) -> None:
    if record.fault:
        batch.told["faults"].append(record.fault)
        batch.skipped["damaged"] += 1
        return
    url = normalise(record.url, rules) if record.url else None
    if record.skipped == "revisit" and url and record.refers_to and record.response is not None:
        target = normalise(record.refers_to, rules)
        batch.told["revisits"].append([url, target, record.refers_at, record.response.fetched_at])
        return
    if record.skipped:
        batch.skipped[record.skipped] += 1
        return
    assert record.response is not None
    if url is None:
        batch.skipped["not a usable URL"] += 1
        return
    response = record.response
    response.url = url
    if 200 <= response.status < 300 and not scope.wants_type(text_header(response, b"content-type")):
        response.aborted_by_type = True
    reader.forget_sent()  # the other side may drop a page, and its links with it: so all texts go with every page
    result = reader.read(FetchJob(number, url, 0), response)
    batch.results.append(result)
    batch.told["urls"].append(url)
    batch.bytes += len(response.body)
