"""robots.txt: the answer to a robots job into its result, and the rules that this fetcher has."""

from __future__ import annotations

from collections import OrderedDict

from pycrawl.config import Config
from pycrawl.fetch.transport import REDIRECTS, Response
from pycrawl.fetcher.named_links import NamedPacker
from pycrawl.fetcher.result import result, text_header
from pycrawl.model import FetchJob, FetchResult, Outcome, PackedLinks, RobotsFile
from pycrawl.policy.politeness import retry_after_seconds
from pycrawl.policy.robots import MAX_ROBOTS_BYTES, RobotsRules, expiry
from pycrawl.urls import asks
from pycrawl.urls.host_settings import SettingsByHost
from pycrawl.urls.normal_form import UrlRules, normalise
from pycrawl.urls.parts import GUESSED_PATH, origin

_RULES_KEPT = 20_000  # origins
_RULES_BYTES = 128_000_000  # for all of them: 500 KiB of short rules take 2 MB
_ROBOTS_REDIRECTS = 5  # RFC 9309, 2.3.1.2


class RulesCache:
    """The rules of the origins that this fetcher serves. Those it has forgotten are sent again by the coordinator."""

    def __init__(self, agent: str, most_bytes: int = _RULES_BYTES) -> None:
        self._agent = agent
        self._rules: OrderedDict[str, RobotsRules] = OrderedDict()  # by origin, the least recently used first
        self._most_bytes = most_bytes
        self._bytes = 0  # that all of them take, about

    def keep(self, site: str, file: RobotsFile) -> RobotsRules:
        """Parse the robots.txt of an origin, and forget others if there is no room for it. Returns its rules, which are
        not kept if they only say that it is unreachable."""
        rules = RobotsRules.parse(file, self._agent, with_lines=False)
        if rules.unreachable:
            return rules
        self._forget(site)
        self._rules[site] = rules
        self._bytes += rules.size
        while len(self._rules) > 1 and (len(self._rules) > _RULES_KEPT or self._bytes > self._most_bytes):
            self._forget(next(iter(self._rules)))
        return rules

    def _forget(self, site: str) -> None:
        rules = self._rules.pop(site, None)
        self._bytes -= rules.size if rules is not None else 0

    def refusal(self, job: FetchJob) -> Outcome | None:
        """Why robots.txt keeps us from doing this job, if it does. Rules that came with the job are kept."""
        site = origin(job.url)
        if job.robots is not None:
            self.keep(site, job.robots)
        rules = self._rules.get(site)
        if rules is None:
            return Outcome.ROBOTS_UNKNOWN
        self._rules.move_to_end(site)
        if rules.unreachable:
            return Outcome.ROBOTS_UNREACHABLE
        return None if rules.allowed(job.url) else Outcome.ROBOTS_DENIED


class RobotsReader:
    def __init__(self, config: Config, settings: SettingsByHost, rules: RulesCache, packer: NamedPacker) -> None:
        self._url_rules = UrlRules.of(config)
        self._packer = packer
        self._guesses = config.sitemaps.guess
        self._settings = settings
        self._rules = rules

    def read(self, job: FetchJob, response: Response) -> FetchResult:
        """Returns a file only where rules were read, or where there are none: a 4xx other than 429, or more redirects
        than are followed. All else is a failure to get the file."""
        if response.outcome is not None:
            return result(job, response, response.outcome)
        is_redirect = response.status in REDIRECTS
        if is_redirect and job.hops < _ROBOTS_REDIRECTS:
            location = text_header(response, b"location")
            target = normalise(location, self._url_rules, response.url) if location else None
            if target is None:
                return _unreachable(job, response)
            # Another hit, on this host or another one: the coordinator says when.
            return result(job, response, Outcome.REDIRECT, location=target, hops=job.hops + 1)
        if 300 <= response.status < 400 and not is_redirect:
            return _unreachable(job, response)
        if response.damaged and response.status < 300:  # half of the rules might allow what the other half denies
            return result(job, response, Outcome.BAD_ENCODING)
        ttl = self._settings.of_url(f"{job.site}/").politeness.robots_ttl
        expires_at = expiry(text_header(response, b"cache-control"), response.fetched_at, ttl)
        file = RobotsFile(response.status, response.body[:MAX_ROBOTS_BYTES], response.fetched_at, expires_at)
        rules = self._rules.keep(job.site, file)
        if rules.unreachable:
            return _unreachable(job, response)
        return result(
            job,
            response,
            Outcome.FETCHED,
            robots=file._replace(crawl_delay=rules.crawl_delay or 0.0),
            withheld=self._sitemaps(job, rules),
        )

    def _sitemaps(self, job: FetchJob, rules: RobotsRules) -> tuple[tuple[int, PackedLinks], ...]:
        """Returns the sitemaps that the rules name, or the usual one where they name none and that is to be tried."""
        home = f"{job.site}/"
        named = {url: None for url in self._packer.urls(list(rules.sitemaps), home) if url is not None and url != home}
        if named:
            return ((asks.SITEMAP, self._packer.pack(list(named))),)
        return ((0, self._packer.pack([f"{job.site}{GUESSED_PATH}"])),) if self._guesses else ()


def _unreachable(job: FetchJob, response: Response) -> FetchResult:
    wait = retry_after_seconds(text_header(response, b"retry-after"), response.fetched_at)
    return result(job, response, Outcome.ROBOTS_UNREACHABLE, f"status {response.status}", retry_after=wait)
