"""The compiled module gives what Python and numpy give, and takes anything."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycrawl.fingerprint.packed import packed_by_numpy
from pycrawl.fingerprint.page_prints import packed
from pycrawl.fingerprint.pairs import hashed_by_numpy, pairs
from pycrawl.fingerprint.shingle import select_mod, shingles, windows
from pycrawl.fingerprint.simhash import simhash
from pycrawl.fingerprint.sketch import pack_sketch, sketch
from pycrawl.fingerprint.word_table import hashed
from pycrawl.native import compiled
from pycrawl.native.body_scan import DOC_TAG, ESCAPE, NOT_ASCII, NOT_UTF8, NUL, scan_body
from pycrawl.parse.html import parse_html
from pycrawl.parse.tree import read_tree

needs_native = pytest.mark.skipif(compiled is None, reason="the compiled module was not built")

LETTERS = "abcXYZ019 \t-_éÉßẞİıΣσςжЖ中文字ไทย𝔸😀'’“ ̈ﬁŁ\x00"
ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(
    shutil.which("cc") is None or not Path(sysconfig.get_path("include"), "Python.h").exists(),
    reason="needs a C compiler and Python's headers",
)
@pytest.mark.skipif(os.environ.get("PYCRAWL_NATIVE") == "0", reason="is to be done without")
def test_is_built_where_there_is_a_compiler() -> None:
    """A silent fallback would be a slow crawler."""
    assert compiled is not None


def test_can_be_done_without() -> None:
    script = "from pycrawl.native import compiled; from pycrawl.parse.html import parse_html; assert compiled is None;"
    script += "print(parse_html(b'<title>t</title><a href=/x>x</a>', '', with_text=True, main_content='auto'))"
    run = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYCRAWL_NATIVE": "0"}, capture_output=True, text=True
    )
    assert "hrefs=['/x']" in run.stdout, run.stderr


# Words


@needs_native
@given(st.one_of(st.text(LETTERS, max_size=300), st.text("abc ", max_size=300), st.text(max_size=100)))
def test_fingerprints_are_those_of_numpy(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()  # no halves of pairs: decoders leave none
    assert hashed(text) == hashed_by_numpy(text)
    assert packed(text, 7) == packed_by_numpy(text, 7)


@needs_native
@pytest.mark.parametrize("length", [*range(1, 40), 63, 64, 65, 127, 128, 129, 1_000, 100_000])
def test_words_of_any_length_at_any_place(length: int) -> None:
    for before in range(0, 70, 7):
        text = " " * before + "x" * length
        assert hashed(text) == hashed_by_numpy(text)
        assert hashed(text + " y" * before) == hashed_by_numpy(text + " y" * before)


@needs_native
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 50, 500, 5_000])
def test_prints_of_hashes(count: int) -> None:
    dice = random.Random(count)
    words = np.array([dice.getrandbits(64) for _ in range(count)], np.uint64)
    values, bits, selected = compiled.prints(words, 200, 4, 50)
    assert values == pack_sketch(sketch(shingles(words)))
    assert bits == simhash(words)
    assert selected == np.unique(select_mod(windows(words), 4))[:50].tobytes()


@needs_native
@pytest.mark.parametrize("count", [0, 1, 2, 3, 100, 400, 3_000])
@pytest.mark.parametrize("distinct", [2, 50, 1 << 60])
def test_pairs_are_those_of_numpy(count: int, distinct: int) -> None:
    dice = random.Random(count)
    factor = 0x9E3779B97F4A7C15
    words = np.array([dice.randrange(distinct) * factor % (1 << 64) for _ in range(count)], np.uint64).tobytes()
    numerals = bytes(dice.random() < 0.1 for _ in range(count))
    dropped = bytearray(dice.random() < 0.1 for _ in range(512))
    assert compiled.pairs(words, numerals, dropped, 48) == pairs(words, numerals, dropped, 48)


@needs_native
@pytest.mark.parametrize(
    "arguments", [(b"", 0, 4, 9), (b"", 5_000, 4, 9), (b"", 200, 0, 9), (b"", 200, 3, 9), (b"", 200, 4, 0)]
)
def test_what_makes_no_sketch(arguments: tuple[bytes, int, int, int]) -> None:
    with pytest.raises(ValueError, match="expected"):
        compiled.prints(*arguments)


# Markup

PIECES = (
    "<p> </p> <div> </div> <div\tclass='nav\tmenu'> <ul> <li> </li> </ul> <table> <tr> <td> </table> <dl> <dt> <dd> "
    "</dl> <h1> </h2> <a\thref=/a> <a\thref='/b?x=1&amp;y=2'\trel=nofollow> </a> <b> </b> <br> <hr> <!-- --> <!--> "
    "<script> <script/> </script> <style> <style/> </style> <title> <title/> </title> <svg> <svg/> </svg> <button> "
    "</button> <math> </math> <mi> </mi> <annotation-xml> <annotation-xml\tencoding=text/html> </annotation-xml> "
    "<foreignObject> </foreignObject> <desc> </desc> <g> </g> <path/> <![CDATA[ ]]> <font\tcolor=x> </font> <img> "
    "<template> </template> <ruby> <rt> </rt> </ruby> <a\thref='/\0'> \0 \xad &shy; "
    "<base\thref=/base/> <meta\tname=robots\tcontent=noindex> <iframe\tsrc=/f> <iframe/> </iframe> <form> </form> "
    "words to read &amp; &nbsp; &lt &#65; &#x1F600; &bogus; &copy < > <> </> <! <? \n one.Two <textarea> <textarea/> "
    '</textarea> <noscript> </noscript> <p\tclass=x\tid="y">'
).split(" ")


def seen_by_tree(markup: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}

    def element(tag: str, attributes: dict[str, str]) -> None:
        for name in ("href", "src", "content"):
            if value := attributes.get(name):
                found.setdefault(tag, []).append(value)

    read_tree(markup, element, False, "", None)
    return found


def seen_by_scan(markup: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    hrefs: dict[str, None] = {}

    def element(tag: str, attributes: dict[str, str]) -> None:
        for name in ("href", "src", "content"):
            if value := attributes.get(name):
                found.setdefault(tag, []).append(value)

    compiled.scan(markup, hrefs, element, True, True, [], 9, 200)
    found.setdefault("a", []).extend(hrefs)
    return {tag: values for tag, values in found.items() if values}


@needs_native
@settings(derandomize=True, max_examples=1_000, deadline=None)  # docs/reading.md: what the readers differ in is rare
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_links_are_those_of_a_tree(pieces: list[str]) -> None:
    markup = " ".join(pieces)
    by_scan, by_tree = seen_by_scan(markup), seen_by_tree(markup)
    assert {tag: set(values) for tag, values in by_scan.items() if tag != "meta"} == {
        tag: set(values) for tag, values in by_tree.items() if tag != "meta"
    }


def made_up_page(dice: random.Random) -> bytes:
    """Prose, lists of links, headings, tables and frames, nested at random; all tags are closed."""

    def words(least: int, most: int) -> str:
        return " ".join(f"w{dice.randrange(2_000)}" for _ in range(dice.randrange(least, most)))

    def part(depth: int) -> str:
        kinds = ["p", "p", "p", "links", "heading", "short", "mixed", "table", "quote"] + ["box"] * (
            3 if depth < 4 else 0
        )
        match dice.choice(kinds):
            case "p":
                return f"<p>{words(8, 60)}.</p>"
            case "links":
                items = [
                    f"<li><a href=/{dice.randrange(99)}>{words(1, 5)}</a></li>" for _ in range(dice.randrange(1, 9))
                ]
                return f"<ul>{''.join(items)}</ul>"
            case "heading":
                return f"<h{dice.randrange(1, 7)}>{words(1, 6)}</h{6}>"
            case "short":
                return f"<div>{words(1, 4)}</div>"
            case "mixed":
                return f"<p>{words(3, 20)} <a href=/x>{words(1, 12)}</a> <b>{words(1, 3)}</b> {words(1, 9)}</p>"
            case "table":
                return f"<table><tr><td>{words(1, 15)}</td><td>{words(1, 15)}</td></tr></table>"
            case "quote":
                return f"<blockquote>{words(5, 30)}</blockquote>"
        tags = "div div section article aside nav header footer main figure".split()
        tag = dice.choice([*tags, "form"] if depth == 0 else tags)  # forms in forms end where nobody would think
        name = dice.choice(["", "", " class='sidebar'", " id=content", " class='navBar top'", " class=related-posts"])
        return f"<{tag}{name}>{''.join(part(depth + 1) for _ in range(dice.randrange(1, 7)))}</{tag}>"

    return f"<title>t</title><body>{''.join(part(0) for _ in range(dice.randrange(2, 9)))}</body>".encode()


@needs_native
def test_the_main_content_is_that_of_the_tree() -> None:
    dice = random.Random(8)
    shorter = 0
    for _ in range(400):
        body = made_up_page(dice)
        scanned = parse_html(body, "text/html", with_text=True, main_content="auto")
        parsed = parse_html(body, "text/html", with_text=True, main_content="dom")
        assert scanned.content == parsed.content, body
        assert scanned.text.split() == parsed.text.split(), body
        shorter += len(scanned.content) < 0.9 * len(scanned.text)
    assert shorter > 100, "something must be left out, or nothing is tested"


@needs_native
@pytest.mark.parametrize(
    "markup",
    [
        "<p>" * 200_000,
        "<div>" * 200_000 + "x",
        "</div>" * 200_000,
        "<a href=x>" * 200_000,
        "<hr>x" * 200_000,
        "<li>" * 100_000 + "</ul>" * 100_000,
        "<table><tr><td>" * 60_000,
        "<object>" * 100_000 + "x" + "</p>" * 100_000,
        "<p " + "a=1 " * 200_000,
        "<" * 1_000_000,
        "&" * 1_000_000,
        "&nGt;" * 200_000,
        "<!--" * 200_000,
        "<script><!--" * 100_000,
        "<title>" * 100_000,
        "<textarea><" * 100_000,
        "<a href='" + "&amp" * 200_000 + "'>",
        " \n" * 500_000,
        "</" * 500_000,
        "x" * 1_000_000,
        "\xa0" * 500_000,
    ],
    ids=lambda markup: markup[:16],
)
def test_hostile_markup_takes_time_in_proportion(markup: str) -> None:
    from time import process_time

    started = process_time()
    compiled.scan(markup, {}, lambda *_: None, True, True, [], 9, 200)
    assert process_time() - started < 2


@needs_native
@given(st.text("<>/ab='\"&;#-!x \n\xa0é", max_size=200))
def test_any_markup_is_read_to_its_end(markup: str) -> None:
    hrefs: dict[str, None] = {}
    title, text, content, _, _ = compiled.scan(markup, hrefs, lambda *_: None, True, 1, [], 9, 200)
    for found in (title, text, content.decode(), *hrefs):
        assert isinstance(found, str)
    assert "  " not in text


@needs_native
def test_every_cut_of_a_page_is_read() -> None:
    page = (
        "<!doctype html><html lang=de><head><title>Ein &amp; alles</title><base href=/b/>"
        "<script>if (a<b) '</p>'</script><body class='x'><p id=\"y\">Grüße aus &Ouml;sterreich &#8211; "
        "<a href='/x?a=1&amp;b' rel=next>hier</a><!-- a > b -->"
        "<svg><title>no</title></svg></p></body></html>"
    )
    for end in range(len(page)):
        compiled.scan(page[:end], {}, lambda *_: None, True, True, [], 9, 200)
    assert compiled.scan(page, {}, lambda *_: None, True, False, None, 0, 0)[:2] == (
        "Ein & alles",
        "Grüße aus Österreich – hier",
    )


@needs_native
def test_an_error_in_the_callers_function_is_the_callers() -> None:
    def element(tag: str, attributes: dict[str, str]) -> None:
        raise KeyError(tag)

    with pytest.raises(KeyError, match="base"):
        compiled.scan("<base href=/>", {}, element, True, True, None, 0, 0)


def test_texts_of_links() -> None:
    page = parse_html(
        b"<p><a href=/1> one <b>two</b>\n</a> <a href=/2><img></a> <a href=/1>again</a> <a href=/3>t&uuml;r",
        "",
        with_anchors=True,
    )
    assert page.anchors is not None
    assert page.anchors.items() == [("/1", "one two", 0), ("/2", "", 0), ("/1", "again", 0), ("/3", "tür", 0)]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    """A build that reports any access outside its buffers, and FUZZ_SECONDS (30) of cases that look for one."""
    package = tmp_path / "pycrawl"
    shutil.copytree(ROOT / "pycrawl", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    sources = [str(source) for source in sorted((ROOT / "pycrawl" / "native").glob("*.c"))]
    flags = "-shared -fPIC -g -O1 -std=c11 -fno-sanitize-recover=all -fsanitize=address,undefined".split()
    built = [
        *flags,
        f"-I{sysconfig.get_path('include')}",
        *sources,
        "-o",
        str(package / "native" / "_compiled.abi3.so"),
    ]
    subprocess.run(["gcc", *built], check=True)
    asan = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout
    environment = {
        **os.environ,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
        "LD_PRELOAD": asan.strip(),
        "ASAN_OPTIONS": "detect_leaks=0",
    }
    which = [sys.executable, "-P", "-c", "from pycrawl.native import compiled; print(compiled.__file__)"]
    loaded = subprocess.run(which, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert loaded.stdout.startswith(str(package))
    fuzz = [sys.executable, "-P", "-m", "tests.fuzz", "--plain", "--compiled"]
    fuzz += ["--seconds", os.environ.get("FUZZ_SECONDS", "30")]
    ended = subprocess.run(fuzz, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    print(ended.stdout)


# Survey

SURVEYED = st.lists(
    st.sampled_from(
        [
            b"plain ",
            b"sixteen letters.",
            b"<",
            b"</",
            b"doc",
            b"DOC>",
            b"dO",
            b"\0",
            b"\x1b",
            "é".encode(),
            "中".encode(),
        ]
    )
    | st.sampled_from(
        ["😀".encode(), b"\x80", b"\xc0\x80", b"\xed\xa0\x80", b"\xe0\x9f\xbf", b"\xf4\x90\x80\x80", b"\xf5"]
    )
    | st.binary(max_size=5),
    max_size=20,
).map(b"".join)


@given(SURVEYED)
def test_a_body_scan_finds_what_is_there(body: bytes) -> None:
    found = scan_body(body)
    assert bool(found & NOT_ASCII) != body.isascii()
    assert bool(found & NUL) == (b"\0" in body)
    assert bool(found & ESCAPE) == (b"\x1b" in body)
    assert bool(found & DOC_TAG) == (b"<doc" in body.lower() or b"</doc" in body.lower())
    try:
        body.decode()
    except UnicodeDecodeError:
        assert found & NOT_UTF8
    else:
        assert not found & NOT_UTF8


@pytest.mark.parametrize("tag", [b"<doc", b"</doc", b"<DOC>", b"</Doc"])
def test_a_tag_of_trec_web_is_found_wherever_it_stands(tag: bytes) -> None:
    for before in range(40):
        for behind in range(20):
            assert scan_body(b"<" * before + tag + b"x" * behind) == DOC_TAG
            assert scan_body(b"<" * before + tag[:-2] + b"x" * behind) == 0
        assert scan_body(b"d" * before + b"\x1b<d" + b"<" * 17) == ESCAPE


def test_every_character_is_well_formed_and_no_half_of_one() -> None:
    for code in range(0x80, 0x110000, 37):
        if not 0xD800 <= code < 0xE000:
            character = chr(code).encode()
            assert scan_body(b"x" * 15 + character + b"y") == NOT_ASCII
            assert scan_body(b"x" * 15 + character[:-1]) == NOT_ASCII | NOT_UTF8
            assert scan_body(character[1:]) == NOT_ASCII | NOT_UTF8
