"""A short digest that names one version of a robots.txt in logs and reports."""

from __future__ import annotations

from xxhash import xxh3_64_hexdigest


def robots_digest(data: bytes) -> str:
    """Returns 16 hexadecimal digits."""
    return xxh3_64_hexdigest(data)
