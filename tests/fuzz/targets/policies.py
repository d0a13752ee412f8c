"""robots.txt and what headers ask of robots, cookies, and dates."""

from __future__ import annotations

import math

from pycrawl.fetch.cookies import (
    MAX_COOKIE_BYTES,
    MAX_HEADER_BYTES,
    CookieJar,
    cookie_date,
    cookies_to_ask_again,
    parse_cookie,
)
from pycrawl.fetch.origins import origin_of
from pycrawl.fetch.transport import Response
from pycrawl.model import RobotsFile
from pycrawl.policy.politeness import retry_after_seconds
from pycrawl.policy.robots import MAX_SITEMAPS, RobotsRules, directives, expiry
from tests.fuzz.case import Target

NOW = 1_000_000_000.0
_TTL = 86_400.0  # seconds
_URLS = (
    "http://h.test/",
    "http://h.test/robots.txt",
    "http://h.test/a/b.html?x=%2F&y=é",
    "http://h.test/" + "a" * 2_000,
    "http://h.test/%E4%B8%AD?q=https://x.test/",
    "http://h.test/a*b$",
)


def robots(data: bytes) -> None:
    rules = RobotsRules.parse(RobotsFile(200, data, NOW, NOW + _TTL), "pycrawl")
    assert rules.crawl_delay is None or 0 <= rules.crawl_delay < math.inf
    assert len(rules.sitemaps) <= MAX_SITEMAPS
    "\n".join(rules.sitemaps).encode()
    for url in _URLS:
        verdict = rules.verdict(url)
        assert rules.allowed(url) == verdict.allowed
        verdict.line.encode()
    assert rules.allowed("http://h.test/robots.txt")
    again = RobotsRules.parse(RobotsFile(200, data.replace(b"\n", b"\r\n"), NOW, NOW + _TTL), "pycrawl")
    assert [again.allowed(url) for url in _URLS] == [rules.allowed(url) for url in _URLS]


def robots_tag(data: bytes) -> None:
    values = data.decode("latin-1").split("\n")
    words = directives(values, "pycrawl")
    assert sum(map(len, words)) <= len(data)
    assert directives([value.upper() for value in values if value.isascii()], "PyCrawl") <= words
    assert NOW < expiry(data.decode("latin-1"), NOW, _TTL) <= NOW + _TTL


def dates(data: bytes) -> None:
    text = data.decode("latin-1")
    assert 0 <= retry_after_seconds(text, NOW) < math.inf
    assert 0 <= retry_after_seconds(data.decode("utf-8", "replace"), NOW) < math.inf
    assert cookie_date(text) > -12_000_000_000  # the year 1601


_COOKIE_URLS = ("http://www.example.com/", "https://www.example.com/x/y", "https://example.com/", "http://127.0.0.1/")


def cookies(data: bytes) -> None:
    """A Set-Cookie value in each line, sent by one server after another."""
    jar, own = CookieJar(), CookieJar()
    url = _COOKIE_URLS[1]
    for number, value in enumerate(data.split(b"\n")):
        sender = _COOKIE_URLS[number % len(_COOKIE_URLS)]
        jar.put(sender, [value], NOW)
        if origin_of(sender).host == origin_of(url).host:
            own.put(sender, [value], NOW)
        cookie = parse_cookie(value, origin_of(sender), "/", NOW)
        assert cookie is None or len(cookie.name) + len(cookie.value) <= MAX_COOKIE_BYTES
        response = Response(1, sender, 0.0, headers=[(b"Set-Cookie", value)], fetched_at=NOW)
        assert len(cookies_to_ask_again(response)) <= MAX_HEADER_BYTES
    header = jar.header(url, NOW)
    assert header == own.header(url, NOW)  # other hosts' cookies change nothing
    assert len(header) <= MAX_HEADER_BYTES
    assert not any(ord(character) < 32 or ord(character) == 127 for character in header)


_ROBOTS_WORDS = (
    b"User-agent: *\n|User-agent: pycrawl\n|user-agent:other\n|Disallow: /\n|Disallow: |Allow: /a\n|Allow: |*|$|/*/|"
    b"%2F|"
    b"%E4|\xc3\xa9|\xff|Crawl-delay: 1.5\n|Crawl-delay: 1e999\n|Sitemap: http://h.test/s.xml\n|#|\r|\n|\0|\xef\xbb\xbf|"
    b"Disalow: /x\n|Noindex: /\n|/a/b|?x=|: |:|=\t"
).split(b"|")
_TAG_WORDS = (
    b"noindex|nofollow|none|all|unavailable_after: |Wed, 25 Jun 2030 15:00:00 GMT|2030-06-25|max-snippet:-1|pycrawl: |"
    b"otherbot: |*: |, |,|:|max-age=|no-store|no-cache|s-maxage=5|\n| |;|="
).split(b"|")
_DATE_WORDS = (
    b"Wed, 21 Oct 2025 07:28:00 GMT|Wednesday, 21-Oct-25 07:28:00 GMT|Wed Oct 21 07:28:00 2025|-0000|+9999|Feb 31|"
    b"0:0:0|"
    b"120|-1|1.5|jan|dec|99|9999|10000|: |, |GMT|\xb2\xb3|(comment)|\0"
).split(b"|")
_COOKIE_WORDS = (
    b"a=b|=|\xff=\xff|; Path=/|; Path=/x|; Domain=.example.com|; Domain=com|; Secure|; HttpOnly|; Max-Age=5|"
    b"; Max-Age=-|"
    b"; Expires=Thu, 01 Jan 1970 00:00:00 GMT|; Expires=0:0:0 31 feb 99|;|\n|\0|\r|__Host-a=b| "
).split(b"|")

TARGETS = [
    Target("robots", robots, tuple(_ROBOTS_WORDS), max_bytes=16_384),
    Target("robots-tag", robots_tag, tuple(_TAG_WORDS)),
    Target("dates", dates, tuple(_DATE_WORDS), max_bytes=1_000),
    Target("cookies", cookies, tuple(_COOKIE_WORDS), max_bytes=16_384),
]
