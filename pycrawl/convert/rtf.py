"""RTF: paragraphs, headings by outline level, lists, tables, links, and the facts of its info group."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from pycrawl.convert.blocks import Blocks
from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible

_TOKEN = re.compile(
    r"\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9A-Fa-f]{2})|\\(?P<sign>.)"
    r"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]+|\\",
    re.DOTALL,
)
_HYPERLINK = re.compile(r'\s*HYPERLINK\s+"?([^"\s]{1,4096})')
_DEEPEST = 1_000  # groups in each other
_CHECKED_EVERY = 4_096  # tokens between two looks at the clock
_UNSEEN = frozenset(
    "colortbl stylesheet pict header headerl headerr headerf footer footerl footerr footerf xe tc annotation atnid"
    " atnauthor objdata listtext pntext themedata filetbl listtable revtbl bkmkstart bkmkend nonshppict shpinst".split()
)
_SINKS = {"info": "info", "fonttbl": "fonts", "fldinst": "instruction", "fldrslt": "text"}
_FACTS = ("title", "author", "creatim")
_CHARACTERS = {
    "tab": "\t",
    "line": " ",
    "emdash": "—",
    "endash": "–",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "bullet": "•",
    "emspace": " ",
    "enspace": " ",
    "~": "\xa0",
    "_": "-",
    "{": "{",
    "}": "}",
    "\\": "\\",
}
_CHARSETS = {
    0: "cp1252",
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gbk",
    136: "big5",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}


class _Group(NamedTuple):
    """What holds inside of a pair of braces."""

    sink: str = "text"  # where its text goes: "text", a fact, "instruction", "fonts", "" (nowhere)
    charset: str = ""  # of its font
    skipped: int = 1  # characters behind each \u, for readers that know no Unicode
    href: str = ""


def convert(data: bytes, page: SimplePage) -> None:
    if not data.lstrip().startswith(b"{\\rtf"):
        raise Unconvertible(Trouble.DAMAGED, "it does not begin as RTF does")
    _Reader(page).read(data.decode("latin-1"))


class _Reader:
    """Reads token after token."""

    def __init__(self, page: SimplePage) -> None:
        self._page = page
        self._blocks = Blocks(page)
        self._group = _Group()
        self._outer: list[_Group] = []
        self._charset = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = 0  # that the table of fonts is at
        self._bytes = bytearray()  # from \'xx, not decoded yet
        self._half = ""  # the first half of a surrogate pair
        self._to_skip = 0
        self._is_starred = False
        self._facts: dict[str, str] = {}
        self._in_table = False
        self._in_cell = False
        self._paragraph = (0, False)  # level of heading, is it an item; until \pard

    def read(self, text: str) -> None:
        position = count = 0
        while match := _TOKEN.match(text, position):
            position = match.end()
            count += 1
            if count % _CHECKED_EVERY == 0:
                self._page.check()
            if match["word"] == "bin":
                position += max(int(match["number"] or 0), 0)
            else:
                self._token(match)
            if match["brace"] == "}" and not self._outer:
                break
        self._write_bytes()
        self._end_paragraph()
        self._blocks.finish()
        self._note_facts()
        if self._outer:
            raise Unconvertible(Trouble.DAMAGED, "it breaks off")

    def _token(self, match: re.Match[str]) -> None:
        if match["hex"]:
            if self._to_skip:
                self._to_skip -= 1
            else:
                self._bytes.append(int(match["hex"], 16))
            return
        self._write_bytes()
        if match["text"]:
            skipped = min(self._to_skip, len(match["text"]))
            self._to_skip -= skipped
            self._bytes += match["text"][skipped:].encode("latin-1")
            return
        if match["brace"]:
            self._to_skip = 0
            self._begin_group() if match["brace"] == "{" else self._end_group()
        elif match["word"]:
            self._word(match["word"], int(match["number"]) if match["number"] else None)
        elif match["sign"] == "*":
            self._is_starred = True
        elif match["sign"]:
            self._sign(match["sign"])

    def _begin_group(self) -> None:
        if len(self._outer) == _DEEPEST:
            raise Unconvertible(Trouble.DAMAGED, f"more than {_DEEPEST} groups in each other")
        self._outer.append(self._group)
        self._is_starred = False

    def _end_group(self) -> None:
        if self._outer:
            self._group = self._outer.pop()

    def _sign(self, sign: str) -> None:
        if sign in "\r\n":
            self._end_paragraph()
        elif sign in _CHARACTERS:
            self._write(_CHARACTERS[sign])

    def _word(self, word: str, number: int | None) -> None:
        is_starred, self._is_starred = self._is_starred, False
        if word == "u" and number is not None:
            self._unicode(number & 0xFFFF)
        elif word in _SINKS or (self._group.sink == "info" and word in _FACTS):
            self._enter(word)
        elif is_starred or word in _UNSEEN:
            self._group = self._group._replace(sink="")
            if word in ("listtext", "pntext"):
                self._paragraph = (self._paragraph[0], True)
        elif self._group.sink == "fonts":
            self._note_font(word, number)
        elif self._group.sink == "creatim" and number is not None:
            self._facts[word] = f"{number:02}"
        elif word in _CHARACTERS:
            self._write(_CHARACTERS[word])
        elif self._group.sink == "text":
            self._format(word, number)
        self._character_format(word, number)

    def _enter(self, word: str) -> None:
        if not self._group.sink:
            return
        self._group = self._group._replace(sink=_SINKS.get(word, word))
        if word == "fldinst":
            self._facts["instruction"] = ""
        elif word == "fldrslt":
            match = _HYPERLINK.match(self._facts.pop("instruction", ""))
            self._group = self._group._replace(href=match[1] if match else "")

    def _character_format(self, word: str, number: int | None) -> None:
        if word == "uc" and number is not None:
            self._group = self._group._replace(skipped=min(max(number, 0), 10))
        elif word == "f" and number is not None:
            self._group = self._group._replace(charset=self._fonts.get(number, ""))
        elif word == "ansicpg" and number is not None:
            self._charset = _known(f"cp{number}")
        elif word == "mac":
            self._charset = "mac_roman"

    def _note_font(self, word: str, number: int | None) -> None:
        if word == "f" and number is not None:
            self._font = number
        elif word == "fcharset" and number in _CHARSETS:
            self._fonts[self._font] = _CHARSETS[number] if number else ""

    def _format(self, word: str, number: int | None) -> None:
        """Words about paragraphs and tables."""
        if word in ("par", "sect", "page"):
            self._end_paragraph()
        elif word == "pard":
            self._paragraph = (0, False)
            self._in_cell = False
        elif word == "outlinelevel" and number is not None and number < 9:
            self._paragraph = (number + 1, False)
        elif word == "ls" and number:
            self._paragraph = (self._paragraph[0], True)
        elif word == "intbl":
            self._in_cell = True
        elif word == "trowd":
            self._in_cell = True
            self._begin_table()
        elif word == "cell":
            self._blocks.end_cell()
            self._write(" ")
        elif word == "row":
            self._blocks.end_row()

    def _begin_table(self) -> None:
        if not self._in_table:
            self._end_paragraph()
            self._blocks.begin_table()
            self._in_table = True

    def _end_paragraph(self) -> None:
        level, is_item = self._paragraph
        if not self._in_table:
            self._blocks.heading(level)
            if is_item and not level:
                self._blocks.item()
        self._blocks.end()

    def _unicode(self, code: int) -> None:
        self._to_skip = self._group.skipped
        if 0xD800 <= code < 0xDC00:
            self._half = chr(code)
            return
        text = (self._half + chr(code)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        self._half = ""
        self._write(text)

    def _write_bytes(self) -> None:
        if self._bytes:
            data, self._bytes = bytes(self._bytes), bytearray()
            self._write(data.decode(self._group.charset or self._charset, "replace"))

    def _write(self, text: str) -> None:
        sink = self._group.sink
        if sink == "text":
            if self._in_table and not self._in_cell and not text.isspace():
                self._blocks.end_table()
                self._in_table = False
            self._blocks.href = self._group.href
            self._blocks.text(text)
        elif sink in ("title", "author", "instruction"):
            self._facts[sink] = self._facts.get(sink, "") + text

    def _note_facts(self) -> None:
        self._page.title = self._facts.get("title", "")
        self._page.author = self._facts.get("author", "")
        date = [self._facts.get(name, "") for name in ("yr", "mo", "dy")]
        self._page.date = "-".join(date) if all(date) else ""


def _known(charset: str) -> str:
    try:
        return codecs.lookup(charset).name
    except LookupError:
        return "cp1252"
