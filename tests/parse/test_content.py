from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from resiliparse.parse.html import HTMLTree

from pycrawl.parse import frame_names
from pycrawl.parse.bounds import bounded
from pycrawl.parse.content import main_content, page_text
from pycrawl.parse.text import Outline, outline, word_count

PAGES = Path(__file__).parents[3] / "shared" / "data" / "content"
FIRST = "The river rose by two metres in the night, and by the morning nobody could reach the old mill any more."
SECOND = "People from the village brought boats, bread and blankets; the miller's family was safe before noon."
THIRD = "It was, said the mayor, the highest water since his grandfather's time, and it would not be the last."
ARTICLE = f"<p>{FIRST}</p><p>{SECOND}</p><p>{THIRD}</p>"
EXPECTED = f"{FIRST}\n{SECOND}\n{THIRD}"
LINKS = "".join(f"<li><a href=/{number}>Another story of the day, number {number}</a></li>" for number in range(12))
COMMENT = "I remember that night very well, as we all sat on the roof and waited for the boats to come."


def parse(markup: str) -> Outline:
    return outline(HTMLTree.parse(markup))


@pytest.mark.parametrize(
    "markup",
    [
        f"<nav><ul>{LINKS}</ul></nav><article>{ARTICLE}</article><footer><p>{COMMENT}</p></footer>",
        f"<header><p>By our own reporter, who was there that night</p></header><main>{ARTICLE}</main>",
        f"<div id=wrap><div class='left-Sidebar'><p>{COMMENT}</p></div><div>{ARTICLE}</div></div>",
        f"<div>{ARTICLE}<div class=comments><p>{COMMENT}</p><p>{COMMENT}</p></div></div>",
        f"<div id=CookieBanner><p>{COMMENT} {COMMENT}</p></div><div class=story>{ARTICLE}</div>",
        f"<div>{ARTICLE}<aside><p>{COMMENT}</p></aside></div>",
        f"<div>{ARTICLE}</div><div><h3>More</h3><ul>{LINKS}</ul></div>",
        f"<table><tr><td><ul>{LINKS}</ul></td><td>{ARTICLE}</td></tr></table>",
        f"<div>{FIRST}</div><div>{SECOND}</div><div>{THIRD}</div><ul>{LINKS}</ul>",
        f"<div>{ARTICLE}<figure><img><figcaption>The old mill as it was before the flood</figcaption></div>",
        f"<div>{ARTICLE}<script>var x = '{COMMENT}'</script><noscript>{COMMENT}</noscript></div>",
        f"<form id=aspnetForm><ul>{LINKS}</ul><div>{ARTICLE}</div></form>",  # one around all is no frame
        f"<body class='has-sidebar comments-open'><div class='page with-sidebar menu'><div>{ARTICLE}</div></div>",
    ],
)
def test_the_frame_is_left_out(markup: str) -> None:
    assert main_content(parse(markup), "dom") == EXPECTED


@pytest.mark.parametrize(
    "name",
    [
        "field-label-hidden", "has-sidebar", "c-fixed-sidebar-layout--140", "teaser_blog_text", "post-layout--right",
        "elementor-widget-wrap", "no-share", "entry themeform share", "TestReport__Section--Ads",
    ],
)  # fmt: skip
def test_a_word_of_layout_does_not_outweigh_the_text(name: str) -> None:
    """Half of the prose stands in a box of that name, half in another one."""
    other = "".join(f"<p>{COMMENT}</p>" for _ in range(3))
    markup = f"<main><div class='{name}'>{ARTICLE}</div><div>{other}</div></main><footer><p>{COMMENT}</p></footer>"
    assert page_text(parse(markup)) == "\n".join([EXPECTED, *[COMMENT] * 3])


def test_the_footer_of_a_list_is_not_its_content() -> None:
    legal = "Copyright, all rights reserved, licensed under these terms; please see the history of this licence. " * 5
    contents = "".join(f"<li><a href=/{number}>Chapter {number} of the manual</a></li>" for number in range(200))
    for footer in (f"<footer>{legal}</footer>", f"<div class=footer>{legal}</div>", f"<div id=copyright>{legal}</div>"):
        content = page_text(parse(f"<nav><a href=/>Home</a></nav><div class=body><ul>{contents}</ul></div>{footer}"))
        assert "Chapter 7 of the manual" in content
        assert "licensed" not in content


