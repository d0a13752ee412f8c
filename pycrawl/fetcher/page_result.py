"""From a server's answer to a fetcher's result: status, redirect, record, digest, links, fingerprints."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable

import xxhash

from pycrawl.config import Config
from pycrawl.fetch.cookies import cookies_to_ask_again
from pycrawl.fetch.transport import REDIRECTS, Response, header
from pycrawl.fingerprint.page_prints import packed
from pycrawl.model import NO_LINKS, FetchJob, FetchResult, Kind, Outcome, PackedLinks, StoredBody, Traits
from pycrawl.native.body_scan import NUL, scan_body
from pycrawl.parse.charset import ASCII, Charset, is_binary
from pycrawl.parse.html import ParsedPage, parse_html
from pycrawl.parse.links import LinkPacker
from pycrawl.parse.media_type import is_html, plain_text_of
from pycrawl.policy.politeness import retry_after_seconds
from pycrawl.policy.robots import directives
from pycrawl.record import trec_web
from pycrawl.traps.page_traits import LinkMemory, band_keys, sample, section, shape
from pycrawl.urls.normal_form import UrlRules, normalise
from pycrawl.urls.parts import url_hash
from pycrawl.urls.scope import Scope

TOO_BUSY = {429, 503}
_NOT_MODIFIED = 304
_LONGEST_VALIDATOR = 1_000  # characters: what comes back with every visit must stay small
_LONGEST_DETAIL = 300
_SAMPLED = 16
_NOINDEX = ("noindex", "none")
_NOFOLLOW = ("nofollow", "none")


class PageReader:
    """Reads answers to page jobs; `stage_seconds` says what CPU time that took so far.

    The processor's clock is slow to ask, so one page in `_SAMPLED` is measured, and counts for all of them.
    """

    def __init__(self, config: Config, url_filter: Scope, seed: int) -> None:
        self._filter = url_filter
        self._rules = UrlRules.of(config)
        self._seed = seed
        self._max_redirects = config.limits.max_redirects
        self._dochdr = config.store.dochdr
        self._compress = config.store.compress
        self._agent = config.crawl.name
        self._obey_header = config.politeness.x_robots_tag
        self._obey_meta = config.politeness.meta_robots
        self._packer = LinkPacker(
            self._rules, url_filter, seed, config.limits.max_links_per_page, config.politeness.rel_nofollow
        )
        self._link_memory = LinkMemory(seed)
        self._wants_prints = config.content.near_duplicates
        self._main_content = config.content.main_content if self._wants_prints else ""
        self._pages = 0
        self.stage_seconds = {"parse": 0.0, "links": 0.0, "traits": 0.0, "prints": 0.0, "record": 0.0}

    def read(self, job: FetchJob, response: Response) -> FetchResult:
        if response.outcome is not None:
            return result(job, response, response.outcome)
        status = response.status
        if 200 <= status < 300:
            return self._probe(job, response) if job.kind is Kind.PROBE else self._page(job, response)
        if status == _NOT_MODIFIED and (job.validators.etag or job.validators.last_modified):
            return result(
                job,
                response,
                Outcome.NOT_MODIFIED,
                etag=job.validators.etag,
                last_modified=job.validators.last_modified,
            )
        if status in REDIRECTS:
            return self._redirect(job, response)
        if status in TOO_BUSY:
            wait = retry_after_seconds(text_header(response, b"retry-after"), response.fetched_at)
            return result(job, response, Outcome.TOO_BUSY, retry_after=wait)
        if 400 <= status < 500:
            return result(job, response, Outcome.CLIENT_ERROR)
        if 500 <= status < 600:
            return result(job, response, Outcome.SERVER_ERROR)
        return result(job, response, Outcome.ODD_STATUS)

    def _redirect(self, job: FetchJob, response: Response) -> FetchResult:
        location = text_header(response, b"location")
        if not location:
            return result(job, response, Outcome.ODD_STATUS, detail="a redirect without Location")
        target = normalise(location, self._rules, job.url)
        if target is None:
            return result(job, response, Outcome.BAD_REDIRECT, detail=f"not a URL we follow: {location}")
        if target == job.url:
            # Once: a server that wants another cookie each time would be asked for ever.
            cookies = "" if job.cookies else cookies_to_ask_again(response)
            if cookies:
                return result(job, response, Outcome.COOKIE_WANTED, cookies=cookies)
            return result(job, response, Outcome.BAD_REDIRECT, detail="redirects to itself")
        reason = self._filter.verdict(target, job.depth)
        if reason is not None:
            return result(job, response, Outcome.BAD_REDIRECT, detail=f"{reason}: {target}", filtered={reason: 1})
        if job.hops >= self._max_redirects:
            return result(job, response, Outcome.TOO_MANY_REDIRECTS, detail=f"after {job.hops} redirects")
        return result(job, response, Outcome.REDIRECT, location=target, location_hash=url_hash(target, self._seed))

    def _page(self, job: FetchJob, response: Response) -> FetchResult:
        content_type = text_header(response, b"content-type")
        if response.aborted_by_type:
            return result(job, response, Outcome.UNWANTED_TYPE, detail=content_type)
        validators = {
            "etag": text_header(response, b"etag")[:_LONGEST_VALIDATOR],
            "last_modified": text_header(response, b"last-modified")[:_LONGEST_VALIDATOR],
        }
        seen = scan_body(response.body)
        is_page = is_html(content_type, response.body)
        if is_page and seen & NUL and is_binary(response.body, content_type):
            return result(job, response, Outcome.UNWANTED_TYPE, detail=f"binary data served as {content_type}")
        digest = xxhash.xxh3_128_digest(response.body, self._seed)
        if digest == job.validators.digest:
            return result(job, response, Outcome.NOT_MODIFIED, **validators)
        links = NO_LINKS
        filtered: dict[str, int] = {}
        traits = None
        wishes = self._header_wishes(response)
        text: str | bytes = ""
        charset = ASCII
        if is_page:
            links, filtered, wishes, traits, page = self._links(job, response, content_type, seen, wishes)
            text, charset = page.content_utf8, page.charset
        elif self._wants_prints:
            text, charset = plain_text_of(response.body, content_type)
        if not wishes.isdisjoint(_NOINDEX):
            return result(job, response, Outcome.NOINDEX, links=links, filtered=filtered, traits=traits, **validators)
        clock = self._clock()
        begun = clock()
        prints, passages = packed(text, self._seed) if text else (b"", b"")
        printed = clock()
        body = self._stored(response, content_type, seen, charset, digest, prints, passages)
        self.stage_seconds["prints"] += (printed - begun) * _SAMPLED
        self.stage_seconds["record"] += (clock() - printed) * _SAMPLED
        self._pages += 1
        return result(
            job, response, Outcome.FETCHED, body=body, links=links, filtered=filtered, traits=traits, **validators
        )

    def _probe(self, job: FetchJob, response: Response) -> FetchResult:
        """What the host answers in place of a page that does not exist: only its text counts."""
        content_type = text_header(response, b"content-type")
        if response.aborted_by_type or not is_html(content_type, response.body):
            return result(job, response, Outcome.FETCHED)
        page = parse_html(response.body, content_type, self._agent, with_text=True)
        return result(job, response, Outcome.FETCHED, traits=Traits("", "", sample(page.text, job.url)))

    def _header_wishes(self, response: Response) -> frozenset[str]:
        """What the server asks of robots that keep and follow."""
        if not self._obey_header:
            return frozenset()
        values = [value.decode("latin-1") for name, value in response.headers if name.lower() == b"x-robots-tag"]
        return directives(values, self._agent) if values else frozenset()

    def _links(
        self, job: FetchJob, response: Response, content_type: str, seen: int, wishes: frozenset[str]
    ) -> tuple[PackedLinks, dict[str, int], frozenset[str], Traits | None, ParsedPage]:
        """The links, those turned away by reason, all that header and page ask of robots, what the page is like, and
        what else was read off it."""
        clock = self._clock()
        begun = clock()
        page = parse_html(response.body, content_type, self._agent, job.close_look, self._main_content, seen=seen)
        parsed = clock()
        if self._obey_meta:
            wishes |= page.robots
        packed, filtered = self._packer.pack(page, job.url, job.depth, wishes.isdisjoint(_NOFOLLOW))
        self.stage_seconds["parse"] += (parsed - begun) * _SAMPLED
        packed_at = clock()
        self.stage_seconds["links"] += (packed_at - parsed) * _SAMPLED
        traits = self._traits(job, page, packed) if job.close_look else None
        self.stage_seconds["traits"] += (clock() - packed_at) * _SAMPLED
        return packed, filtered, wishes, traits, page

    def _traits(self, job: FetchJob, page: ParsedPage, links: PackedLinks) -> Traits:
        pairs = sample(page.text, job.url)
        closure, backs = self._link_memory.look(job.url, links)
        return Traits(
            shape=shape(job.url),
            section=section(job.url),
            pairs=pairs,
            bands=tuple(band_keys(array("Q", pairs), job.host_id)),
            closure=closure,
            backs=backs,
        )

    def _clock(self) -> Callable[[], float]:
        return time.thread_time if self._pages % _SAMPLED == 0 else _stopped_clock

    def _stored(
        self,
        response: Response,
        content_type: str,
        seen: int,
        charset: Charset,
        digest: bytes,
        prints: bytes,
        passages: bytes,
    ) -> StoredBody:
        record, escapes = trec_web.encode(
            response.url,
            response.address,
            response.fetched_at,
            content_type,
            response.status_line,
            response.headers,
            response.body,
            self._dochdr,
            seen,
        )
        return StoredBody(
            record=trec_web.pack(record) if self._compress else record,
            body_length=len(response.body),
            digest=digest,
            content_type=content_type[:_LONGEST_DETAIL],
            charset=charset.used,
            declared_charset=charset.declared,
            escapes=escapes,
            truncated=response.truncated or response.damaged,
            prints=prints,
            passages=passages,
        )


def _stopped_clock() -> float:
    return 0.0


def text_header(response: Response, name: bytes) -> str:
    """A header's value as text; empty when there is none. Bytes that are not UTF-8 count as Latin-1."""
    value = header(response, name) or b""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def result(job: FetchJob, response: Response, outcome: Outcome, detail: str = "", **more: object) -> FetchResult:
    """The result of a job with what every answer has."""
    return FetchResult(
        url_id=job.url_id,
        host_id=job.host_id,
        kind=job.kind,
        outcome=outcome,
        started=response.started,
        ended=response.ended,
        fetched_at=response.fetched_at,
        status=response.status,
        detail=(detail or response.detail)[:_LONGEST_DETAIL],
        address=response.address,
        wire_bytes=response.wire_bytes,
        **more,  # type: ignore[arg-type]  # the callers above are the only ones
    )
