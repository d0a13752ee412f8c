"""What answers to sitemap and feed jobs have in common: statuses, redirects, unchanged ones."""

from __future__ import annotations

from pycrawl.fetch.transport import REDIRECTS, Response
from pycrawl.fetcher.named_links import NamedPacker
from pycrawl.fetcher.result import refused, result, text_header
from pycrawl.model import FetchJob, FetchResult, Outcome
from pycrawl.urls.normal_form import UrlRules, normalise
from pycrawl.urls.scope import Scope

_NOT_MODIFIED = 304


class SourceAnswers:
    """Answers without anything to read."""

    def __init__(self, rules: UrlRules, scope: Scope, packer: NamedPacker) -> None:
        self._rules = rules
        self._scope = scope
        self._packer = packer

    def without_body(self, job: FetchJob, response: Response) -> FetchResult | None:
        """Returns the result of any answer but a 2xx; None if there is something to read."""
        if response.outcome is not None:
            return result(job, response, response.outcome)
        if 200 <= response.status < 300:
            return None
        validators = job.validators
        if response.status == _NOT_MODIFIED and (validators.etag or validators.last_modified):
            return result(
                job, response, Outcome.NOT_MODIFIED, etag=validators.etag, last_modified=validators.last_modified
            )
        return self._redirect(job, response) if response.status in REDIRECTS else refused(job, response)

    def _redirect(self, job: FetchJob, response: Response) -> FetchResult:
        location = text_header(response, b"location")
        target = normalise(location, self._rules, job.url) if location else None
        if target is None or target == job.url or self._scope.is_too_long(target):
            return result(job, response, Outcome.BAD_REDIRECT, detail=f"not a URL we follow: {location}")
        is_too_far = job.hops >= self._scope.settings.of_url(target).limits.max_redirects
        return result(
            job,
            response,
            Outcome.TOO_MANY_REDIRECTS if is_too_far else Outcome.REDIRECT,
            detail=target,
            location=target,
            location_hash=self._packer.hash_of(target),
            location_verdict=self._scope.code_of(target),
        )
