"""Digests that stand for some bytes in logs and reports."""

from __future__ import annotations

from xxhash import xxh3_64_hexdigest


def robots_digest(data: bytes) -> str:
    """16 hexadecimal digits."""
    return xxh3_64_hexdigest(data)
