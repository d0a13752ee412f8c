"""What must not be asked for any more, as `pycrawl forget` said; and how a forgotten URL is written in `urls`.

The table `unwanted` has one row for each rule: kind "url" (value: the URL's hash in hexadecimal), "prefix" (the start
of URLs), "host" (a host's key); and kind "again" (a URL's hash): `add --again` took this one URL back, though a prefix
or a host that covers it stays unwanted. Filled by `forget` and `add --again`, read once by every command that judges
URLs.

The row of a forgotten URL in `urls` keeps its id; its text is replaced by "forgotten:" and the hash, so that URL-seen
still knows the URL, and nobody can read which it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pycrawl.state.database import Database
from pycrawl.urls import parts

FORGOTTEN = "forgotten:"
_HASH_DIGITS = 16


class Rule(NamedTuple):
    """One row of `unwanted`."""

    kind: str  # "url", "prefix", "host" or "again"
    value: str


def hash_digits(hash_of_url: int) -> str:
    return f"{hash_of_url:0{_HASH_DIGITS}x}"


def forgotten_text(hash_of_url: int) -> str:
    """Returns the text that stands in `urls` in the place of a forgotten URL."""
    return FORGOTTEN + hash_digits(hash_of_url)


def row_hash(text: str, seed: int) -> int:
    """Returns the hash of the URL that a row of `urls` stands for, whether its text is there or was forgotten."""
    return int(text[len(FORGOTTEN) :], 16) if text.startswith(FORGOTTEN) else parts.url_hash(text, seed)


class Unwanted:
    """All rules, read once into memory, when it is made. True if there are any but "again"."""

    def __init__(self, database: Database, seed: int) -> None:
        self._seed = seed
        rules = [Rule(*row) for row in database.query("SELECT kind, value FROM unwanted")]
        self._hashes = {int(rule.value, 16) for rule in rules if rule.kind == "url"}
        self._again = {int(rule.value, 16) for rule in rules if rule.kind == "again"}
        self._prefixes = tuple(rule.value for rule in rules if rule.kind == "prefix")
        self._hosts = frozenset(rule.value for rule in rules if rule.kind == "host")

    def __bool__(self) -> bool:
        return bool(self._hashes or self._prefixes or self._hosts)

    def verdict(self, url: str, host_key: str) -> bool:
        """True if the normalised URL, whose host has this key, must not be asked for."""
        if self._hashes and parts.url_hash(url, self._seed) in self._hashes:
            return True
        return self.is_covered(url, host_key) and parts.url_hash(url, self._seed) not in self._again

    def is_covered(self, url: str, host_key: str) -> bool:
        """True if the URL belongs to a prefix or a host that is unwanted."""
        return host_key in self._hosts or (bool(self._prefixes) and url.startswith(self._prefixes))

    def is_unwanted(self, url: str) -> bool:
        """Returns the `verdict` of a normalised URL, whose host is found out here."""
        return self.verdict(url, parts.host_key(url))

    def take_back(self, database: Database, url: str, now: float) -> None:
        """Make one URL wanted again, even if a prefix or a host covers it. The caller commits."""
        hash_of_url = parts.url_hash(url, self._seed)
        value = hash_digits(hash_of_url)
        database.write("DELETE FROM unwanted WHERE kind = 'url' AND value = ?", (value,))
        self._hashes.discard(hash_of_url)
        if self.is_covered(url, parts.host_key(url)):
            database.write("INSERT OR REPLACE INTO unwanted VALUES ('again', ?, ?)", (value, now))
            self._again.add(hash_of_url)

    @property
    def hosts(self) -> frozenset[str]:
        return self._hosts


def add_rules(database: Database, rules: Iterable[Rule], now: float) -> None:
    """Enter rules: what they name is not wanted from now on, even a URL that was taken back before."""
    for rule in rules:
        database.write("INSERT OR REPLACE INTO unwanted VALUES (?, ?, ?)", (*rule, now))
        if rule.kind == "url":
            database.write("DELETE FROM unwanted WHERE kind = 'again' AND value = ?", (rule.value,))
