"""Bytes that say of themselves what they are, whatever they are served as: pictures, archives, fonts.

What a server declares as HTML is HTML, NULs or not (MIME Sniffing standard), unless its first bytes are a signature of
something else. Where the standard's pattern is two or three letters that could begin a text, more is asked for here.
"""

from __future__ import annotations

import re

_SIGNATURES = re.compile(
    rb"(?P<image>\x89PNG\r\n\x1a\n|GIF8[79]a|\xff\xd8\xff|\0\0[\x01\x02]\0|RIFF....WEBPVP|BM....\0\0\0\0"
    rb"|II\*\0|MM\0\*)"
    rb"|(?P<audio>OggS\0|MThd\0\0\0\x06|ID3[\x02-\x04]\0|RIFF....WAVE|FORM....AIFF|\.snd\0|fLaC\0)"
    rb"|(?P<video>RIFF....AVI |\x1aE\xdf\xa3|\0...ftyp)"
    rb"|(?P<font>\0\x01\0\0|OTTO\0|ttcf\0|wOF[F2]\0\x01\0\0|wOF[F2]OTTO)"
    rb"|(?P<archive>\x1f\x8b\x08|PK\x03\x04|Rar!\x1a\x07|7z\xbc\xaf\x27\x1c|BZh[1-9]1AY|\xfd7zXZ\0)"
    rb"|(?P<document>%PDF-|%!PS-Adobe-|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1)"
    rb"|(?P<program>\x7fELF|MZ[^<]\0|\0asm|\xca\xfe\xba\xbe\0)",
    re.DOTALL,
).match

_WORDS = {
    "image": "an image",
    "audio": "audio",
    "video": "a video",
    "font": "a font",
    "archive": "an archive",
    "document": "a document",
    "program": "a program",
}


def kind_of(data: bytes) -> str:
    """Returns what the bytes are by their signature: "an image", "an archive"; empty if they have none."""
    if data[:1] == b"<":
        return ""
    found = _SIGNATURES(data)
    if found is None:
        return ""
    return _WORDS[str(found.lastgroup)]
