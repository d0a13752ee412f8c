"""What a sitemap says of a URL, in six bytes: when it changed last, how often it changes, how important it is.

Fetchers pack hints (`Named.hints`); the coordinator keeps them in the table `url_hints`.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

NO_PRIORITY = 255
CHANGE_FREQUENCIES = ("", "always", "hourly", "daily", "weekly", "monthly", "yearly", "never")  # by code; 0: not said
_RECORD = struct.Struct("<IBB")
HINT_BYTES = _RECORD.size
_LATEST = (1 << 32) - 1  # seconds since the epoch


class Hint(NamedTuple):
    lastmod: int = 0  # seconds since the epoch; 0: not said, or not believed
    changefreq: int = 0  # an index of `CHANGE_FREQUENCIES`
    priority: int = NO_PRIORITY  # percent

    def packed(self) -> bytes:
        return _RECORD.pack(min(max(self.lastmod, 0), _LATEST), self.changefreq, self.priority)


NO_HINT = Hint()


def unpacked(hints: bytes) -> list[Hint]:
    return [Hint(*values) for values in _RECORD.iter_unpack(hints)]


def are_hints(hints: bytes, count: int) -> bool:
    """True if the bytes can be the hints of `count` URLs."""
    if not hints:
        return True
    return len(hints) == count * HINT_BYTES and all(
        changefreq < len(CHANGE_FREQUENCIES) and (priority <= 100 or priority == NO_PRIORITY)
        for _, changefreq, priority in _RECORD.iter_unpack(hints)
    )
