"""Markup, the encodings of text, and words."""

from __future__ import annotations

from array import array

from pycrawl.fingerprint.packed import packed_by_numpy
from pycrawl.fingerprint.page_prints import MOST_PASSAGES, RECORD, packed
from pycrawl.fingerprint.pairs import hashed_by_numpy, pairs
from pycrawl.fingerprint.word_table import hashed
from pycrawl.native import compiled
from pycrawl.native.body_scan import DOC_TAG, ESCAPE, NOT_ASCII, NOT_UTF8, NUL, scan_body
from pycrawl.parse.charset import charset_of, decode, encoding_named, prescan, read
from pycrawl.parse.html import parse_html
from pycrawl.parse.parsed import Parsed
from pycrawl.policy.robots import directives
from pycrawl.traps.page_sample import SAMPLE_PAIRS, sample
from tests.fuzz.case import Target
from tests.fuzz.targets.addresses import BASE, packer

_METHODS = ("", "auto", "off")
_TYPES = (
    "text/html; charset=utf-8",
    "",
    "text/html; charset=utf-16",
    "text/html; charset=shift_jis",
    "text/html; charset=x",
)
_MOST_GROWTH = 40  # characters of text that a byte can become: "&#64260;" is one, "ﷺ" is not taken apart


def markup(data: bytes) -> None:
    """The first byte chooses how the rest is read."""
    choice, body = data[:1], data[1:]
    number = choice[0] if choice else 0
    kind, method = _TYPES[number % len(_TYPES)], _METHODS[number // 8 % len(_METHODS)]
    page = parse_html(body, kind, "pycrawl", True, method, with_anchors=True)
    check_page(page, len(body))
    packed(page.content_or_text, 1)
    packer().pack(page, BASE, number & 1)
    sample(page.text, BASE)
    directives(page.robots, "pycrawl")


def tree(data: bytes) -> None:
    """The reader that is used where there is no compiled module."""
    page = parse_html(data, _TYPES[0], "pycrawl", True, "auto", with_anchors=True, by_tree=True)
    check_page(page, len(data))


def check_page(page: Parsed, length: int) -> None:
    texts = (page.text, page.content, page.title, page.language, page.base_href, *page.hrefs, *page.nofollow_hrefs)
    assert page.anchors is not None
    assert page.anchors.are_well_formed
    for text in (*texts, page.anchors.texts.decode()):
        text.encode()  # no half of a surrogate pair
    assert len(set(page.hrefs)) == len(page.hrefs)
    assert "\n" not in page.title
    assert not any(href.startswith((" ", "\t", "\n")) for href in page.hrefs)
    assert sum(map(len, texts)) <= _MOST_GROWTH * length + 10


_TAGS = "div p section article nav ul li b span svg math template ruby rt button h2 blockquote x-y a".split()
_PIECES = "one of several words that make a sentence of prose &amp; &shy; <br> <img> \n \u00a0 &#x41; é 中".split(" ")
_DEEPEST = 8


def well_formed(data: bytes) -> str:
    """A page made by the bytes: each opens an element, closes one, or adds a word."""
    page = ["<!DOCTYPE html><title>t</title><body>"]
    opened: list[str] = []
    for byte in data:
        tag = _TAGS[byte % len(_TAGS)]
        if byte < 64 and len(opened) < _DEEPEST and not (tag == "a" and tag in opened):  # a link in a link ends it
            opened.append(tag)
            page.append(f"<div><{tag} class=x href=/{byte}>")
        elif byte < 128 and opened:
            page.append(f"</{opened.pop()}></div>")
        else:
            page.append(f"{_PIECES[byte % len(_PIECES)]} ")
    page += [f"</{name}></div>" for name in reversed(opened)]
    return "".join(page)


def readers(data: bytes) -> None:
    """The compiled reader and the tree reader find the same on a page that is well-formed."""
    body = well_formed(data).encode()
    for method in ("auto", "off"):
        ours = parse_html(body, _TYPES[0], with_text=True, main_content=method)
        theirs = parse_html(body, _TYPES[0], with_text=True, main_content=method, by_tree=True)
        assert (ours.hrefs, ours.text, ours.content) == (theirs.hrefs, theirs.text, theirs.content), body


def charset(data: bytes) -> None:
    """The first line is a Content-Type header, the rest a body."""
    first, _, body = data.partition(b"\n")
    header = first.decode("latin-1")
    found = charset_of(body, header)
    text, used = read(body, header)
    text.encode()
    assert used.used in ("", found.used)
    assert encoding_named(found.used) == found.used
    assert decode(body, found.used) == text or not used.used
    assert len(text) <= len(body)
    prescan(body[:1_024])
    assert encoding_named(encoding_named(header)) == encoding_named(header)


def words(data: bytes) -> None:
    """Both ways to hash the words of a text give the same fingerprints."""
    text = data.decode("utf-8", "replace")
    record, passages = packed(text, 1)
    assert len(record) in (0, RECORD.size)
    assert len(passages) <= 8 * MOST_PASSAGES
    assert (record, passages) == packed(text.encode(), 1) == packed_by_numpy(text, 1)
    dropped = bytearray(data[:64].ljust(64, b"\0"))
    if compiled is not None:
        assert hashed(text) == hashed_by_numpy(text)
        chosen = compiled.pairs(*hashed(text), dropped, SAMPLE_PAIRS)
        assert chosen == pairs(*hashed_by_numpy(text), dropped, SAMPLE_PAIRS)
    assert [*array("Q", sample(text, BASE))] == sorted(set(array("Q", sample(text, BASE))))


def body_scan(data: bytes) -> None:
    found = scan_body(data)
    assert bool(found & NOT_ASCII) != data.isascii()
    assert bool(found & NUL) == (b"\0" in data)
    assert bool(found & ESCAPE) == (b"\x1b" in data)
    assert bool(found & DOC_TAG) == (b"<doc" in data.lower() or b"</doc" in data.lower())
    try:
        data.decode()
    except UnicodeDecodeError:
        assert found & NOT_UTF8
    else:
        assert not found & NOT_UTF8


_MARKUP_WORDS = (
    b"<p>|</p>|<div class='nav x'>|</div>|<ul><li>|</ul>|<table><tr><td>|</td>|</table>|<a href='/x?a=1&amp;b'>|</a>|"
    b"<h1>|</h1>|<br>|<hr>|<!--|-->|<script>|</script>|<style>|</style>|<title>|</title>|<svg>|</svg>|<button>|"
    b"</button>|"
    b'<base href=x>|<meta name=robots content="none">|<iframe src=/f>|</iframe>|<textarea>|</textarea>|<plaintext>|'
    b"<math>|</math>|<mi>|<annotation-xml encoding=text/html>|<foreignObject>|</foreignObject>|<title/>|<g>|</g>|"
    b"<![CDATA[|]]>|<template>|</template>|<ruby>|<rt>|</ruby>|<x-y>|</x-y>|<b>|</b>|<tbody>|<tr>|<td>|<!doctype html>|"
    b"<meta http-equiv=refresh content='0; url=/r'>|<link rel=next href=/n>|<select><option>|<frameset><frame src=/g>|"
    b"&shy;|\xc2\xad|&amp;|&nbsp;|&#65;|&#x1F600;|&#xD800;|&#0;|&nGt;|&copy|&|<|>|'|\"|=|/|\xc3\xa9|\xe4\xb8\xad|"
    b"\xf0\x9f\x98\x80|\xc2\xa0|\xff|\0| |\n|word |An older text of several words |<object><p>|"
    b"<a rel=nofollow href=/n>|"
    b"<xmp>|</xmp>|<noscript>|<html lang=de>|<a href='../../x#y'>|<a href='b/c'>|<a href='http://h.test/"
    + b"p" * 500
    + b"'>|<a href='?q'>|<a href='#'>|<a href='"
).split(b"|")
_CHARSET_WORDS = (
    b'text/html; charset=|charset="|utf-8|utf-16|utf-16be|UTF-7|shift_jis|gbk|gb18030|big5|euc-kr|iso-2022-jp|'
    b"iso-8859-1|"
    b"windows-1252|x-user-defined|replacement|\n|<meta charset=|"
    b"<meta http-equiv=content-type content='text/html; charset=|"
    b"<?xml version='1.0' encoding='|'?>|'>|\">|<!--|-->|\xef\xbb\xbf|\xfe\xff|\xff\xfe|\0|\x1b$B|\x1b(B|~{|\x81|\xe9|"
    b"\xc3\xa9|\xb0\xa1|\x82\xa0|\xed\xa0\x80| "
).split(b"|")
_SCAN_WORDS = (b"plain ", b"sixteen letters.", b"<", b"</", b"doc", b"DOC>", b"dO", b"\0", b"\x1b", b"\xc3\xa9")
_MORE_SCAN_WORDS = (
    b"\xe4\xb8\xad",
    b"\xf0\x9f\x98\x80",
    b"\xed\xa0\x80",
    b"\xe0\x9f\xbf",
    b"\xf4\x90\x80\x80",
    b"\xf5",
)

TARGETS = [
    Target("markup", markup, tuple(_MARKUP_WORDS), max_bytes=20_000, is_compiled=True),
    Target("tree", tree, tuple(_MARKUP_WORDS), max_bytes=8_192),
    Target("readers", readers, max_bytes=400, is_compiled=True),
    Target("charset", charset, tuple(_CHARSET_WORDS), max_bytes=20_000),
    Target("words", words, tuple(_MARKUP_WORDS + _CHARSET_WORDS), is_compiled=True),
    Target("body-scan", body_scan, _SCAN_WORDS + _MORE_SCAN_WORDS, is_compiled=True),
]
