"""The answer of a WebSub hub to a request: it took it, or it did not. What it says besides is of no use."""

from __future__ import annotations

from pycrawl.fetch.transport import REDIRECTS, Response
from pycrawl.fetcher.result import refused, result, text_header
from pycrawl.model import FetchJob, FetchResult, Outcome


class HubReader:
    def read(self, job: FetchJob, response: Response) -> FetchResult:
        if response.outcome is not None:
            return result(job, response, response.outcome)
        if 200 <= response.status < 300:
            return result(job, response, Outcome.ASKED)
        if response.status in REDIRECTS:  # a feed that has moved to another hub names that
            return result(job, response, Outcome.ODD_STATUS, f"redirects to {text_header(response, b'location')}")
        return refused(job, response)
