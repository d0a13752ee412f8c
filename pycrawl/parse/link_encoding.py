"""The queries of a page's links, in the page's own encoding: a server that writes in windows-1251 reads it too.

The URL standard ("percent-encode after encoding"): what stands behind the "?" of a link is written in the encoding of
its page, UTF-8 where that is UTF-16, and its bytes beyond ASCII are escaped. A character that the encoding lacks is
written as a character reference, "&#1234;". Paths and hosts are in UTF-8 on every page.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from functools import cache

from pycrawl.parse.charset import codec_of
from pycrawl.urls.normal_form import MAX_LENGTH

_IN_UTF8 = ("", "utf-8", "utf-16le", "utf-16be")
_UNENCODABLE = "pycrawl.unencodable"  # the name of our way to treat errors of encoders
# The "special-query percent-encode set".
_ESCAPED = {byte: f"%{byte:02X}" for byte in (*range(0x21), *b"\"#'<>", *range(0x7F, 0x100))}
_SHORTEST_FOUR_BYTES = 4  # of gb18030: gbk has none of them
_FIRST_BIG5_LEAD = 0xA1  # what begins with a smaller byte is decoded only

_JIS_ROW = 94  # characters
_JIS_POINTERS = 11_280  # the length of "index jis0208"
_NEC_TWICE = range(8_272, 8_836)  # a second time behind it; Shift_JIS is written without these
_ROMAN = {0xA5: b"\\", 0x203E: b"~"}
_HALF_WIDTH = 0xFF61  # the first of the half-width katakana, as in Shift_JIS from 0xA1 on
# Python's decoders of euc-jp and iso-2022-jp read some signs as others than the standard's do.
_AS_THE_STANDARD = {
    0x2212: "\uff0d",
    0x301C: "\uff5e",
    0x2016: "\u2225",
    0xA2: "\uffe0",
    0xA3: "\uffe1",
    0xAC: "\uffe2",
}


def in_page_encoding(hrefs: Iterable[str], encoding: str) -> dict[str, str]:
    """Returns the links whose query is to be changed, and what they become; `encoding` is the one of their page."""
    if encoding in _IN_UTF8:
        return {}
    changed = {href: with_query_in(href, encoding) for href in hrefs if not href.isascii()}
    return {href: new for href, new in changed.items() if new != href}


def with_query_in(href: str, encoding: str) -> str:
    """The link with its query in `encoding`, if that has characters beyond ASCII."""
    start = href.partition("#")[0].find("?") + 1
    if not start or len(href) > MAX_LENGTH:
        return href
    end = href.find("#", start)
    end = len(href) if end < 0 else end
    query = href[start:end]
    return href if query.isascii() else f"{href[:start]}{_encoder(encoding)(query)}{href[end:]}"


@cache
def _encoder(encoding: str) -> Callable[[str], str]:
    """Returns a function from a query to its escaped form. There are only some forty encodings."""
    if encoding in ("shift_jis", "euc-jp", "iso-2022-jp"):
        encode = {"shift_jis": _shift_jis, "euc-jp": _euc_jp, "iso-2022-jp": _iso_2022_jp}[encoding]
        return lambda query: _escaped(encode(query))
    if encoding in ("gbk", "big5"):
        encode_one = _gbk if encoding == "gbk" else _big5
        return lambda query: _escaped(b"".join(map(encode_one, query)))
    codec = codec_of(encoding)
    return lambda query: _escaped(query.encode(codec, _UNENCODABLE))


def _escaped(octets: bytes) -> str:
    return octets.decode("latin-1").translate(_ESCAPED)


def _reference(character: str) -> bytes:
    return b"%%26%%23%d%%3B" % ord(character)


def _on_unencodable(error: UnicodeError) -> tuple[bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    return b"".join(map(_reference, error.object[error.start : error.end])), error.end


codecs.register_error(_UNENCODABLE, _on_unencodable)


def _gbk(character: str) -> bytes:
    if character == "\u20ac":
        return b"\x80"
    octets = character.encode("gb18030", "replace")  # halves of surrogate pairs
    return octets if len(octets) < _SHORTEST_FOUR_BYTES else _reference(character)


def _big5(character: str) -> bytes:
    """As the decoder in use reads it, which has the signs of Hong Kong; and what only Microsoft's table has."""
    for codec in ("big5hkscs", "cp950"):
        octets = character.encode(codec, "ignore")
        if octets and (character < "\x80" or octets[0] >= _FIRST_BIG5_LEAD):
            return octets
    return _reference(character)


