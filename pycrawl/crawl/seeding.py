"""Seeds, as people write them, into a crawl."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from pycrawl.crawl.session import Session
from pycrawl.urls.normal_form import UrlRules, from_user, normalise_behind
from pycrawl.urls.parts import host_key, likely_origin, origin, url_hash
from pycrawl.urls.reasons import Reason

_MOST_EXAMPLES = 5
_LONGEST_EXAMPLE = 100  # characters


@dataclass(slots=True)
class Seeded:
    """What became of lines of seeds. Of those turned away a few are kept to show."""

    new: int = 0  # URLs that are to be asked for, never met before
    known: int = 0
    refused: Counter[str] = field(default_factory=Counter)  # by reason: no URL that could be kept
    aside: Counter[str] = field(default_factory=Counter)  # by reason: kept, and not asked for under these settings
    examples: list[tuple[str, str]] = field(default_factory=list)  # line, reason

    def refuse(self, line: str, reason: str) -> None:
        self.refused[reason] += 1
        if len(self.examples) < _MOST_EXAMPLES:
            self.examples.append((line[:_LONGEST_EXAMPLE], reason))

    def set_aside(self, line: str, reason: str) -> None:
        """The seed is known from now on, and not asked for as long as the settings are what they are."""
        self.aside[reason] += 1
        if len(self.examples) < _MOST_EXAMPLES:
            self.examples.append((line[:_LONGEST_EXAMPLE], reason))

    def add(self, other: Seeded) -> None:
        self.new += other.new
        self.known += other.known
        self.refused += other.refused
        self.aside += other.aside
        self.examples = (self.examples + other.examples)[:_MOST_EXAMPLES]


def add_seeds(session: Session, lines: Iterable[str], now: float) -> Seeded:
    """Enter seeds as people write them; empty lines and those that start with "#" are passed over."""
    rules = UrlRules.of(session.config)
    scope = session.judge.scope
    seeded = Seeded()
    urls = []
    verdicts = bytearray()
    origins: set[str] = set()  # those seen to be normal: what stands behind them needs no parser
    for line in lines:
        text = line.strip()
        if not text or text[0] == "#":
            continue
        start = likely_origin(text)
        if start in origins:
            url = normalise_behind(start, text, rules)
        else:
            url = from_user(text, rules)
            if url is not None:
                origins.add(origin(url))
        if url is None or scope.is_too_long(url):
            seeded.refuse(text, str(Reason.NOT_A_URL if url is None else Reason.TOO_LONG))
            continue
        code = session.judge.code_of(url, host_key(url), True, 0, 0, 0)
        if code:
            seeded.set_aside(text, str(Reason.from_code(code)))
        urls.append(url)
        verdicts.append(code)
    session.discovered.add_seeds(urls, [url_hash(url, session.seed) for url in urls], bytes(verdicts))
    added = session.sieve(now)
    seeded.new = added.queued
    seeded.known = len(urls) - added.new
    for reason_word, amount in seeded.refused.items():
        session.counters.add(f"filtered:{reason_word}", amount)
    return seeded
