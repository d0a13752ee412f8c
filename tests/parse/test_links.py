from __future__ import annotations

import struct
from array import array
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.config import Config, LimitsSection, ScopeSection, TrapsSection
from pycrawl.model import NO_LINKS, PackedLinks
from pycrawl.native import compiled
from pycrawl.parse.link_cache import LinkCache, absolute
from pycrawl.parse.links import LinkPacker
from pycrawl.parse.parsed import Parsed
from pycrawl.urls import asks
from pycrawl.urls.normal_form import UrlRules, normalise
from pycrawl.urls.parts import likely_origin, url_hash
from pycrawl.urls.reasons import Reason
from pycrawl.urls.scope import Scope

SEED = 0x5EED
RULES = UrlRules.of(Config())
URL = "http://example.com/dir/page?q=a/b"


def packer(config: Config | None = None, max_links: int = 100) -> LinkPacker:
    limits = LimitsSection(max_links_per_page=max_links)
    return LinkPacker(RULES, Scope(replace(config or Config(), limits=limits)), SEED)


def page(*hrefs: str, base: str = "", nofollow_hrefs: tuple[str, ...] = ()) -> Parsed:
    return Parsed(list(hrefs), list(nofollow_hrefs), base, frozenset())


def hashes(packed: PackedLinks) -> list[int]:
    return list(struct.unpack(f"<{len(packed.hashes) // 8}Q", packed.hashes))


def texts(packed: PackedLinks) -> list[str]:
    found = packed.texts.decode().split("\n") if packed.texts else []
    assert len(found) == packed.texts_count
    assert hashes(packed)[: len(found)] == [url_hash(url, SEED) for url in found]
    return found


@pytest.mark.parametrize(
    ("href", "base", "expected"),
    [
        ("/a", "", "http://example.com/a"),
        ("/a#x", "", "http://example.com/a"),
        ("a.html", "", "http://example.com/dir/a.html"),
        ("../a", "", "http://example.com/a"),
        ("?p=2", "", "http://example.com/dir/page?p=2"),
        ("//other.test/x", "", "http://other.test/x"),
        ("/\\other.test/x", "", "http://other.test/x"),
        ("/\t/other.test/x", "", "http://other.test/x"),
        ("https://example.com:443/%7ea?utm_id=1", "", "https://example.com/~a"),
        ("HTTP://example.com/b", "", "http://example.com/b"),
        ("http:c", "", "http://example.com/dir/c"),
        ("a", "/base/", "http://example.com/base/a"),
        ("a", "http://other.test/d/e", "http://other.test/d/a"),
        ("/a", "http://other.test/d/e", "http://other.test/a"),
        ("#x", "/base/", "http://example.com/base/"),
        ("a", "mailto:x", "http://example.com/dir/a"),
    ],
)
def test_resolution(href: str, base: str, expected: str) -> None:
    packed, _, filtered, _ = packer().pack(page(href, base=base), URL)
    assert texts(packed) == [expected]
    assert filtered == {}


def test_links_are_distinct_and_not_to_the_page_itself() -> None:
    packed, _, filtered, _ = packer().pack(page("#top", URL, "/a", "/a#b", "http://example.com/a", "/c"), URL)
    assert texts(packed) == ["http://example.com/a", "http://example.com/c"]
    assert filtered == {}


def test_a_link_sent_before_travels_as_its_hash_behind_those_with_text() -> None:
    links_of = packer()
    links_of.pack(page("/a", "/b"), URL)
    packed = links_of.pack(page("/a", "/new", "/b"), "http://example.com/2").links
    assert texts(packed) == ["http://example.com/new"]
    assert hashes(packed) == [url_hash(f"http://example.com/{path}", SEED) for path in ("new", "a", "b")]


def test_a_link_is_remembered_for_its_own_host_and_folder_only() -> None:
    links_of = packer()
    for url in ("http://a.test/1/", "http://b.test/1/", "http://a.test/2/", "http://a.test/1/"):
        packed = links_of.pack(page("/root", "leaf", "http://c.test/"), url).links
        expected = [f"{url[:13]}/root", f"{url}leaf", "http://c.test/"]
        assert set(hashes(packed)) == {url_hash(link, SEED) for link in expected}


def test_the_url_of_a_page_travels_as_its_hash_from_other_pages() -> None:
    links_of = packer()
    links_of.pack(page("/self"), "http://example.com/self")
    packed = links_of.pack(page("/self", "/self#x", "http://example.com/self"), URL).links
    assert texts(packed) == []
    assert hashes(packed) == [url_hash("http://example.com/self", SEED)]


def test_a_link_without_text_was_sent_with_it_before() -> None:
    # So small that nearly every link drives another one out.
    links_of = LinkPacker(RULES, Scope(Config()), SEED, sent_slots=8, cache_entries=16)
    sent: set[int] = set()
    repeats = 0
    for number in range(200):
        hrefs = [f"/{(number * 7 + step * step) % 23}" for step in range(6)]
        packed = links_of.pack(page(*hrefs), URL).links
        with_text = hashes(packed)[: len(texts(packed))]
        sent.update(with_text)
        repeats += len(hashes(packed)) - len(with_text)
        assert sent.issuperset(hashes(packed))
        assert len(hashes(packed)) == len(set(hrefs))
    assert repeats > 0


