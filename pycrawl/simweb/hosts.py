"""The hosts of a synthetic web: address, paths of pages, what each page answers, robots.txt.

A host's pages are numbered from 0, its home page. The first ones are content and carry the links by which all of the
host is reached; behind them, range by range, stand the pages of every other kind.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate

from pycrawl.simweb.hashed_random import UNIT, draws, shuffled
from pycrawl.simweb.settings import SimWebSettings
from pycrawl.simweb.text import SLUGS

HOSTS_IN_MEMORY = 8_192
FANOUT = 4  # content pages below a content page in the tree by which a host is reached

_SECTIONS = str.split(
    "news guide people places science music letters travel archive health kitchen garden reports projects history "
    "library sports weather market school"
)
_MAX_SECTIONS = 6
_PRIVATE = "/private/"
SITEMAP_PATH = "/sitemap.xml"
FEED_PATH = "/feed.xml"
_AUTHORITY = re.compile(r"127\.1\.([0-9]{1,3})\.([0-9]{1,3})(?::[0-9]{1,5})?")
_NUMBER = re.compile(r"([0-9]{1,12})(?:\.html)?$")


class PageKind(StrEnum):
    CONTENT = "content"
    DUPLICATE = "duplicate"  # 200, the very bytes of a content page of the same folder
    FLAKY = "flaky"  # 503 the first time, then 200
    REDIRECT = "redirect"  # 301 or 302
    MISSING = "missing"  # 404
    BROKEN = "broken"  # 500, always
    DISALLOWED = "disallowed"  # by robots.txt; 200 to who asks all the same


KINDS = tuple(PageKind)


def address(index: int) -> str:
    return f"127.1.{index // 250}.{index % 250 + 1}"


@dataclass(frozen=True, slots=True)
class Host:
    index: int
    authority: str  # "127.1.0.1:8900"
    first: int  # the home page's number in the web
    size: int  # pages
    ends: tuple[int, ...]  # where the range of each kind ends, in the order of `KINDS`
    sections: tuple[str, ...]  # folders, "/news/" …
    slugs: tuple[str, ...] = field(repr=False, compare=False)  # words for file names, shared by all hosts
    has_rules: bool
    crawl_delay: float
    has_sitemap: bool = False
    has_feed: bool = False

    @property
    def address(self) -> str:
        return address(self.index)

    @property
    def url(self) -> str:
        """The home page."""
        return f"http://{self.authority}/"

    @property
    def content(self) -> int:
        """How many pages are content; they are the first ones, from number 0."""
        return self.ends[0]

    def kind(self, page: int) -> PageKind:
        return KINDS[bisect_right(self.ends, page)]

    def pages(self, kind: PageKind) -> range:
        position = KINDS.index(kind)
        return range(self.ends[position - 1] if position else 0, self.ends[position])

    def place(self, page: int) -> tuple[str, str, str]:
        """Returns the folder of a page's path, with its last slash; the rest, with the query; the word in its name."""
        slug = self.slugs[(page * 211 + self.index * 97) % SLUGS]
        if page == 0:
            return "/", "", slug
        folder = self.sections[(page - 1) % len(self.sections)]
        if page >= self.ends[-2]:  # disallowed
            return (_PRIVATE, f"{slug}-{page}.html", slug) if page & 1 else (folder, f"draft-{slug}-{page}.html", slug)
        return folder, f"{slug}?id={page}" if page & 7 == 5 else f"{slug}-{page}.html", slug

    def path(self, page: int) -> str:
        folder, name, _ = self.place(page)
        return folder + name

    def page_at(self, path: str) -> int | None:
        """Returns the number of the page with this path and query, or None."""
        if path == "/":
            return 0
        match = _NUMBER.search(path)
        page = int(match[1]) if match else self.size
        return page if page < self.size and self.path(page) == path else None

    def original(self, duplicate: int) -> int:
        """Returns the content page whose bytes a duplicate has. It is in the same folder, so relative links agree."""
        row = (duplicate - 1) % len(self.sections)
        rows = (self.content - 2 - row) // len(self.sections) + 1
        return 1 + row + len(self.sections) * (duplicate * 7 % rows)

    def children(self, page: int) -> list[int]:
        """The pages whose place in the host's tree is below a content page."""
        below = range(page * FANOUT + 1, min(page * FANOUT + FANOUT + 1, self.content))
        return [*below, *range(self.content + page, self.size, self.content)]

    def robots_txt(self) -> str | None:
        """The text of robots.txt, or None for a 404, which every second host without rules or sitemap answers."""
        sitemap = f"Sitemap: {self.url}{SITEMAP_PATH[1:]}\n" if self.has_sitemap else ""
        if not self.has_rules:
            return None if self.index & 1 and not sitemap else f"User-agent: *\nDisallow:\n{sitemap}"
        delay = f"Crawl-delay: {self.crawl_delay:g}\n" if self.crawl_delay else ""
        rules = f"User-agent: *\nDisallow: {_PRIVATE}\nDisallow: /*/draft-\nAllow: /\n{delay}"
        return f"# {self.authority}\nUser-agent: nosybot\nDisallow: /\n\n{rules}{sitemap}"


