from __future__ import annotations

import base64
import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycrawl.parse.charset import (
    SAMPLE_BYTES,
    Charset,
    Source,
    charset_of,
    decode,
    encoding_named,
    prescan,
    read,
)

VECTORS = Path(__file__).parents[3] / "shared" / "data" / "encoding" / "prescan.json"
GREEK = "Η γλώσσα είναι το μέσο με το οποίο επικοινωνούν οι άνθρωποι μεταξύ τους. " * 20
RUSSIAN = "Все люди рождаются свободными и равными в своем достоинстве и правах. " * 20
FRENCH = "Tous les êtres humains naissent libres et égaux en dignité et en droits, à l'école même. " * 20
JAPANESE = "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。" * 20

# Names of the Encoding standard with some of the labels it gives them.
LABELS = {
    "utf-8": "unicode-1-1-utf-8 utf-8 utf8 UTF-8",
    "ibm866": "866 cp866 csibm866",
    "iso-8859-2": "latin2 l2 iso88592 iso_8859-2:1987",
    "iso-8859-5": "cyrillic iso-ir-144",
    "iso-8859-6": "arabic asmo-708 iso-8859-6-e",
    "iso-8859-7": "greek sun_eu_greek elot_928",
    "iso-8859-8": "hebrew visual iso-8859-8 iso-8859-8-i logical",
    "iso-8859-15": "l9 csisolatin9",
    "iso-8859-16": "iso-8859-16",
    "koi8-r": "koi koi8 koi8_r",
    "koi8-u": "koi8-ru",
    "macintosh": "mac x-mac-roman",
    "windows-874": "tis-620 iso-8859-11 dos-874",
    "windows-1250": "cp1250 x-cp1250",
    "windows-1251": "cp1251",
    "windows-1252": "ascii us-ascii latin1 iso-8859-1 l1 x-user-defined",
    "windows-1254": "iso-8859-9 latin5 l5",
    "windows-1258": "cp1258",
    "x-mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gbk": "gb2312 chinese gb_2312-80 x-gbk",
    "gb18030": "gb18030",
    "big5": "big5-hkscs cn-big5 x-x-big5",
    "euc-jp": "x-euc-jp cseucpkdfmtjapanese",
    "iso-2022-jp": "csiso2022jp",
    "shift_jis": "sjis windows-31j x-sjis ms_kanji shift-jis",
    "euc-kr": "korean ks_c_5601-1987 windows-949",
    "utf-16be": "unicodefffe",
    "utf-16le": "utf-16 unicode ucs-2",
    "": "bogus utf-7 utf-32 iso-2022-kr hz-gb-2312 replacement",
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_the_encoding_standard(name: str) -> None:
    assert {encoding_named(f"\t {label}\n") for label in LABELS[name].split()} == {name}
    if name:
        assert isinstance(decode(b"a\x80\xff", name), str)


def test_vectors_of_the_prescan() -> None:
    if not VECTORS.exists():
        pytest.skip(f"{VECTORS} is not there")
    cases = json.loads(VECTORS.read_text())["prescan"]
    assert len(cases) == 82
    for case in cases:
        body = base64.b64decode(case["data_base64"])
        # They are made for browsers, which take windows-1252 where a page declares nothing.
        assert (charset_of(body, "").declared or "windows-1252") == encoding_named(case["encoding"]), body


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"\xef\xbb\xbfx", "text/html; charset=iso-8859-1", ("utf-8", Source.MARK)),
        (b"\xff\xfex\0", "text/html", ("utf-16le", Source.MARK)),
        (b"\xfe\xff\0x", "", ("utf-16be", Source.MARK)),
        (b'<meta charset="utf-8">', "text/html; charset=windows-1251", ("windows-1251", Source.HEADER)),
        (b"x", 'text/html; Charset="Shift_JIS"', ("shift_jis", Source.HEADER)),
        (b"x", "text/html; charset=iso-8859-1", ("windows-1252", Source.HEADER)),
        (b"x", "text/html; xcharset=koi8-r; charset = 'greek'", ("iso-8859-7", Source.HEADER)),
        (b'<meta charset="koi8-r">', "text/html; charset=unheard-of", ("koi8-r", Source.META)),
        (b" " * 2000 + b"<meta charset=koi8-r>", "", ("koi8-r", Source.META)),
        (b" " * 2000 + b"<p title='charset'>", "", ("utf-8", Source.DETECTED)),
        ("ü".encode(), "", ("utf-8", Source.DETECTED)),
        (b"a" * 1_000 + b"\xc3\xbc" * SAMPLE_BYTES, "", ("utf-8", Source.DETECTED)),
        (b"x" + "€".encode() * SAMPLE_BYTES, "", ("utf-8", Source.DETECTED)),  # the bound splits a character
        (b"<script>" + b" " * 100_000 + GREEK.encode("iso-8859-7"), "", ("iso-8859-7", Source.DETECTED)),
        (b"caf\xe9", "", ("windows-1252", Source.DETECTED)),
        (GREEK.encode("iso-8859-7"), "", ("iso-8859-7", Source.DETECTED)),
        (b"", "", ("utf-8", Source.DETECTED)),
    ],
)
def test_the_order_of_sources(body: bytes, content_type: str, expected: tuple[str, Source]) -> None:
    charset = charset_of(body, content_type)
    assert (charset.used, charset.source) == expected
    assert charset.declared == ("" if charset.source is Source.DETECTED else charset.used)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b'<META http-equiv=content-type content="text/html; charset=EUC-JP">', "euc-jp"),
        (b'<meta content="text/html; charset=euc-jp">', ""),  # no pragma
        (b'<meta http-equiv=refresh content="charset=euc-jp">', ""),
        (b"<meta http-equiv=content-type content='charset charset = \"gbk\"'>", "gbk"),
        (b'<meta http-equiv=content-type content="charset=\'gbk">', ""),  # a quote that is not closed
        (b"<meta http-equiv=content-type content='charset=gbk;x'>", "gbk"),
        (b"<meta/charset=gbk/>", ""),  # the value is "gbk/"
        (b"<meta/charset=gbk >", "gbk"),
        (b"<meta charset=gbk charset=big5>", "gbk"),  # the first of a name counts
        (b"<meta charset=bogus http-equiv=content-type content='charset=gbk'><meta charset=big5>", "big5"),
        (b"<metacharset=gbk>", ""),
        (b"<meta charset>", ""),
        (b"<meta charset=>", ""),
        (b"<meta charset='gbk'", ""),  # cut
        (b"<meta name='<meta charset=gbk>' =charset=x>", ""),
        (b"<p title='<meta charset=gbk>'><meta charset=big5>", "big5"),
        (b"<p title=\"'><meta charset=gbk>", ""),  # inside a quote that is not closed
        (b"</p <meta charset=gbk><meta charset=big5>", "big5"),
        (b"<!-- <meta charset=koi8-r> --><meta charset=gbk>", "gbk"),
        (b"<!--><meta charset=gbk>-->", "gbk"),
        (b"<!---><meta charset=gbk>", "gbk"),
        (b"<!-- <meta charset=gbk>", ""),
        (b"<!x <meta charset=gbk><meta charset=big5>", "big5"),
        (b"<?x <meta charset=gbk><meta charset=big5>", "big5"),
        (b"</ <meta charset=gbk><meta charset=big5>", "big5"),
        (b"< <<meta charset=gbk>", "gbk"),
        (b'<meta charset="utf-16">', "utf-8"),
        (b'<meta charset="x-user-defined">', "windows-1252"),
        (b'<?xml version="1.0" encoding="koi8-r"?><html>', "koi8-r"),
        (b"<?xml version='1.0' encoding = 'UTF-16'?>", "utf-8"),
        (b'<?xml version="1.0" encoding="koi8-r"?><meta charset=gbk>', "gbk"),
        (b'<?xml version="1.0"?><p encoding="koi8-r">', ""),
        ('<?xml version="1.0"?>'.encode("utf-16-le"), "utf-16le"),
        ('<?xml version="1.0"?>'.encode("utf-16-be"), "utf-16be"),
    ],
)
def test_prescan(head: bytes, name: str) -> None:
    assert prescan(head) == name


