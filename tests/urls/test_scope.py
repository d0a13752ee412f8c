from __future__ import annotations

import pytest

from pycrawl.config import Config, LimitsSection, ScopeSection, SecuritySection
from pycrawl.errors import ConfigError
from pycrawl.urls.host_list import HostList
from pycrawl.urls.parts import host_key
from pycrawl.urls.reasons import Reason
from pycrawl.urls.scope import Scope


def scope_filter(**scope: tuple[str, ...]) -> Scope:
    return Scope(Config(scope=ScopeSection(**scope)))  # type: ignore[arg-type]  # all keys used here are lists


@pytest.mark.parametrize(
    ("scope", "url", "expected"),
    [
        ({}, "http://example.com/", None),
        ({"schemes": ("https",)}, "http://example.com/", "scheme"),
        ({"schemes": ("https",)}, "https://example.com/", None),
        ({"deny_hosts": ("example.com",)}, "http://example.com/", "host-denied"),
        ({"deny_hosts": ("example.com",)}, "http://www.example.com/", None),
        ({"allow_hosts": ("*.example.com",)}, "http://a.b.example.com:81/", None),
        ({"allow_hosts": ("*.example.com",)}, "http://example.com/", None),
        ({"allow_hosts": ("*.example.com",)}, "http://badexample.com/", "host-not-allowed"),
        ({"allow_hosts": ("*.a.test",), "deny_hosts": (".x.a.test",)}, "http://x.a.test/", "host-denied"),
        ({"deny_prefixes": ("/private/",)}, "http://example.com/private/x", "prefix-denied"),
        ({"deny_prefixes": ("/private/",)}, "http://example.com/a/private/x", None),
        ({"allow_prefixes": ("https://example.com/docs/",)}, "https://example.com/docs/x", None),
        ({"allow_prefixes": ("https://example.com/docs/",)}, "http://example.com/docs/x", "prefix-not-allowed"),
        ({"allow_prefixes": ("https://Example.com",)}, "https://example.com/", None),
        ({"allow_prefixes": ("https://example.com",)}, "https://example.com.evil.test/", "prefix-not-allowed"),
        ({"allow_prefixes": ("/%7Ebob/", "/ü")}, "http://example.com/~bob/", None),
        ({"allow_prefixes": ("/%7Ebob/", "/ü")}, "http://example.com/%C3%BCber", None),
        ({"deny_patterns": (r"\.pdf$",)}, "http://example.com/a.pdf", "pattern-denied"),
        ({"allow_patterns": ("/blog/", r"\d{4}")}, "http://example.com/2024", None),
        ({"allow_patterns": ("/blog/",)}, "http://example.com/", "pattern-not-allowed"),
    ],
)
def test_verdict(scope: dict[str, tuple[str, ...]], url: str, expected: str | None) -> None:
    assert scope_filter(**scope).verdict(url) == expected


@pytest.mark.parametrize(
    ("url", "is_refused"),
    [
        ("http://example.com:22/", True),
        ("https://example.com:25/x?y", True),
        ("http://example.com:6379/", True),
        ("http://[::1]:6667/", True),
        ("http://[::22]/", False),
        ("http://example.com:8080/a:22/", False),
        ("http://example.com:2222/", False),
        ("http://example.com/:22/", False),
    ],
)
def test_ports_of_other_services(url: str, is_refused: bool) -> None:
    scope = Scope(Config())
    assert scope.verdict(url) == (Reason.PORT if is_refused else None)
    assert scope.host_verdict(host_key(url)) == scope.verdict(url)
    allowing = Scope(Config(security=SecuritySection(allow_ports=(22, 25, 6379, 6667))))
    assert allowing.verdict(url) is None


def test_length() -> None:
    scope = Scope(Config(limits=LimitsSection(max_url_length=30)))
    assert scope.verdict("http://example.com/") is None
    assert scope.verdict("http://example.com/" + "x" * 12) is Reason.TOO_LONG
    assert scope.is_too_long("http://example.com/" + "x" * 12)


