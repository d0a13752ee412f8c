"""The HTTP header Link (RFC 8288)."""

from __future__ import annotations

import re

_LONGEST = 65_536  # characters that are read
_LINK = re.compile(r'<([^<>"]{1,4096})>((?:[^,"<]|"[^"]*")*)')
_REL = re.compile(r';\s*rel\s*=\s*(?:"([^"]{1,200})"|([^\s;,"]{1,200}))', re.IGNORECASE)


def link_targets(header: str) -> dict[str, str]:
    """Returns for each relation (rel, in lower case) the first target that has it, as it stands there."""
    found: dict[str, str] = {}
    for link in _LINK.finditer(header[:_LONGEST]):
        rel = _REL.search(link[2])
        for word in (rel[1] or rel[2]).lower().split() if rel is not None else ():
            found.setdefault(word, link[1].strip())
    return found
