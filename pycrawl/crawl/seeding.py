"""Seeds, as people write them, into a crawl."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pycrawl.config import Config
from pycrawl.crawl.session import Session
from pycrawl.urls.normal_form import UrlRules, from_user, normalise_behind
from pycrawl.urls.parts import likely_origin, origin, url_hash
from pycrawl.urls.reasons import Reason
from pycrawl.urls.scope import Scope

CREDENTIALS = "credentials"  # why a seed is refused: it has a user name or a password in it, which is never shown
_COMMENT = re.compile(r"(?:^|\s)\s*#.*")  # a "#" behind white space; any other is part of the URL
_CREDENTIALS = re.compile(r"(?!mailto:)((?:https?:)?//)?[^/?#\s]*@", re.IGNORECASE)  # a URL up to the "@" behind them
_MOST_EXAMPLES = 5
_LONGEST_EXAMPLE = 100  # characters


@dataclass(slots=True)
class Seeded:
    """What became of lines of seeds. Of those turned away a few are kept to show."""

    new: int = 0
    known: int = 0
    refused: Counter[str] = field(default_factory=Counter)  # by reason
    examples: list[tuple[str, str]] = field(default_factory=list)  # line, reason

    def refuse(self, line: str, reason: str) -> None:
        self.refused[reason] += 1
        if len(self.examples) < _MOST_EXAMPLES:
            self.examples.append((line[:_LONGEST_EXAMPLE], reason))

    def add(self, other: Seeded) -> None:
        self.new += other.new
        self.known += other.known
        self.refused += other.refused
        self.examples = (self.examples + other.examples)[:_MOST_EXAMPLES]


def seed_in(line: str) -> str:
    """Returns the URL of a line, without the comment that may follow it ("http://h/ # note"); empty: there is none."""
    return _COMMENT.sub("", line).strip() if "#" in line else line.strip()


def read_seeds(lines: Iterable[str], config: Config, seeded: Seeded) -> Iterator[str]:
    """Yields the normal form of the seeds, one on a line, as people write them; those that are no URL are refused in
    `seeded`. Lines without a seed are passed over."""
    rules = UrlRules.of(config)
    origins: set[str] = set()  # those seen to be normal: what stands behind them needs no parser
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
            url = from_user(text, rules)
            if url is not None:
                origins.add(origin(url))
        if url is None:
            seeded.refuse(text, Reason.NOT_A_URL)
        else:
            yield url


def add_seeds(session: Session, lines: Iterable[str], now: float) -> Seeded:
    """Enter seeds; those that are no URL or out of scope are refused."""
    scope = Scope(session.config)
    seeded = Seeded()
    urls = []
    for url in read_seeds(lines, session.config, seeded):
        reason = scope.verdict(url, 0)
        if reason is not None:
            seeded.refuse(url, reason)
        else:
            urls.append(url)
    session.discovered.add_seeds(urls, [url_hash(url, session.seed) for url in urls])
    seeded.new = session.sieve(now)
    seeded.known = len(urls) - seeded.new
    for reason_word, amount in seeded.refused.items():
        session.counters.add(f"filtered:{reason_word}", amount)
    return seeded
