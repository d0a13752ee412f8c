"""The content of a page: its links and its text, computed from a hash of (seed, page number)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import cycle
from math import log

from pycrawl.simweb.hashed_random import UNIT, draws, picks, shuffled
from pycrawl.simweb.hosts import FEED_PATH, HOSTS_IN_MEMORY, Host, Hosts, PageKind
from pycrawl.simweb.settings import SimWebSettings
from pycrawl.simweb.text import Text

Target = tuple[Host, int]  # a page by its host and its number there

HOST_FANOUT = 8  # hosts whose home pages are linked from a host's home page, so that all hosts are reached
FIRST_CHANGE = 1_700_000_000  # seconds since the epoch: no page is younger in version 0
SECONDS_PER_DAY = 86_400  # of which each version is one
MOST_LATENCY = 5.0  # times the mean

_DAYS_OF_AGE = 400  # of the pages in version 0
_SIZE, _LINKS, _LATENCY = range(3)  # what the first draws of a page decide
_META_DRAWS = 3
_DRAWS_PER_LINK = 2  # which host, and with its lower half how the link is written; which page
_LOWER_HALF = 0xFFFF
_PARAGRAPH_END = "</p>\n"
_ABROAD = 0.4  # share of links that may lead to other hosts


class PageMaker:
    """Computes the content of any page. Keeps only the pool of text and the navigation of hosts in memory."""

    def __init__(self, settings: SimWebSettings, hosts: Hosts, text: Text) -> None:
        self._settings = settings
        self._hosts = hosts
        self._text = text
        self._navigation: Callable[[int], str] = lru_cache(HOSTS_IN_MEMORY)(
            lambda index: _navigation(hosts.host(index))
        )

    # Times and versions

    def last_change(self, host: Host, local: int, version: int) -> int:
        """Returns the newest version, up to this one, that changed the page. A duplicate changes with its original."""
        number = host.first + speaker(host, local)
        pages = self._settings.pages
        changing = round(self._settings.change_share * pages)
        for step in range(version, 0, -1):
            if shuffled(number, pages, f"{self._settings.seed} version {step}") < changing:
                return step
        return 0

    def modified_at(self, host: Host, local: int, version: int) -> int:
        """Seconds since the epoch."""
        step = self.last_change(host, local, version)
        days = step or -((host.first + local) * 7919 % _DAYS_OF_AGE)
        return FIRST_CHANGE + days * SECONDS_PER_DAY

    def latency(self, host: Host, local: int) -> float:
        """Seconds; exponentially distributed."""
        if not self._settings.latency:
            return 0.0
        chance = self._draws(host, local, _META_DRAWS)[_LATENCY] * UNIT
        return self._settings.latency * min(MOST_LATENCY, -log(1 - chance))

    # Links

    def redirect_target(self, host: Host, local: int) -> Target:
        """Returns the page a redirect leads to: content, or (one in eight) another redirect, for chains of two."""
        if (local - host.pages(PageKind.REDIRECT).start) % 8 == 1:
            return host, local - 1
        where, abroad, page = self._draws(host, local, _META_DRAWS)
        other = self._popular_host(where * UNIT) if abroad & 3 == 0 else host
        return other, page % other.content

    def targets(self, host: Host, local: int) -> list[Target]:
        """The pages that a page links to, each once."""
        local = speaker(host, local)
        return [*navigation_targets(host), *self._own_targets(host, local, self._all_draws(host, local))]

    def _own_targets(self, host: Host, local: int, drawn: tuple[int, ...]) -> list[Target]:
        """Returns the links beside the navigation: first pages that only this page links to, then random ones."""
        known = {host.first + page for _, page in navigation_targets(host)}
        targets = self._tree_targets(host, local, known)
        wanted = _links_wanted(self._settings.links_per_page, drawn[_LINKS]) - len(known)
        for position in range(_META_DRAWS, _META_DRAWS + wanted * _DRAWS_PER_LINK, _DRAWS_PER_LINK):
            where, which = drawn[position] * UNIT, drawn[position + 1]
            other = host if where >= _ABROAD else self._popular_host(where / _ABROAD)
            page = int(other.size ** (which * UNIT)) - 1
            number = other.first + page
            if number in known:  # the famous ones are taken: any page will do
                page = which % other.size
                number = other.first + page
                if number in known:
                    continue
            known.add(number)
            targets.append((other, page))
        return targets

    def _tree_targets(self, host: Host, local: int, known: set[int]) -> list[Target]:
        targets: list[Target] = []
        if local < host.content:
            targets += [(host, page) for page in host.children(local) if host.first + page not in known]
        if local == 0:
            below = range(host.index * HOST_FANOUT + 1, min((host.index + 1) * HOST_FANOUT + 1, len(self._hosts)))
            targets += [(self._hosts.host(index), 0) for index in below]
        known.update(other.first + page for other, page in targets)
        return targets

    def _popular_host(self, chance: float) -> Host:
        """Returns a random host; host i with a probability proportional to 1/i."""
        return self._hosts.host(int(self._settings.hosts**chance) - 1)

    # Text

    def body(self, host: Host, local: int, version: int) -> bytes:
        change = self.last_change(host, local, version)
        local = speaker(host, local)
        number = host.first + local
        drawn = self._all_draws(host, local)
        anchors = self._anchors(host, local, drawn)
        title = f"{host.place(local)[2]} {host.place(local + 1)[2]} {number}".capitalize()
        has_feed = host.has_feed and not local
        feed = f'<link rel="alternate" type="application/rss+xml" href="{FEED_PATH}">\n' if has_feed else ""
        head = (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n{feed}'
            f"</head>\n<body>\n{self._navigation(host.index)}<main>\n<h1>{title}</h1>\n"
        )
        wanted = self._settings.mean_page_bytes * (0.25 + 2.25 * (drawn[_SIZE] * UNIT) ** 2)  # 1/4 to 5/2 of the mean
        room = wanted - len(head) - sum(map(len, anchors))
        count = max(1, round(room / (self._text.mean_paragraph + len(_PARAGRAPH_END))))
        return _assemble(head, self._paragraphs(number, count, change), anchors).encode("ascii")

    def _anchors(self, host: Host, local: int, drawn: tuple[int, ...]) -> list[str]:
        here, _, _ = host.place(local)
        odd = int(self._settings.odd_links_share * _LOWER_HALF)
        styles = cycle([draw & _LOWER_HALF for draw in drawn[_META_DRAWS::_DRAWS_PER_LINK]])
        anchors = []
        for (other, page), style in zip(self._own_targets(host, local, drawn), styles, strict=False):
            folder, name, word = other.place(page)
            if other.index != host.index or style & 3 == 0:
                href = f"http://{other.authority}{folder}{name}"
            elif style & 3 == 1:
                href = folder + name
            else:
                href = _relative(here, folder) + name
            if style < odd:
                href = _odd(href, style)
            anchors.append(f' <a href="{href}">{word} {page}</a>')
        return anchors

    def _paragraphs(self, number: int, count: int, change: int) -> list[str]:
        pool = self._text.paragraphs
        paragraphs = [pool[place] for place in picks(f"{self._settings.seed} text {number}", count)]
        if change:  # every second paragraph is new
            news = picks(f"{self._settings.seed} text {number} {change}", count)
            paragraphs[::2] = [pool[place] for place in news[::2]]
        return paragraphs

    def _draws(self, host: Host, local: int, count: int) -> tuple[int, ...]:
        return draws(f"{self._settings.seed} page {host.first + local}", count)

    def _all_draws(self, host: Host, local: int) -> tuple[int, ...]:
        links = _links_wanted(self._settings.links_per_page, (1 << 32) - 1)
        return self._draws(host, local, _META_DRAWS + links * _DRAWS_PER_LINK)


def speaker(host: Host, local: int) -> int:
    """Returns the page whose bytes a page has: itself, or the original of a duplicate."""
    return host.original(local) if host.ends[0] <= local < host.ends[1] else local


def navigation_targets(host: Host) -> list[Target]:
    """The home page and the first page of each section."""
    return [(host, page) for page in range(min(len(host.sections) + 1, host.content))]


def _navigation(host: Host) -> str:
    """The same on all pages of a host."""
    names = ["Home", *(section.strip("/").capitalize() for section in host.sections)]
    items = "".join(
        f'<li><a href="{host.path(page)}">{name}</a></li>\n'
        for (_, page), name in zip(navigation_targets(host), names, strict=False)
    )
    return f"<header>\n<nav>\n<ul>\n{items}</ul>\n</nav>\n</header>\n"


def _links_wanted(mean: int, draw: int) -> int:
    """Returns a number of links between half of the mean and one and a half times the mean."""
    return mean - mean // 2 + ((mean // 2 * 2 + 1) * draw >> 32)


def _relative(here: str, there: str) -> str:
    """The way from one folder to another; folders are at most one level deep."""
    if here == there:
        return ""
    return there[1:] if here == "/" else f"..{there}"


def _odd(href: str, style: int) -> str:
    """Another way to write a link: its normal form is the same."""
    match style >> 2 & 3:
        case 0:
            return f"{href}#part-{style & 7}"
        case 1:
            return f"{href}{'&amp;' if '?' in href else '?'}utm_source=feed"
        case 2 if href.startswith("http:"):
            return "HTTP" + href.removeprefix("http")
        case 2:
            return f"  {href} "
        case _ if href.startswith("http:"):
            return f"{href}#"
        case _:
            return f"/there/..{href}" if href.startswith("/") else f"./{href}"


def _assemble(head: str, paragraphs: list[str], anchors: list[str]) -> str:
    """One link at the end of each paragraph, and a list of those that are left."""
    texts = [paragraph + anchor for paragraph, anchor in zip(paragraphs, anchors, strict=False)]
    texts += paragraphs[len(texts) :]
    parts = [head, _PARAGRAPH_END.join(texts), _PARAGRAPH_END]
    left = anchors[len(paragraphs) :]
    if left:
        parts += ("<ul>\n", *(f"<li>{anchor}</li>\n" for anchor in left), "</ul>\n")
    parts.append("</main>\n<footer><p>A page of a synthetic web.</p></footer>\n</body>\n</html>\n")
    return "".join(parts)
