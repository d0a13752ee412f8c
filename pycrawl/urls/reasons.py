"""Why a URL is not asked for: every reason with its number, the setting that decides, and words for people.

A URL whose reason has a number stands *aside* in the ledger (`urls.aside`) and can be judged anew when settings change.
Reasons without a number are of links that have no usable form: they are counted, and not kept.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Reason(StrEnum):
    """The value is the word that users see in `stats`, `list` and `why`."""

    NOT_A_URL = "not-a-url"
    NOT_HTTP = "not-http"  # javascript:, mailto:, data: …
    TOO_MANY_LINKS = "too-many-links"
    TOO_LONG = "too-long"
    SCHEME = "scheme"  # http or https, whichever scope.schemes leaves out
    HOST_DENIED = "host-denied"
    HOST_NOT_ALLOWED = "host-not-allowed"
    PREFIX_DENIED = "prefix-denied"
    PREFIX_NOT_ALLOWED = "prefix-not-allowed"
    PATTERN_DENIED = "pattern-denied"
    PATTERN_NOT_ALLOWED = "pattern-not-allowed"
    TOO_DEEP = "too-deep"
    EXTERNAL = "external"
    NOFOLLOW = "nofollow"
    TOO_MANY_SEGMENTS = "too-many-segments"
    REPEATED_SEGMENTS = "repeated-segments"
    TOO_MANY_PARAMETERS = "too-many-parameters"
    FILTERED = "filtered-by-plugin"
    PLUGIN_FAILED = "plugin-failed"
    TRAP = "trap"
    SOFT_404_LINK = "soft-404-link"
    TOO_MANY_REDIRECTS = "too-many-redirects"
    FORGOTTEN = "forgotten"
    PORT = "port"
    FOREIGN_SITEMAP = "foreign-sitemap"
    SITEMAP = "sitemap"
    FEED = "feed"
    FEED_ENTRY = "feed-entry"

    _code: int  # set below, from the table: it is asked for a million times when URLs are judged anew

    @property
    def code(self) -> int:
        """Its number in the ledger; 0: it has none, as links turned away for it are not kept."""
        return self._code

    @property
    def setting(self) -> str:
        """The setting that decides; empty: none does."""
        return _MEANINGS[self].setting

    @property
    def words(self) -> str:
        """One line for people."""
        return _MEANINGS[self].words

    @staticmethod
    def from_code(code: int) -> Reason:
        return _BY_CODE[code]


class _Meaning(NamedTuple):
    code: int
    setting: str
    words: str


# The numbers are in databases: one that was released never gets another meaning.
_MEANINGS = {
    Reason.NOT_A_URL: _Meaning(0, "", "not a URL"),
    Reason.NOT_HTTP: _Meaning(0, "", "not an http or https URL"),
    Reason.TOO_MANY_LINKS: _Meaning(
        0, "limits.max_links_per_page", "its page has more links than limits.max_links_per_page"
    ),
    Reason.TOO_LONG: _Meaning(1, "limits.max_url_length", "longer than limits.max_url_length"),
    Reason.SCHEME: _Meaning(2, "scope.schemes", "out of scope: its scheme is not in scope.schemes"),
    Reason.HOST_DENIED: _Meaning(3, "scope.deny_hosts", "out of scope: its host matches scope.deny_hosts"),
    Reason.HOST_NOT_ALLOWED: _Meaning(
        4, "scope.allow_hosts", "out of scope: its host matches nothing in scope.allow_hosts"
    ),
    Reason.PREFIX_DENIED: _Meaning(5, "scope.deny_prefixes", "out of scope: matches scope.deny_prefixes"),
    Reason.PREFIX_NOT_ALLOWED: _Meaning(
        6, "scope.allow_prefixes", "out of scope: matches nothing in scope.allow_prefixes"
    ),
    Reason.PATTERN_DENIED: _Meaning(7, "scope.deny_patterns", "out of scope: matches scope.deny_patterns"),
    Reason.PATTERN_NOT_ALLOWED: _Meaning(
        8, "scope.allow_patterns", "out of scope: matches nothing in scope.allow_patterns"
    ),
    Reason.TOO_DEEP: _Meaning(9, "crawl.max_depth", "out of scope: more links away from a seed than crawl.max_depth"),
    Reason.EXTERNAL: _Meaning(
        10, "scope.follow_external", "out of scope: on a host without a seed, and scope.follow_external is false"
    ),
    Reason.NOFOLLOW: _Meaning(
        11, "politeness.rel_nofollow", "all links to it, or the pages they stand on, ask not to be followed"
    ),
    Reason.TOO_MANY_SEGMENTS: _Meaning(
        12, "traps.max_path_segments", "its path has more segments than traps.max_path_segments"
    ),
    Reason.REPEATED_SEGMENTS: _Meaning(
        13, "traps.max_repeated_segments", "its path repeats a segment more often than traps.max_repeated_segments"
    ),
    Reason.TOO_MANY_PARAMETERS: _Meaning(
        14, "traps.max_query_parameters", "its query has more parameters than traps.max_query_parameters"
    ),
    Reason.FILTERED: _Meaning(15, "scope.filters", "out of scope: a plugin that scope.filters names turned it away"),
    Reason.PLUGIN_FAILED: _Meaning(16, "scope.filters", "a plugin that scope.filters names failed on it"),
    Reason.TRAP: _Meaning(17, "traps.novelty", "a trap: pages of its kind brought nothing new"),
    Reason.SOFT_404_LINK: _Meaning(
        18, "traps.soft_404", "only pages link to it that say what their host says of missing pages"
    ),
    Reason.TOO_MANY_REDIRECTS: _Meaning(
        19, "limits.max_redirects", "behind more redirects in a row than limits.max_redirects"
    ),
    Reason.FORGOTTEN: _Meaning(20, "", "forgotten: it was removed with `pycrawl forget`"),
    Reason.PORT: _Meaning(
        21, "security.allow_ports", "its port is one of another service (mail, SSH …), which browsers refuse to ask"
    ),
    Reason.FOREIGN_SITEMAP: _Meaning(
        22, "", "only a sitemap of another host lists it, which its own host's robots.txt does not name"
    ),
    Reason.SITEMAP: _Meaning(23, "sitemaps.from_robots", "a sitemap, and sitemaps.from_robots is false"),
    Reason.FEED: _Meaning(24, "feeds.discover", "a feed, and feeds.discover is false"),
    Reason.FEED_ENTRY: _Meaning(
        25, "", "an entry of a feed without a page of its own: it is stored as the feed has it"
    ),
}
for _reason, _meaning in _MEANINGS.items():
    _reason._code = _meaning.code
_BY_CODE = {meaning.code: reason for reason, meaning in _MEANINGS.items() if meaning.code}
