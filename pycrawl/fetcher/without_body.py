"""What answers to page, sitemap and feed jobs have in common: statuses, redirects, unchanged ones."""

from __future__ import annotations

from pycrawl.fetch.cookies import cookies_to_ask_again
from pycrawl.fetch.transport import REDIRECTS, Response
from pycrawl.fetcher.result import refused, result, text_header
from pycrawl.model import FetchJob, FetchResult, Kind, Outcome
from pycrawl.urls.normal_form import UrlRules, normalise
from pycrawl.urls.parts import url_hash
from pycrawl.urls.scope import Scope

_NOT_MODIFIED = 304


class WithoutBody:
    """Reads answers of which the body says nothing."""

    def __init__(self, rules: UrlRules, scope: Scope, seed: int) -> None:
        self._rules = rules
        self._scope = scope
        self._seed = seed

    def read(self, job: FetchJob, response: Response) -> FetchResult | None:
        """Returns the result of any answer but a 2xx; None if there is something to read."""
        if response.outcome is not None:
            return result(job, response, response.outcome)
        if 200 <= response.status < 300:
            return None
        etag, last_modified = job.validators.etag, job.validators.last_modified
        if response.status == _NOT_MODIFIED and (etag or last_modified):
            return result(job, response, Outcome.NOT_MODIFIED, etag=etag, last_modified=last_modified)
        return self._redirect(job, response) if response.status in REDIRECTS else refused(job, response)

    def _redirect(self, job: FetchJob, response: Response) -> FetchResult:
        location = text_header(response, b"location")
        if not location:
            return result(job, response, Outcome.ODD_STATUS, detail="a redirect without Location")
        target = normalise(location, self._rules, job.url)
        if target is None:
            return result(job, response, Outcome.BAD_REDIRECT, detail=f"not a URL we follow: {location}")
        if target == job.url:
            return _to_itself(job, response)
        if self._scope.is_too_long(target):
            return result(job, response, Outcome.BAD_REDIRECT, detail=f"longer than limits.max_url_length: {location}")
        is_too_far = job.hops >= self._scope.settings.of_url(target).limits.max_redirects
        return result(
            job,
            response,
            Outcome.TOO_MANY_REDIRECTS if is_too_far else Outcome.REDIRECT,
            detail=target,
            location=target,
            location_hash=url_hash(target, self._seed),
            location_verdict=self._scope.code_of(target),
        )


def _to_itself(job: FetchJob, response: Response) -> FetchResult:
    # Once: a server that wants another cookie each time would be asked for ever.
    cookies = cookies_to_ask_again(response) if job.kind is Kind.PAGE and not job.cookies else ""
    if cookies:
        return result(job, response, Outcome.COOKIE_WANTED, cookies=cookies)
    return result(job, response, Outcome.BAD_REDIRECT, detail="redirects to itself")
