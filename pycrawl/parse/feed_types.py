"""The media types by which feeds are told."""

from __future__ import annotations

FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/feed+json")


def media_type_of(content_type: str) -> str:
    """The media type in a Content-Type header, in lower case: "text/html"."""
    return content_type.partition(";")[0].strip().lower()
