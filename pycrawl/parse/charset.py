"""The encoding of a page, as the HTML standard finds it out, and its text.

Byte order mark, HTTP header, `<meta>` in the first 1,024 bytes (section "prescan a byte stream to determine its
encoding"), a later `<meta>`, and else a guess. Where a declaration cannot be right, the guess is used; both are kept.
Encodings go by the names of the Encoding standard, in lower case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

from pycrawl.native.body_scan import ESCAPE, NOT_ASCII, NOT_UTF8, NUL, scan_body

PRESCAN_BYTES = 1_024
LATE_META_BYTES = 16_384
SAMPLE_BYTES = 16_384  # what a guess, and the judgement of a declaration, is made from

LONGEST_LABEL = 64  # characters
_LONGEST_HEADER = 256  # characters of it that are read
_MOST_INVALID = 0.25  # of the characters beyond ASCII; with more, a declaration cannot be right
# So many characters that are right in UTF-8, and no wrong one, are no chance: even in GBK, where that is likeliest,
# one in seven is.
_SURELY_UTF8 = 5

_WHITE = rb"[\t\n\f\r ]"
_NOT_WHITE = rb"[^\t\n\f\r >]"
# The standard's "get an attribute": a name may start with "="; a quote that is not closed ends the whole scan.
_ATTRIBUTE = (
    rb"[\t\n\f\r /]*+(?P<name>[^\t\n\f\r />][^\t\n\f\r />=]*+)"
    rb"(?:" + _WHITE + rb"*+=" + _WHITE + rb"*+"
    rb"""(?:"(?P<double>[^"]*+)"|'(?P<single>[^']*+)'|(?=>)|(?P<bare>[^\t\n\f\r >"']""" + _NOT_WHITE + rb"*+))"
    rb"|(?!" + _WHITE + rb"*+=))"
)
_UNNAMED = re.sub(rb"\?P<\w+>", b"?:", _ATTRIBUTE)
_ATTRIBUTES = rb"(?:" + _UNNAMED + rb")*+[\t\n\f\r /]*+>"
_MARKUP = re.compile(
    rb"<(?:!(?=--).*?-->"
    rb"|meta(?=[\t\n\f\r /])(?P<meta>" + _ATTRIBUTES + rb")"
    rb"|(?!meta[\t\n\f\r /])/?[a-z]" + _NOT_WHITE + rb"*+" + _ATTRIBUTES + rb"|(?!!--|/?[a-z])[!/?][^>]*+>"
    rb"|(?P<cut>[!/?a-z]))",
    re.IGNORECASE | re.DOTALL,
)
_ONE_ATTRIBUTE = re.compile(_ATTRIBUTE)
_CHARSET = re.compile(
    rb"""charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|(?!["'])([^\t\n\f\r ;]+)|["'])""", re.IGNORECASE
)
_XML_DECLARATION = re.compile(
    rb"""<\?xml[^>]*?encoding[\x00-\x20]*=[\x00-\x20]*(?:"([^"\x00-\x20>]*)"|'([^'\x00-\x20>]*)')"""
)
_UTF16_XML = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))
_HEADER_CHARSET = re.compile(r"""(?<![\w-])charset\s*=\s*(?:"([^"]*)"|'?\s*([^\s"';,]+))""", re.IGNORECASE)
_UTF8_MARK = b"\xef\xbb\xbf"
_MARKS = ((_UTF8_MARK, "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))

# Where the names of the standard and Python's differ, or Python's codec of that name is narrower than the standard's.
_CODEC_OF = {
    "utf-16be": "utf-16-be",
    "utf-16le": "utf-16-le",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "big5": "big5hkscs",
}
_NAME_OF = {
    "utf-16-be": "utf-16be",
    "utf-16-le": "utf-16le",
    "cp866": "ibm866",
    "mac-roman": "macintosh",
    "iso8859-11": "windows-874",
    "euc_jp": "euc-jp",
    "euc_kr": "euc-kr",
    "iso2022_jp": "iso-2022-jp",
}
# Labels of the standard that the library leaves out. The standard turns pages in HZ, ISO-2022-KR and ISO-2022-CN
# ("replacement") into one U+FFFD; here these labels count as none, so that something may be read of them.
_FURTHER_LABELS = {
    "x-mac-cyrillic": "x-mac-cyrillic",
    "x-mac-ukrainian": "x-mac-cyrillic",
    # As text, the private characters that the standard makes of it are of no use.
    "x-user-defined": "windows-1252",
}


class Source(StrEnum):
    """What told the encoding in use."""

    MARK = "bom"
    HEADER = "http"
    META = "meta"
    DETECTED = "detected"


@dataclass(frozen=True, slots=True)
class Charset:
    """The encoding of a page: what it was declared as ("" if it was not), what it is read as, and what told that."""

    declared: str
    used: str
    source: Source


ASCII = Charset("", "", Source.DETECTED)  # of bytes that are the same text in any encoding


def charset_of(body: bytes, content_type: str) -> Charset:
    """The encoding to read `body` with, which was served with the Content-Type header `content_type`."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return Charset(name, name, Source.MARK)
    source = Source.HEADER
    declared = _of_header(content_type[:_LONGEST_HEADER])
    if not declared:
        source = Source.META
        declared = prescan(body[:PRESCAN_BYTES]) or _later_meta(body)
    if not declared:
        return Charset("", _guess(_sample(body)), Source.DETECTED)
    used = _corrected(body, declared)
    return Charset(declared, used, source if used == declared else Source.DETECTED)


def read(body: bytes, content_type: str) -> tuple[str, Charset]:
    """The text of a page, in whichever encoding."""
    markup, charset = in_utf8(body, content_type, scan_body(body))
    return markup.decode() if isinstance(markup, bytes) else markup, charset


def in_utf8(body: bytes, content_type: str, seen: int) -> tuple[str | bytes, Charset]:
    """The text of a page as well-formed UTF-8, or, where it is to be converted, as a `str`; `seen` is what the scan
    of the body found.

    Bytes of ASCII say the same in all encodings, UTF-16 (which has NULs) and ISO-2022-JP (which has escapes) apart; so
    for these it is not even asked.
    """
    if not seen & (NOT_ASCII | NUL | ESCAPE):
        return body, ASCII
    charset = charset_of(body, content_type)
    if charset.used == "utf-8" and not seen & NOT_UTF8:
        return body.removeprefix(_UTF8_MARK), charset
    return decode(body, charset.used), charset


def decode(body: bytes, name: str) -> str:
    """The text of `body`; what cannot be read becomes U+FFFD, as in the Encoding standard."""
    text = body.decode(codec_of(name), "replace")
    return text[1:] if text.startswith("\ufeff") else text


@lru_cache(1_024)
def encoding_named(label: str) -> str:
    """The name of the encoding that goes by this label, "" if none does (Encoding standard, "get an encoding")."""
    label = label.strip("\t\n\f\r ").lower()
    if not 0 < len(label) <= LONGEST_LABEL:
        return ""
    codec = str(map_encoding_to_html5(label, fallback_utf8=False) or "").lower()
    return _FURTHER_LABELS.get(label, "") if not codec else _name(codec)


def _name(codec: str) -> str:
    if codec.startswith("cp125"):
        return f"windows-{codec[2:]}"
    if codec.startswith("iso8859-") and codec not in _NAME_OF:
        return f"iso-{codec[3:]}"
    return _NAME_OF.get(codec, codec)


def codec_of(name: str) -> str:
    return _CODEC_OF.get(name, name)


@lru_cache(1_024)
def _of_header(content_type: str) -> str:
    match = _HEADER_CHARSET.search(content_type)
    return encoding_named(match[1] or match[2] or "") if match else ""


def prescan(head: bytes) -> str:
    """The encoding that the bytes declare, "" if none; `head` is the first `PRESCAN_BYTES` of a page."""
    for start, name in _UTF16_XML:
        if head.startswith(start):
            return name
    lowered = head.lower()
    if b"charset" not in lowered and b"encoding" not in lowered:
        return ""  # as most pages that declare it in the header: no need to take the markup apart
    return _of_meta(head) or _of_xml(head)


def _of_meta(head: bytes) -> str:
    for markup in _MARKUP.finditer(head):
        if markup["cut"]:  # the bytes end inside it
            return ""
        if markup["meta"] and (name := _of_attributes(markup["meta"])):
            return name
    return ""


def _of_attributes(text: bytes) -> str:
    charset: str | None = None
    got_pragma = False
    need_pragma: bool | None = None
    seen: set[bytes] = set()
    for attribute in _ONE_ATTRIBUTE.finditer(text):
        name = attribute["name"].lower()
        if name in seen:
            continue
        seen.add(name)
        value = attribute["double"] or attribute["single"] or attribute["bare"] or b""
        if name == b"http-equiv":
            got_pragma = value.lower() == b"content-type"
        elif name == b"charset":
            charset, need_pragma = _readable_as_ascii(value), False
        elif name == b"content" and charset is None and (found := _of_content(value)):
            charset, need_pragma = found, True
    return charset or "" if need_pragma is False or (need_pragma and got_pragma) else ""


def _of_content(value: bytes) -> str:
    """Section "extracting a character encoding from a meta element"."""
    match = _CHARSET.search(value)
    return _readable_as_ascii(match[1] or match[2] or match[3] or b"") if match else ""


def _of_xml(head: bytes) -> str:
    match = _XML_DECLARATION.match(head)
    return _readable_as_ascii(match[1] or match[2] or b"") if match else ""


def _readable_as_ascii(label: bytes) -> str:
    """The encoding of a declaration that could be read as ASCII, and so is not in UTF-16, whatever it says."""
    name = encoding_named(label[: LONGEST_LABEL * 2].decode("latin-1"))
    return "utf-8" if name.startswith("utf-16") else name


def _later_meta(body: bytes) -> str:
    """A declaration behind the first bytes, for which a browser would begin anew ("change the encoding")."""
    if body.find(b"harset", PRESCAN_BYTES - len("<meta c"), LATE_META_BYTES) < 0:
        return ""
    return _of_meta(body[:LATE_META_BYTES])


def _sample(body: bytes) -> bytes:
    """What begins with the first byte beyond ASCII: a page's head is often scripts, and tells nothing."""
    try:
        body.decode("ascii")
    except UnicodeDecodeError as error:
        return body[error.start : error.start + SAMPLE_BYTES]
    return b""


def _guess(sample: bytes) -> str:
    if _reads_cleanly(sample, "utf-8"):
        return "utf-8"
    name = encoding_named(str(detect_encoding(sample)))
    # The library says UTF-8 also when it cannot tell; then it is, most often, what browsers take.
    return "windows-1252" if name in ("utf-8", "") and _reads_badly(sample, "utf-8") else name


def _corrected(body: bytes, declared: str) -> str:
    """`declared`, or what the body really is in, if that is plain to see."""
    if declared.startswith("utf-16"):
        # Markup has letters of ASCII, and so NULs.
        return declared if b"\0" in body[:PRESCAN_BYTES] or not body else _guess(_sample(body))
    sample = _sample(body)
    if not sample:
        return declared
    if declared != "utf-8" and _is_surely_utf8(sample):
        return "utf-8"
    if not _reads_badly(sample, declared):
        return declared
    guessed = _guess(sample)
    return guessed if _reads_cleanly(sample, guessed) else declared


def _reads_cleanly(sample: bytes, name: str) -> bool:
    try:
        sample.decode(codec_of(name))
    except UnicodeDecodeError as error:
        # The cut may have split the last character.
        return len(sample) == SAMPLE_BYTES and error.start >= len(sample) - 3
    return True


def _is_surely_utf8(sample: bytes) -> bool:
    return _reads_cleanly(sample, "utf-8") and _beyond_ascii(sample.decode("utf-8", "ignore")) >= _SURELY_UTF8


def _reads_badly(sample: bytes, name: str) -> bool:
    if _reads_cleanly(sample, name):
        return False
    text = sample.decode(codec_of(name), "replace")
    return text.count("\ufffd") > _MOST_INVALID * _beyond_ascii(text)


def _beyond_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))
