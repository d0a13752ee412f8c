"""URLs inside other texts, such as the lines of a log."""

from __future__ import annotations

import re
from collections.abc import Iterator

_URL = re.compile(r"https?://([^\s/\"'<>]+)(/[^\s\"'<>]*)?")
_PUNCTUATION = ".,;:!?)"  # may belong to the URL, or to the sentence around it


def urls_in(text: str) -> Iterator[str]:
    """All that may be a URL in a text: each as it stands, and without the punctuation behind it."""
    for found in _URL.finditer(text):
        url = found[0] if found[2] else found[0].rstrip(_PUNCTUATION) + "/"
        yield url
        while url[-1] in _PUNCTUATION:
            url = url[:-1]
            yield url
