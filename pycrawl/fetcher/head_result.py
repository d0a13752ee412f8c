"""The answer to a HEAD into its result: what it says of the page, or that it says nothing."""

from __future__ import annotations

from pycrawl.fetch.transport import TOO_BUSY, Response
from pycrawl.fetcher.result import length_of, refused, result, validators_of
from pycrawl.model import FetchJob, FetchResult, Outcome


class HeadReader:
    def read(self, job: FetchJob, response: Response) -> FetchResult:
        """Returns FETCHED for every answer but one that asks for fewer requests: whatever else a server answers to a
        HEAD, the page itself may be had."""
        if response.outcome is not None:
            return result(job, response, response.outcome)
        if response.status in TOO_BUSY:
            return refused(job, response)
        if not 200 <= response.status < 300:
            return result(job, response, Outcome.FETCHED)
        return result(job, response, Outcome.FETCHED, length=length_of(response), **validators_of(response))