def test_every_reason_that_is_kept_has_a_number_of_its_own() -> None:
    codes = [reason.code for reason in Reason if reason.code]
    assert len(set(codes)) == len(codes)
    assert all(Reason.from_code(code).code == code for code in codes)
    assert all(0 <= code < 256 for code in codes)
    assert all(reason.words for reason in Reason)


@pytest.mark.parametrize(
    ("entry", "inside", "outside"),
    [
        ("example.com", ["example.com", "example.com:8080"], ["www.example.com", "example.org", "com"]),
        ("example.com:8080", ["example.com:8080"], ["example.com", "example.com:81"]),
        ("example.com:443", ["example.com"], ["example.com:8080"]),
        ("EXAMPLE.com.", ["example.com"], []),
        ("*.example.com", ["example.com", "a.example.com", "a.b.example.com:1"], ["xexample.com", "com"]),
        (".example.com", ["example.com", "a.example.com"], ["example.com.test"]),
        ("bücher.example", ["xn--bcher-kva.example"], []),
        ("127.0.0.1:8001", ["127.0.0.1:8001"], ["127.0.0.1:8002"]),
        ("[::1]", ["[::1]", "[::1]:8080"], ["[::2]"]),
        ("[::1]:8080", ["[::1]:8080"], ["[::1]"]),
        ("[::443]", ["[::443]"], ["[::1]"]),
        ("*.test", ["test", "a.test"], ["a." * 2000 + "example", "." * 300]),
    ],
)
def test_host_lists(entry: str, inside: list[str], outside: list[str]) -> None:
    hosts = HostList("scope.allow_hosts", [entry])
    assert [key for key in inside if key not in hosts] == []
    assert [key for key in outside if key in hosts] == []


def test_a_long_list_of_hosts() -> None:
    hosts = HostList("scope.deny_hosts", (f"*.host{n}.example" for n in range(100_000)))
    assert len(hosts) == 100_000
    assert "a.b.host99999.example" in hosts
    assert "host100000.example" not in hosts


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("allow_hosts", ""),
        ("allow_hosts", "*"),
        ("allow_hosts", "*."),
        ("allow_hosts", "http://example.com/"),
        ("allow_hosts", "example.com/path"),
        ("deny_hosts", "exa mple.com"),
        ("deny_hosts", "www.*.com"),
        ("deny_hosts", "*.example.com:80"),
        ("deny_hosts", "user@example.com"),
        ("deny_hosts", "example.com:port"),
        ("deny_hosts", "[::1"),
        ("allow_prefixes", "example.com/docs"),
        ("deny_prefixes", "ftp://example.com/"),
        ("deny_prefixes", ""),
        ("content_types", "html"),
        ("content_types", "*/html"),
    ],
)
def test_a_bad_entry_is_named(key: str, entry: str) -> None:
    with pytest.raises(ConfigError) as raised:
        scope_filter(**{key: (entry,)})
    assert f"scope.{key}: " in str(raised.value)
    assert f"found {entry!r}" in str(raised.value)


@pytest.mark.parametrize(
    ("types", "header", "wanted"),
    [
        (("text/html",), "text/html", True),
        (("text/html",), "Text/HTML ; charset=utf-8", True),
        (("text/html",), "text/html, text/html", True),
        (("text/html",), "text/plain", False),
        (("text/html",), "", True),
        (("text/html",), "; charset=utf-8", True),
        (("text/html",), "html", True),
        (("text/*",), "text/csv", True),
        (("text/*",), "image/png", False),
        (("*/*",), "image/png", True),
        ((), "text/html", False),
    ],
)
def test_content_types(types: tuple[str, ...], header: str, wanted: bool) -> None:
    assert scope_filter(content_types=types).wants_type(header) is wanted