@pytest.mark.parametrize(
    ("text", "encoding", "declared", "used"),
    [
        (RUSSIAN, "utf-8", "windows-1251", "utf-8"),
        (FRENCH, "utf-8", "windows-1252", "utf-8"),
        (JAPANESE, "utf-8", "euc-jp", "utf-8"),
        (FRENCH, "windows-1252", "utf-8", "windows-1252"),
        (GREEK, "iso-8859-7", "utf-8", "iso-8859-7"),
        (JAPANESE, "cp932", "utf-8", "shift_jis"),
        (JAPANESE, "cp932", "euc-jp", "shift_jis"),
        ("only ASCII", "ascii", "utf-16le", "utf-8"),
    ],
)
def test_a_declaration_that_cannot_be_right(text: str, encoding: str, declared: str, used: str) -> None:
    body = text.encode(encoding)
    charset = charset_of(body, f"text/html; charset={declared}")
    assert charset == Charset(declared, used, Source.DETECTED)
    assert decode(body, charset.used) == text


@pytest.mark.parametrize(
    ("body", "declared"),
    [
        (RUSSIAN.encode("windows-1251"), "windows-1251"),
        (JAPANESE.encode("euc-jp"), "euc-jp"),
        (JAPANESE.encode("cp932"), "shift_jis"),
        ("naïve".encode(), "windows-1252"),  # too little to tell
        (RUSSIAN.encode()[:-1], "utf-8"),  # cut in a character
        (RUSSIAN.encode() + b"\xff\xe9 broken " * 5, "utf-8"),
        (b"only ASCII", "koi8-r"),
        ("<p>x".encode("utf-16-le"), "utf-16le"),
    ],
)
def test_a_declaration_that_may_be_right_is_believed(body: bytes, declared: str) -> None:
    assert charset_of(body, f"text/html; charset={declared}") == Charset(declared, declared, Source.HEADER)


