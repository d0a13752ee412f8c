"""What one host's robots.txt allows: RFC 9309, for one product token.

Protego reads the lines, with its tolerance for misspellings and missing colons. The rest is done here: Protego lets
unknown lines end a group (2.2.4 forbids that), spends quadratic time on files with many user-agent lines, forgets line
numbers, and matches a robot named "py" to "pycrawl".

A rule and a URL are compared in one spelling of their octets (2.2.2): non-ASCII and otherwise unfit octets are escaped,
escapes of characters fit to stand for themselves are undone. "/" and "?" divide a path, so there `%2F` and `%3F` stay
different from them; behind the "?" they are the same, as in the RFC's example `?baz=https://foo.bar`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

# Protego has no public word for "which directive is this line"; its rule sets answer yes or no only.
from protego._protego import (
    _ALLOW_DIRECTIVE,
    _CRAWL_DELAY_DIRECTIVE,
    _DISALLOW_DIRECTIVE,
    _SITEMAP_DIRECTIVE,
    _USER_AGENT_DIRECTIVE,
    _extract_directive,
)

from pycrawl.model import RobotsFile
from pycrawl.policy.politeness import MIN_ROBOTS_LIFETIME
from pycrawl.policy.robots_digest import robots_digest

MAX_ROBOTS_BYTES = 500 * 1024  # RFC 9309, 2.5
MAX_SITEMAPS = 1000
MAX_SITEMAP_LENGTH = 2000  # characters

_ROBOTS_PATH = "/robots.txt"

# Memory, in bytes, about.
_RULES_BYTES = 600
_PREFIX_BYTES = 57  # besides its characters
_SPECIAL_BYTES = 600

_DIVIDERS = "/?"
_FIT = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()+,;=:@[]"
_FIT_CLASS = re.escape(_FIT + _DIVIDERS)

_PLAIN_URL = re.compile(rf"https?://[^/?#]*(/[{_FIT_CLASS}]*)").fullmatch
_AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*").match
_UNFIT_IN_URL = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^{_FIT_CLASS}]")
_FIT_IN_RULE = re.compile(rf"[{_FIT_CLASS}*]*").fullmatch
_UNFIT_IN_RULE = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^{_FIT_CLASS}*]")

_AGENT_TOKEN = re.compile(r"[A-Za-z0-9_-]+").match  # digits too: "pycrawl2" is another robot
_ADDRESSEE = re.compile(r"\*|[a-z0-9_./-]*[a-z_][a-z0-9_./-]*").fullmatch  # in lower case; a number alone is no name
_DELAY = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+").fullmatch
_DIRECTIVES_WITH_VALUES = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
_MAX_AGE = re.compile(r'max-age\s*=\s*"?([0-9]+)"?').fullmatch


def _spellings() -> dict[str, str]:
    """Returns a table from each octet, and each escape of one, to the spelling in which rules and URLs are compared."""
    escapes = {octet: f"%{octet:02X}" for octet in range(256)}
    literal = {chr(octet): chr(octet) if chr(octet) in _FIT else escape for octet, escape in escapes.items()}
    hexadecimal = "0123456789abcdefABCDEF"
    escaped = {f"%{high}{low}": literal[chr(int(high + low, 16))] for high in hexadecimal for low in hexadecimal}
    return literal | escaped


_SPELLINGS = _spellings()


def _respell(found: re.Match[str]) -> str:
    return _SPELLINGS[found[0]]


def _undo_dividers(text: str) -> str:
    """Returns `text` with `%2F` and `%3F` decoded in its query, where "/" and "?" have no special meaning."""
    path, mark, query = text.partition("?")
    return path + mark + query.replace("%2F", "/").replace("%3F", "?")


def _paths(url: str) -> tuple[str, ...]:
    """Returns path and query of a URL in the spellings that rules are compared with: as written, and `%2F` decoded."""
    authority = _AUTHORITY(url)
    path = url[authority.end() if authority else 0 :].partition("#")[0]
    if not path.startswith("/"):
        path = f"/{path}"
    path = _UNFIT_IN_URL.sub(_respell, path.encode("utf-8", "surrogatepass").decode("latin-1"))
    undone = _undo_dividers(path)
    return (path,) if undone == path else (path, undone)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a URL may be fetched, and the line of robots.txt that says so; empty and 0 if no rule matched."""

    allowed: bool
    line: str
    line_number: int


