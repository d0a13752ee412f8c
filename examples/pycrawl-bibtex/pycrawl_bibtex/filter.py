"""Keeps a crawl to some languages of sites that have a language code as the first part of their paths."""

from __future__ import annotations

import re
from typing import Any

_CODE = re.compile(r"https?://[^/]+/([a-z]{2})(?:-[a-z]{2})?/")


class PathLanguageFilter:
    """`[plugins.path-language]` must say `languages = ["en", …]`. URLs without a language code are wanted."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._languages = frozenset(settings["languages"])

    def verdict(self, url: str) -> str | None:
        code = _CODE.match(url)
        return None if code is None or code[1] in self._languages else f"its path is in {code[1]!r}"
