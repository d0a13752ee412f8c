"""JSON-LD that is served by itself: the texts of its values. Its addresses are data, and no links, as in pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pycrawl.convert.plain_text import decoded
from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible

_TITLES = ("headline", "name", "title")  # keys of the outermost object
_LANGUAGES = ("inLanguage", "@language")


def convert(data: bytes, page: SimplePage) -> None:
    try:
        value = json.loads(decoded(data), strict=False)
    except (ValueError, RecursionError) as error:
        raise Unconvertible(Trouble.DAMAGED, str(error)) from error
    outermost = value[0] if isinstance(value, list) and value else value
    if isinstance(outermost, dict):
        page.title = _first(outermost, _TITLES)
        page.language = _first(outermost, _LANGUAGES)
    for text in _texts(value):
        page.paragraph(text)


def _first(entry: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((entry[key] for key in keys if isinstance(entry.get(key), str)), "")


def _texts(value: Any) -> Iterator[str]:
    """Yields the texts in their order, without those of keywords ("@type") and addresses."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            text = " ".join(one.split())
            if text and not (" " not in text and "://" in text):
                yield text
        elif isinstance(one, list):
            waiting += reversed(one)
        elif isinstance(one, dict):
            waiting += [one[key] for key in reversed(one) if not key.startswith("@") or key in ("@value", "@graph")]