@cache
def _jis() -> tuple[dict[str, int], dict[str, int]]:
    """Returns "index jis0208" by character, with the first pointer of each: in all, and as Shift_JIS is written."""
    first: dict[str, int] = {}
    written: dict[str, int] = {}
    for pointer in range(_JIS_POINTERS):
        character = _shift_jis_octets(pointer).decode("cp932", "replace")
        if len(character) == 1 and not "\ue000" <= character <= "\uf8ff":
            first.setdefault(character, pointer)
            if pointer not in _NEC_TWICE:
                written.setdefault(character, pointer)
    return first, written


def _shift_jis_octets(pointer: int) -> bytes:
    lead, trail = divmod(pointer, 188)
    return bytes((lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)))


def _shift_jis(query: str) -> bytes:
    _, pointers = _jis()
    return b"".join([_in_shift_jis(character, pointers) for character in query])


def _in_shift_jis(character: str, pointers: dict[str, int]) -> bytes:
    code = ord(character)
    if code <= 0x80:
        return bytes((code,))
    if code in _ROMAN:
        return _ROMAN[code]
    if _HALF_WIDTH <= code < _HALF_WIDTH + 63:
        return bytes((code - _HALF_WIDTH + 0xA1,))
    pointer = pointers.get("\uff0d" if code == 0x2212 else character)
    return _reference(character) if pointer is None else _shift_jis_octets(pointer)


def _euc_jp(query: str) -> bytes:
    pointers, _ = _jis()
    return b"".join([_in_euc_jp(character, pointers) for character in query])


def _in_euc_jp(character: str, pointers: dict[str, int]) -> bytes:
    code = ord(character)
    if code < 0x80:
        return bytes((code,))
    if code in _ROMAN:
        return _ROMAN[code]
    if _HALF_WIDTH <= code < _HALF_WIDTH + 63:
        return bytes((0x8E, code - _HALF_WIDTH + 0xA1))
    place = _place_of(character, pointers)
    return _reference(character) if place is None else bytes((place[0] + 0xA1, place[1] + 0xA1))


def _place_of(character: str, pointers: dict[str, int]) -> tuple[int, int] | None:
    """Row and column of a character among the 94 × 94."""
    pointer = pointers.get(_AS_THE_STANDARD.get(ord(character), character))
    return None if pointer is None or pointer >= _JIS_ROW * _JIS_ROW else divmod(pointer, _JIS_ROW)


def _iso_2022_jp(query: str) -> bytes:
    """Escape sequences change between ASCII, the Roman set (for two signs) and JIS X 0208."""
    pointers, _ = _jis()
    ascii_set, roman_set, jis_set = b"\x1b(B", b"\x1b(J", b"\x1b$B"
    now, parts = ascii_set, []
    for character in query:
        code = ord(character)
        full = _FULL_WIDTH[code - _HALF_WIDTH] if _HALF_WIDTH <= code < _HALF_WIDTH + 63 else character
        place = _place_of(full, pointers)
        if code < 0x80:
            needed = now if now == roman_set and character not in "\\~" else ascii_set
            octets = bytes((code,))
        elif code in _ROMAN:
            needed, octets = roman_set, _ROMAN[code]
        elif place is not None:
            needed, octets = jis_set, bytes((place[0] + 0x21, place[1] + 0x21))
        else:
            needed = now if now != jis_set else ascii_set
            octets = _reference(character)
        if needed != now:
            parts.append(needed)
            now = needed
        parts.append(octets)
    if now != ascii_set:
        parts.append(ascii_set)
    return b"".join(parts)


# "index ISO-2022-JP katakana": the full-width forms of U+FF61 to U+FF9F.
_FULL_WIDTH = (
    "。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソ"
    "タチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜"
)
