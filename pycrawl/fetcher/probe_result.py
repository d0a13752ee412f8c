"""The answer to a probe into its result: what the host says in place of a page that does not exist."""

from __future__ import annotations

from pycrawl.config import Config
from pycrawl.fetch.transport import REDIRECTS, Response
from pycrawl.fetcher.result import refused, result, text_header
from pycrawl.model import CloseLook, FetchJob, FetchResult, Outcome
from pycrawl.parse.feed_types import media_type_of
from pycrawl.parse.parsers import Body, HtmlParser, Wanted
from pycrawl.traps.page_sample import sample


class ProbeReader:
    def __init__(self, config: Config) -> None:
        self._html = HtmlParser()
        self._wanted = Wanted(config.crawl.name, text=True)

    def read(self, job: FetchJob, response: Response) -> FetchResult:
        """Only the text of a 2xx answer counts: any other answer says by itself that the page is not there."""
        if response.outcome is not None:
            return result(job, response, response.outcome)
        if not 200 <= response.status < 300:
            is_redirect = response.status in REDIRECTS
            return result(job, response, Outcome.REDIRECT) if is_redirect else refused(job, response)
        content_type = text_header(response, b"content-type")
        if response.aborted_by_type or media_type_of(content_type) not in self._html.media_types:
            return result(job, response, Outcome.FETCHED)
        page = self._html.parse(Body(job.url, content_type, response.body), self._wanted)
        return result(job, response, Outcome.FETCHED, close_look=CloseLook("", "", sample(page.text, job.url)))
