"""A fetcher process: one thread, one event loop over the pipes to the coordinator and all connections to servers.

It keeps the robots rules of the hosts that it serves, and sends what it has whenever it would otherwise wait, so that
results travel singly in a slow crawl and in batches in a fast one.
"""

from __future__ import annotations

import faulthandler
import os
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from ctypes import c_uint64
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from typing import Protocol

from pycrawl.config import Config
from pycrawl.convert.converter import Converted
from pycrawl.fetch.faults import note_fault
from pycrawl.fetch.loop import Loop
from pycrawl.fetch.transport import TOO_BUSY, Request, RequestTerms, Response, WantsType
from pycrawl.fetch.transports import new_transport
from pycrawl.fetcher.documents import DocumentQueue
from pycrawl.fetcher.feed_result import FeedReader
from pycrawl.fetcher.head_result import HeadReader
from pycrawl.fetcher.hub_result import HubReader
from pycrawl.fetcher.named_links import NamedPacker
from pycrawl.fetcher.page_result import PageReader
from pycrawl.fetcher.probe_result import ProbeReader
from pycrawl.fetcher.result import result, unfetched
from pycrawl.fetcher.robots_result import RobotsReader, RulesCache
from pycrawl.fetcher.sitemap_result import SitemapReader
from pycrawl.fetcher.without_body import WithoutBody
from pycrawl.model import Fetched, FetchJob, FetchResult, Jobs, Kind, Outcome, Results, Validators
from pycrawl.parse.feed_types import FEED_TYPES, media_type_of
from pycrawl.parse.xml_guard import MOST_BYTES as SITEMAP_BYTES
from pycrawl.processes.allocation import collect_rarely, keep_freed_memory
from pycrawl.processes.messages import BATCH_BYTES, MOST_RESULT_BYTES, pack, size_of, unpack_jobs
from pycrawl.processes.pipe_queue import Receiver, Sender
from pycrawl.urls.host_settings import HostSettings
from pycrawl.urls.normal_form import UrlRules
from pycrawl.urls.scope import Scope

_SIGN_OF_LIFE_SECONDS = 1.0
_RECKONING_SECONDS = 0.05  # between two looks at the CPU time that was spent
_TROUBLES_KEPT = 4_096  # hosts
_ANY_TYPE = (
    Kind.ROBOTS,
    Kind.SITEMAP,
    Kind.FEED,
    Kind.HEAD,
    Kind.HUB,
)  # kinds whose answers are wanted whatever their type


class AnswerReader(Protocol):
    """Turns what a server answered to a job of one kind into the job's result."""

    def read(self, job: FetchJob, response: Response) -> FetchResult: ...


class CoordinatorGone(Exception):
    """The pipe to the coordinator is closed: nobody is left to work for."""


