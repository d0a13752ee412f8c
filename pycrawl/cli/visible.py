"""Text from the web, made fit for a terminal."""

from __future__ import annotations


def visible(text: str) -> str:
    """Returns the text on one line, with its control characters made visible."""
    return "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in text)
