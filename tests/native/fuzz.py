"""Feeds the compiled module mutated markup and texts: `python -m tests.native.fuzz SECONDS [SEED]`; says how many.

`test_readers.py` runs it on a build with address and undefined-behaviour sanitizers (`make test-slow`).
"""

from __future__ import annotations

import random
import sys
import time

from pycrawl.config import Config, LimitsSection
from pycrawl.fingerprint.page_prints import packed
from pycrawl.fingerprint.word_table import hashed
from pycrawl.native import compiled
from pycrawl.parse.html import parse_html
from pycrawl.parse.links import LinkPacker
from pycrawl.traps.page_sample import sample
from pycrawl.urls.normal_form import UrlRules
from pycrawl.urls.scope import Scope

PIECES = (
    b"<p>|</p>|<div class='nav x'>|</div>|<ul><li>|</ul>|<table><tr><td>|</td>|</table>|<a href='/x?a=1&amp;b'>|</a>|"
    b"<h1>|</h1>|<br>|<hr>|<!--|-->|<script>|</script>|<style>|</style>|<title>|</title>|<svg>|</svg>|<button>|</button>|"
    b'<base href=x>|<meta name=robots content="none">|<iframe src=/f>|</iframe>|<textarea>|</textarea>|<plaintext>|'
    b"<math>|</math>|<mi>|<annotation-xml encoding=text/html>|<foreignObject>|</foreignObject>|<title/>|<g>|</g>|"
    b"<![CDATA[|]]>|<template>|</template>|<ruby>|<rt>|</ruby>|<x-y>|</x-y>|<b>|</b>|<tbody>|<tr>|<td>|<!doctype html>|"
    b"&shy;|\xc2\xad|"
    b"&amp;|&nbsp;|&#65;|&#x1F600;|&nGt;|&copy|&|<|>|'|\"|=|/|\xc3\xa9|\xe4\xb8\xad|\xf0\x9f\x98\x80|\xc2\xa0|\xff|\x00|"
    b" |\n|word |An older text of several words |<object><p>|<a rel=nofollow href=/n>|<xmp>|</xmp>|<noscript>|"
    b"<html lang=de>|<a href='../../x#y'>|<a href='b/c'>|<a href='http://h.test/"
    + b"p" * 500
    + b"'>|<a href='?q'>|<a href='#'>|<a href='"
).split(b"|")


def mutated(dice: random.Random, body: bytes) -> bytes:
    changed = bytearray(body)
    for _ in range(dice.randrange(1, 12)):
        place = dice.randrange(len(changed) + 1)
        match dice.randrange(4):
            case 0:
                del changed[place : place + dice.randrange(1, 40)]
            case 1:
                changed[place:place] = dice.choice(PIECES)
            case 2:
                changed[place : place + 1] = bytes([dice.randrange(256)])
            case _:
                changed += changed[place : place + dice.randrange(1, 200)]
    return bytes(changed)


def main() -> None:
    seconds, seed = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    dice = random.Random(seed)
    body = b""
    rounds = 0
    config = Config(limits=LimitsSection(max_links_per_page=50))
    packer = LinkPacker(UrlRules.of(config), Scope(config), seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if rounds % 50 == 0:
            body = b"".join(dice.choices(PIECES, k=dice.randrange(300)))
        body = mutated(dice, body)[:20_000]
        page = parse_html(body, "text/html; charset=utf-8", with_text=True, main_content="auto", with_anchors=True)
        packed(page.content_or_text, seed)
        packer.pack(page, "http://example.com/a/b", 1)
        sample(page.text, "http://example.com/a/b")
        hashed(page.title)
        rounds += 1
    print(f"{rounds:,} pages, read by {compiled.__file__}")


if __name__ == "__main__":
    main()
