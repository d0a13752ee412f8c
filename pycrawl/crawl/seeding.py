"""Seeding: reads seeds as people write them, and enters them into a crawl."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pycrawl.config import Config
from pycrawl.crawl.session import Session
from pycrawl.model import Kind
from pycrawl.urls.host_settings import SettingsByHost
from pycrawl.urls.normal_form import UrlRules, from_user, normalise_behind
from pycrawl.urls.parts import GUESSED_PATH, host_key, likely_origin, origin, path_and_query, url_hash
from pycrawl.urls.reasons import Reason

CREDENTIALS = "credentials"  # why a seed is refused: it has a user name or a password in it, which is never shown
_COMMENT = re.compile(r"(?:^|\s)\s*#.*")  # a "#" behind white space; any other is part of the URL
_CREDENTIALS = re.compile(r"(?!mailto:)((?:https?:)?//)?[^/?#\s]*@", re.IGNORECASE)  # a URL up to the "@" behind them
_MOST_EXAMPLES = 5  # seeds that are shown for the refused, and for those set aside
_LONGEST_EXAMPLE = 100  # characters


@dataclass(slots=True)
class Seeded:
    """What became of lines of seeds. A few of those refused and set aside are kept, to be shown."""

    new: int = 0  # seeds never met before that are to be asked for
    known: int = 0  # seeds that were met before
    refused: Counter[str] = field(default_factory=Counter)  # reason → lines that were not kept
    aside: Counter[str] = field(default_factory=Counter)  # reason → seeds kept, but not asked for under these settings
    examples: list[tuple[str, str]] = field(default_factory=list)  # (line, reason) of some that were refused
    aside_examples: list[tuple[str, str]] = field(default_factory=list)  # (URL, reason) of some that were set aside

    def refuse(self, line: str, reason: str) -> None:
        self.refused[reason] += 1
        if len(self.examples) < _MOST_EXAMPLES:
            self.examples.append((line[:_LONGEST_EXAMPLE], reason))

    def set_aside(self, url: str, reason: str) -> None:
        """Count a seed that is kept, but not asked for as long as the settings are what they are."""
        self.aside[reason] += 1
        if len(self.aside_examples) < _MOST_EXAMPLES:
            self.aside_examples.append((url[:_LONGEST_EXAMPLE], reason))

    def add(self, other: Seeded) -> None:
        self.new += other.new
        self.known += other.known
        self.refused += other.refused
        self.aside += other.aside
        self.examples = (self.examples + other.examples)[:_MOST_EXAMPLES]
        self.aside_examples = (self.aside_examples + other.aside_examples)[:_MOST_EXAMPLES]


def seed_in(line: str) -> str:
    """Returns the URL in a line, without the comment that may follow it ("http://h/ # note"); empty if there is
    none."""
    return _COMMENT.sub("", line).strip() if "#" in line else line.strip()


def read_seeds(lines: Iterable[str], config: Config, seeded: Seeded) -> Iterator[str]:
    """Yields the normal form of the seed in each line. Seeds that are no usable URL are counted as refused in `seeded`.
    Lines without a seed are left out."""
    rules = UrlRules.of(config)
    settings = SettingsByHost(config)
    origins: set[str] = set()  # origins known to be in normal form: what follows one needs no full parse
    for line in lines:
        text = seed_in(line)
        if not text:
            continue
        if "@" in text and (found := _CREDENTIALS.match(text)):
            seeded.refuse(f"{found[1] or ''}…@{text[found.end() :]}", CREDENTIALS)
            continue
        start = likely_origin(text)
        if start in origins:
            url = normalise_behind(start, text, rules)
        else:
            url = from_user(text.partition("#")[0], rules)
            if url is not None:
                origins.add(origin(url))
        if url is None or len(url) > settings.of_url(url).limits.max_url_length:
            seeded.refuse(text, Reason.NOT_A_URL if url is None else Reason.TOO_LONG)
        else:
            yield url


def add_seeds(session: Session, lines: Iterable[str], now: float, kind: Kind = Kind.PAGE) -> Seeded:
    """Enter the seeds in these lines, as pages, sitemaps or feeds. Those out of scope are kept, but not queued. Returns
    what became of them. The caller commits."""
    seeded = Seeded()
    urls = []
    verdicts = bytearray()
    for url in read_seeds(lines, session.config, seeded):
        if kind is Kind.SITEMAP and path_and_query(url) == "/":
            url = origin(url) + GUESSED_PATH  # a site, and not a sitemap of it
        code = session.judge.code_of(url, host_key(url), True, 0, 0, 0)
        if code == Reason.FORGOTTEN.code:
            seeded.refuse(url, str(Reason.FORGOTTEN))
            continue
        if code:
            seeded.set_aside(url, str(Reason.from_code(code)))
        urls.append(url)
        verdicts.append(code)
    session.discovered.add_seeds(urls, [url_hash(url, session.seed) for url in urls], bytes(verdicts), kind)
    added = session.sieve(now)
    seeded.new = added.queued
    seeded.known = len(urls) - added.new
    for reason_word, amount in seeded.refused.items():
        session.counters.add(f"filtered:{reason_word}", amount)
    return seeded
