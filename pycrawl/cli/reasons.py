"""The reasons why a URL is not crawled, in words for people; programs get the short ones (`urls/scope.py`)."""

from __future__ import annotations

_IN_WORDS = {
    "not-a-url": "not a URL",
    "not-http": "not an http or https URL",
    "scheme": "out of scope: its scheme is not in scope.schemes",
    "too-long": "longer than limits.max_url_length",
    "host-denied": "out of scope: its host matches scope.deny_hosts",
    "host-not-allowed": "out of scope: its host matches nothing in scope.allow_hosts",
    "prefix-denied": "out of scope: matches scope.deny_prefixes",
    "prefix-not-allowed": "out of scope: matches nothing in scope.allow_prefixes",
    "pattern-denied": "out of scope: matches scope.deny_patterns",
    "pattern-not-allowed": "out of scope: matches nothing in scope.allow_patterns",
    "too-deep": "out of scope: more links away from a seed than crawl.max_depth",
    "external": "out of scope: a link to another host, and scope.follow_external is false",
    "too-many-links": "its page has more links than limits.max_links_per_page",
    "nofollow": "its link or its page says nofollow",
    "too-many-segments": "its path has more segments than traps.max_path_segments",
    "repeated-segments": "its path repeats a segment more often than traps.max_repeated_segments",
    "too-many-parameters": "its query has more parameters than traps.max_query_parameters",
    "trap": "a trap: pages of its kind brought nothing new",
}


def in_words(reason: str) -> str:
    """Returns a reason in words; one that has none here, such as a newer release may have written, as it is."""
    return _IN_WORDS.get(reason, reason)
