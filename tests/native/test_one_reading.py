"""The compiled reader and the tree reader give the same links, titles, texts and main content, and the right ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycrawl.native import compiled
from pycrawl.parse.html import parse_html
from pycrawl.parse.parsed import Parsed
from pycrawl.urls.link_flags import MOST_ANCHORS

pytestmark = pytest.mark.skipif(compiled is None, reason="the compiled module was not built")

PAGES = sorted((Path(__file__).parent / "pages").glob("*.html"))
UTF8 = "text/html; charset=utf-8"
MANY_ATTRIBUTES = " ".join(f"data-{number}=x" for number in range(40))

# Markup, the links of it, its title, and the lines of its text.
CASES = [
    # svg and math: elements like any others, which "/>" closes
    ("<a href=/0>0</a><svg><title/><path/></svg><p>All of this <a href=/1>x</a></p>", "/0 /1", "", "0|All of this x"),
    ("<svg><title>s<a href=/1>x</a></title></svg><title>t</title>a", "/1", "t", "a"),
    ("<svg><script><a href=/1></a></script></svg>a", "/1", "", "a"),
    ("<svg><script/><a href=/1></a></svg>a", "/1", "", "a"),
    ("<svg><style><a href=/1></a></style></svg>a", "/1", "", "a"),
    ("<svg><textarea><a href=/1></a></textarea></svg>a", "/1", "", "a"),
    ("<svg><iframe src=/f><a href=/1></a></iframe></svg>a", "/1", "", "a"),
    ("<math><title/><mi>x</mi></math>a<a href=/1>b</a>", "/1", "", "ab"),
    ("<svg><base href=/b><link rel=next href=/l></svg>a", "", "", "a"),
    ("<svg/>a", "", "", "a"),
    # CDATA is text there, a comment elsewhere
    ("<svg><![CDATA[<a href=/1>x</a>]]></svg>a", "", "", "a"),
    ("<![CDATA[<a href=/1>x</a>]]>a", "", "", "x]]>a"),
    ("<![CDATA[>a<a href=/1>x</a>]]>", "/1", "", "ax]]>"),
    # tags that leave svg
    ("<svg><p>a", "", "", "a"),
    ("<svg><g><div>a</div><title>t</title>", "", "t", "a"),
    ("<svg><font>a</font></svg>b<svg><font color=red>c", "", "", "bc"),
    ("<math><mrow><table><td>a", "", "", "a"),
    # HTML inside svg and math
    ("<svg><foreignObject><title><a href=/1></title></foreignObject></svg>a", "", "<a href=/1>", "a"),
    ("<svg><foreignObject><p>x</p><style><a href=/1></style></foreignObject></svg>a", "", "", "a"),
    ("<svg><desc><iframe src=/f><a href=/1></iframe></desc></svg>a", "/f", "", "a"),
    ("<math><mi><title><a href=/1></title></mi></math>a", "", "<a href=/1>", "a"),
    ("<math><annotation-xml><style><a href=/1></a></style></annotation-xml></math>a", "/1", "", "a"),
    ("<math><annotation-xml encoding='Text/HTML'><style><a href=/1></style></annotation-xml></math>a", "", "", "a"),
    ("<math><annotation-xml><svg><desc><style><a href=/1></style></desc></svg></annotation-xml></math>a", "", "", "a"),
    ("<math><svg><desc><style><a href=/1></a></style></desc></svg></math>a", "/1", "", "a"),
    ("<button>x<math><annotation-xml></button><title/>y</math>a", "", "", ""),
    # where svg ends
    ("<div>a<svg><g></div>b", "", "", "a|b"),
    ("<span><svg></span>a", "", "", "a"),
    ("<a href=/1><svg></a>a<title>t</title>", "/1", "t", "a"),
    ("<svg></span></svg>a", "", "", "a"),
    ("<svg><foreignObject><div></svg>a", "", "", ""),
    # templates are not part of the page
    ("<template><a href=/1>x</a><base href=/b><title>x</title></template><title>t</title>a", "", "t", "a"),
    ("<template><template></template><a href=/1>x</a></template><a href=/2>a</a>", "/2", "", "a"),
    ("<template><div></template><a href=/2>a</a>", "/2", "", "a"),
    ("<svg><template><a href=/1>x</a></template></svg>a", "/1", "", "a"),
    # attributes
    (f"<a {MANY_ATTRIBUTES} href=/1>a</a>", "/1", "", "a"),
    ("<a href='/\0x'>a</a>", "/\ufffdx", "", "a"),
    ("<a title='a>b' href=/1>a</a>", "/1", "", "a"),
    ("<a href=/1 HREF=/2>a</a>", "/1", "", "a"),
    # text
    ("a\0b", "", "", "ab"),
    ("<title>a\0b</title>", "", "a\ufffdb", ""),
    ("Donau&shy;dampf\u00adschiff <b>so\u00ad</b>fort", "", "", "Donaudampfschiff sofort"),
    ("<title>Hoch&shy;wasser</title>", "", "Hochwasser", ""),
    ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt>ji</ruby>です", "", "", "漢字です"),
    ("<ruby><rb>漢<rt>kan<rb>字<rt>ji</ruby>です", "", "", "漢字です"),
    ("a<textarea><b>x</b></textarea>b<iframe src=/f>x</iframe>c", "/f", "", "abc"),
    ("seventeen letters &nbsp; and more \u00a0 of them \u00ad here", "", "", "seventeen letters and more of them here"),
    ("a\u2003 b\u3000c", "", "", "a\u2003 b\u3000c"),
    ("a<xmp><a href=/1></xmp>b<noembed>x</noembed>c", "", "", "abc"),
    ("a<image>b<map><area href=/1>c</map>", "/1", "", "abc"),
    # paragraphs and tables
    ("a</p>b", "", "", "a|b"),
    ("<p>a<x-y><div>b</div>c", "", "", "a|b|c"),
    ("<div>a<td>b</td>c</div>", "", "", "abc"),
    ("<table><tr><td>a<tr><td>b<table><td>c</tr></table>d</table>e", "", "", "a|b|c|d|e"),
    ("<x-y><div>a</x-y>b</div>c", "", "", "ab|c"),
    ("<ul><li><x-y>a<li>b</ul>", "", "", "a|b"),
    ("<button>x<button>y</button>a", "", "", "a"),
    ("<button>x<div><button>y</button>a</div>", "", "", "a"),
    ("<b>a<x-y>b</b>c</x-y>d", "", "", "a|b|cd"),
    ("<p>a<noscript>x<div>b</div></noscript>c", "", "", "a|b|c"),
]


def both(body: bytes, method: str = "auto", with_text: bool = True) -> tuple[Parsed, Parsed]:
    return (
        parse_html(body, UTF8, with_text=with_text, main_content=method, with_anchors=True),
        parse_html(body, UTF8, with_text=with_text, main_content=method, with_anchors=True, by_tree=True),
    )


@pytest.mark.parametrize(("markup", "hrefs", "title", "lines"), CASES, ids=[case[0][:60] for case in CASES])
def test_what_both_readers_read(markup: str, hrefs: str, title: str, lines: str) -> None:
    for page in both(markup.encode()):
        assert page.hrefs == hrefs.split()
        assert page.title == title
        assert page.text == "\n".join([title, *lines.split("|")])
    for page in both(markup.encode(), "off"):
        assert page.content == lines.replace("|", "\n")
    for page in both(markup.encode(), "", with_text=False):
        assert (page.hrefs, page.title) == (hrefs.split(), title)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
@pytest.mark.parametrize("method", ["", "auto", "off"])
def test_odd_pages_are_read_alike(path: Path, method: str) -> None:
    compiled_page, tree_page = both(path.read_bytes(), method)
    assert compiled_page == tree_page
    assert compiled_page.title
    assert compiled_page.hrefs


def test_feeds_are_found_alike() -> None:
    named = (
        "<link rel=alternate type=application/rss+xml href=/rss><link rel=alternate type=text/html href=/other>"
        "<link type='application/atom+xml; charset=utf-8' rel='nofollow Alternate' href=/atom>"
        "<link rel=canonical href=/x>"
    )
    for page in both(f"<!DOCTYPE html><title>t</title>{named}<p><a href=/a>a</a>".encode()):
        assert (page.feed_hrefs, page.hrefs) == (["/rss", "/atom"], ["/other", "/x", "/a"])


def test_there_are_odd_pages() -> None:
    assert len(PAGES) >= 5


WORDS = "one of several words that stand in a row and make a sentence of prose".split()
WELL_FORMED = st.recursive(
    st.lists(st.sampled_from([*WORDS, "&amp;", "&shy;", "<br>", "<img>", "\n", "\u00a0"]), min_size=1, max_size=30).map(
        " ".join
    ),
    lambda inner: st.tuples(
        st.sampled_from(
            "div p section article nav ul li b span svg math template ruby rt button h2 blockquote x-y a".split()
        ),
        st.lists(inner, max_size=4).map("".join),
    ).map(lambda part: f"<div><{part[0]} class=x href=/{len(part[1])}>{part[1]}</{part[0]}></div>"),
    max_leaves=12,
)


@settings(derandomize=True, deadline=None)
@given(WELL_FORMED)
def test_well_formed_pages_are_read_alike(markup: str) -> None:
    compiled_page, tree_page = both(f"<!DOCTYPE html><title>t</title><body>{markup}".encode())
    assert (compiled_page.hrefs, compiled_page.text) == (tree_page.hrefs, tree_page.text)
    assert compiled_page.anchors == tree_page.anchors


PROSE = " ".join(WORDS) + ". "
FRAMED = f"<nav class=menu><a href=/m>menu</a></nav><main><p>{PROSE * 5}<a href=/c>text</a>{PROSE}</p></main>"
FRAME, NOFOLLOW, SPONSORED, UGC = 1, 2, 4, 8

# Markup, and the links that have a place in its text: URL, text, flags.
ANCHORS: list[tuple[str, list[tuple[str, str, int]]]] = [
    (FRAMED, [("/m", "menu", FRAME), ("/c", "text", 0)]),
    ("<a href=/1> one\n <b>two</b>\u00a0</a>", [("/1", "one two", 0)]),
    ("<a href=/1><img alt=x></a><p><a href=/2></a>a", [("/1", "", 0), ("/2", "", 0)]),
    ("<div><a href=/1>a<div>b</div>c<br>d</a></div>", [("/1", "a b c d", 0)]),
    ("<p><a href=/1>a<div>b</a>c</div>", [("/1", "a b", 0)]),
    ("<a href=/1>a</a><a href=/1>b</a> <a href=/1>c</a>x<a href=/1>d</a>", [("/1", "ab c", 0), ("/1", "d", 0)]),
    (
        "<a href=/1>a</a><a href=/1 rel=author>b</a><a href=' /1\n'>c</a><a href=/1 rel=ugc>d</a>",
        [("/1", "abc", 0), ("/1", "d", UGC)],
    ),
    ("<a href=/1>a</a><a href=' '>b</a><a href=/1>c</a>", [("/1", "a", 0), ("/1", "c", 0)]),
    ("<a href=/1>a<a href=/2>b</a>c", [("/1", "a", 0), ("/2", "b", 0)]),
    ("<a href=/1>a<a name=x>b</a>c", [("/1", "a", 0)]),
    ("<a href=/1 rel='UGC sponsored\tnofollow'>a</a>", [("/1", "a", NOFOLLOW | SPONSORED | UGC)]),
    ("<a href=/1 rel='nofollows me'>a</a>", [("/1", "a", 0)]),
    ("<p>z<noscript><a href=/1>a</a></noscript><svg><a href=/2>b</a></svg><map><area href=/3></map>c", []),
    ("<a href=/1>x<script>a</script><select><option>b</select>y</a>", [("/1", "xy", 0)]),
    (f"<a href=/1>{'ü' * 99} {'ü' * 20}</a>", [("/1", "ü" * 99, 0)]),
    (f"<a href=/1>{'a' * 199}ü</a>", [("/1", "a" * 199, 0)]),
]


@pytest.mark.parametrize(("markup", "links"), ANCHORS, ids=[markup[:60] for markup, _ in ANCHORS])
def test_links_with_texts_rel_and_places(markup: str, links: list[tuple[str, str, int]]) -> None:
    for page in both(f"<!DOCTYPE html><title>t</title>{markup}".encode()):
        assert page.anchors is not None
        assert page.anchors.items() == links


def test_of_very_many_links_the_first_have_texts() -> None:
    links = MOST_ANCHORS + 50
    for page in both(b"<!DOCTYPE html>" + b"".join(b"<a href=/%d>x</a> and " % number for number in range(links))):
        assert page.anchors is not None
        assert (len(page.anchors.hrefs), page.anchors.are_well_formed) == (MOST_ANCHORS, True)
        assert len(page.hrefs) == links