@dataclass(slots=True, eq=False)  # not frozen: parsing a file would take a quarter longer
class _Rule:
    """An Allow or Disallow line: `head`, then each of `middle` anywhere behind it in turn, then `tail` at the end."""

    allow: bool
    octets: int
    head: str
    middle: tuple[str, ...]
    tail: str
    exact: bool  # "$" without any "*": the head is all there is
    line: str
    line_number: int

    @property
    def is_prefix(self) -> bool:
        """True if it is no more than its head; "/a*" is longer by a "*", which counts."""
        return self.octets == len(self.head) and not self.exact

    @property
    def longest_part(self) -> str:
        """A text that every matching path contains: a quick test before `matches`."""
        return max((*self.middle, self.tail, self.head), key=len)

    @property
    def precedence(self) -> tuple[int, bool]:
        """The sort key of precedence: the longest pattern first, Allow before an equally long Disallow (2.2.2)."""
        return -self.octets, not self.allow

    def matches(self, path: str) -> bool:
        """Each part is taken where it first occurs, which never spoils a later one: linear in the path."""
        if not path.startswith(self.head):
            return False
        if self.exact:
            return len(path) == len(self.head)
        position = len(self.head)
        for part in self.middle:
            position = path.find(part, position)
            if position < 0:
                return False
            position += len(part)
        return path.endswith(self.tail) and len(path) - len(self.tail) >= position


_DENY_ALL = _Rule(False, 1, "/", (), "", False, "", 0)


@dataclass(slots=True, eq=False)
class _Group:
    """The merged groups for one name: pattern → rule lines in the order of the file, and the longest Crawl-delay."""

    present: bool = False
    rules: dict[tuple[bool, str], tuple[str, int]] = field(default_factory=dict)
    crawl_delay: float | None = None

    def slow_down(self, value: str) -> None:
        delay = float(value) if _DELAY(value) else math.inf
        if math.isfinite(delay):
            self.crawl_delay = max(delay, self.crawl_delay or 0.0)


def _spell(pattern: str) -> str:
    if _FIT_IN_RULE(pattern):
        return pattern
    octets = pattern.encode("utf-8", "surrogateescape").decode("latin-1")
    return _undo_dividers(_UNFIT_IN_RULE.sub(_respell, octets))


def _rule(allow: bool, pattern: str, line: str, line_number: int) -> _Rule | None:
    """Returns the rule for `pattern`, or None if no path can match it."""
    anchored = pattern.endswith("$")
    spelt = _spell(pattern.removesuffix("$"))
    if not spelt.startswith(("/", "*")):
        return None
    head, *rest = spelt.split("*")
    tail = rest.pop() if anchored and rest else ""
    middle = tuple(filter(None, rest))
    exact = anchored and "*" not in spelt
    return _Rule(allow, len(spelt) + anchored, head, middle, tail, exact, line, line_number)