class Fetcher:
    def __init__(
        self, jobs: Receiver[Jobs], results: Sender[Results], working_on: c_uint64, config: Config, seed: int
    ) -> None:
        self._jobs = jobs
        self._results = results
        self._working_on = working_on
        self._config = config
        scope = Scope(config)
        self._settings = scope.settings
        self._terms: dict[HostSettings, RequestTerms | None] = {self._settings.common: None}  # None: the transport's
        self._rules = RulesCache(config.crawl.name)
        self._page_reader = PageReader(config, scope, seed)
        url_rules = UrlRules.of(config)
        packer = NamedPacker(url_rules, scope, seed)
        answers = WithoutBody(url_rules, scope, seed)
        feed_reader = FeedReader(answers, packer, self._page_reader, seed)
        self._page_reader.feed_reader = feed_reader if config.feeds.discover else None
        self._readers: dict[Kind, AnswerReader] = {
            Kind.PAGE: self._page_reader,
            Kind.PROBE: ProbeReader(config),
            Kind.ROBOTS: RobotsReader(config, self._settings, self._rules, packer),
            Kind.SITEMAP: SitemapReader(answers, packer, seed, self._on_part),
            Kind.FEED: feed_reader,
            Kind.HEAD: HeadReader(),
            Kind.HUB: HubReader(),
        }
        self._loop = Loop()
        wants_type = _with_feeds(scope.wants_type) if config.feeds.discover else scope.wants_type
        self._transport = new_transport(config, self._loop, wants_type, self._on_response)
        self._sitemap_terms: dict[HostSettings, RequestTerms] = {}
        self._open: dict[int, FetchJob] = {}  # jobs at the transport, by URL id
        self._at_host: dict[int, int] = {}  # how many of these by host id
        self._behind: dict[int, deque[FetchJob]] = {}  # by host id: jobs whose turn comes when one of these has ended
        self._in_trouble: OrderedDict[int, None] = OrderedDict()  # host ids, until the coordinator knows of it
        self._documents = DocumentQueue(self._loop, self._on_converted)
        self._answers: list[tuple[FetchJob, Response]] = []  # to be worked on
        self._looked_up: set[int] = set()  # URL ids of jobs whose host's name is being looked up
        self._done: list[FetchResult] = []
        self._fetched: list[Fetched] = []
        self._done_bytes = 0  # about, of the message that they will be
        self._sent_at = 0.0
        self._reckoned_at = 0.0
        self._cpu_seconds: dict[str, float] = {}
        self._stopping = False
        self._loop.add_reader(jobs.fileno(), self._on_jobs)

    def run(self) -> None:
        self._send()  # the first sign of life
        while not self._stopping or self._open or self._documents.documents or self._results.is_waiting:
            self._loop.run_once(_SIGN_OF_LIFE_SECONDS)
            self._work()
            if self._done or self._fetched or time.monotonic() - self._sent_at >= _SIGN_OF_LIFE_SECONDS:
                self._send()
        self._documents.close()
        self._transport.close()

    def _on_jobs(self) -> None:
        try:
            batches: list[Jobs] = self._jobs.receive()
        except EOFError:
            raise CoordinatorGone from None
        for batch in batches:
            self._stopping |= batch.stop
            for job in batch.jobs:
                self._guard(self._start, job)
                self._send_if_due()

    def _guard(self, step: Callable[..., None], job: FetchJob, *arguments: object) -> None:
        """Do a step of `job`. If it raises, that is the job's result, and costs neither the process nor another job."""
        try:
            step(job, *arguments)
        except Exception as error:  # noqa: BLE001 - whatever it is
            self._looked_up.discard(job.url_id)
            if self._open.pop(job.url_id, None) is not None:
                self._leave(job, False)
            self._done.append(unfetched(job, Outcome.INTERNAL_ERROR, note_fault(job.url, error)))

    def _start(self, job: FetchJob) -> None:
        # What holds is what the coordinator goes by: that of the URL's host, also where its robots.txt is elsewhere.
        politeness = self._settings.of_url(f"{job.site}/" if job.site else job.url).politeness
        if job.kind is not Kind.ROBOTS and politeness.obey_robots:
            refusal = self._rules.refusal(job)
            if refusal is not None:
                self._done.append(unfetched(job, refusal))
                return
        if job.host_id in self._in_trouble:
            if job.ahead:  # sent before the coordinator knew
                self._done.append(unfetched(job, Outcome.HELD_BACK))
                return
            del self._in_trouble[job.host_id]
        at_host = self._at_host.get(job.host_id, 0)
        if at_host >= politeness.connections_per_host:
            self._behind.setdefault(job.host_id, deque()).append(job)
        else:
            self._at_host[job.host_id] = at_host + 1
            self._go(job)

    def _go(self, job: FetchJob) -> None:
        self._open[job.url_id] = job
        if job.look_up or not job.address:
            self._looked_up.add(job.url_id)
            self._transport.resolve(job.url_id, job.url)
        else:
            self._submit(job)

    def _submit(self, job: FetchJob) -> None:
        settings = self._settings.of_url(job.url)
        request = Request(
            key=job.url_id,
            url=job.url,
            headers=_conditions(job.validators),
            any_type=job.kind in _ANY_TYPE,
            is_head=job.kind is Kind.HEAD,
            form=job.form.encode(),
            address=job.address,
            cookies=job.cookies,
            terms=self._terms_of(job, settings),
            connections=settings.politeness.connections_per_host,
        )
        self._transport.submit(request)

    def _terms_of(self, job: FetchJob, settings: HostSettings) -> RequestTerms | None:
        if job.kind is Kind.SITEMAP:
            if settings not in self._sitemap_terms:
                terms = RequestTerms.for_host(self._config, settings)
                self._sitemap_terms[settings] = replace(terms, max_body_bytes=SITEMAP_BYTES)
            return self._sitemap_terms[settings]
        if settings not in self._terms:
            self._terms[settings] = RequestTerms.for_host(self._config, settings)
        return self._terms[settings]

    def _on_address(self, job: FetchJob, response: Response) -> None:
        """The name was looked up: to be fetched now if its address is the one that the host's gate is kept by."""
        moved = response.address and job.address not in response.addresses
        if moved and job.address and hasattr(self._transport, "close_idle"):
            self._transport.close_idle(job.address)  # the host's next connection is made elsewhere
        if response.outcome is not None or moved:
            self._done.append(result(job, response, response.outcome or Outcome.ADDRESS_MOVED))
            del self._open[job.url_id]
            self._leave(job, False)
        else:
            self._submit(job)

    def _on_response(self, response: Response) -> None:
        job = self._open[response.key]
        if job.url_id in self._looked_up:
            self._looked_up.remove(job.url_id)
            self._guard(self._on_address, job, response)
        else:
            del self._open[response.key]
            self._answers.append((job, response))
            self._leave(job, response.outcome is None and response.status not in TOO_BUSY)

    def _leave(self, job: FetchJob, went_well: bool) -> None:
        """A job has ended, so it is the next one's turn; but if it did not go well, all that wait go back."""
        host_id = job.host_id
        behind = self._behind.get(host_id)
        if behind is not None and went_well:
            following = behind.popleft()
            if not behind:
                del self._behind[host_id]
            self._guard(self._go, following)
            return
        if behind is not None:
            self._done += [unfetched(one, Outcome.HELD_BACK) for one in behind]
            del self._behind[host_id]
        if not went_well:
            self._in_trouble[host_id] = None
            if len(self._in_trouble) > _TROUBLES_KEPT:
                self._in_trouble.popitem(last=False)
        others = self._at_host.pop(host_id) - 1
        if others:
            self._at_host[host_id] = others

    def _work(self) -> None:
        """Read the answers that have come; meanwhile their servers have the next requests."""
        for job, response in self._answers:
            kind = self._page_reader.document_kind(job, response)
            if kind is None:
                self._read_by(self._readers[job.kind].read, job, response)
            elif self._documents.is_full:  # documents never hold up pages: this one is asked for again later
                self._done.append(result(job, response, Outcome.NO_ROOM))
            else:
                if not self._documents.is_long:
                    self._fetched.append(Fetched(job.url_id, response.started, response.ended))
                self._documents.put(job, response, kind)
            self._send_if_due()
        self._answers.clear()

    def _on_converted(self, job: FetchJob, response: Response, converted: Converted) -> None:
        self._read_by(partial(self._page_reader.read, converted=converted), job, response)

    def _read_by(self, read: Callable[[FetchJob, Response], FetchResult], job: FetchJob, response: Response) -> None:
        self._working_on.value = job.url_id
        try:
            done = read(job, response)
            self._done_bytes += size_of(done)
            if self._done_bytes > MOST_RESULT_BYTES:
                raise ValueError("a page with too many links for one message")
            self._done.append(done)
        except Exception as error:  # noqa: BLE001  # one page must not end the process; the outcome names the fault
            self._page_reader.forget_sent()
            self._done.append(result(job, response, Outcome.INTERNAL_ERROR, detail=note_fault(job.url, error)))
        self._working_on.value = 0

    def _on_part(self, part: FetchResult) -> None:
        """A part of an answer is ready, and more follow."""
        self._done.append(part)
        self._done_bytes += size_of(part)
        self._send_if_due()

    def _send_if_due(self) -> None:
        """In the middle of work: hundreds of answers that take a tenth of a second each, as robots.txt files with
        30,000 rules do, are more than `limits.fetcher_timeout`."""
        if self._done_bytes > BATCH_BYTES or time.monotonic() - self._sent_at >= _SIGN_OF_LIFE_SECONDS:
            self._send()

    def _send(self) -> None:
        now = time.monotonic()
        if now - self._reckoned_at >= _RECKONING_SECONDS:
            self._reckoned_at = now
            self._cpu_seconds = {**self._page_reader.stage_seconds, "total": time.process_time()}
        try:
            self._results.send(
                Results(tuple(self._done), self._cpu_seconds, self._transport.most_slots, tuple(self._fetched))
            )
        except BrokenPipeError:
            raise CoordinatorGone from None
        self._done.clear()
        self._fetched.clear()
        self._done_bytes = 0
        self._sent_at = now
        if self._results.is_waiting:
            self._loop.add_writer(self._results.fileno(), self._on_writable)

    def _on_writable(self) -> None:
        try:
            self._results.flush()
        except BrokenPipeError:
            raise CoordinatorGone from None
        if not self._results.is_waiting:
            self._loop.remove_writer(self._results.fileno())


def _conditions(validators: Validators) -> tuple[tuple[str, str], ...]:
    """Returns the headers of a conditional request."""
    etag, last_modified, _ = validators
    if not etag and not last_modified:
        return ()
    headers = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
    return tuple([(name, value) for name, value in headers if value])


def _with_feeds(wants_type: WantsType) -> WantsType:
    """Returns a function that also wants the types of feeds: these are read, and not stored."""
    return lambda content_type: media_type_of(content_type) in FEED_TYPES or wants_type(content_type)


def main(jobs: Connection, results: Connection, working_on: c_uint64, config: Config, seed: int) -> None:
    """The fetcher process, started by name. It leaves when it is told to, or when the coordinator has gone."""
    faulthandler.enable()
    collect_rarely()
    keep_freed_memory()
    try:
        Fetcher(Receiver(jobs, unpack_jobs), Sender(results, pack), working_on, config, seed).run()
    except CoordinatorGone:
        # Nothing to save and nobody to tell; open transfers must not delay the end.
        os._exit(0)
