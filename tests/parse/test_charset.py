from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st
from resiliparse.parse.encoding import bytes_to_str

from pycrawl.parse.charset import decode_hint

GREEK = "Η γλώσσα είναι το μέσο με το οποίο επικοινωνούν οι άνθρωποι μεταξύ τους. " * 20


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"\xef\xbb\xbfx", "text/html; charset=iso-8859-1", "utf-8"),
        (b"\xff\xfex\0", "text/html", "utf-16-le"),
        (b"\xfe\xff\0x", "", "utf-16-be"),
        (b'<meta charset="utf-8">', "text/html; charset=windows-1251", "windows-1251"),
        (b"x", 'text/html; Charset="Shift_JIS"', "shift_jis"),
        (b"x", "text/html; charset=iso-8859-1", "windows-1252"),
        (b'<meta charset="koi8-r">', "text/html; charset=unheard-of", "koi8-r"),
        (b'<META http-equiv=content-type content="text/html; charset=EUC-JP">', "text/html", "euc-jp"),
        (b"<!-- <meta charset=koi8-r> --><meta charset=gbk>", "", "gbk"),
        (b'<meta charset="utf-16">', "", "utf-8"),
        (b" " * 2000 + b"<meta charset=koi8-r>", "", "utf-8"),
        ("ü".encode(), "", "utf-8"),
        (b"a" * 16_383 + "ü".encode(), "", "utf-8"),  # a character that the bound splits
        (GREEK.encode("iso-8859-7"), "", "iso-8859-7"),
        (b"", "", "utf-8"),
    ],
)
def test_the_order_of_sources(body: bytes, content_type: str, expected: str) -> None:
    assert codecs.lookup(decode_hint(body, content_type)).name == codecs.lookup(expected).name


@given(st.binary(), st.text())
def test_every_label_can_be_decoded_with(body: bytes, content_type: str) -> None:
    assert isinstance(bytes_to_str(body, decode_hint(body, content_type)), str)
