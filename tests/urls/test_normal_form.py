from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.config import Config, UrlsSection
from pycrawl.urls.normal_form import MAX_LENGTH, UrlRules, from_user, normalise, normalise_behind
from pycrawl.urls.parts import host_key, origin, robots_url, url_hash

RULES = UrlRules.of(Config())
SORTED = UrlRules.of(Config(urls=UrlsSection(sort_query=True)))
AS_WRITTEN = UrlRules()
VECTORS = Path(__file__).parents[3] / "shared/data/urls"


def vectors(name: str) -> list[dict[str, Any]]:
    path = VECTORS / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    cases: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return cases


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.com", "http://example.com/"),
        ("HTTP://EXAMPLE.com:80/A/b", "http://example.com/A/b"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://user:secret@example.com/", "http://example.com/"),
        ("http://user@[::1]:8080/", "http://[::1]:8080/"),
        ("http://example.com./x", "http://example.com/x"),
        ("http://example.com.:8080/x", "http://example.com:8080/x"),
        ("http://example.com/x.#y", "http://example.com/x."),
        ("http://example.com/a/../b/./c", "http://example.com/b/c"),
        ("http://example.com/%7euser/%2f%e4", "http://example.com/~user/%2F%E4"),
        ("http://example.com/?q=%41%2b", "http://example.com/?q=A%2B"),
        ("http://example.com/100%", "http://example.com/100%"),
        ("http://example.com/%%34%31", "http://example.com/%%341"),
        ("http://example.com/%4%31", "http://example.com/%4%31"),
        ("http://example.com/%a%2f", "http://example.com/%a%2F"),
        ("http://example.com/ü?ü", "http://example.com/%C3%BC?%C3%BC"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("  http://example.com/a\tb\n ", "http://example.com/ab"),
        ("http://example.com/?", "http://example.com/"),
        ("http://example.com/#top", "http://example.com/"),
        ("http://example.com/a//b", "http://example.com/a//b"),
    ],
)
def test_the_normal_form(url: str, expected: str) -> None:
    assert normalise(url, RULES) == expected


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("?a=1&PHPSESSID=0a1b&b=2", "?a=1&b=2"),
        ("?PHPSESSID=0a1b", ""),
        ("?ASPSESSIONIDQQ=AB&x", "?x"),
        ("?CFID=1&CFTOKEN=2", ""),
        ("?osCsid=a&zenid=b&c=d", "?c=d"),
        ("?sid=0cc175b9c0f1b6a8", ""),
        ("?sid=4711", "?sid=4711"),
        ("?sid=08%2F01%2F02", "?sid=08%2F01%2F02"),
        ("page;jsessionid=0A1B.node1?x=1", "page?x=1"),
        ("a;jsessionid=1;v=2/b", "a;v=2/b"),
        ("a/..;jsessionid=1/b", "b"),
        ("(S(lit3py55t21z5v55vlm25s55))/page.aspx", "page.aspx"),
        ("(X(1)S(lit3py55t21z5v55vlm25s55))/page.aspx", "page.aspx"),
        ("(S(lit3py55t21z5v55vlm25s55));jsessionid=1/page.aspx", "page.aspx"),
        ("(S(lit3py55t21z5v55vlm25s55))", ""),
        ("Saturn_(planet)", "Saturn_(planet)"),
        ("?utm_source=a&UTM_Medium=b&id=3&fbclid=c&gclid=d", "?id=3"),
        ("?utm%5Fsource=a", ""),
        ("?b=2&&a=1&", "?b=2&&a=1&"),
        ("?msclkid=1#x", ""),
    ],
)
def test_sessions_and_campaigns_are_no_part_of_an_address(rest: str, expected: str) -> None:
    assert normalise("http://example.com/" + rest, RULES) == "http://example.com/" + expected


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (UrlsSection(), "http://a.test/?z=1&ref=x&a=2"),
        (UrlsSection(strip_session_ids=False), "http://a.test/;jsessionid=1?z=1&sid=abc&ref=x&a=2"),
        (UrlsSection(strip_tracking=False), "http://a.test/?z=1&utm_id=4&ref=x&a=2"),
        (UrlsSection(strip_parameters=("REF",)), "http://a.test/?z=1&a=2"),
        (UrlsSection(strip_session_ids=False, strip_parameters=("sid",)), "http://a.test/;jsessionid=1?z=1&ref=x&a=2"),
        (UrlsSection(sort_query=True), "http://a.test/?a=2&ref=x&z=1"),
    ],
)
def test_settings(section: UrlsSection, expected: str) -> None:
    url = "http://a.test/;jsessionid=1?z=1&sid=abc&utm_id=4&ref=x&a=2"
    assert normalise(url, UrlRules.of(Config(urls=section))) == expected


def test_sorting_keeps_the_order_of_fields_of_one_name() -> None:
    assert normalise("http://a.test/?b=2&a=9&b=1&a=8", SORTED) == "http://a.test/?a=9&a=8&b=2&b=1"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x",
        "//example.com/",
        "ftp://example.com/",
        "mailto:a@example.com",
        "javascript:void(0)",
        "data:text/html,x",
        "http://",
        "http:///",
        "http://exa mple.com/",
        "http://example.com:99999/",
        "http://example.com:x/",
        "http://[::1/",
        "http://[::g]/",
        "http://1.2.3.400/",
        "http://./",
        "http://example.com../",
        "http://1.2.3.400../",
        "http://\ud800/",
        "http://example.com/\udfff",
        "http://exam\0ple.com/",
        "http://" + "a" * 1_000_000,
        "http://example.com/" + "ü" * (MAX_LENGTH // 4),
        "x" * 1_000_000,
    ],
)
def test_rubbish_is_none(url: str) -> None:
    assert normalise(url, RULES) is None