def _sections(index: int, size: int) -> tuple[str, ...]:
    count = min(_MAX_SECTIONS, max(1, size // 6))
    return tuple(f"/{_SECTIONS[(index * 7 + i) % len(_SECTIONS)]}/" for i in range(count))


class Hosts:
    """All hosts of a web, each built when it is asked for."""

    def __init__(self, settings: SimWebSettings, slugs: tuple[str, ...]) -> None:
        self._settings = settings
        self._slugs = slugs
        self._starts = _starts(settings)
        self._port = "" if settings.port == 80 else f":{settings.port}"
        self.host: Callable[[int], Host] = lru_cache(HOSTS_IN_MEMORY)(self._build)

    def __len__(self) -> int:
        return self._settings.hosts

    def __iter__(self) -> Iterator[Host]:
        return map(self.host, range(len(self)))

    def with_page(self, number: int) -> Host:
        """Returns the host to which the page with this number (in the whole web) belongs."""
        return self.host(bisect_right(self._starts, number) - 1)

    def at(self, authority: str) -> Host | None:
        """Returns the host with this authority, as it stands in a URL, or None."""
        match = _AUTHORITY.fullmatch(authority)
        if match is None:
            return None
        index = int(match[1]) * 250 + int(match[2]) - 1
        return self.host(index) if 0 <= index < len(self) and self.host(index).authority == authority else None

    def _build(self, index: int) -> Host:
        settings = self._settings
        first = self._starts[index]
        size = self._starts[index + 1] - first
        sections = _sections(index, size)
        rank = shuffled(index, len(self), f"{settings.seed} robots")
        has_rules = rank < round(settings.robots_share * len(self))
        # The largest host has no Crawl-delay: it alone would decide how long a crawl takes.
        delay = settings.crawl_delay if has_rules and rank % 2 == 0 and index else 0.0
        ends = self._ends(index, size, len(sections), has_rules)
        authority = address(index) + self._port
        has_sitemap, has_feed = (
            shuffled(index, len(self), f"{settings.seed} {name}") < round(share * len(self))
            for name, share in (("sitemap", settings.sitemap_share), ("feed", settings.feed_share))
        )
        return Host(
            index, authority, first, size, ends, sections, self._slugs, has_rules, delay, has_sitemap, has_feed
        )  # fmt: skip

    def _ends(self, index: int, size: int, sections: int, has_rules: bool) -> tuple[int, ...]:
        settings = self._settings
        shares = {
            PageKind.DISALLOWED: settings.disallowed_share if has_rules else 0.0,
            PageKind.REDIRECT: settings.redirect_share,
            PageKind.MISSING: settings.error_share / 2,
            PageKind.BROKEN: settings.error_share / 4,
            PageKind.FLAKY: settings.error_share / 4,
            PageKind.DUPLICATE: settings.duplicates_share,
        }
        chances = draws(f"{settings.seed} kinds {index}", len(shares))
        counts = dict.fromkeys(KINDS, 0)
        left = size - 1  # the home page is content
        for (kind, share), chance in zip(shares.items(), chances, strict=True):
            # Rounded up or down by chance, so that the share holds over many small hosts too.
            counts[kind] = min(left, int(share * size + chance * UNIT))
            left -= counts[kind]
        if left < sections:  # too few originals
            left += counts[PageKind.DUPLICATE]
            counts[PageKind.DUPLICATE] = 0
        counts[PageKind.CONTENT] = left + 1
        return tuple(accumulate(counts[kind] for kind in KINDS))


def _starts(settings: SimWebSettings) -> array[int]:
    """The number of each host's home page, and the number of pages: one page for each host, the rest by Zipf's law."""
    weights = list(accumulate((1 / (i + 1) ** settings.host_skew for i in range(settings.hosts)), initial=0.0))
    spare = settings.pages - settings.hosts
    return array("q", (i + int(spare * (weight / weights[-1])) for i, weight in enumerate(weights)))
