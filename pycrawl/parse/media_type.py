"""Which bodies are HTML, and what text is in the others."""

from __future__ import annotations

from pycrawl.parse.charset import ASCII, Charset, read

_HTML_TYPES = ("text/html", "application/xhtml+xml")


def plain_text_of(body: bytes, content_type: str) -> tuple[str, Charset]:
    """The text of what is not HTML; what is not served as text has none."""
    return read(body, content_type) if content_type.lower().startswith("text/") else ("", ASCII)


def is_html(content_type: str, body: bytes) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type in _HTML_TYPES or (not media_type and body.lstrip()[:1] == b"<")
