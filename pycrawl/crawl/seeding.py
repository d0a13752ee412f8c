"""Seeds, as people write them, into a crawl."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from pycrawl.crawl.session import Session
from pycrawl.state.unwanted import Unwanted
from pycrawl.urls.normal_form import UrlRules, from_user, normalise_behind
from pycrawl.urls.parts import likely_origin, origin, url_hash
from pycrawl.urls.reasons import Reason
from pycrawl.urls.scope import Scope

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


def add_seeds(session: Session, lines: Iterable[str], now: float) -> Seeded:
    """Enter seeds as people write them; empty lines and those that start with "#" are passed over."""
    rules = UrlRules.of(session.config)
    scope = Scope(session.config)
    unwanted = Unwanted(session.database, session.seed)
    seeded = Seeded()
    urls = []
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
        reason = Reason.NOT_A_URL if url is None else scope.verdict(url, 0)
        if url is not None and unwanted.is_unwanted(url):
            reason = Reason.FORGOTTEN
        if url is None or reason is not None:
            seeded.refuse(text, str(reason))
        else:
            urls.append(url)
    session.discovered.add_seeds(urls, [url_hash(url, session.seed) for url in urls])
    seeded.new = session.sieve(now)
    seeded.known = len(urls) - seeded.new
    for reason_word, amount in seeded.refused.items():
        session.counters.add(f"filtered:{reason_word}", amount)
    return seeded