def test_a_page_whose_boxes_are_all_named_like_frames() -> None:
    markup = "".join(f"<div class=sidebar><p>{sentence}</p></div>" for sentence in (FIRST, SECOND, THIRD))
    assert page_text(parse(markup)) == EXPECTED


@pytest.mark.parametrize(
    ("tag", "class_name", "identifier", "level"),
    [
        ("div", "", "", frame_names.NOTHING),
        ("nav", "", "", frame_names.HARD),
        ("article", "sidebar", "footer", frame_names.NOTHING),
        ("div", "left-Sidebar", "", frame_names.SURE),
        ("div", "", "CookieBanner", frame_names.HARD),
        ("div", "related-posts", "", frame_names.SURE),
        ("div", "post-author", "", frame_names.MAYBE),
        ("div", "article-header", "", frame_names.NOTHING),
        ("div", "post hentry category-news", "", frame_names.NOTHING),
        ("p", "article-teaser", "", frame_names.WEAK),
        ("div", "comment-body", "", frame_names.SURE),
    ],
)
def test_names(tag: str, class_name: str, identifier: str, level: int) -> None:
    assert frame_names.suspicion(tag, class_name, identifier) == level


def test_what_belongs_to_an_article_stays() -> None:
    markup = (
        f"<article><h1>High water</h1><p>{FIRST}</p><h2>The boats</h2><p>{SECOND} <a href=/x>Read on</a></p>"
        f"<ul><li>two boats</li><li>ten loaves</li></ul><blockquote>{THIRD}</blockquote><p>So be it.</p>"
        f"<h2>More of this</h2><ul>{LINKS}</ul></article>"
    )
    assert main_content(parse(markup)).split("\n") == [
        FIRST,
        "The boats",
        f"{SECOND} Read on",
        "two boats",
        "ten loaves",
        THIRD,
        "So be it.",
    ]


@pytest.mark.parametrize("method", ["dom", "slope"])
@pytest.mark.parametrize("markup", ["", "<p>", "<ul></ul>", "<frameset><frame src=x></frameset>", "<!-- x -->", "\0"])
def test_pages_without_text(markup: str, method: str) -> None:
    assert main_content(parse(markup), method) == ""
    assert page_text(parse(markup), method) == ""


def test_a_page_with_too_little_content_counts_with_all_its_text() -> None:
    only_links = parse(f"<title>t</title><ul>{LINKS}</ul>")
    assert page_text(only_links) == only_links.text() != ""
    short = parse(f"<ul>{LINKS}</ul><p>There is nothing here.</p>")
    assert page_text(short).endswith("\nThere is nothing here.")
    assert page_text(short).startswith("Another story")
    assert page_text(parse("Only a few words.")) == "Only a few words."


def test_methods_of_page_text() -> None:
    page = parse(f"<nav><ul>{LINKS}</ul></nav><div>{ARTICLE}</div>")
    assert page_text(page) == page_text(page, "auto") == page_text(page, "dom") == EXPECTED
    assert page_text(page, "slope").endswith(EXPECTED)


def test_scripts_without_spaces() -> None:
    sentence = "むかしむかし、あるところに、おじいさんとおばあさんが住んでいました。"
    links = "".join(f"<li><a href=/{number}>物語その{number}</a></li>" for number in range(20))
    markup = f"<ul>{links}</ul><div>" + f"<p>{sentence}</p>" * 4 + "</div>"
    assert page_text(parse(markup)) == "\n".join([sentence] * 4)
    assert word_count(sentence) > 15
    assert word_count("http://www.example.com/a-very-long-address/without-any-space") == 1


