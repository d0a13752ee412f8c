"""URLs that a sitemap, a feed or a robots.txt names: in normal form, judged, hashed, and packed with their texts."""

from __future__ import annotations

import struct

from pycrawl.model import NO_LINKS, PackedLinks
from pycrawl.urls.normal_form import UrlRules, normalise, normalise_behind
from pycrawl.urls.parts import likely_origin, origin, url_hash
from pycrawl.urls.scope import Scope


class NamedPacker:
    def __init__(self, rules: UrlRules, scope: Scope, seed: int) -> None:
        self._rules = rules
        self._scope = scope
        self._seed = seed

    def urls(self, texts: list[str], base: str) -> list[str | None]:
        """Returns the normal form of each text, resolved against `base`; None for those that have none, or are longer
        than limits.max_url_length."""
        home = origin(base)
        found: list[str | None] = []
        for text in texts:
            if likely_origin(text) == home:
                url = normalise_behind(home, text, self._rules)
            else:
                url = normalise(text, self._rules, base)
            found.append(None if url is None or self._scope.is_too_long(url) else url)
        return found

    def hash_of(self, url: str) -> int:
        return url_hash(url, self._seed)

    def pack(self, urls: list[str]) -> PackedLinks:
        """Packs distinct URLs in normal form."""
        if not urls:
            return NO_LINKS
        hashes = struct.pack(f"<{len(urls)}Q", *[url_hash(url, self._seed) for url in urls])
        verdicts = bytes([self._scope.code_of(url) for url in urls])
        return PackedLinks(hashes, "\n".join(urls).encode(), len(urls), verdicts)
