"""Main content from the markup: as from the tree where the markup is sound, and within bounds where it is not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from resiliparse.parse.html import HTMLTree

from pycrawl.fingerprint import resemblance, shingles, sketch, tokens
from pycrawl.parse import content, quick
from pycrawl.parse.content import main_content, page_text
from pycrawl.parse.quick import quick_content
from tests.parse.test_content import ARTICLE, COMMENT, EXPECTED, FIRST, LINKS, SECOND, THIRD, pieces

BARE_WORDS = "<p>Written by nobody in particular</p>"


@pytest.mark.parametrize(
    "markup",
    [
        f"<body><nav><ul>{LINKS}</ul></nav><article>{ARTICLE}</article><footer><p>{COMMENT}</p></footer>",
        f"<body><header>{BARE_WORDS}</header><main>{ARTICLE}</main>",
        f"<div id=wrap><div class='left-Sidebar'><p>{COMMENT}</p></div><div>{ARTICLE}</div></div>",
        f"<div>{ARTICLE}<div class=comments><p>{COMMENT}</p><p>{COMMENT}</p></div></div>",
        f"<div id=CookieBanner><p>{COMMENT} {COMMENT}</p></div><div class=story>{ARTICLE}</div>",
        f"<div>{ARTICLE}</div><div><h3>More</h3><ul>{LINKS}</ul></div>",
        f"<table><tr><td><ul>{LINKS}</ul><td>{ARTICLE}</table>",
        f"<body><div>{FIRST}</div><div>{SECOND}</div><div>{THIRD}</div><ul>{LINKS}</ul>",
        f"<div>{ARTICLE}<p class=caption>The old mill as it was before the flood</p></div>",
        f"<div>{ARTICLE}<script>var x = '<p>{COMMENT}</p>'</script><noscript>{COMMENT}</noscript></div>",
        f"<div><!-- <p>{COMMENT}</p> -->{ARTICLE}</div><!-- {COMMENT}",
        f"<form id=aspnetForm><ul>{LINKS}</ul><div>{ARTICLE}</div></form>",  # one around all is no frame
        f"<body class='has-sidebar'><div class='page with-sidebar menu'><div>{ARTICLE}</div></div>",
        f"<div><h1>High water</h1>{ARTICLE}</ul></section></div><ul>{LINKS}</ul>",  # ends of what never began
    ],
)
def test_the_frame_is_left_out(markup: str) -> None:
    assert quick_content(markup) == EXPECTED


def test_what_belongs_to_an_article_stays() -> None:
    markup = (
        f"<article><h1>High water</h1><p>{FIRST}</p><h2>The boats</h2><p>{SECOND} <a href=/x>Read <b>o</b>n</a></p>"
        f"<ul><li>two boats</li><li>ten loaves &amp; more</li></ul><blockquote>{THIRD}</blockquote><p>So be it.</p>"
        f"<h2>More of this</h2><ul>{LINKS}</ul></article>"
    )
    assert quick_content(markup).split("\n") == [
        FIRST,
        "The boats",
        f"{SECOND} Read on",
        "two boats",
        "ten loaves & more",
        THIRD,
        "So be it.",
    ]


def test_scripts_without_spaces() -> None:
    sentence = "むかしむかし、あるところに、おじいさんとおばあさんが住んでいました。"
    links = "".join(f"<li><a href=/{number}>物語その{number}</a></li>" for number in range(20))
    assert quick_content(f"<ul>{links}</ul><div>" + f"<p>{sentence}</p>" * 4 + "</div>") == "\n".join([sentence] * 4)


@pytest.mark.parametrize(
    "markup", ["", "text", "<p>", "<body>", "<ul></ul>", "<!-- x", "\0", f"<BODY><P>{FIRST}</BODY>"]
)
def test_nothing_is_found(markup: str) -> None:
    assert quick_content(markup) == ""


def test_the_tree_is_asked_where_the_markup_tells_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    capitals = f"<HTML><BODY><DIV><P>{FIRST}</P><P>{SECOND}</P></DIV><UL>{LINKS}</UL></BODY></HTML>"
    assert page_text(HTMLTree.parse(capitals), "auto", capitals) == f"{FIRST}\n{SECOND}"
    plain = f"<body><div>{ARTICLE}</div>"
    no_tree = HTMLTree.parse("")
    assert page_text(no_tree, "auto", plain) == EXPECTED
    assert page_text(no_tree, "dom", plain) == ""
    monkeypatch.setattr(content, "FEW_TAGS", 3)
    assert page_text(no_tree, "auto", plain) == ""
    assert page_text(no_tree, "quick", plain) == EXPECTED


def test_one_article_in_two_frames_is_nearly_the_same_by_either_method() -> None:
    article = "".join(f"<p>{FIRST} Day {day}.</p><p>{SECOND} {day * day} of them.</p>" for day in range(20))
    one = f"<body><nav><ul>{LINKS}</ul></nav><div class=story>{article}</div><footer><p>{COMMENT}</p></footer>"
    other = (
        f"<body><div id=top><p>{COMMENT}</p></div><article>{article}</article><div class=related><ul>{LINKS * 3}</ul>"
    )
    sketches = [sketch(shingles(tokens(text))) for text in (quick_content(one), main_content(HTMLTree.parse(other)))]
    assert resemblance(*sketches) > 0.9


@settings(deadline=None)  # the machine may be busy
@given(pieces)
def test_any_markup_can_be_read(markup: str) -> None:
    assert "<p>" not in quick_content(markup)
    page = quick._read(markup)
    for box, (begin, end, parent) in enumerate(zip(page.begins, page.ends, page.parents, strict=True)):
        assert parent < box
        assert 0 <= begin <= end <= len(page.pieces)


@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 100_000 + FIRST,
        "<div>" * 50_000 + "</ul>" * 100_000,
        "<ul><div>" * 50_000 + "</ul>" * 50_000,
        "<td>" * 200_000,
        "<p " * 300_000,
        "<p>x" * 200_000,
        "</p>" * 200_000,
        ("</p>" + " " * 20_000) * 40,
        "<a " * 300_000,
        "<a>" * 200_000,
        "<script" * 100_000,
        "<svg>" * 100_000,
        "<!-" * 300_000,
        "<!--" * 200_000,
        "<div class=" * 100_000,
        f"<div class='{'menu ' * 200_000}'>{FIRST}",
        "<nav><p>x " * 100_000,
        "&" * 1_000_000,
    ],
)
def test_hostile_markup_takes_bounded_time(markup: str) -> None:
    started = time.process_time()
    quick_content(markup)
    assert time.process_time() - started < 5  # far more than it takes: the machine may be slow