@pytest.mark.parametrize(
    ("markup", "blocks"),
    [
        ("<p> a <b>b</b>\n<i>c</i>d </p>", [("a b cd", 0, 6, "p")]),
        ("<p>a<br>b<wbr>c</p>", [("a bc", 0, 4, "p")]),
        ("a<div>b</div>c", [("a", 0, 0, "body"), ("b", 0, 2, "div"), ("c", 0, 0, "body")]),
        ("<p>a <a href=x>bcd</a></p>", [("a bcd", 3, 4, "p")]),
        ("<a href=x><div>b c</div></a>", [("b c", 2, 3, "div")]),
        ("<a href=x><b>b</b> <i>c</i></a>", [("b c", 2, 6, "body")]),
        ("<p>a<!-- x --><script>y</script><img>b</p>", [("ab", 0, 5, "p")]),
        ("<p>a&nbsp;b &amp; c\t\td</p>", [("a b & c d", 0, 2, "p")]),
        (
            "<ul><li>a<li>b<ul><li>c</ul>d</ul>",
            [("a", 0, 3, "li"), ("b", 0, 1, "li"), ("c", 0, 3, "li"), ("d", 0, 2, "li")],
        ),
    ],
)
def test_blocks(markup: str, blocks: list[tuple[str, int, int, str]]) -> None:
    page = parse(markup)
    assert [(words, links, tags, page.boxes[box][0]) for words, links, tags, box in page.blocks] == blocks


pieces = st.lists(
    st.sampled_from(
        "<p> </p> <div> <div|class=menu> </div> <a|href=x> </a> <ul> <li> <table> <td> <b> </b> <br> <h2> <nav> <svg> "
        "<template> <script> </script> <frameset> <body|id=ad> <select> <article> <!-- --> &#0; text more|text".split()
    )
    | st.text(max_size=8),
    max_size=40,
).map(lambda found: " ".join(found).replace("|", " "))


@settings(deadline=None)  # the machine may be busy
@given(pieces, st.sampled_from(["dom", "slope", "off"]))
def test_any_page_has_a_text_and_content_is_part_of_it(markup: str, method: str) -> None:
    page = parse(markup)
    for number, (_, _, _, parent) in enumerate(page.boxes):
        assert parent < number
    lines = page.text().split("\n")
    remaining = iter(lines)
    if method != "off":
        found = main_content(page, method)
        assert found == "" or all(line in remaining for line in found.split("\n"))
    assert page_text(page, method).encode("utf-8", "surrogatepass") is not None


@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 20_000 + FIRST,
        "<p>x" * 100_000,
        "<a href=x>" * 5_000 + FIRST,
        f"<p class='{'menu ' * 200_000}'>{FIRST}",
        "x " * 2_000_000,
        "<b>x</b> " * 100_000,
        f"<p>{FIRST}</p>" * 20_000,
    ],
)
@pytest.mark.parametrize("method", ["dom", "slope"])
def test_hostile_pages_take_bounded_time(markup: str, method: str) -> None:
    tree = HTMLTree.parse(bounded(markup))
    started = time.process_time()
    page_text(outline(tree), method)
    assert time.process_time() - started < 3  # far more than the bound: the machine may be slow


def test_the_walk_ends_at_its_bound() -> None:
    page = outline(HTMLTree.parse("<div>" + "<p>x</p>" * 100), most_steps=20)
    assert 10 < len(page.blocks) < 20
    assert outline(HTMLTree.parse("<div>" * 100 + FIRST), most_steps=20).text() == ""


def test_names_are_kept_no_longer_than_they_are_read() -> None:
    frame_names.suspicion.cache_clear()
    main_content(parse(f"<div class={'x' * 100_000}><p>{FIRST}</p></div>"))
    assert frame_names.suspicion("div", "x" * frame_names.LONGEST_NAME, "") == 0
    assert frame_names.suspicion.cache_info().hits == 1


def test_quality_on_real_pages() -> None:
    """A floor under what `bench/content.py` measures: of the words of an article, few are lost, and few are added."""
    if not PAGES.exists():
        pytest.skip(f"{PAGES} is not there")
    truth = json.loads((PAGES / "ground-truth.json").read_text())
    lost = added = total = 0
    for name in sorted(truth)[:30]:
        page = parse(gzip.decompress((PAGES / "html" / f"{name}.html.gz").read_bytes()).decode("utf-8", "replace"))
        true, found = set(truth[name]["articleBody"].split()), set(main_content(page).split())
        lost += len(true - found)
        added += len(found - true)
        total += len(true)
    assert lost < 0.1 * total
    assert added < 0.15 * total
