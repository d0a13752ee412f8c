"""Queries of links in the encoding of their page, by both readers, and as they are sent to the coordinator."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.config import Config
from pycrawl.native import compiled
from pycrawl.parse.charset import codec_of
from pycrawl.parse.html import parse_html
from pycrawl.parse.link_encoding import with_query_in
from pycrawl.parse.links import LinkPacker
from pycrawl.parse.parsed import Parsed
from pycrawl.urls.normal_form import UrlRules
from pycrawl.urls.scope import Scope

READERS = [pytest.param(False, id="compiled", marks=pytest.mark.skipif(compiled is None, reason="not compiled"))]
READERS += [pytest.param(True, id="tree")]

# Encoding of the page; the link as the page has it; what a browser asks for. From the URL standard and its tests.
ASKED_FOR = [
    ("windows-1251", "?q=привет", "http://h/p?q=%EF%F0%E8%E2%E5%F2"),
    ("windows-1251", "/поиск?q=привет#ещё?ё", "http://h/%D0%BF%D0%BE%D0%B8%D1%81%D0%BA?q=%EF%F0%E8%E2%E5%F2"),
    ("windows-1251", "/x?q=日本", "http://h/x?q=%26%2326085%3B%26%2326412%3B"),
    ("koi8-r", "?q=привет", "http://h/p?q=%D0%D2%C9%D7%C5%D4"),
    ("windows-1252", "http://other/?q=é&r=ø", "http://other/?q=%E9&r=%F8"),
    ("iso-8859-2", "?q=łódź", "http://h/p?q=%B3%F3d%BC"),
    ("shift_jis", "?q=日本語", "http://h/p?q=%93%FA%96{%8C%EA"),
    ("shift_jis", "?q=ソ表ｱ", "http://h/p?q=%83\\%95\\%B1"),
    ("shift_jis", "?q=①−¥", "http://h/p?q=%87@%81|\\"),
    ("euc-jp", "?q=日本語", "http://h/p?q=%C6%FC%CB%DC%B8%EC"),
    ("iso-2022-jp", "?q=日本語", "http://h/p?q=%1B$BF|K\\8l%1B(B"),
    ("iso-2022-jp", "?q=あ&r=1", "http://h/p?q=%1B$B$%22%1B(B&r=1"),
    ("gb18030", "?q=中文", "http://h/p?q=%D6%D0%CE%C4"),
    ("gb18030", "?q=é한", "http://h/p?q=%A8%A6%836%843"),
    ("gbk", "?q=中文€한", "http://h/p?q=%D6%D0%CE%C4%80%26%2354620%3B"),
    ("big5", "?q=中文", "http://h/p?q=%A4%A4%A4%E5"),
    ("euc-kr", "?q=한국", "http://h/p?q=%C7%D1%B1%B9"),
    ("euc-kr", "?q=뷁", "http://h/p?q=%94%EE"),
    ("utf-16le", "?q=привет", "http://h/p?q=%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82"),
    ("utf-8", "?q=привет", "http://h/p?q=%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82"),
]


def urls_of(page: Parsed) -> list[str]:
    """The links of the page at http://h/p as the coordinator gets them."""
    packed = LinkPacker(UrlRules.of(Config()), Scope(Config()), 7).pack(page, "http://h/p")
    return packed.links.texts.decode().split("\n")


def markup(encoding: str, href: str) -> bytes:
    """A page with a link, and enough text that its encoding is beyond doubt; what it lacks is a character reference."""
    words = {"windows-1251": "страница", "koi8-r": "страница"}.get(encoding, "")
    text = f'<!DOCTYPE html><title>{words}</title><a href="{href}">x</a>'
    return text.encode(codec_of(encoding), "xmlcharrefreplace")


@pytest.mark.parametrize("by_tree", READERS)
@pytest.mark.parametrize(("encoding", "href", "url"), ASKED_FOR)
def test_what_is_asked_for(encoding: str, href: str, url: str, by_tree: bool) -> None:
    page = parse_html(markup(encoding, href), f"text/html; charset={encoding}", by_tree=by_tree, with_anchors=True)
    assert page.charset.used == encoding
    assert urls_of(page) == [url]
    assert page.anchors is not None
    assert set(page.anchors.hrefs) <= {*page.hrefs}


@pytest.mark.parametrize("by_tree", READERS)
def test_a_page_of_ascii_has_an_encoding_too(by_tree: bool) -> None:
    body = b"<meta charset=windows-1251><a href='?q=&#1087;&eacute;'>x</a><a rel=nofollow href='?r=&#1087;'>y</a>"
    page = parse_html(body, "text/html", by_tree=by_tree)
    assert (page.hrefs, page.nofollow_hrefs) == (["?q=%EF%26%23233%3B"], ["?r=%EF"])
    undeclared = body.replace(b"<meta charset=windows-1251>", b"")
    assert parse_html(undeclared, "text/html", by_tree=by_tree).hrefs == ["?q=п\xe9"]


@pytest.mark.parametrize("by_tree", READERS)
def test_base_and_links_that_become_one(by_tree: bool) -> None:
    body = "<base href='http://b/?ж'><a href='?ж'>1</a><a href='?%E6'>2</a><a href='#ж'>3</a>".encode("windows-1251")
    page = parse_html(body, "text/html; charset=windows-1251", by_tree=by_tree)
    assert (page.base_href, page.hrefs) == ("http://b/?%E6", ["?%E6", "#ж"])


def test_one_spelling_on_pages_of_two_encodings_is_two_urls() -> None:
    """What the packer remembers of links must not carry over from one encoding to another."""
    packer = LinkPacker(UrlRules.of(Config()), Scope(Config()), 7)
    found = []
    for encoding in ("windows-1251", "koi8-r", "utf-8", "windows-1251"):
        page = parse_html(markup(encoding, "/?q=привет"), f"text/html; charset={encoding}")
        found.append(packer.pack(page, "http://h/p").links.hashes)
    assert len(set(found)) == 3
    assert found[0] == found[3]


ENCODINGS = sorted({encoding for encoding, *_ in ASKED_FOR} - {"utf-8", "utf-16le"})


@given(st.sampled_from(ENCODINGS), st.text(max_size=20))
def test_any_query_becomes_ascii_and_only_the_query_changes(encoding: str, text: str) -> None:
    query = text.replace("#", "")
    href = with_query_in(f"/ä?{query}#ö?", encoding)
    start, end = "/ä?", "#ö?"
    assert href.startswith(start)
    assert href.endswith(end)
    written = href[len(start) : -len(end)]
    assert written.isascii() or query.isascii()
    if query.isascii():
        assert written == query
    elif encoding in ("windows-1251", "koi8-r", "windows-1252", "iso-8859-2", "euc-kr", "gb18030"):
        references = "".join(one if _has(encoding, one) else f"&#{ord(one)};" for one in query)
        octets = references.encode(codec_of(encoding))
        assert unquote_to_bytes(written) == unquote_to_bytes(octets)


def _has(encoding: str, character: str) -> bool:
    return bool(character.encode(codec_of(encoding), "ignore"))