def _lines(body: bytes) -> list[str]:
    """Returns the lines of the file. Bytes that are not UTF-8 become surrogates, and octets again in `_rule`."""
    if len(body) >= MAX_ROBOTS_BYTES:  # a body of just this length was cut by the fetch
        body = body[:MAX_ROBOTS_BYTES]
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
    text = body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _readable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class _Reading:
    """One pass over the lines, keeping the groups that may concern `agent`."""

    def __init__(self, agent: str) -> None:
        self._agent = agent.lower()
        self._named = _Group()
        self._everyone = _Group()
        self._current: list[_Group] = []  # of these two, those whose group the next rule belongs to
        self._rules_seen = False  # since the last user-agent line: only a rule ends the list of agents (2.2.4)
        self._sitemaps: dict[str, None] = {}

    def read(self, lines: Iterable[str]) -> None:
        for number, line in enumerate(lines, 1):
            text = line.partition("#")[0].strip()
            directive = _extract_directive(text) if text else None
            if directive is None:
                continue
            name, value = directive
            if name in _DISALLOW_DIRECTIVE or name in _ALLOW_DIRECTIVE:
                self._take_rule(name in _ALLOW_DIRECTIVE, value, line, number)
            elif name in _USER_AGENT_DIRECTIVE:
                self._take_agent(value)
            elif name in _CRAWL_DELAY_DIRECTIVE:  # of the agents named so far; the group goes on
                for group in self._current:
                    group.slow_down(value)
            elif name in _SITEMAP_DIRECTIVE:
                self._take_sitemap(value)

    def _take_agent(self, value: str) -> None:
        if self._rules_seen:
            self._current, self._rules_seen = [], False
        words = value.split(None, 1)
        group = self._addressed(words[0]) if words else None
        if group and group not in self._current:
            group.present = True
            self._current.append(group)

    def _addressed(self, word: str) -> _Group | None:
        name = word.lstrip("*")
        if not name:
            return self._everyone
        token = _AGENT_TOKEN(name)
        return self._named if token and token[0].lower() == self._agent else None

    def _take_rule(self, allow: bool, pattern: str, line: str, number: int) -> None:
        self._rules_seen = True
        if pattern:
            for group in self._current:
                group.rules.setdefault((allow, pattern), (line, number))

    def _take_sitemap(self, value: str) -> None:
        if value and len(value) <= MAX_SITEMAP_LENGTH and len(self._sitemaps) < MAX_SITEMAPS:
            self._sitemaps[_readable(value)] = None

    @property
    def group(self) -> _Group:
        return self._named if self._named.present else self._everyone

    @property
    def sitemaps(self) -> tuple[str, ...]:
        return tuple(self._sitemaps)


