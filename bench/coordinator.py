"""What the coordinator costs alone: `python bench/coordinator.py [--pages N] [--fetchers N] [--profile]`.

The fetchers are replaced by a pool that answers each job at once, with what the real readers make of the page of a
static web. The time that this takes is not counted; packing the jobs and reading the messages is. So the coordinator is
fed as fast as it takes results in, and what is left is its own CPU time: dispatch, intake, sieve, store, commits.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import random
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import cast

from measure import LOOPBACK, add_setting_option, new_crawl
from static_web import ROBOTS, StaticWeb, make_page, make_paragraphs

from pycrawl.config import Config
from pycrawl.coordinator import Coordinator
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.progress import RunLimits
from pycrawl.crawl.session import Session
from pycrawl.fetch.transport import Response
from pycrawl.fetcher.named_links import NamedPacker
from pycrawl.fetcher.page_result import PageReader
from pycrawl.fetcher.probe_result import ProbeReader
from pycrawl.fetcher.robots_result import RobotsReader, RulesCache
from pycrawl.model import FetchJob, Jobs, Kind, Results
from pycrawl.processes.messages import pack, unpack_results
from pycrawl.processes.pool import FetcherPool, News
from pycrawl.processes.signals import Interrupts
from pycrawl.urls.normal_form import UrlRules
from pycrawl.urls.scope import Scope

PORT = 80
PAGES_AT_ONCE = 16  # results in one message, as fetchers send them in a fast crawl
FEW_PARAGRAPHS = 2_000
SHOWN = 45  # lines of a profile
_FETCH_SECONDS = 0.001  # that a fetch is said to have taken


class AnsweringPool:
    """Takes the place of `FetcherPool`. `seconds` is the CPU time that making the answers took."""

    def __init__(
        self, web: StaticWeb, config: Config, seed: int, fetchers: int, profile: cProfile.Profile | None
    ) -> None:
        self._web = web
        self._profile = profile
        self._chance = random.Random(web.seed)
        self._paragraphs = make_paragraphs(self._chance, web.paragraphs)
        self._numbers = {f"http://{address}/": host for host, address in enumerate(web.addresses)}
        self._readers = [_readers(config, seed) for _ in range(fetchers)]
        self._ready: list[tuple[int, bytes]] = []
        self.seconds = 0.0
        self.messages = 0
        self.replaced = 0

    def __len__(self) -> int:
        return len(self._readers)

    def send(self, number: int, jobs: Jobs) -> None:
        pack(jobs)
        begun = time.thread_time()
        if self._profile:
            self._profile.disable()
        results = [self._readers[number][job.kind].read(job, self._response(job)) for job in jobs.jobs]
        for first in range(0, len(results), PAGES_AT_ONCE):
            message = Results(tuple(results[first : first + PAGES_AT_ONCE]))
            self._ready.append((number, pack(message)))
        if self._profile:
            self._profile.enable()
        self.seconds += time.thread_time() - begun

    def _response(self, job: FetchJob) -> Response:
        origin, _, path = job.url.partition("/p")
        status, body, content_type = 404, b"", b"text/html"
        if job.kind is Kind.ROBOTS:
            status, body, content_type = 200, ROBOTS.encode(), b"text/plain"
        elif job.kind is Kind.PAGE:
            page = int(path.removesuffix(".html")) * self._web.hosts + self._numbers[f"{origin}/"]
            status, body = 200, make_page(self._web, page, PORT, self._chance, self._paragraphs).encode()
        now = time.monotonic()
        return Response(
            job.url_id, job.url, now - _FETCH_SECONDS, status, b"HTTP/1.1 200 OK", [(b"Content-Type", content_type)],
            body, address=job.address, ended=now, wire_bytes=len(body),
        )  # fmt: skip

    def wait(self, seconds: float, *wake_fds: int) -> News:
        ready, self._ready = self._ready, []
        self.messages += len(ready)
        if not ready and seconds > 0:
            time.sleep(seconds)
        return News([(number, unpack_results(message)) for number, message in ready], [])

    def cpu_seconds(self) -> dict[str, float]:
        return {}


def _readers(config: Config, seed: int) -> dict[Kind, PageReader | ProbeReader | RobotsReader]:
    scope = Scope(config)
    rules = RulesCache(config.crawl.name)
    return {
        Kind.PAGE: PageReader(config, scope, seed),
        Kind.PROBE: ProbeReader(config),
        Kind.ROBOTS: RobotsReader(config, scope.settings, rules, NamedPacker(UrlRules.of(config), scope, seed)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--fetchers", type=int, default=16)
    parser.add_argument("--profile", action="store_true", help="print where the time goes; all is slower then")
    add_setting_option(parser)
    options = parser.parse_args()
    web = StaticWeb(hosts=options.hosts, pages=options.pages, paragraphs=FEW_PARAGRAPHS)
    starts = [web.url(page, PORT) for page in range(min(web.hosts, web.pages))]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        path = Path(folder, "crawl")
        new_crawl(path, starts, {**LOOPBACK, **dict(options.settings)})
        directory = CrawlDirectory(path)
        directory.log.mkdir(exist_ok=True)
        config = directory.config()
        stack.enter_context(directory.hold())
        session = stack.enter_context(Session(directory, config))
        profile = cProfile.Profile() if options.profile else None
        pool = AnsweringPool(web, config, session.seed, options.fetchers, profile)
        interrupts = stack.enter_context(Interrupts())
        begun = time.process_time()
        never = float("inf")
        limits = RunLimits(never, never, never, never)
        coordinator = Coordinator(session, cast(FetcherPool, pool), limits, interrupts, lambda progress: None)
        if profile:
            profile.enable()
        ended = coordinator.run()
        if profile:
            profile.disable()
        cpu = time.process_time() - begun - pool.seconds
    pages = ended.counts.pages
    per_page = cpu / pages * 1000
    print(f"{pages:,} pages in {pool.messages:,} messages: {per_page:.3f} ms of CPU time a page")
    print(f"so one coordinator can take in {1000 / per_page:,.0f} pages a second")
    if profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(SHOWN)


if __name__ == "__main__":
    main()
