"""The answer to a probe into its result: what the host says in place of a page that does not exist."""

from __future__ import annotations

from pycrawl.config import Config
from pycrawl.fetch.transport import REDIRECTS, Response
from pycrawl.fetcher.result import refused, result, text_header
from pycrawl.model import FetchJob, FetchResult, Outcome, Traits
from pycrawl.parse.html import parse_html
from pycrawl.parse.media_type import is_html
from pycrawl.traps.page_traits import sample


class ProbeReader:
    def __init__(self, config: Config) -> None:
        self._agent = config.crawl.name

    def read(self, job: FetchJob, response: Response) -> FetchResult:
        """Only the text of a 2xx answer counts: any other answer says by itself that the page is not there."""
        if response.outcome is not None:
            return result(job, response, response.outcome)
        if not 200 <= response.status < 300:
            is_redirect = response.status in REDIRECTS
            return result(job, response, Outcome.REDIRECT) if is_redirect else refused(job, response)
        content_type = text_header(response, b"content-type")
        if response.aborted_by_type or not is_html(content_type, response.body):
            return result(job, response, Outcome.FETCHED)
        page = parse_html(response.body, content_type, self._agent, with_text=True)
        return result(job, response, Outcome.FETCHED, traits=Traits("", "", sample(page.text, job.url)))
