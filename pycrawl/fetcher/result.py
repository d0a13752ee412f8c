"""What the result of every job has: who asked, what the server said, when."""

from __future__ import annotations

import time

from pycrawl.fetch.transport import TOO_BUSY, Response, header
from pycrawl.model import FetchJob, FetchResult, Kind, Outcome
from pycrawl.policy.politeness import retry_after_seconds

LONGEST_DETAIL = 300  # characters
_LONGEST_VALIDATOR = 1_000  # characters: what comes back with every visit must stay small
_MOST_LENGTH_DIGITS = 18

_FirstFields = tuple[int, int, Kind, Outcome, float, float, float, int, str, str, int]


def text_header(response: Response, name: bytes) -> str:
    """A header's value as text; empty when there is none. Bytes that are not UTF-8 count as Latin-1."""
    value = header(response, name) or b""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def validators_of(response: Response) -> dict[str, str]:
    """Returns what the answer gives for a conditional request, as fields of a result."""
    return {
        "etag": text_header(response, b"etag")[:_LONGEST_VALIDATOR],
        "last_modified": text_header(response, b"last-modified")[:_LONGEST_VALIDATOR],
    }


def length_of(response: Response) -> int:
    """Returns what Content-Length says; -1 if it says nothing that can be read."""
    value = header(response, b"content-length") or b""
    return int(value) if value.isdigit() and len(value) <= _MOST_LENGTH_DIGITS else -1


def detail_of(text: str) -> str:
    """The text as a result may carry it: not too long, and without halves of surrogate pairs, which libraries leave in
    the place of bytes that are not UTF-8."""
    text = text[:LONGEST_DETAIL]
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def result(job: FetchJob, response: Response, outcome: Outcome, detail: str = "", **more: object) -> FetchResult:
    """The result of a job with what every answer has."""
    return FetchResult(*first_fields(job, response, outcome, detail), **more)  # type: ignore[arg-type]  # the callers' word


def first_fields(job: FetchJob, response: Response, outcome: Outcome, detail: str) -> _FirstFields:
    """The fields that the result of every answer has, in the order of `FetchResult`."""
    detail = detail or response.detail
    return (
        job.url_id,
        job.host_id,
        job.kind,
        outcome,
        response.started,
        response.ended,
        response.fetched_at,
        response.status,
        detail_of(detail) if detail else "",
        response.address,
        response.wire_bytes,
    )


def refused(job: FetchJob, response: Response) -> FetchResult:
    """The result of an answer that is neither the thing asked for (2xx, 304) nor the way to it (3xx)."""
    status = response.status
    if status in TOO_BUSY:
        wait = retry_after_seconds(text_header(response, b"retry-after"), response.fetched_at)
        return result(job, response, Outcome.TOO_BUSY, retry_after=wait)
    if 400 <= status < 500:
        return result(job, response, Outcome.CLIENT_ERROR)
    return result(job, response, Outcome.SERVER_ERROR if 500 <= status < 600 else Outcome.ODD_STATUS)


def unfetched(job: FetchJob, outcome: Outcome, detail: str = "") -> FetchResult:
    """The result of a job for which nothing was sent."""
    now = time.monotonic()
    return FetchResult(job.url_id, job.host_id, job.kind, outcome, now, now, time.time(), detail=detail_of(detail))
