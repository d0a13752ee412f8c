"""URLs: their normal form, their parts, and the links of a page."""

from __future__ import annotations

from array import array
from functools import cache
from ipaddress import ip_address
from typing import Any

from pycrawl.config import Config, LimitsSection
from pycrawl.fetch.addresses import Guard, is_public
from pycrawl.fetch.origins import origin_of
from pycrawl.native import compiled
from pycrawl.parse.link_cache import LinkCache
from pycrawl.parse.links import LinkPacker
from pycrawl.parse.parsed import Parsed
from pycrawl.traps.url_kinds import section, shape
from pycrawl.urls import parts
from pycrawl.urls.normal_form import MAX_LENGTH, UrlRules, from_user, normalise, normalise_behind
from pycrawl.urls.scope import Scope
from tests.fuzz.case import Target

SEED = 1
BASE = "http://example.com/a/b?c=1"
MAX_LINKS = 50
_SECRETS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)  # of full length, as those of a crawl are
_RULES = (UrlRules(), UrlRules.of(Config()), UrlRules(strip_session_ids=True, sort_query=True))


def url(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for rules in _RULES:
        for normal in (normalise(text, rules), normalise(text, rules, BASE), from_user(text, rules)):
            if normal is not None:
                _check_normal(normal, rules)


def _check_normal(normal: str, rules: UrlRules) -> None:
    assert normal.isascii()
    assert normal.isprintable()
    assert " " not in normal
    assert len(normal) <= MAX_LENGTH
    assert normalise(normal, rules) == normal
    assert normalise(normal, rules, BASE) == normal
    origin, rest = parts.origin(normal), parts.path_and_query(normal)
    assert origin + rest == normal
    assert normalise_behind(origin, normal, rules) == normal
    assert origin.endswith(parts.host_key(normal))
    assert normalise(parts.robots_url(normal), rules) == parts.robots_url(normal)
    assert parts.path(normal).startswith(parts.first_directory(normal))
    assert parts.likely_origin(normal) == origin
    assert is_public(parts.address_literal(parts.host_key(normal))) in (True, False)
    origin_of(normal)  # else it could not be asked for
    shape(normal)
    section(normal)
    Scope(Config()).verdict(normal)


def address(data: bytes) -> None:
    """Whatever a name server or a URL gives for an address: what is let through is one, and is public."""
    text = data.decode("utf-8", "replace")
    if is_public(text):
        assert Guard().permits(text)
    if Guard(allows_all=True).permits(text):
        ip_address(text.partition("%")[0])


@cache
def packer() -> LinkPacker:
    config = Config(limits=LimitsSection(max_links_per_page=MAX_LINKS))
    return LinkPacker(_RULES[1], Scope(config), SEED)


def links(data: bytes) -> None:
    """The first line is the base that a page names, the others are links: packed, as a fetcher sends them."""
    base, *hrefs = data.decode("utf-8", "replace").split("\n")
    page = Parsed(hrefs=[*dict.fromkeys(hrefs[::2])], nofollow_hrefs=[*dict.fromkeys(hrefs[1::2])], base_href=base)
    packed = packer().pack(page, BASE)
    for group in (packed.links, *(group for _, group in packed.withheld)):
        hashes = array("Q", group.hashes)
        assert len(set(hashes)) == len(hashes) <= MAX_LINKS
        texts = group.texts.decode("ascii").split("\n") if group.texts else []
        assert len(texts) == group.texts_count == len(group.verdicts)
        for text, found in zip(texts, hashes, strict=False):
            assert normalise(text, _RULES[1]) == text
            assert parts.url_hash(text, SEED) == found
    assert sum(packed.filtered.values()) <= len(hrefs)


def link_table(data: bytes) -> None:
    """The compiled table of links and the one in Python say the same of each link."""
    if compiled is None:
        return
    ours: Any = compiled.LinkCache(64, *_SECRETS)
    plain = LinkCache(1_000_000, *_SECRETS)
    hrefs = [*dict.fromkeys(data.decode("utf-8", "replace").split("\n"))]
    for number, href in enumerate(hrefs[::3]):
        for table in (ours, plain):
            table.add(href, 300 + number if number % 3 else 1 + number % 200)
    for skips_empty in (False, True):
        known = ours.look(hrefs, "http://h.test", "http://h.test/a/b/", skips_empty, 301)
        expected = plain.look(hrefs, "http://h.test", "http://h.test/a/b/", skips_empty, 301)
        # The compiled table may have forgotten some: of these it knows nothing, and of no other.
        assert set(array("Q", known[0])) <= set(array("Q", expected[0]))
        assert set(expected[2]) <= set(known[2])
        assert len(known[0]) // 8 + len(known[1]) + len(known[2]) >= len(expected[2])


_URL_WORDS = (
    b"http://|https://|HTTP:\\\\|//|ftp:|javascript:|example.com|EXAMPLE.com.|127.0.0.1|0x7f.1|[::1]|"
    b"[::ffff:1.2.3.4]|%5B|"
    b"user:pw@|:80|:443|:8080|:99999|/|\\|..|/../|/./|%2e%2e|%2F|%41|%zz|%|?|&|=|#|;jsessionid=0A|/(S(abc))/|sid=a|"
    b"utm_x=1|"
    b"PHPSESSID=1|xn--|xn--a|\xc3\xbc|\xe3\x80\x82|\xc2\xad|\xe2\x80\xae|\xff|\0|\t|\n| |\"|`|'|<|>|{|}|^|~|a.b|"
    b"a/b/c|../x|"
    b"1.2.3|0|x.1"
).split(b"|")

TARGETS = [
    Target("url", url, tuple(_URL_WORDS), max_bytes=2_048),
    Target("address", address, tuple(_URL_WORDS), max_bytes=200),
    Target("links", links, tuple(_URL_WORDS), max_bytes=8_192, is_compiled=True),
    Target("link-table", link_table, tuple(_URL_WORDS), is_compiled=True),
]
