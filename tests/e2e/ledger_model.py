"""What a crawl of the small web must fetch, said in the plainest way: the settings, and a search that relaxes until
nothing changes. It shares no code with the crawler.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from math import inf
from urllib.parse import urlsplit

from tests.e2e.ledger_web import ADDRESSES, ROBOTS_DENIED, LedgerWeb, Page

READABLE = ("text/html", "application/xhtml+xml", "text/plain")


@dataclass(frozen=True, slots=True, repr=False)
class Rules:
    """The settings that decide what may be asked for; the defaults are those of `pycrawl.toml`."""

    allow_hosts: tuple[str, ...] = ()
    deny_hosts: tuple[str, ...] = ()
    allow_prefixes: tuple[str, ...] = ()
    deny_prefixes: tuple[str, ...] = ()
    allow_patterns: tuple[str, ...] = ()
    deny_patterns: tuple[str, ...] = ()
    follow_external: bool = True
    schemes: tuple[str, ...] = ("http", "https")
    content_types: tuple[str, ...] = READABLE
    max_depth: int = -1
    rel_nofollow: bool = True

    def __repr__(self) -> str:
        """Only what is no default, as failures print it."""
        values = {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) != one.default}
        return f"Rules({', '.join(f'{name}={value!r}' for name, value in values.items())})"

    def settings(self) -> dict[str, dict[str, object]]:
        """As sections of `pycrawl.toml`."""
        section = {"max_depth": "crawl", "rel_nofollow": "politeness"}
        found: dict[str, dict[str, object]] = {"crawl": {}, "politeness": {}, "scope": {}}
        for one in fields(self):
            value = getattr(self, one.name)
            found[section.get(one.name, "scope")][one.name] = list(value) if isinstance(value, tuple) else value
        return found


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the person said besides the settings."""

    seeds: tuple[str, ...]
    forgotten: tuple[str, ...] = ()  # starts of URLs; one that ends in "$" is a whole URL

    def has_forgotten(self, url: str) -> bool:
        return any(url == entry[:-1] if entry.endswith("$") else url.startswith(entry) for entry in self.forgotten)


def host(url: str) -> str:
    return urlsplit(url).netloc


def path(url: str) -> str:
    return urlsplit(url).path


def reasons(url: str, rules: Rules, wishes: Wishes) -> set[str]:
    """Everything in settings and wishes that speaks against asking for the URL, its depth and its links apart."""
    starts = {key: any(_starts(url, prefix) for prefix in getattr(rules, key)) for key in _PREFIXES}
    matches = {key: any(re.search(pattern, url) for pattern in getattr(rules, key)) for key in _PATTERNS}
    against = {
        "forgotten": wishes.has_forgotten(url),
        "scheme": urlsplit(url).scheme not in rules.schemes,
        "host-denied": host(url) in rules.deny_hosts,
        "host-not-allowed": bool(rules.allow_hosts) and host(url) not in rules.allow_hosts,
        "prefix-denied": starts["deny_prefixes"],
        "prefix-not-allowed": bool(rules.allow_prefixes) and not starts["allow_prefixes"],
        "pattern-denied": matches["deny_patterns"],
        "pattern-not-allowed": bool(rules.allow_patterns) and not matches["allow_patterns"],
        "external": not rules.follow_external and host(url) not in map(host, wishes.seeds),
    }
    return {reason for reason, holds in against.items() if holds}


_PREFIXES = ("allow_prefixes", "deny_prefixes")
_PATTERNS = ("allow_patterns", "deny_patterns")


def _starts(url: str, prefix: str) -> bool:
    return (path(url) if prefix.startswith("/") else url).startswith(prefix)


def is_too_deep(depth: float, rules: Rules) -> bool:
    return 0 <= rules.max_depth < depth


def robots_deny(url: str) -> bool:
    return any(
        host(url).startswith(f"{ADDRESSES[name]}:") and path(url).startswith(prefix)
        for name, prefix in ROBOTS_DENIED.items()
    )


def wants_type(page: Page, rules: Rules) -> bool:
    media_type = page.content_type.partition(";")[0]
    return media_type in rules.content_types or "*/*" in rules.content_types


@dataclass(frozen=True, slots=True)
class Walk:
    """What is known when everything that may be fetched was fetched."""

    depth: Mapping[str, int]  # of every URL that is named: the shortest way
    plain: frozenset[str]  # those that a seed, a redirect or a link names that does not ask not to be followed
    stored: frozenset[str]  # pages that belong to the collection


def walk(web: LedgerWeb, rules: Rules, wishes: Wishes, read: Iterable[str] = ()) -> Walk:
    """The walk of a fresh crawl; `read` are pages and redirects that are known from before, whatever the rules are."""
    read_before = set(read)
    depth = dict.fromkeys(wishes.seeds, 0)
    plain = set(wishes.seeds)
    is_settled = False
    while not is_settled:
        is_settled = True
        for url, steps in list(depth.items()):
            if url not in read_before and not (url in plain and _is_read(web, url, steps, rules, wishes)):
                continue
            for target, more, is_plain in _leads_to(web, url, rules):
                if steps + more < depth.get(target, inf) or (is_plain and target not in plain):
                    depth[target] = min(steps + more, depth.get(target, steps + more))
                    plain |= {target} if is_plain else set()
                    is_settled = False
    stored = frozenset(
        url for url in plain if _may_be_asked(url, depth[url], rules, wishes) and _is_stored(web, url, rules)
    )
    return Walk(depth, frozenset(plain), stored)


def may_be_asked(walked: Walk, url: str, rules: Rules, wishes: Wishes) -> bool:
    """May the crawl ask for this URL, which is a page's and neither that of a robots.txt nor of a probe?"""
    return url in walked.plain and _may_be_asked(url, walked.depth[url], rules, wishes)


def _may_be_asked(url: str, depth: int, rules: Rules, wishes: Wishes) -> bool:
    return not reasons(url, rules, wishes) and not is_too_deep(depth, rules) and not robots_deny(url)


def _is_read(web: LedgerWeb, url: str, depth: int, rules: Rules, wishes: Wishes) -> bool:
    if not _may_be_asked(url, depth, rules, wishes) or url not in web.pages:
        return False
    page = web.pages[url]
    return bool(page.redirect) or wants_type(page, rules)


def _is_stored(web: LedgerWeb, url: str, rules: Rules) -> bool:
    return url in web.pages and not web.pages[url].redirect and wants_type(web.pages[url], rules)


def _leads_to(web: LedgerWeb, url: str, rules: Rules) -> list[tuple[str, int, bool]]:
    """URLs, how many links further away they are, and whether they may be followed."""
    page = web.pages.get(url, Page())
    if page.redirect:
        return [(target, 0, True) for target in web.targets(url, (page.redirect,))]
    plain, withheld = page.links, page.nofollow
    if not rules.rel_nofollow:
        plain, withheld = plain + withheld, ()
    if page.says_nofollow:
        plain, withheld = (), plain + withheld
    followed = [(target, 1, True) for target in web.targets(url, plain)]
    return followed + [(target, 1, False) for target in web.targets(url, withheld)]


def named_by(web: LedgerWeb, url: str) -> list[str]:
    """All that the page links or redirects to."""
    page = web.pages.get(url, Page())
    return web.targets(url, (*page.links, *page.nofollow, *([page.redirect] if page.redirect else [])))
