"""The media types by which feeds are told."""

from __future__ import annotations

from functools import lru_cache

FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/feed+json")


_LONGEST_USUAL = 128  # characters of a header that is remembered


def media_type_of(content_type: str) -> str:
    """The media type in a Content-Type header, in lower case: "text/html"."""
    # Three parts of a fetcher ask for each page, and a crawl meets few different headers.
    return _remembered(content_type) if len(content_type) <= _LONGEST_USUAL else _media_type(content_type)


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


_remembered = lru_cache(maxsize=1_024)(_media_type)