def test_reasons_are_counted() -> None:
    config = Config(scope=ScopeSection(deny_hosts=("bad.test",)))
    hrefs = [
        "javascript:x()",
        "MAILTO:a@b",
        "http://[",
        "http://bad.test/",
        "//bad.test/2",
        "/ok",
        "data:," + "x" * 70_000,
    ]
    hrefs.append("/" + "x" * 3_000)
    hrefs.append("/" + "x" * 70_000)
    packed, withheld, filtered, _ = packer(config).pack(page(*hrefs, nofollow_hrefs=("/n",)), URL)
    assert texts(packed) == ["http://bad.test/", "http://bad.test/2", "http://example.com/ok"]
    assert list(packed.verdicts) == [Reason.HOST_DENIED.code, Reason.HOST_DENIED.code, 0]
    assert [(ask, texts(links)) for ask, links in withheld] == [(asks.REL, ["http://example.com/n"])]
    assert filtered == {"not-http": 3, "not-a-url": 1, "too-long": 2}


def test_a_limit_on_their_number() -> None:
    assert packer(max_links=2).pack(page("/1", "/2", "/3", "/4"), URL).filtered == {"too-many-links": 2}


def test_a_page_that_says_nofollow() -> None:
    found = packer().pack(page("/1", "/2", nofollow_hrefs=("/3",)), URL, asks.META)
    assert found.links == NO_LINKS
    assert [(ask, links.texts_count) for ask, links in found.withheld] == [(asks.META, 3)]


def test_what_did_not_arrive_is_sent_again() -> None:
    links_of = packer()
    links_of.pack(page("/a"), URL)
    links_of.forget_sent()
    assert texts(links_of.pack(page("/a"), URL).links) == ["http://example.com/a"]


href_pieces = st.lists(
    st.sampled_from(
        ["/", "//", "\\", "..", ".", "?", "#", "a", "b.html", ":", "http:", "https://", "h.test", "@", "%41"]
    )
    | st.text(max_size=3),
    max_size=6,
).map("".join)


@given(st.lists(href_pieces, max_size=8, unique=True), st.sampled_from(["", "/x/y?z=/w", "https://o.test/q"]))
def test_short_cuts_and_memory_give_what_normalise_gives(hrefs: list[str], base: str) -> None:
    links_of = packer(Config(traps=TrapsSection(max_path_segments=0, max_repeated_segments=0)))
    resolved_base = normalise(base, RULES, URL) if base else URL
    expected = {normalise(href, RULES, resolved_base) for href in hrefs} - {None, URL}
    for _ in range(2):
        packed = links_of.pack(page(*hrefs, base=base), URL).links
        assert set(hashes(packed)) == {url_hash(url, SEED) for url in expected if url}


@pytest.mark.skipif(compiled is None, reason="the compiled module was not built")
@given(
    st.lists(st.lists(href_pieces, max_size=12, unique=True), max_size=4),
    st.sampled_from(["http://o.test/", "http://o.test/a/b/", "https://o.test/é/"]),
    st.booleans(),
)
def test_the_compiled_cache_knows_what_the_other_knows(pages: list[list[str]], folder: str, skips_empty: bool) -> None:
    secrets = (url_hash("a", 1), url_hash("b", 1))
    cache, other = compiled.LinkCache(1 << 12, *secrets), LinkCache(1 << 12, *secrets)
    home = likely_origin(folder)
    own = 256
    for hrefs in pages:
        found = other.look(hrefs, home, folder, skips_empty, own)
        assert cache.look(hrefs, home, folder, skips_empty, own) == found
        texts = b"\n".join([href.encode()[:40] * (number % 3) for number, href in enumerate(hrefs)])
        flags = bytes(number % 5 for number in range(len(hrefs)))
        resolved = {link: 700 + place for place, link in enumerate(found[2][::2])}
        twice = (hrefs * 2, b"\n".join([texts] * 2) if hrefs else b"", flags * 2)
        links = found[0] + array("Q", [*resolved.values(), *resolved.values(), 9]).tobytes()
        asked = (*twice, home, folder, skips_empty, resolved, links)
        assert cache.anchors(*asked) == other.anchors(*asked)
        for place, link in enumerate(found[2]):
            if text := absolute(link, home, folder):
                value = 250 + url_hash(text, 0) % 10  # reasons and hashes, the page's own among them
                cache.add(text, value)
                other.add(text, value)
            assert place < len(hrefs)


@pytest.mark.skipif(compiled is None, reason="the compiled module was not built")
def test_the_compiled_cache_forgets_but_never_invents() -> None:
    cache = compiled.LinkCache(64, url_hash("a", 1), url_hash("b", 1))
    texts_of = [f"http://h.test/{'x' * (number % 40)}{number}" for number in range(1_000)]
    for number, text in enumerate(texts_of):
        cache.add(text, 1_000 + number)
    known, reasons, unknown = cache.look(texts_of, "http://h.test", "http://h.test/", True, 0)
    values = struct.unpack(f"<{len(known) // 8}Q", known)
    assert 0 < len(values) <= 64
    assert not reasons
    assert {texts_of[value - 1_000] for value in values}.isdisjoint(unknown)
    assert len(values) + len(unknown) == len(texts_of)


@pytest.mark.skipif(compiled is None, reason="the compiled module was not built")
def test_the_compiled_cache_refuses_nonsense() -> None:
    for entries in (0, 3, 12, -4):
        with pytest.raises(ValueError, match="power of two"):
            compiled.LinkCache(entries, 1, 2)
    cache = compiled.LinkCache(4, url_hash("a", 1), url_hash("b", 1))
    with pytest.raises(TypeError):
        cache.look(["/a", 3], "http://h.test", "http://h.test/", True, 0)
    with pytest.raises(TypeError):
        cache.look(("/a",), "http://h.test", "http://h.test/", True, 0)
    half = "/\ud800"
    long = "/" + "x" * 600
    cache.add("http://h.test" + long, 7)
    assert cache.look([half, long], "http://h.test", "http://h.test/", True, 0) == (b"", b"", [half, long])
