"""The encoding of a page: byte order mark, HTTP header, `<meta>`, and else a guess from its first bytes."""

from __future__ import annotations

import re

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

META_BYTES = 1_024  # the HTML standard looks for <meta charset> in so many
GUESS_BYTES = 16_384

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))
_HEADER_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
_META_CHARSET = re.compile(rb"""<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)


def decode_hint(body: bytes, content_type: str) -> str:
    """A label that the decoder knows; what decoding with it cannot read is dropped there."""
    for mark, label in _MARKS:
        if body.startswith(mark):
            return label
    return _known(_of_header(content_type)) or _known(_of_meta(body[:META_BYTES])) or _guess(body[:GUESS_BYTES])


def is_binary(body: bytes, content_type: str) -> bool:
    """Whether this is no text, whatever it is served as: NULs in its head that UTF-16 does not explain."""
    return b"\0" in body[:META_BYTES] and not decode_hint(body, content_type).startswith("utf-16")


def _known(label: str) -> str:
    return str(map_encoding_to_html5(label, fallback_utf8=False) or "") if label else ""


def _of_header(content_type: str) -> str:
    match = _HEADER_CHARSET.search(content_type)
    return match[1] if match else ""


def _of_meta(head: bytes) -> str:
    match = _META_CHARSET.search(_COMMENT.sub(b"", head) if b"<!--" in head else head)
    if match is None:
        return ""
    label = match[1].decode("ascii", "ignore").lower()
    # A <meta> that could be read as ASCII is not in UTF-16, whatever it says.
    return "utf-8" if label.startswith("utf-16") else label


def _guess(head: bytes) -> str:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:  # further back than a character that the cut may have split
            return str(detect_encoding(head))
    return "utf-8"
