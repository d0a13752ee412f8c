"""The answer to a page job into its result: status, redirect, record, digest, links, fingerprints."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from typing import NamedTuple, Protocol

import xxhash

from pycrawl.config import Config
from pycrawl.convert.converter import Converted
from pycrawl.convert.kinds import DOCUMENT_TYPES, DocumentKind
from pycrawl.fetch.transport import Response, all_values, header
from pycrawl.fetcher.result import LONGEST_DETAIL, first_fields, length_of, result, text_header, validators_of
from pycrawl.fetcher.without_body import WithoutBody
from pycrawl.fingerprint.page_prints import packed
from pycrawl.model import (
    NO_LINKS,
    NO_VALIDATORS,
    CloseLook,
    FetchJob,
    FetchResult,
    Kind,
    Outcome,
    PackedLinks,
    StoredBody,
)
from pycrawl.native.body_scan import scan_body
from pycrawl.parse.documents import ConvertedDocument, DocumentParser, missing_reader
from pycrawl.parse.feed_types import FEED_TYPES, media_type_of
from pycrawl.parse.language import language_of
from pycrawl.parse.links import LinkPacker, Packed
from pycrawl.parse.parsed import Parsed
from pycrawl.parse.parsers import Body, Parser, Parsers, Wanted
from pycrawl.parse.signatures import kind_of
from pycrawl.plugins.guard import PluginFailed
from pycrawl.policy.robots import directives
from pycrawl.record import trec_web
from pycrawl.traps.link_memory import LinkMemory
from pycrawl.traps.page_sample import copy_keys, sample
from pycrawl.traps.url_kinds import section, shape
from pycrawl.urls import asks
from pycrawl.urls.normal_form import UrlRules
from pycrawl.urls.scope import Scope

_SAMPLED = 64
_FEW_LINKS = 64  # that are remembered, where all are forgotten before each page
_NOINDEX = ("noindex", "none")
_NOFOLLOW = ("nofollow", "none")
_ROBOTS_TAG = b"x-robots-tag"


_NO_WISHES: frozenset[str] = frozenset()
_STOPPED_CLOCK = float  # always says 0.0, in no time
_NOTHING_PACKED = Packed(NO_LINKS, (), {})


class _Reading(NamedTuple):
    """What was read off a page."""

    page: Parsed
    packed: Packed
    wishes: frozenset[str]  # what server and page ask of robots
    look: CloseLook | None  # where one was asked for


_NOTHING_READ = _Reading(Parsed(), _NOTHING_PACKED, frozenset(), None)


class _Seen(NamedTuple):
    """What the headers of an answer say of the page."""

    etag: str
    last_modified: str
    length: int


class FeedAnswers(Protocol):
    """Reads the answer to a job as a feed."""

    def read(self, job: FetchJob, response: Response) -> FetchResult: ...


class PageReader:
    """Reads answers to page jobs; `stage_seconds` says what CPU time that took so far.

    The processor's clock is slow to ask, so one page in `_SAMPLED` is measured, and counts for all of them.
    """

    def __init__(self, config: Config, scope: Scope, seed: int, remembers_links: bool = True) -> None:
        """`remembers_links`: False for who calls `forget_sent` before each page; it takes a millisecond otherwise."""
        self._scope = scope
        rules = UrlRules.of(config)
        self._without_body = WithoutBody(rules, scope, seed)
        self._seed = seed
        self._dochdr = config.store.dochdr
        self._compress = config.store.compress
        self._agent = config.crawl.name
        few = {} if remembers_links else {"sent_slots": _FEW_LINKS, "cache_entries": _FEW_LINKS}
        self._packer = LinkPacker(rules, scope, seed, **few)
        self._link_memory = LinkMemory(seed)
        self._wants_prints = config.content.near_duplicates
        self._detects_languages = config.content.detect_languages or bool(config.scope.languages)
        self._parsers = Parsers(config.plugins)
        # Links are told apart by it, and languages.
        wants_content = self._wants_prints or config.content.anchors or self._detects_languages
        self._wanted = Wanted(
            self._agent, False, config.content.main_content if wants_content else "", config.content.anchors
        )
        self._wanted_with_text = self._wanted._replace(text=True)
        self._pages = 0
        self.feed_reader: FeedAnswers | None = None  # reads pages that turn out to be feeds; None: they are unwanted
        self.stage_seconds = {"parse": 0.0, "links": 0.0, "close look": 0.0, "prints": 0.0, "record": 0.0}

    def document_kind(self, job: FetchJob, response: Response) -> DocumentKind | None:
        """Returns the kind of document that an answer brings, if it is to be converted before it is read."""
        if job.kind is not Kind.PAGE or not 200 <= response.status < 300 or response.outcome is not None:
            return None
        media_type = media_type_of(text_header(response, b"content-type"))
        if media_type not in DOCUMENT_TYPES or response.aborted_by_type:
            return None
        parser = self._parsers.find(media_type, response.body)
        if not isinstance(parser, DocumentParser) or (self.feed_reader is not None and media_type in FEED_TYPES):
            return None
        is_same = xxhash.xxh3_128_digest(response.body, self._seed) == job.validators.digest
        return None if is_same else parser.kind

    def read(self, job: FetchJob, response: Response, converted: Converted | None = None) -> FetchResult:
        """Returns the result of a job. `converted`: the document as HTML; where it is needed and missing, it is waited
        for here."""
        other = self._without_body.read(job, response)
        return other if other is not None else self._page(job, response, converted)

    def _page(self, job: FetchJob, response: Response, converted: Converted | None) -> FetchResult:
        content_type = text_header(response, b"content-type")
        if self.feed_reader is not None and media_type_of(content_type) in FEED_TYPES:
            return self.feed_reader.read(job._replace(kind=Kind.FEED, validators=NO_VALIDATORS), response)
        if response.aborted_by_type:
            return result(job, response, Outcome.UNWANTED_TYPE, detail=content_type)
        seen = _Seen(**validators_of(response), length=length_of(response))
        flags = scan_body(response.body)
        body = Body(job.url, content_type, response.body, flags)
        parser = self._parsers.find(content_type, response.body)
        if parser is self._parsers.html and (kind := kind_of(response.body)):
            return result(job, response, Outcome.UNWANTED_TYPE, detail=f"{kind} served as {content_type}")
        digest = xxhash.xxh3_128_digest(response.body, self._seed)
        if digest == job.validators.digest:
            return _result(job, response, Outcome.NOT_MODIFIED, "", seen)
        detail = "" if parser is not None else missing_reader(media_type_of(content_type))
        if isinstance(parser, DocumentParser):
            parser = ConvertedDocument(converted if converted is not None else parser.converted(response.body))
            detail = parser.converted.told
        try:
            reading = self._read(job, body, parser, self._header_wishes(response))
        except PluginFailed as failed:
            return _result(job, response, Outcome.PLUGIN_FAILED, str(failed), seen)
        if not reading.wishes.isdisjoint(_NOINDEX):
            return _result(job, response, Outcome.NOINDEX, "", seen, reading)
        language = self._language(reading.page)
        if not self._scope.wants_language(language):
            return _result(job, response, Outcome.UNWANTED_LANGUAGE, language, seen, reading)
        stored = self._stored(response, body, parser is None, reading.page, digest, language)
        self._pages += 1
        return _result(job, response, Outcome.FETCHED, detail, seen, reading, stored)

    def _language(self, page: Parsed) -> str:
        return language_of(page.language, page.content_or_text, self._detects_languages)

    def _read(self, job: FetchJob, body: Body, parser: Parser | None, header_wishes: frozenset[str]) -> _Reading:
        """Raises PluginFailed. `header_wishes`: what the server asks of robots; the page may ask for more."""
        if parser is None:
            return _Reading(Parsed(), _NOTHING_PACKED, self._obeyed(job.url, header_wishes, frozenset()), None)
        is_html = parser is self._parsers.html
        clock = self._clock()
        begun = clock()
        page = parser.parse(body, self._wanted if is_html and not job.close_look else self._wanted_with_text)
        parsed_at = clock()
        wishes, ask = header_wishes, 0
        if header_wishes or page.robots:
            wishes, ask = self._obeyed(job.url, header_wishes, page.robots), self._ask(header_wishes, page)
        packed_links = self._packer.pack(page, job.url, ask)
        packed_at = clock()
        look = self._close_look(job, page, packed_links.links) if job.close_look and is_html else None
        if packed_at:
            self.stage_seconds["parse"] += (parsed_at - begun) * _SAMPLED
            self.stage_seconds["links"] += (packed_at - parsed_at) * _SAMPLED
            self.stage_seconds["close look"] += (clock() - packed_at) * _SAMPLED
        return _Reading(page, packed_links, wishes, look)

    def _obeyed(self, url: str, header_wishes: frozenset[str], page_wishes: frozenset[str]) -> frozenset[str]:
        """What is asked of robots that keep pages, as far as the settings of the page's host obey it."""
        politeness = self._scope.settings.of_url(url).politeness
        by_header = header_wishes if politeness.x_robots_tag else frozenset()
        return by_header | page_wishes if politeness.meta_robots else by_header

    def _ask(self, header_wishes: frozenset[str], page: Parsed) -> int:
        """What asks that none of the page's links be followed. Whether that is obeyed, the coordinator decides."""
        by_header = asks.HEADER * (not header_wishes.isdisjoint(_NOFOLLOW))
        return by_header + asks.META * (not page.robots.isdisjoint(_NOFOLLOW))

    def forget_sent(self) -> None:
        """A result got lost on its way out: what was packed with it is packed again."""
        self._packer.forget_sent()

    def _header_wishes(self, response: Response) -> frozenset[str]:
        """What the server asks of robots that keep and follow."""
        if header(response, _ROBOTS_TAG) is None:
            return _NO_WISHES
        values = [value.decode("latin-1") for value in all_values(response.headers, _ROBOTS_TAG)]
        return directives(values, self._agent)

    def _close_look(self, job: FetchJob, page: Parsed, links: PackedLinks) -> CloseLook:
        pairs = sample(page.text, job.url)
        closure, backs = self._link_memory.take_in(job.url, links)
        return CloseLook(
            shape=shape(job.url),
            section=section(job.url),
            pairs=pairs,
            copy_keys=tuple(copy_keys(array("Q", pairs), job.host_id)),
            closure=closure,
            backs=backs,
        )

    def stored_entry(self, response: Response, content_type: str) -> tuple[StoredBody, list[str]]:
        """Returns an entry of a feed as a record, of an answer that was made of it; and the links in it."""
        body = Body(response.url, content_type, response.body, scan_body(response.body))
        page = self._parsers.html.parse(body, self._wanted._replace(anchors=False))
        digest = xxhash.xxh3_128_digest(response.body, self._seed)
        return self._stored(response, body, False, page, digest, self._language(page)), page.hrefs

    def _clock(self) -> Callable[[], float]:
        return time.thread_time if self._pages % _SAMPLED == 0 else _STOPPED_CLOCK

    def _stored(
        self, response: Response, body: Body, is_unread: bool, page: Parsed, digest: bytes, language: str
    ) -> StoredBody:
        clock = self._clock()
        begun = clock()
        text = page.content_or_text if self._wants_prints else ""
        prints, passages = packed(text, self._seed) if text else (b"", b"")
        printed = clock()
        record, escapes = trec_web.encode(
            response.url,
            response.address,
            response.fetched_at,
            body.content_type,
            response.status_line,
            response.headers,
            response.body,
            self._dochdr,
            body.flags,
        )
        if self._compress:
            record = trec_web.pack(record)
        if printed:
            self.stage_seconds["prints"] += (printed - begun) * _SAMPLED
            self.stage_seconds["record"] += (clock() - printed) * _SAMPLED
        return StoredBody(
            record=record,
            body_length=len(response.body),
            digest=digest,
            content_type=body.content_type[:LONGEST_DETAIL],
            charset=page.charset.used,
            declared_charset=page.charset.declared,
            escapes=escapes,
            truncated=response.truncated or response.damaged,
            prints=prints,
            passages=passages,
            is_unread=is_unread,
            language=language,
        )


def _result(
    job: FetchJob,
    response: Response,
    outcome: Outcome,
    detail: str,
    seen: _Seen,
    reading: _Reading = _NOTHING_READ,
    stored: StoredBody | None = None,
) -> FetchResult:
    """The result of an answer that has a body. Most results are such, so they do not go through a dict of fields."""
    links, withheld, filtered, anchors = reading.packed
    return FetchResult(
        *first_fields(job, response, outcome, detail),
        etag=seen.etag,
        last_modified=seen.last_modified,
        length=seen.length,
        body=stored,
        links=links,
        withheld=withheld,
        anchors=anchors,
        filtered=filtered,
        close_look=reading.look,
    )
