"""Facts that documents state about themselves, in one form."""

from __future__ import annotations

import re

# "D:20240501120000+02'00'" (PDF), "2024-05-01T12:00:00Z" (Office, EPUB), "20240501".
_DATE = re.compile(r"\s*(?:D:)?(\d{4})(?:-?(\d\d)(?:-?(\d\d))?)?")


def iso_date(stated: str) -> str:
    """Returns "2024-05-01", or as much of it as is stated; empty if it is no date."""
    match = _DATE.match(stated)
    if not match:
        return ""
    year, month, day = match.groups()
    if not month or not 1 <= int(month) <= 12:
        return year
    if not day or not 1 <= int(day) <= 31:
        return f"{year}-{month}"
    return f"{year}-{month}-{day}"
