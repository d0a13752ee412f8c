"""What bytes hold that decides how they are read and stored, found in one pass over them where that is compiled."""

from __future__ import annotations

import re

from pycrawl.native import compiled

# Flags; native/body_scan.c has them too.
NOT_ASCII = 1
NUL = 2
ESCAPE = 4  # the character
DOC_TAG = 8  # "<doc" or "</doc" in capital or small letters: may be a tag of TREC Web
NOT_UTF8 = 16  # not well-formed

_DOC_TAG = re.compile(rb"</?doc", re.IGNORECASE)


def scan_body(body: bytes) -> int:
    if compiled is not None:
        return int(compiled.scan_body(body))
    found = 0
    if not body.isascii():
        found |= NOT_ASCII | (0 if _is_utf8(body) else NOT_UTF8)
    if b"\0" in body:
        found |= NUL
    if b"\x1b" in body:
        found |= ESCAPE
    if _DOC_TAG.search(body):
        found |= DOC_TAG
    return found


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True
