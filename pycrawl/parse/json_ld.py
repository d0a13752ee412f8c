"""JSON-LD in pages: what a page says about itself for programs, in <script type="application/ld+json">."""

from __future__ import annotations

import json
import re
from typing import Any

MOST_BLOCKS = 100  # of one page
_LONGEST = 1_000_000  # characters of a block
_START = re.compile(
    r"<script\b[^<>]{0,500}?\btype\s{0,9}=\s{0,9}[\"']?\s{0,9}application/ld\+json\b[^<>]{0,500}>", re.IGNORECASE
)
_END = re.compile(r"</script", re.IGNORECASE)
_WRAPPINGS = (("<!--", "-->"), ("//<![CDATA[", "//]]>"), ("<![CDATA[", "]]>"))


def json_ld(markup: str) -> list[Any]:
    """Returns the values of the blocks of a page, as they stand there; those that are no JSON are left out."""
    found: list[Any] = []
    done = 0
    for _ in range(MOST_BLOCKS):
        start = _START.search(markup, done)
        end = _END.search(markup, start.end()) if start else None
        if start is None or end is None:
            break
        done = end.end()
        if end.start() - start.end() <= _LONGEST:
            found += values(markup[start.end() : end.start()])
    return found


def values(block: str) -> list[Any]:
    """Returns the value of a block, or of a whole document, if it has one."""
    block = block.strip().removeprefix("\ufeff")
    for begin, end in _WRAPPINGS:
        block = block.removeprefix(begin).removesuffix(end).strip()
    try:
        value = json.loads(block, strict=False, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()  # raises for half a surrogate pair
    except (ValueError, RecursionError):
        return []
    return [value]


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
