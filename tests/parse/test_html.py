from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.parse.html import parse_html
from pycrawl.parse.parsed import Parsed


def parse(markup: str) -> Parsed:
    return parse_html(markup.encode(), "text/html; charset=utf-8")


@pytest.mark.parametrize(
    ("markup", "hrefs"),
    [
        ("<a href=/a>x</a><a href='b'>y</a><A HREF=\"/a\">z", ["/a", "b"]),
        ("<a href=' \n/a\tb\r\nc '>", ["/abc"]),
        ("<a href='/?a=1&amp;b=2&copy=3'>", ["/?a=1&b=2&copy=3"]),
        ("<a name=x><a href=''><a href=' '><a>", []),
        ("<a href='/a '><a href='/b'><a href=' /a'><a href='\n'>", ["/a", "/b"]),
        ("<map><area href=/m></map><iframe src=/i></iframe><a href=/a>", ["/m", "/i", "/a"]),
        ("<frameset><frame src=/f1><frame src=/f2></frameset>", ["/f1", "/f2"]),
        ("<link rel=next href=/2><link rel='Canonical' href=/c><link rel=alternate href=/de>", ["/2", "/c", "/de"]),
        ("<link rel=stylesheet href=/s><link rel='alternate stylesheet' href=/t><link href=/u>", []),
        ("<meta http-equiv=refresh content='5; URL=/next'>", ["/next"]),
        ("<meta http-equiv=Refresh content=\"0;url='/n x'; y\">", ["/n x"]),
        ("<meta http-equiv=refresh content='0, /there'>", ["/there"]),
        ("<meta http-equiv=refresh content=30>", []),
        ("<meta http-equiv=refresh content=\"0;url=''\">", []),
        ("<!-- <a href=/no> --><script>'<a href=/no>'</script><a href=/yes>", ["/yes"]),
        ("<svg><a href=/svg></svg><p><a href=/p>", ["/svg", "/p"]),
    ],
)
def test_links(markup: str, hrefs: list[str]) -> None:
    assert parse(markup).hrefs == hrefs


def test_what_else_is_read() -> None:
    page = parse(
        "<title><a href=/t></title><base target=x><base href=' /base/ '><base href=/other>"
        "<a rel='External NoFollow' href=/n>n</a><a rel=noopener href=/f>f</a>"
    )
    assert page == Parsed(
        hrefs=["/f"],
        nofollow_hrefs=["/n"],
        base_href="/base/",
        robots=frozenset(),
        title="<a href=/t>",
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("index, follow", {"index", "follow"}),
        ("NOINDEX,follow", {"noindex", "follow"}),
        ("noindex nofollow", {"noindex", "nofollow"}),
        ("none", {"none"}),
    ],
)
def test_meta_robots(content: str, words: set[str]) -> None:
    assert parse(f"<meta name=Robots content='{content}'>").robots == words


def test_meta_robots_for_one_robot() -> None:
    body = b"<meta name=OurBot content=noindex><meta name=otherbot content=nofollow>"
    assert parse_html(body, "text/html", "ourbot").robots == {"noindex"}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "koi8-r", "utf-8"])
def test_encodings(encoding: str) -> None:
    mark = "\ufeff" if encoding.startswith("utf") else ""
    content_type = "text/html; charset=koi8-r"  # a byte order mark is believed before the header
    page = parse_html(f"{mark}<title>Привет</title><a href=/я>".encode(encoding), content_type)
    assert page.hrefs == ["/я"]


markup_pieces = st.lists(
    st.sampled_from(
        list("<>\"'= \0\ufffe")
        + "</ /> <!-- --> <![CDATA[ &#0; &#xD800; <script> </script> <title> <template> <frameset> <svg>".split()
        + "<table> <td> <p> </p> <b> <base|href=x> <a|href= <meta| content= http-equiv=refresh| name=robots|".split()
    )
    | st.text(max_size=5),
    max_size=40,
).map(lambda pieces: "".join(pieces).replace("|", " "))


@given(st.binary() | markup_pieces.map(lambda text: text.encode("utf-8", "surrogatepass")), st.text())
def test_any_bytes_give_a_page(body: bytes, content_type: str) -> None:
    page = parse_html(body, content_type)
    assert all(href == href.strip(" \t\n\f\r") != "" for href in page.hrefs)
    assert len(set(page.hrefs)) == len(page.hrefs)