@pytest.mark.parametrize("base", ["", "x", "mailto:a@example.com", "http://[", "http://\ud800/"])
def test_a_bad_base_is_none(base: str) -> None:
    assert normalise("y", RULES, base) is None


def test_whatwg_cases() -> None:
    for case in vectors("whatwg_http.json"):
        result = normalise(case["input"], AS_WRITTEN, case["base"])
        if case.get("failure") or case["protocol"] not in ("http:", "https:"):
            assert result is None, case
            continue
        # Our own rules on top, on the parts that the standard's parser gives.
        host = case["hostname"].removesuffix(".")
        port = ":" + case["port"] if case["port"] else ""
        query = case["search"] if len(case["search"]) > 1 else ""
        expected = f"{case['protocol']}//{host}{port}{case['pathname']}{query}"
        if "%" not in expected:
            assert result == (None if not host or host.endswith(".") else expected), case
        else:
            assert result == normalise(expected, AS_WRITTEN), case


def test_rfc_3986_reference_resolution() -> None:
    for case in vectors("rfc3986_5_4.json"):
        resolved = case["resolved"].partition("#")[0]
        if not resolved.startswith("http:"):
            assert normalise(case["reference"], AS_WRITTEN, case["base"]) is None, case
        elif case["reference"] != "http:g":  # 5.4.2 leaves it to the parser; the WHATWG's takes the relative reading
            assert normalise(case["reference"], AS_WRITTEN, case["base"]) == normalise(resolved, AS_WRITTEN), case


url_pieces = st.lists(
    st.sampled_from(
        list("%?;&=/.#@:()[]\\ aZ09~-_+\t\0ü\ud800")
        + "%2 %4 %41 %2e %2F %25 .. /..;sid=a ;jsessionid=1 (S(a1)) /(S(b))/ sid=a utm_x=1 PHPSESSID".split()
        + ["xn--", "0x7f", "1.2.3.4", "[::1]"]
    ),
    max_size=14,
).map("".join)


@given(st.one_of(url_pieces, url_pieces.map("http://h".__add__), st.text(max_size=30).map("https://a/".__add__)))
def test_the_normal_form_is_stable_and_plain(url: str) -> None:
    for rules in (RULES, SORTED, AS_WRITTEN):
        for base in (None, "http://example.com/a/b?c"):
            normal = normalise(url, rules, base)
            if normal is not None:
                assert normal.isascii()
                assert normal.isprintable()
                assert " " not in normal
                assert "#" not in normal
                assert normalise(normal, rules) == normal
                assert normal.startswith(origin(normal) + "/")
                assert origin(normal).endswith("//" + host_key(normal))


@given(
    st.text(alphabet="aZ9/.~-_+,:=@!$&*%?;(#\\ ü'\"", max_size=20) | url_pieces,
    st.sampled_from(["http://h", "https://a.b:81", "http://[::1]"]),
)
def test_the_short_cut_behind_an_origin_gives_the_same(rest: str, home: str) -> None:
    for rules in (RULES, SORTED, AS_WRITTEN):
        assert normalise_behind(home, f"{home}/{rest}", rules) == normalise(f"{home}/{rest}", rules)


@pytest.mark.parametrize(
    ("url", "key", "home"),
    [
        ("http://example.com/", "example.com", "http://example.com"),
        ("https://example.com/a//b?c=/d", "example.com", "https://example.com"),
        ("http://127.0.0.1:8001/x", "127.0.0.1:8001", "http://127.0.0.1:8001"),
        ("https://[::1]:8443/", "[::1]:8443", "https://[::1]:8443"),
        ("http://a/", "a", "http://a"),
    ],
)
def test_host_key_and_origin(url: str, key: str, home: str) -> None:
    assert host_key(url) == key
    assert origin(url) == home
    assert robots_url(url) == home + "/robots.txt"


def test_url_hash_depends_on_the_seed_and_has_64_bits() -> None:
    hashes = {url_hash(f"http://example.com/{n}", seed) for n in range(500) for seed in (1, 2**64 - 1)}
    assert len(hashes) == 1000
    assert 2**63 < max(hashes) < 2**64


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("example.com/x", "http://example.com/x"),
        ("\ufeff  https://example.com \n", "https://example.com/"),
        ("localhost:8080", "http://localhost:8080/"),
        ("localhost:8080/a:b", "http://localhost:8080/a:b"),
        ("[::1]:80", "http://[::1]/"),
        ("127.0.0.1", "http://127.0.0.1/"),
        ("//example.com/", "http://example.com/"),
        ("http:example.com", "http://example.com/"),
        ("bücher.example", "http://xn--bcher-kva.example/"),
        ("mailto:a@example.com", None),
        ("ftp://example.com/", None),
        ("/etc/passwd", None),
        ("two words", None),
        ("", None),
        ("\ufeff", None),
    ],
)
def test_seeds_as_people_type_them(text: str, expected: str | None) -> None:
    assert from_user(text, RULES) == expected


@given(st.text())
def test_no_seed_raises(text: str) -> None:
    from_user(text, RULES)


@pytest.mark.parametrize(("length", "is_url"), [(253, True), (254, True), (270, False), (60_000, False)])
def test_a_host_that_no_dns_can_have_makes_no_url(length: int, is_url: bool) -> None:
    """What is remembered by host must not be long. The port is allowed for, so the limit is not exact."""
    host = ("a" * 50 + ".") * (length // 51) + "a" * (length % 51)
    assert (normalise(f"http://{host}/", UrlRules()) is not None) is is_url
    assert (normalise(f"//{host}:8080/x", UrlRules(), "http://h/") is not None) is is_url
    assert normalise(f"http://user:{'p' * 300}@h/x", UrlRules()) == "http://h/x"
