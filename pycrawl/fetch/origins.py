"""The origin of a URL: scheme, host and port, as the transports dial it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_DEFAULT_PORTS = {"http": 80, "https": 443}
_LONGEST_AUTHORITY = 260  # characters: a host name of 253 (RFC 1035, 2.3.4) with a port
# Without the code points that the URL standard forbids in hosts. Quotes, backticks and braces are allowed there.
# Strict: what two parsers could read as different hosts ("a\@b", "a#@b") is refused, and never sent.
_AUTHORITY = re.compile(r"""(?:\[([0-9A-Fa-f:.]+)\]|([^\0-\x20#%/:<>?@\[\\\]^|\x7f-\U0010ffff]+))(?::([0-9]{1,5}))?""")


class Origin(NamedTuple):
    """Scheme, host and port of a URL; an IPv6 host stands without its brackets. A tuple, for its fast hash."""

    scheme: str
    host: str
    port: int


def origin_of(url: str) -> Origin:
    """Returns the origin of an absolute http(s) URL; ValueError for any other text, and for a URL with credentials."""
    scheme, _, authority = url.split("/", 3)[:3]
    if len(authority) > _LONGEST_AUTHORITY:  # not remembered, as that has no bound in bytes
        return _origin.__wrapped__(scheme, authority)
    return _origin(scheme, authority)


@lru_cache(maxsize=16_384)
def _origin(scheme: str, authority: str) -> Origin:
    scheme = scheme.removesuffix(":")
    match = _AUTHORITY.fullmatch(authority)
    if match is None or scheme not in _DEFAULT_PORTS:
        raise ValueError(f"neither http nor https, or no host: {scheme}://{authority}")
    literal, name, port = match.groups()
    return Origin(scheme, literal or name, int(port) if port else _DEFAULT_PORTS[scheme])
