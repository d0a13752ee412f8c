"""The answer to a sitemap job into its results: the URLs that it names, in parts that the coordinator can take in
without a pause."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

import xxhash

from pycrawl.fetch.transport import Response
from pycrawl.fetcher.named_links import NamedPacker
from pycrawl.fetcher.result import result, validators_of
from pycrawl.fetcher.without_body import WithoutBody
from pycrawl.model import FetchJob, FetchResult, Kind, Named, Outcome, SourceAnswer
from pycrawl.parse.sitemap import Entry, Sitemap, read_sitemap
from pycrawl.urls import asks
from pycrawl.urls.hints import NO_PRIORITY, Hint
from pycrawl.urls.parts import host_key

MOST_LEVELS = 3  # index files that may lead to a sitemap
_PART_URLS = 5_000  # of one result
_USUAL_PRIORITY = 50  # percent: what the protocol takes where none is said
_STEPS = 4  # front queues between a priority of 0 and one of 1
_MOST_STEPS = 2  # up or down
_JUST_NOW = 3_600  # seconds: a sitemap in which every URL changed so lately makes its dates up

_Group = tuple[Kind, int, int]  # kind, ask, rise


class SitemapReader:
    def __init__(
        self, answers: WithoutBody, packer: NamedPacker, seed: int, on_part: Callable[[FetchResult], None]
    ) -> None:
        """`on_part` takes every result of a job but the last, which `read` returns."""
        self._answers = answers
        self._packer = packer
        self._seed = seed
        self._on_part = on_part

    def read(self, job: FetchJob, response: Response) -> FetchResult:
        other = self._answers.read(job, response)
        if other is not None:
            return other
        sitemap = read_sitemap(response.body)
        if response.truncated and sitemap.fault in ("", "broken-xml", "bad-gzip"):  # by the cut
            sitemap.fault = "too-large"
        notes = [sitemap.fault] if sitemap.fault else []
        validators = validators_of(response)
        if sitemap.is_empty and sitemap.fault:
            return result(job, response, Outcome.BAD_SITEMAP, detail=sitemap.fault)
        if sitemap.sitemaps and job.level >= MOST_LEVELS:
            return result(job, response, Outcome.BAD_SITEMAP, detail="index-too-deep")
        if _dates_are_made_up(sitemap.entries, response.fetched_at):
            notes.append("lastmod-always-now")
            sitemap.entries = [entry._replace(lastmod=entry.lastmod._replace(at=0)) for entry in sitemap.entries]
        groups = self._groups(job, sitemap, notes)
        digest = self._digest(groups)
        count = sum(len(group) for group in groups.values())
        answer = SourceAnswer(digest=digest, entries=count)
        if digest == job.validators.digest:
            return result(job, response, Outcome.NOT_MODIFIED, ", ".join(notes), source=answer, **validators)
        parts = list(self._parts(groups))
        for part in parts[:-1]:
            self._on_part(result(job, response, Outcome.READ, source=SourceAnswer((part,), more=True)))
        answer = answer._replace(named=tuple(parts[-1:]))
        return result(job, response, Outcome.READ, ", ".join(notes), source=answer, **validators)

    def _groups(self, job: FetchJob, sitemap: Sitemap, notes: list[str]) -> dict[_Group, dict[str, Hint]]:
        """Returns the URLs in normal form with their hints, by what becomes of them. A URL is in one group."""
        groups: dict[_Group, dict[str, Hint]] = defaultdict(dict)
        met = {job.url}
        own = {host_key(job.url), *job.vouchers}
        usual = _usual_priority(sitemap.entries)
        for kind, entries in ((Kind.SITEMAP, sitemap.sitemaps), (Kind.PAGE, sitemap.entries)):
            for url, entry in zip(self._packer.urls([one.loc for one in entries], job.url), entries, strict=True):
                if url is None or url in met:
                    if url == job.url:
                        _note(notes, "includes-itself")
                    continue
                met.add(url)
                is_foreign = host_key(url) not in own
                if is_foreign:
                    _note(notes, "other-hosts")
                rise = _MOST_RISE if kind is Kind.SITEMAP else _rise(entry.priority, usual)
                hint = Hint(entry.lastmod.at, entry.changefreq, entry.priority)
                groups[kind, asks.FOREIGN * is_foreign, rise][url] = hint
        for url in self._packer.urls(sitemap.alternates, job.url):
            if url is not None and url not in met:
                met.add(url)
                groups[Kind.PAGE, 0, 0][url] = Hint()
        return groups

    def _digest(self, groups: dict[_Group, dict[str, Hint]]) -> bytes:
        """Returns a digest of all URLs and what is said of them, whatever their order."""
        lines = [f"{url} {kind} {ask} {hint}" for (kind, ask, _), urls in groups.items() for url, hint in urls.items()]
        return xxhash.xxh3_128_digest("\n".join(sorted(lines)).encode(), self._seed)

    def _parts(self, groups: dict[_Group, dict[str, Hint]]) -> Iterator[Named]:
        for (kind, ask, rise), hints in groups.items():
            urls = list(hints)
            for begin in range(0, len(urls), _PART_URLS):
                some = urls[begin : begin + _PART_URLS]
                packed = b"".join([hints[url].packed() for url in some]) if kind is Kind.PAGE else b""
                yield Named(kind, self._packer.pack(some), ask, rise, packed)


_MOST_RISE = 8


def _note(notes: list[str], word: str) -> None:
    if word not in notes:
        notes.append(word)


def _dates_are_made_up(entries: list[Entry], fetched_at: float) -> bool:
    """True if all URLs that have a date are said to have changed just now, or in the future."""
    dates = [entry.lastmod.until for entry in entries if entry.lastmod.at]
    return len(dates) > 1 and min(dates) > fetched_at - _JUST_NOW


def _usual_priority(entries: list[Entry]) -> float:
    """Returns what the sitemap says of its URLs on average: only what differs from that means something."""
    said = [entry.priority for entry in entries if entry.priority != NO_PRIORITY]
    return (sum(said) + _USUAL_PRIORITY * (len(entries) - len(said))) / max(1, len(entries))


def _rise(priority: int, usual: float) -> int:
    percent = _USUAL_PRIORITY if priority == NO_PRIORITY else priority
    return max(-_MOST_STEPS, min(_MOST_STEPS, round((percent - usual) * _STEPS / 100)))