def test_what_cannot_be_read_costs_no_more_than_itself() -> None:
    assert decode("日本\n".encode() + b"\xe6\x97 " + "語".encode(), "utf-8") == "日本\n\ufffd 語"
    assert decode(b"\xef\xbb\xbfx", "utf-8") == "x"
    assert decode("\ufeffx".encode("utf-16-le"), "utf-16le") == "x"


@settings(deadline=None)  # the machine may be busy
@given(
    st.binary()
    | st.lists(
        st.sampled_from(
            [
                b"<",
                b">",
                b"meta",
                b"<meta ",
                b"<!--",
                b"-->",
                b"charset",
                b"=",
                b'"',
                b"'",
                b"/",
                b" ",
                b"content=",
                b";",
            ]
        )
        | st.binary(max_size=3)
    ).map(b"".join),
    st.text(),
)
def test_every_body_has_an_encoding_and_a_text(body: bytes, content_type: str) -> None:
    charset = charset_of(body, content_type)
    decode(body, charset.used).encode()
    assert charset.used == encoding_named(charset.used)


@given(
    st.lists(st.sampled_from([b"<p>", b"ABC", b"~{", b"\\", b"+AD4-", b"\0", b"\x1b$B", b"\x1b(B", b"\xe9"])).map(
        b"".join
    )
    | st.binary(max_size=20),
    st.sampled_from(["", *LABELS]),
)
def test_the_short_cut_for_ascii_gives_the_same_text(body: bytes, label: str) -> None:
    content_type = f"text/html; charset={label}"
    assert read(body, content_type)[0] == decode(body, charset_of(body, content_type).used)


@pytest.mark.parametrize(
    "piece", [b"<!--", b"<meta charset ", b"<a b='", b"charset ", b"<a =", b"\xc3", b"<?xml encoding "]
)
def test_hostile_bodies_take_no_longer(piece: bytes) -> None:
    started = time.process_time()
    charset_of(piece * (10_000_000 // len(piece)), "")
    assert time.process_time() - started < 1