class RobotsRules:
    """The rules of one robots.txt for one robot."""

    __slots__ = (
        "_allowed_prefixes",
        "_denials",
        "_denied_prefixes",
        "_rules",
        "_special",
        "crawl_delay",
        "digest",
        "sitemaps",
        "unreachable",
    )

    def __init__(
        self,
        digest: str,
        rules: Iterable[_Rule] = (),
        crawl_delay: float | None = None,
        sitemaps: tuple[str, ...] = (),
        unreachable: bool = False,
        with_lines: bool = True,
    ) -> None:
        ordered = sorted(rules, key=lambda rule: rule.precedence)
        # Files may have tens of thousands of plain prefixes: of these, only the texts are kept, the longest first.
        self._denied_prefixes = tuple(rule.head for rule in ordered if rule.is_prefix and not rule.allow)
        self._allowed_prefixes = tuple(rule.head for rule in ordered if rule.is_prefix and rule.allow)
        self._special = [rule for rule in ordered if not rule.is_prefix]
        self._denials = [(rule.longest_part, rule) for rule in self._special if not rule.allow]
        self._rules = ordered if with_lines else []
        self.digest = digest
        self.crawl_delay = crawl_delay
        self.sitemaps = sitemaps
        self.unreachable = unreachable

    @classmethod
    def parse(cls, file: RobotsFile, agent: str, with_lines: bool = True) -> RobotsRules:
        """The rules for the robot whose product token is `agent` (2.2.1).

        `with_lines`: `verdict` will be asked for; without, the rules take a quarter of the memory.
        """
        digest = robots_digest(file.body)
        if 300 <= file.status < 500 and file.status != 429:  # 2.3.1.2 and 2.3.1.3: unavailable
            return cls(digest)
        # 2.3.1.4. 429 counts as a 4xx there, but a server that asks for fewer requests does not ask for all of
        # them without rules; Google reads it as a server error too.
        if not 200 <= file.status < 300:
            return cls(digest, (_DENY_ALL,), unreachable=True, with_lines=with_lines)
        reading = _Reading(agent)
        reading.read(_lines(file.body))
        group = reading.group
        rules = (_rule(*key, line, number) for key, (line, number) in group.rules.items())
        return cls(digest, filter(None, rules), group.crawl_delay, reading.sitemaps, with_lines=with_lines)

    @property
    def size(self) -> int:
        """Bytes of memory that the rules take, about, without their lines."""
        texts = (*self._denied_prefixes, *self._allowed_prefixes, *self.sitemaps)
        return _RULES_BYTES + sum(map(len, texts)) + _PREFIX_BYTES * len(texts) + _SPECIAL_BYTES * len(self._special)

    def allowed(self, url: str) -> bool:
        """True if the absolute `url` may be fetched."""
        plain = _PLAIN_URL(url)
        paths = (plain[1],) if plain else _paths(url)
        for path in paths:  # most URLs meet no Disallow at all, which is the cheaper thing to find out
            if path.startswith(self._denied_prefixes) or self._is_denied(path):
                return self._is_allowed(paths)
        return True

    def _is_allowed(self, paths: tuple[str, ...]) -> bool:
        """What the rule of the highest precedence says: of those that match, the longest; of two as long, Allow."""
        if paths[0] == _ROBOTS_PATH:  # 2.2.2: implicitly allowed
            return True
        rule = next((rule for rule in self._special if any(map(rule.matches, paths))), None)
        best = (0, True) if rule is None else (rule.octets, rule.allow)
        for prefixes, allow in ((self._denied_prefixes, False), (self._allowed_prefixes, True)):
            for path in paths:
                if path.startswith(prefixes):
                    best = max(best, (len(next(filter(path.startswith, prefixes))), allow))
        return best[1]

    def verdict(self, url: str) -> Verdict:
        """Returns whether the absolute `url` may be fetched, and the line that says so."""
        rule = self._deciding(_paths(url))
        return Verdict(rule.allow, _readable(rule.line.strip()), rule.line_number) if rule else Verdict(True, "", 0)

    def _is_denied(self, path: str) -> bool:
        """True if a Disallow with special characters matches, whatever the Allow lines say."""
        for part, rule in self._denials:  # noqa: SIM110  any() would take a third longer
            if part in path and rule.matches(path):
                return True
        return False

    def _deciding(self, paths: tuple[str, ...]) -> _Rule | None:
        """The first rule, by precedence, that matches the URL in one of its spellings."""
        if paths[0] == _ROBOTS_PATH:  # 2.2.2: implicitly allowed
            return None
        for rule in self._rules:
            for path in paths:
                if path.startswith(rule.head) and rule.matches(path):
                    return rule
        return None


def directives(values: Iterable[str], agent: str) -> frozenset[str]:
    """The words of X-Robots-Tag headers that are meant for `agent`: "noindex, nofollow", "otherbot: none".

    A name before a colon holds until the next one; without one all robots are meant. Dates have commas and colons too
    ("unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, noindex"): what stands before a colon and is no single word is
    no name.
    """
    words: set[str] = set()
    for value in values:
        addressed = True
        for part in value.lower().split(","):
            name, colon, rest = part.partition(":")
            if colon and _ADDRESSEE(name.strip()) and name.strip() not in _DIRECTIVES_WITH_VALUES:
                addressed = name.strip().partition("/")[0] in (agent.lower(), "*", "robots")
                part = rest
            if addressed:
                words.update(part.split())
    return frozenset(words)


def expiry(headers_cache_control: str, fetched_at: float, ttl: float) -> float:
    """Returns when a robots.txt that was fetched at `fetched_at` expires.

    That is after `ttl` seconds, or sooner if its Cache-Control says so, but never within a minute (2.4).
    """
    lifetime = ttl
    for directive in headers_cache_control.lower().split(","):
        age = _MAX_AGE(directive.strip())
        if age:
            lifetime = min(lifetime, float(age[1]))
        elif directive.strip().partition("=")[0] in ("no-store", "no-cache"):
            lifetime = 0.0
    return fetched_at + max(lifetime, MIN_ROBOTS_LIFETIME)
